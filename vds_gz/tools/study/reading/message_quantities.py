"""Quantities in the messages of commands and measurements, by type."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from vds_gz.core.arrays import Array, Integers
from vds_gz.core.errors import MalformedMessageError
from vds_gz.core.ros.graph import Message
from vds_gz.core.ros.messages.fields import yaw_of
from vds_gz.core.ros.messages.message_types import open_types
from vds_gz.core.share import additions
from vds_gz.programs.bags.reader import Bag
from vds_gz.programs.bags.times import are_usable, fault_of, stamp_of, step
from vds_gz.programs.interface.commands import CommandType, whole_types
from vds_gz.tools.study.reading.cleaning import SAME_CLOCK, seconds
from vds_gz.tools.study.recording import COMMANDED, LIMITS, SignalError, is_hinge

#: Times of topics without stamps are not used if the step of the recorder's clock is longer than this [ns].
COARSEST = 100_000_000


@dataclass(slots=True)
class TopicData:
    """The data of one topic: times of recording and stamps [ns], and the numbers of its messages, NaN if missing.

    A stamp of 0 means no stamp.
    """

    logged: array[int] = field(default_factory=lambda: array("q"))
    stamps: array[int] = field(default_factory=lambda: array("q"))
    numbers: dict[Key, array[float]] = field(default_factory=dict)

    def append(self, logged: int, stamp: int, values: Mapping[Key, float]) -> None:
        """Add a message."""
        for key in values:
            if key not in self.numbers:
                self.numbers[key] = array("d", [math.nan]) * len(self.logged)
        for key, column in self.numbers.items():
            column.append(values.get(key, math.nan))
        self.logged.append(logged)
        self.stamps.append(stamp)

    def since(self, first: int) -> TopicData:
        """The data from the message with this index on."""
        numbers = {key: values[first:] for key, values in self.numbers.items()}
        return TopicData(self.logged[first:], self.stamps[first:], numbers)

    def known(self) -> Iterator[tuple[Key, Array]]:
        """The quantities that some message has, with their numbers."""
        for key, numbers in self.numbers.items():
            values = np.array(numbers)
            if np.isfinite(values).any():
                yield key, values

    def times(self) -> tuple[Integers, Integers]:
        """Times of recording and stamps [ns]; if no message has a stamp, both are the time of recording."""
        logged, stamps = np.array(self.logged, np.int64), np.array(self.stamps, np.int64)
        return logged, stamps if stamps.any() else logged

    def seconds(self, begin: int) -> tuple[Array, Array]:
        """Times of recording and stamps [s], from a time of recording [ns]; NaN for a message without a stamp."""
        logged, stamps = np.array(self.logged, np.int64), np.array(self.stamps, np.int64)
        return seconds(logged, begin), np.where(stamps == 0, np.nan, seconds(stamps, begin))


def read_columns(
    bag: Bag, readers: Mapping[tuple[str, str], QuantityReader], findings: list[str]
) -> dict[str, TopicData]:
    """The numbers of the messages by topic, with a reader for each topic and type.

    Times are of recording [ns]. If those of a topic are too coarse, they are the stamps, also of other topics that have
    stamps, which is noted.

    Raises:
        SignalError: A message is damaged, or times are too coarse and there are no stamps.
    """
    codec = open_types().codec
    columns: dict[str, TopicData] = {}
    for connection, time, data in bag.messages(readers):
        try:
            message = codec(connection.msgtype).decode(bytearray(data))
        except MalformedMessageError as error:
            raise SignalError(f"'{bag.path}', topic '{connection.topic}': {error}") from None
        values = readers[connection](message)
        columns.setdefault(connection.topic, TopicData()).append(time, stamp_of(message), values)
    faults = {topic: fault_of(topic, column.logged, column.stamps) for topic, column in columns.items()}
    if any(faults.values()):
        findings.append(_replace_times(str(bag.path), columns, faults))
    return columns


def _replace_times(where: str, columns: Mapping[str, TopicData], faults: Mapping[str, str]) -> str:
    """Replace times of recording by stamps where there are faults, and return a finding.

    Topics without a fault and without stamps keep their times, if those are of the clock of the stamps and good enough.
    """
    faulty = [column for topic, column in columns.items() if faults[topic]]
    late = max(abs(float(np.median(np.subtract(column.logged, column.stamps)))) for column in faulty)
    clock = max(step(column.logged) for column in faulty)
    kept = []
    for topic, column in columns.items():
        if are_usable(column.stamps):
            column.logged = column.stamps
        elif faults[topic] or clock > COARSEST or late > SAME_CLOCK * 1e9:
            fault = faults[topic] or next(filter(None, faults.values()))
            raise SignalError(f"'{where}': {fault}, and '{topic}' has no header stamps to use instead")
        else:
            kept.append(f"; those of '{topic}', which has none, are right to {clock * 1e-9:.2g} s")
    return f"{next(filter(None, faults.values()))}; header stamps are used instead{''.join(kept)}"


class Key(NamedTuple):
    """Meaning of a number: a quantity, and for a joint its name."""

    quantity: str
    joint: str = ""


QuantityReader = Callable[[Message], Mapping[Key, float]]


def command_readers(*, pedals: bool) -> dict[str, QuantityReader]:
    """Readers of the messages of all command types, by type: of those that request a motion, or of pedals."""
    return {
        command.topic.type: _reader(command) for command in whole_types() if pedals is not bool(command.kind.references)
    }


def _reader(command_type: CommandType) -> QuantityReader:
    keys = [(Key(name), COMMANDED[name]) for name in command_type.kind.quantities]

    def read(message: object) -> dict[Key, float]:
        command = command_type.decode(message).command()
        values = {key: getattr(command, field) for key, field in keys}
        return {key: 0.0 if key.quantity in LIMITS and value == math.inf else value for key, value in values.items()}

    return read


_V_X, _V_Y, _YAW_RATE, _STEERING = map(Key, ("v_x", "v_y", "yaw_rate", "steering"))
_X, _Y, _HEADING = map(Key, ("x", "y", "heading"))


def _of_twist(twist: Message) -> dict[Key, float]:
    return {_V_X: twist.linear.x, _V_Y: twist.linear.y, _YAW_RATE: twist.angular.z}


def _of_pose(pose: Message) -> dict[Key, float]:
    return {_X: pose.position.x, _Y: pose.position.y, _HEADING: yaw_of(pose.orientation)}


def _of_odometry(message: Message) -> dict[Key, float]:
    return _of_twist(message.twist.twist) | _of_pose(message.pose.pose)


def _of_joints(message: Message) -> dict[Key, float]:
    """Angles of hinges and their mean; for each other joint its speed, or its angle without a speed."""
    positions = dict(zip(message.name, message.position, strict=False))
    velocities = dict(zip(message.name, message.velocity, strict=False))
    hinges = {name: angle for name, angle in positions.items() if is_hinge(name)}
    values = {Key("joint_position", name): angle for name, angle in hinges.items()}
    if hinges:
        values[_STEERING] = sum(hinges.values()) / len(hinges)
    for name in message.name:
        if name in hinges:
            continue
        if name in velocities:
            values[Key("joint_velocity", name)] = velocities[name]
        elif name in positions:
            values[Key("joint_position", name)] = positions[name]
    return values


def _of_imu(message: Message) -> dict[Key, float]:
    """The yaw rate; a first element of -1 in its covariance means that it is not measured."""
    measured = message.angular_velocity_covariance[0] != -1.0
    return {_YAW_RATE: message.angular_velocity.z} if measured else {}


#: Entry point group under which an installed package offers what a message measures: a dictionary of fields by their
#: quantities, v_x, v_y, yaw_rate [m/s, m/s, rad/s] or steering [rad]. The name is the type of the message.
ENTRY_POINTS = "vds_gz.measurements"

_OWN: Mapping[str, QuantityReader] = {
    "nav_msgs/msg/Odometry": _of_odometry,
    "geometry_msgs/msg/TwistStamped": lambda m: _of_twist(m.twist),
    "sensor_msgs/msg/JointState": _of_joints,
    "sensor_msgs/msg/Imu": _of_imu,
    "geometry_msgs/msg/PoseStamped": lambda m: _of_pose(m.pose),
    "geometry_msgs/msg/PoseWithCovarianceStamped": lambda m: _of_pose(m.pose.pose),
}
_FIELDS: dict[str, dict[str, str]] = additions(dict, ENTRY_POINTS, _OWN)


def _of_fields(fields: Mapping[str, str]) -> QuantityReader:
    read = [(Key(quantity), attrgetter(path)) for quantity, path in fields.items()]
    return lambda message: {key: getter(message) for key, getter in read}


MEASUREMENTS: Mapping[str, QuantityReader] = MappingProxyType(
    {**_OWN, **{name: _of_fields(fields) for name, fields in _FIELDS.items()}}
)

#: Types of messages for the main velocities, and for the main steering angle.
VELOCITY_TYPES = (
    "nav_msgs/msg/Odometry",
    "geometry_msgs/msg/TwistStamped",
    *(name for name, fields in _FIELDS.items() if "v_x" in fields),
)
STEERING_TYPES = (
    *(name for name, fields in _FIELDS.items() if "steering" in fields),
    "sensor_msgs/msg/JointState",
)
