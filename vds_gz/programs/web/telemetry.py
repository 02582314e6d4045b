"""The newest state and reference of a vehicle, packed for a page."""

from __future__ import annotations

import math
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from vds_gz.core.description.footprint import Outline, outline_of
from vds_gz.core.description.urdf_reader import DescriptionError
from vds_gz.core.errors import UnknownTypeError
from vds_gz.core.ros.graph import Graph, Message, QoS
from vds_gz.core.ros.messages.fields import stamp_ns, yaw_of
from vds_gz.core.vehicle.catalogue import actuator_kind
from vds_gz.core.vehicle.command import SteadyMotion, fault, reference_of
from vds_gz.programs.interface import topics
from vds_gz.programs.interface.commands import CommandType, whole_types

#: A slow reader loses messages and never delays the vehicle.
NEWEST = QoS(depth=1, reliable=False)

#: A vehicle without messages for this long is silent, and a command of this age has ended [s].
SILENT, COMMAND_HOLDS = 2.5, 1.0

#: First numbers of every frame; the joints' positions, the actuators' references and their states follow.
MOTION = ("v_x", "v_y", "yaw_rate")
COLUMNS = ("time", "x", "y", "heading", *MOTION, *(f"reference_{name}" for name in MOTION))

JOINTS, REFERENCES, STATES = topics.JOINT_STATES, topics.ACTUATOR_REFERENCES, topics.ACTUATOR_STATES

NOTHING = (math.nan, math.nan, math.nan)


class Frame(NamedTuple):
    """One instant: the vehicle's time [ns] and the numbers, ``float64``, little endian."""

    stamp: int
    data: bytes


@dataclass(frozen=True, slots=True)
class ShownStatus:
    """The status of a vehicle, which is alive if it has sent messages lately; levels as in ``diagnostic_msgs``."""

    alive: bool
    level: int
    text: str
    values: tuple[tuple[str, str], ...] = ()


class Telemetry:
    """Listens to a vehicle. Runs in the graph's thread.

    Attributes:
        outline: Its outline; None while unknown.
        fault: The reason why it cannot be drawn; empty if it can.
        joints, actuators: Their names.
        version: Counts the changes of all these.
        stamp: The vehicle's time [ns]; 0 while unknown.
        truth: Its pose and velocity; None while unknown.
    """

    def __init__(self, graph: Graph, node: str, described: Callable[[], None]) -> None:
        self.outline: Outline | None = None
        self.fault = ""
        self.joints: tuple[str, ...] = ()
        self.actuators: tuple[str, ...] = ()
        self.version = 0
        self.stamp = 0
        self._status_name = f"{node.removeprefix('/')}: vehicle"
        self._described = described
        self.truth: Message | None = None
        self._states: dict[str, Message] = {}
        self._received = -math.inf
        self._reference: tuple[float, tuple[float, float, float]] = (-math.inf, NOTHING)
        self._diagnosed: tuple[float, ShownStatus] = (-math.inf, ShownStatus(False, 0, ""))
        for topic in (JOINTS, REFERENCES, STATES):
            graph.subscribe(topic.name, topic.type, NEWEST, partial(self._on_states, topic.name))
        graph.subscribe(topics.GROUND_TRUTH.name, topics.GROUND_TRUTH.type, NEWEST, self._on_truth)
        for topic, take in (
            (topics.DIAGNOSTICS, self._on_diagnostics),
            (topics.ROBOT_DESCRIPTION, self._on_description),
        ):
            graph.subscribe(topic.name, topic.type, topic.qos, take)
        for command_type in whole_types():
            if command_type.kind.references:  # pedals request no motion that could be shown
                topic = command_type.topic
                with suppress(UnknownTypeError):  # without its package, no vehicle takes it either
                    graph.subscribe(topic.name, topic.type, NEWEST, partial(self._on_command, command_type))

    def frame(self) -> Frame | None:
        """The present frame; None while there is none."""
        truth = self.truth
        if truth is None:
            return None
        pose, twist = truth.pose.pose, truth.twist.twist
        stamp = stamp_ns(truth.header.stamp)
        reference_at, reference = self._reference
        front = (
            stamp * 1e-9,
            pose.position.x,
            pose.position.y,
            yaw_of(pose.orientation),
            twist.linear.x,
            twist.linear.y,
            twist.angular.z,
            *(reference if time.monotonic() - reference_at < COMMAND_HOLDS else NOTHING),
        )
        joints = self._states.get(JOINTS.name)
        known = joints is not None and len(joints.position) == len(self.joints)
        positions = map(float, joints.position) if joints is not None and known else [math.nan] * len(self.joints)
        numbers = (*front, *positions, *self._actuator_values(REFERENCES), *self._actuator_values(STATES))
        return Frame(stamp, struct.pack(f"<{len(numbers)}d", *numbers))

    def status(self) -> ShownStatus:
        """The vehicle's present status."""
        now = time.monotonic()
        diagnosed, status = self._diagnosed
        if now - diagnosed < SILENT:
            return status
        return ShownStatus(now - self._received < SILENT, 0, "")

    def _actuator_values(self, topic: topics.Topic) -> list[float]:
        names, message = self.actuators, self._states.get(topic.name)
        if message is None or not len(message.position) == len(message.velocity) == len(names):
            return [math.nan] * len(names)
        columns = {"steering": message.position, "drive": message.velocity}
        return [float(columns[actuator_kind(name)][i]) for i, name in enumerate(names)]

    def _on_states(self, topic: str, message: Message, arrival: int) -> None:
        self._states[topic] = message
        names = tuple(message.name)
        before = self.joints, self.actuators
        if topic == JOINTS.name:
            self.joints = names
        elif topic == STATES.name:
            self.actuators = names
        self.version += before != (self.joints, self.actuators)

    def _on_truth(self, message: Message, arrival: int) -> None:
        self.truth = message
        self._received = time.monotonic()
        self.stamp = stamp_ns(message.header.stamp)

    def _on_description(self, message: Message, arrival: int) -> None:
        try:
            self.outline, self.fault = outline_of(message.data), ""
        except DescriptionError as error:
            self.outline, self.fault = None, str(error)
        self.version += 1
        self._described()

    def _on_diagnostics(self, message: Message, arrival: int) -> None:
        for status in message.status:
            if status.name == self._status_name:
                level = status.level[0] if isinstance(status.level, bytes) else int(status.level)
                values = tuple((pair.key, pair.value) for pair in status.values)
                self._diagnosed = time.monotonic(), ShownStatus(True, level, status.message, values)

    def _on_command(self, command_type: CommandType, message: object, arrival: int) -> None:
        command = command_type.decode(message).command()
        if not fault(command):  # otherwise the vehicle refuses it too
            self._reference = time.monotonic(), self._velocity(reference_of(command))

    def _velocity(self, reference: SteadyMotion) -> tuple[float, float, float]:
        """A reference as a velocity.

        For a steering angle it is that of a bicycle. If all wheels steer, lateral speed and yaw rate are unknown (NaN).
        """
        v_x, v_y, yaw_rate, angle, _ = reference
        if math.isnan(angle):
            return v_x, v_y, yaw_rate
        wheel_base = self.outline.wheel_base if self.outline else math.nan
        if math.isnan(wheel_base) or wheel_base == 0.0:
            return v_x, math.nan, math.nan
        return v_x, 0.0, v_x * math.tan(angle) / wheel_base
