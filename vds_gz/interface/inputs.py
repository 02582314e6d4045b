"""The topics that a vehicle listens to: commands, and the pose that places it. Invalid messages are refused."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable

from vds_gz.errors import ArgumentError, UnknownTypeError
from vds_gz.geometry import Attitude, Pose, angles
from vds_gz.interface import topics
from vds_gz.interface.commands import CommandType, command_types
from vds_gz.ros.graph import Graph, Message, Severity, Subscription
from vds_gz.ros.messages.fields import yaw_of
from vds_gz.vehicle.command import Command
from vds_gz.vehicle.vehicle import NANOSECONDS

#: Refused messages on the same topic are logged this often [s].
LOG_AGAIN = 5.0

#: Maximum distance of a pose from the origin [m].
FARTHEST = 1e9

#: Takes a pose of base_link in the map, its attitude out of the plane (None if it is level at height 0), and the
#: standard deviations of x, y [m] and heading [rad], 0 where none are given.
Accept = Callable[[Pose, Attitude | None, tuple[float, float, float]], None]


class Refusals:
    """Counts refused messages by topic, and logs them at a limited rate."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._logged: dict[str, float] = {}
        self.counts: Counter[str] = Counter()

    def add(self, topic: str, reason: str) -> None:
        """Count a refused message on ``topic``."""
        self.counts[topic] += 1
        now = time.monotonic()
        if now - self._logged.get(topic, -math.inf) >= LOG_AGAIN:
            self._logged[topic] = now
            self._graph.log(Severity.WARN, f"message on '{topic}' refused ({self.counts[topic]} so far): {reason}")


class CommandInputs:
    """The command topics that a vehicle model understands.

    ``now`` gives the simulated time at a reading of the monotonic clock; ``enter`` takes a command, its arrival and its
    stamp [ns], None without one. A type whose message package is not installed is left out.

    Attributes:
        max_age: Maximum age of a stamp and of a command in force [ns].
        last_arrival: Arrival of the last command in simulated time [ns]; None before the first.
        arrived: The same by ``time.monotonic_ns``; before the first command, the time of construction.
        refusals: The refused messages.
        subscriptions: The topics.
    """

    def __init__(
        self,
        graph: Graph,
        accepts: frozenset[int],
        now: Callable[[int], int | None],
        enter: Callable[[Command, int, int | None], None],
        max_age: float = 1.0,
        messages: str = "tier4",
    ) -> None:
        self.max_age = round(max_age * NANOSECONDS)
        self.last_arrival: int | None = None
        self.arrived = time.monotonic_ns()
        self.refusals = Refusals(graph)
        self._now = now
        self._enter = enter
        self.subscriptions: list[Subscription] = []
        for kind in command_types():
            if kind.kind in accepts and kind.variant in ("", messages):
                topic = kind.topic
                try:
                    self.subscriptions.append(graph.subscribe(topic.name, topic.type, topic.qos, self._receiver(kind)))
                except UnknownTypeError as error:
                    graph.log(Severity.INFO, f"no topic '{topic.name}': {error}")

    def forget(self) -> None:
        """Forget the last command's arrival, after a jump of time."""
        self.last_arrival = None

    def _receiver(self, kind: CommandType) -> Callable[[object, int], None]:
        topic, values, numbers = kind.topic.name, kind.values, kind.numbers

        def receive(message: object, arrival: int) -> None:
            now = self._now(arrival)
            if now is None:
                self.refusals.add(topic, "the time is not known yet: nothing has been received from /clock or Gazebo")
                return
            stamp = kind.stamp_of(message) if kind.stamp else 0
            if stamp and abs(now - stamp) > self.max_age:
                self.refusals.add(topic, self._stamp_fault(now - stamp))
                return
            try:
                self._enter(values(*numbers(message)).command(), now, stamp or None)
            except ArgumentError as error:
                self.refusals.add(topic, str(error))
                return
            self.last_arrival, self.arrived = now, arrival

        return receive

    def _stamp_fault(self, age: int) -> str:
        seconds, limit = abs(age) * 1e-9, self.max_age * 1e-9
        how = f"{seconds:.3f} s old; it must be at most" if age > 0 else f"{seconds:.3f} s in the future; at most"
        return f"its stamp is {how} {limit:g} s. Is use_sim_time the same?"


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
        elif not all(abs(part) <= FARTHEST for part in (position.x, position.y, position.z)):
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
