"""What comes in: commands and initial poses. What is not fit is refused, counted and reported."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from vds_gz.geometry.attitude import Attitude
from vds_gz.geometry.se2 import Pose
from vds_gz.geometry.so3 import angles
from vds_gz.interface import topics
from vds_gz.interface.commands import CommandType, command_types
from vds_gz.interface.conversions import yaw_of
from vds_gz.interface.messages import Pose as PoseMessage
from vds_gz.interface.messages import PoseWithCovarianceStamped
from vds_gz.ros.errors import UnknownTypeError
from vds_gz.ros.graph import Graph, Severity, Subscription
from vds_gz.vehicle.command import Command, fault
from vds_gz.vehicle.vehicle import NANOSECONDS

#: A refusal of the same kind is logged again after this time [s].
LOG_AGAIN = 5.0

#: No pose farther from the origin is meant [m].
FARTHEST = 1e9


class Refusals:
    """Counts what was refused, by topic, and says so without flooding the log."""

    def __init__(self, graph: Graph) -> None:
        """Log through this graph."""
        self._graph = graph
        self._logged: dict[str, float] = {}
        self.counts: Counter[str] = Counter()

    def add(self, topic: str, reason: str) -> None:
        """A message on ``topic`` was refused."""
        self.counts[topic] += 1
        now = time.monotonic()
        if now - self._logged.get(topic, -math.inf) >= LOG_AGAIN:
            self._logged[topic] = now
            self._graph.log(Severity.WARN, f"message on '{topic}' refused ({self.counts[topic]} so far): {reason}")


class CommandInputs:
    """The command topics that a vehicle model understands."""

    def __init__(
        self,
        graph: Graph,
        accepts: frozenset[int],
        refusals: Refusals,
        now: Callable[[int], int | None],
        accept: Callable[[Command, int, int | None], None],
        messages: str = "tier4",
    ) -> None:
        """Listen.

        Args:
            graph: Where to listen.
            accepts: Kinds of commands that the model understands.
            refusals: Where refused messages go.
            now: Simulated time at a reading of the monotonic clock.
            accept: Takes a command, its arrival and its stamp [ns], the stamp None where it has none.
            messages: Package of the pedals' messages, ``tier4`` or ``autoware``. A type whose package is not installed
                is left out.
        """
        self.max_age = NANOSECONDS
        self.last_arrival: int | None = None
        self._refusals = refusals
        self._now = now
        self._accept = accept
        self.subscriptions: list[Subscription] = []
        for one in command_types():
            if one.kind in accepts and one.variant in ("", messages):
                self._listen(graph, one)

    def _listen(self, graph: Graph, one: CommandType) -> None:
        topic = one.topic
        try:
            self.subscriptions.append(graph.subscribe(topic.name, topic.type, topic.qos, self._receiver(one)))
        except UnknownTypeError as error:
            graph.log(Severity.INFO, f"no topic '{topic.name}': {error}")

    def _receiver(self, one: CommandType) -> Callable[[object, int], None]:
        topic = one.topic.name

        def receive(message: object, arrival: int) -> None:
            now = self._now(arrival)
            if now is None:
                self._refusals.add(topic, "it is not known what time it is: nothing has come from /clock or Gazebo yet")
                return
            command, stamp = one.decode(message).command(), one.stamp_of(message)
            reason = fault(command) or (self._stamp_fault(now - stamp) if stamp else "")
            if reason:
                self._refusals.add(topic, reason)
                return
            self.last_arrival = now
            self._accept(command, now, stamp or None)

        return receive

    def _stamp_fault(self, age: int) -> str:
        limit = self.max_age * 1e-9
        if age > self.max_age:
            return f"its stamp is {age * 1e-9:.3f} s old; it must be at most {limit:g} s. Is use_sim_time the same?"
        if age < -self.max_age:
            return f"its stamp is {-age * 1e-9:.3f} s in the future; at most {limit:g} s. Is use_sim_time the same?"
        return ""


@dataclass(frozen=True, slots=True)
class InitialPose:
    """Where base_link is to be, or is said to be.

    Attributes:
        pose: In the map.
        attitude: How it stands out of the plane; none if it is level at height 0.
        deviations: Standard deviations of x, y [m] and heading [rad]; 0 where none are given.
    """

    pose: Pose
    attitude: Attitude | None
    deviations: tuple[float, float, float]


class InitialPoseInput:
    """The topic that puts the vehicle somewhere, as RViz's «2D Pose Estimate» does."""

    def __init__(self, graph: Graph, frame: str, refusals: Refusals, accept: Callable[[InitialPose], None]) -> None:
        """Listen for poses in ``frame``."""
        self._frame = frame
        self._refusals = refusals
        self._accept = accept
        topic = topics.INITIALPOSE
        graph.subscribe(topic.name, topic.type, topic.qos, self._receive)

    def _receive(self, message: PoseWithCovarianceStamped, arrival: int) -> None:
        position = message.pose.pose.position
        heading = yaw_of(message.pose.pose.orientation)
        frame = message.header.frame_id
        if frame not in ("", self._frame):
            self._refuse(f"its frame_id is '{frame}'; it must be '{self._frame}'")
        elif not math.isfinite(heading):
            self._refuse("its orientation is no rotation; it must be a quaternion of length 1")
        elif not all(abs(part) <= FARTHEST for part in (position.x, position.y, position.z)):
            at = f"({position.x:g}, {position.y:g}, {position.z:g})"
            self._refuse(f"its position is {at}; it must be within +-{FARTHEST:g} m")
        else:
            x, y, heading_deviation = (_deviation(float(message.pose.covariance[index])) for index in (0, 7, 35))
            pose = Pose(position.x, position.y, heading)
            self._accept(InitialPose(pose, attitude_of(message.pose.pose), (x, y, heading_deviation)))

    def _refuse(self, reason: str) -> None:
        self._refusals.add(topics.INITIALPOSE.name, reason)


def _deviation(variance: float) -> float:
    return math.sqrt(variance) if 0.0 < variance < math.inf else 0.0


def attitude_of(pose: PoseMessage) -> Attitude | None:
    """How a valid ``Pose`` stands out of the plane; none if it is level at height 0, as those of RViz all are."""
    turn = pose.orientation
    norm = math.hypot(turn.x, turn.y, turn.z, turn.w)
    roll, pitch, _ = angles((turn.x / norm, turn.y / norm, turn.z / norm, turn.w / norm))
    attitude = Attitude(pose.position.z, roll, pitch)
    return None if attitude == Attitude() else attitude
