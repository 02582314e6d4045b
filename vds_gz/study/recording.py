"""What a recording tells: the vehicle's motion, its actuators, the commands it got. As arrays, in SI units."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
from mcap.exceptions import McapError
from mcap.records import Channel, Message, Schema
from mcap.stream_reader import StreamReader
from numpy.typing import NDArray

from vds_gz.ros import topics
from vds_gz.ros.conversions import command_from_ackermann, command_from_twist, stamp_ns, yaw_of
from vds_gz.ros.types import MessageTypes
from vds_gz.vehicle.command import ACKERMANN, Command

Array = NDArray[np.float64]


class RecordingError(ValueError):
    """A file is no recording of a vehicle."""


@dataclass(frozen=True, slots=True)
class Motion:
    """True pose and velocity of base_link at the times of the samples [s, m, m, rad, m/s, m/s, rad/s]."""

    time: Array
    x: Array
    y: Array
    heading: Array
    v_x: Array
    v_y: Array
    yaw_rate: Array


@dataclass(frozen=True, slots=True)
class Actuator:
    """What an actuator was asked for and what it did: speeds [m/s] of a drive, angles [rad] of a steering."""

    name: str
    kind: Literal["drive", "steering"]
    time: Array
    reference: Array
    response: Array


@dataclass(frozen=True, slots=True)
class Commands:
    """The commands that arrived. Where they were of the other kind, steering angle or yaw rate is NaN."""

    time: Array
    speed: Array
    v_y: Array
    yaw_rate: Array
    steering_angle: Array


@dataclass(frozen=True, slots=True)
class Recording:
    """A recorded run. All times are the vehicle's own [s], from its first sample.

    Attributes:
        counts: Messages by topic.
    """

    motion: Motion
    actuators: tuple[Actuator, ...]
    commands: Commands
    counts: Counter[str]


def read(path: str | Path) -> Recording:
    """A recording made by :class:`~vds_gz.study.record.Recorder`, also one that was cut short.

    Raises:
        RecordingError: The file cannot be read, or no vehicle is in it.
    """
    counts: Counter[str] = Counter()
    rows: dict[str, list[Any]] = {name: [] for name in ("motion", "reference", "state", "command")}
    names: list[str] = []
    for topic, type_name, log_time, message in messages(Path(path)):
        counts[topic] += 1
        last = topic.rpartition("/")[2]
        if last == topics.GROUND_TRUTH.name and type_name == topics.GROUND_TRUTH.type:
            rows["motion"].append((log_time, *_motion(message)))
        elif last in (topics.ACTUATOR_REFERENCES.name, topics.ACTUATOR_STATES.name):
            names = list(message.name)
            kind = "state" if last == topics.ACTUATOR_STATES.name else "reference"
            rows[kind].append((stamp_ns(message.header.stamp), *message.position, *message.velocity))
        elif (command := _command(last, message)) is not None:
            rows["command"].append((log_time, *_command_row(command)))
    if len(rows["motion"]) < 2:
        raise RecordingError(f"recording '{path}' has no messages on '{topics.GROUND_TRUTH.name}'; is it of a vehicle?")
    # Integers first: nanoseconds since 1970 do not fit into a float.
    log_times = np.array([row[0] for row in rows["motion"]], dtype=np.int64)
    stamps = np.array([row[1] for row in rows["motion"]], dtype=np.int64)
    begin = int(stamps[0])
    columns: list[Array] = list(np.array([row[2:] for row in rows["motion"]], dtype=float).T)
    x, y, heading, *velocity = columns
    turned: Array = np.unwrap(heading)
    return Recording(
        Motion((stamps - begin).astype(float) * 1e-9, x, y, turned, *velocity),
        tuple(_actuators(names, rows["reference"], rows["state"], begin)),
        _commands(rows["command"], log_times, stamps, begin),
        counts,
    )


def messages(path: Path) -> Iterator[tuple[str, str, int, Any]]:
    """Topic, type, log time [ns] and message of all that can be read of the topics needed; others with None."""
    types = MessageTypes()
    known = {topic.type for topic in vars(topics).values() if isinstance(topic, topics.Topic)}
    schemas: dict[int, Schema] = {}
    channels: dict[int, tuple[str, str, Any]] = {}
    try:
        with path.open("rb") as file:
            for record in StreamReader(file).records:
                if isinstance(record, Schema):
                    schemas[record.id] = record
                elif isinstance(record, Channel):
                    name = schemas[record.schema_id].name
                    channels[record.id] = record.topic, name, types.codec(name) if name in known else None
                elif isinstance(record, Message):
                    topic, name, codec = channels[record.channel_id]
                    yield topic, name, record.log_time, codec and codec.decode(bytearray(record.data))
    except McapError as error:
        if not channels:
            raise RecordingError(f"recording '{path}' cannot be read: {error or type(error).__name__}") from None


def _motion(message: Any) -> tuple[float, ...]:
    pose, twist = message.pose.pose, message.twist.twist
    position = pose.position
    stamp = stamp_ns(message.header.stamp)
    return (stamp, position.x, position.y, yaw_of(pose.orientation), twist.linear.x, twist.linear.y, twist.angular.z)


def _command(topic: str, message: Any) -> Command | None:
    """The command in a message, if it is one."""
    if topic == topics.TWIST_REFERENCE.name:
        return command_from_twist(message)
    if topic == topics.TWIST_STAMPED_REFERENCE.name:
        return command_from_twist(message.twist)
    if topic == topics.ACKERMANN_CMD.name:
        return command_from_ackermann(message.drive)
    return None


def _command_row(command: Command) -> tuple[float, ...]:
    if command.kind == ACKERMANN:
        return command.v_x, np.nan, np.nan, command.steering_angle
    return command.v_x, command.v_y, command.yaw_rate, np.nan


def _commands(rows: list[Any], log_times: NDArray[np.int64], stamps: NDArray[np.int64], begin: int) -> Commands:
    """Arrivals are known in the recorder's time; the vehicle's messages tell what time it was for the vehicle."""
    arrived = np.array([row[0] - int(log_times[0]) for row in rows], dtype=float)
    logged = (log_times - log_times[0]).astype(float)
    time = np.interp(arrived, logged, (stamps - begin) * 1e-9)
    # Before the first sample and after the last, both times pass alike.
    time += 1e-9 * (arrived - np.clip(arrived, logged[0], logged[-1]))
    values = np.array([row[1:] for row in rows], dtype=float).reshape(-1, 4).T
    return Commands(time, *values)


def _actuators(names: list[str], references: list[Any], states: list[Any], begin: int) -> Iterator[Actuator]:
    """Samples that have both a reference and a state, by stamp; those after the last time that the clock went back."""
    asked = {row[0]: row[1:] for row in references}
    found = {row[0]: row[1:] for row in states}
    pairs = [(stamp, asked[stamp], values) for stamp, values in found.items() if stamp in asked]
    back = [i for i, (one, other) in enumerate(pairwise(pairs), start=1) if other[0] < one[0]]
    pairs = pairs[back[-1] :] if back else pairs
    if not pairs:
        return
    time = np.array([stamp - begin for stamp, _, _ in pairs]) * 1e-9
    reference = np.array([values for _, values, _ in pairs], dtype=float)
    response = np.array([values for _, _, values in pairs], dtype=float)
    for i, name in enumerate(names):
        if "steering" in name:
            yield Actuator(name, "steering", time, reference[:, i], response[:, i])
        else:
            j = len(names) + i
            yield Actuator(name, "drive", time, reference[:, j], response[:, j])
