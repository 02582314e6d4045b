"""The topic that places the vehicle. Invalid messages are refused."""

from __future__ import annotations

import math
from collections.abc import Callable

from vds_gz.core.geometry import Attitude, Pose, angles
from vds_gz.core.ros.graph import Graph, Message
from vds_gz.core.ros.messages.fields import yaw_of
from vds_gz.programs.interface import topics
from vds_gz.programs.interface.commands import Refusals

#: Maximum distance of a pose from the origin [m].
FARTHEST = 1e9

#: Takes a pose of base_link in the map, its attitude out of the plane (None if it is level at height 0), and the
#: standard deviations of x, y [m] and heading [rad], 0 where none are given.
Accept = Callable[[Pose, Attitude | None, tuple[float, float, float]], None]


class InitialPoseInput:
    """The topic that places the vehicle, as RViz's «2D Pose Estimate» does."""

    def __init__(self, graph: Graph, frame: str, refusals: Refusals, accept: Accept) -> None:
        """Listen for poses in ``frame``."""
        self._frame = frame
        self._refusals = refusals
        self._accept = accept
        topic = topics.INITIALPOSE
        graph.subscribe(topic.name, topic.type, topic.qos, self._receive)

    def _receive(self, message: Message, arrival: int) -> None:
        position = message.pose.pose.position
        heading = yaw_of(message.pose.pose.orientation)
        frame = message.header.frame_id
        if frame not in ("", self._frame):
            self._refuse(f"its frame_id is '{frame}'; it must be '{self._frame}'")
        elif not math.isfinite(heading):
            self._refuse("its orientation is not a rotation; it must be a quaternion of length 1")
        elif not all(abs(coordinate) <= FARTHEST for coordinate in (position.x, position.y, position.z)):
            at = f"({position.x:g}, {position.y:g}, {position.z:g})"
            self._refuse(f"its position is {at}; it must be within +-{FARTHEST:g} m")
        else:
            variances = (float(message.pose.covariance[index]) for index in (0, 7, 35))
            x, y, turn = (math.sqrt(variance) if 0.0 < variance < math.inf else 0.0 for variance in variances)
            pose = Pose(position.x, position.y, heading)
            self._accept(pose, attitude_of(message.pose.pose), (x, y, turn))

    def _refuse(self, reason: str) -> None:
        self._refusals.add(topics.INITIALPOSE.name, reason)


def attitude_of(pose: Message) -> Attitude | None:
    """The attitude of a valid ``Pose`` out of the plane; None if it is level at height 0, as all of RViz's are."""
    turn = pose.orientation
    norm = math.hypot(turn.x, turn.y, turn.z, turn.w)
    roll, pitch, _ = angles((turn.x / norm, turn.y / norm, turn.z / norm, turn.w / norm))
    attitude = Attitude(pose.position.z, roll, pitch)
    return None if attitude == Attitude() else attitude
