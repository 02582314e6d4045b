"""What a vehicle does during a run: its newest messages, decoded only when they are shown, as a line of text."""

from __future__ import annotations

import math
import shutil
import sys
import time
from dataclasses import dataclass

from vds_gz.geometry import Pose
from vds_gz.interface import topics
from vds_gz.interface.commands import Reference, whole_types
from vds_gz.interface.conversions import stamp_ns, yaw_of
from vds_gz.ros.graph import Message
from vds_gz.ros.messages.factory import open_types
from vds_gz.vehicle.catalogue import actuator_kind

#: The real-time factor is a mean over this time [s].
WINDOW = 1.0

#: Between two lines on a terminal, where one takes the place of the last, and elsewhere [s].
TERMINAL_PERIOD, LINE_PERIOD = 0.1, 1.0


@dataclass(frozen=True, slots=True)
class Pair:
    """Reference and actual value of a quantity; None if there is none."""

    label: str
    unit: str
    reference: float | None
    actual: float | None


class RunMonitor:
    """Takes raw messages and shows what they say now.

    Attributes:
        pose: The vehicle's.
        real_time_factor: The vehicle's seconds per second; NaN while unknown.
        refused: Messages that the vehicle refused, in all.
    """

    def __init__(self) -> None:
        """Start without messages."""
        self.pose = Pose(0.0, 0.0, 0.0)
        self.real_time_factor = math.nan
        self.refused = 0
        self._types = open_types()
        self._commands = {one.topic.name: one for one in whole_types() if not one.variant}
        shown = (*topics.VEHICLE, *(one.topic for one in self._commands.values()))
        self._shown = {topic.name: topic.type for topic in shown}
        self._raw: dict[str, bytes] = {}
        self._messages: dict[str, Message] = {}
        self._command = ""
        self._next_line = 0.0
        self._window: tuple[float, int] | None = None
        self._first_stamp: int | None = None
        self._stamp = 0

    def take(self, topic: str, data: bytes, arrival: int) -> None:
        """Take a message; cheap enough for all messages. Topics that are not a vehicle's are ignored."""
        if topic not in self._shown:
            return
        self._raw[topic] = data
        if topic in self._commands:
            self._command = topic

    def update(self) -> None:
        """Decode the messages since the last call."""
        for topic, data in self._raw.items():
            self._messages[topic] = self._types.codec(self._shown[topic]).decode(bytearray(data))
        fresh, self._raw = set(self._raw), {}
        if topics.GROUND_TRUTH.name in fresh:
            self._update_pose()
        if topics.DIAGNOSTICS.name in fresh:
            self._update_diagnostics()
        self._update_real_time_factor()

    def show(self) -> None:
        """Print a line, if it is time; to be called often. On a terminal it takes the place of the last one."""
        now = time.monotonic()
        if now < self._next_line:
            return
        terminal = sys.stdout.isatty()
        self._next_line = now + (TERMINAL_PERIOD if terminal else LINE_PERIOD)
        self.update()
        if terminal:
            print(f"\r{self.line()[: shutil.get_terminal_size().columns - 1]}\x1b[K", end="", flush=True)
        else:
            print(self.line(), flush=True)

    def close(self) -> None:
        """Leave the last line on a terminal."""
        if sys.stdout.isatty():
            print(flush=True)

    def line(self) -> str:
        """What the vehicle does now."""
        pairs = "  ".join(f"{pair.label} {_number(pair.reference)} -> {_number(pair.actual)}" for pair in self.pairs())
        refused = f"  {self.refused} refused" if self.refused else ""
        return (
            f"{self.elapsed:6.1f} s  {pairs or 'no vehicle yet'}  at ({self.pose.x:.2f}, {self.pose.y:.2f}), "
            f"{math.degrees(self.pose.heading):.0f} deg  real-time factor {self.real_time_factor:.2f}{refused}"
        )

    @property
    def elapsed(self) -> float:
        """The vehicle's time since its first message [s]."""
        return 0.0 if self._first_stamp is None else (self._stamp - self._first_stamp) * 1e-9

    def pairs(self) -> list[Pair]:
        """Speeds of the vehicle, then its actuators."""
        truth = self._messages.get(topics.GROUND_TRUTH.name)
        if truth is None:
            return []
        v_x, v_y, yaw_rate, _ = self._reference()
        twist = truth.twist.twist
        found = [Pair("speed", "m/s", v_x, twist.linear.x)]
        if v_y or abs(twist.linear.y) > 1e-6:
            found.append(Pair("lateral", "m/s", v_y, twist.linear.y))
        found.append(Pair("yaw rate", "rad/s", yaw_rate, twist.angular.z))
        return found + self._actuators()

    def _reference(self) -> list[float | None]:
        """The last command, in the order of its quantities; None for what it leaves open."""
        message = self._messages.get(self._command)
        reference = Reference() if message is None else self._commands[self._command].decode(message).reference()
        return [None if math.isnan(value) else value for value in reference]

    def _actuators(self) -> list[Pair]:
        reference = self._messages.get(topics.ACTUATOR_REFERENCES.name)
        actual = self._messages.get(topics.ACTUATOR_STATES.name)
        if reference is None or actual is None:
            return []
        found = []
        for i, name in enumerate(actual.name):
            label = name.replace("_", " ")
            if actuator_kind(name) == "steering":
                found.append(Pair(label, "rad", reference.position[i], actual.position[i]))
            else:
                found.append(Pair(label, "m/s", reference.velocity[i], actual.velocity[i]))
        return found

    def _update_pose(self) -> None:
        message = self._messages[topics.GROUND_TRUTH.name]
        pose = message.pose.pose
        self.pose = Pose(pose.position.x, pose.position.y, yaw_of(pose.orientation))
        self._stamp = stamp_ns(message.header.stamp)
        if self._first_stamp is None:
            self._first_stamp = self._stamp

    def _update_diagnostics(self) -> None:
        for status in self._messages[topics.DIAGNOSTICS.name].status:
            values = {pair.key: pair.value for pair in status.values}
            if "refused messages" in values:
                self.refused = int(values["refused messages"])

    def _update_real_time_factor(self) -> None:
        now = time.monotonic()
        if self._window is None:
            self._window = now, self._stamp
        begin, stamp = self._window
        if now - begin >= WINDOW:
            self.real_time_factor = (self._stamp - stamp) * 1e-9 / (now - begin) if stamp else math.nan
            self._window = now, self._stamp


def _number(value: float | None) -> str:
    return "    - " if value is None else f"{round(value, 2) + 0.0:6.2f}"
