"""What was commanded and what was measured, out of bags of any vehicle.

One topic gives the main velocities and one the main steering angle, by name or by what it looks like; whatever else
measures the motion gives further channels. A channel whose values are those of another one at the same times is a copy
and left out: nodes publish one measurement on several topics, and to count it twice would make it look too certain.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from vds_gz.bags.connection import BagError, Connection
from vds_gz.bags.reader import open_bag
from vds_gz.interface.commands import GEAR_COMMAND, command_types, whole_types
from vds_gz.interface.conversions import stamp_ns
from vds_gz.ros.errors import MalformedMessageError, UnknownTypeError
from vds_gz.ros.messages.factory import TypeCodec, open_types
from vds_gz.study.reading.clean import clean, note_pieces, unwrapped
from vds_gz.study.reading.clocks import measured_time
from vds_gz.study.reading.messages import (
    MEASUREMENTS,
    STEERING_TYPES,
    VELOCITY_TYPES,
    Key,
    Reader,
    command_readers,
)
from vds_gz.study.recording import Array
from vds_gz.study.signals import MeasuredChannel, SignalError, Signals, is_hinge

#: Of several topics, the first that is there: last parts of names. Of commands, as the table has them.
PREFERRED_SPEEDS = ("twist_actual", "odom", "velocity_status", "odometry")
PREFERRED_STEERINGS = ("actuator_states", "steering_status", "joint_states")

#: Topics of types of measurements that are none, by a part of their names.
_NOT_MEASURED = re.compile(r"cmd|command|reference|target|desired|setpoint|goal|plan")

#: States of actuators, which are no joints: of them only the steering angle counts.
_ACTUATORS = "actuator_states"

#: Values that differ by less than this part of their range are the same.
_SAME = 1e-6

Counts = Mapping[str, tuple[str, int]]
Message = tuple[Connection, int, bytes]


@dataclass(slots=True)
class _Column:
    """What one topic holds: times of recording and stamps [s], and the numbers of its messages, NaN where one lacks."""

    logged: array[float] = field(default_factory=lambda: array("d"))
    stamps: array[float] = field(default_factory=lambda: array("d"))
    numbers: dict[Key, array[float]] = field(default_factory=dict)

    def append(self, logged: float, stamp: float, values: Mapping[Key, float]) -> None:
        """Add a message."""
        for key in values:
            if key not in self.numbers:
                self.numbers[key] = array("d", [math.nan]) * len(self.logged)
        for key, column in self.numbers.items():
            column.append(values.get(key, math.nan))
        self.logged.append(logged)
        self.stamps.append(stamp)

    def time(self, what: str, notes: list[str]) -> Array:
        """When the numbers were measured [s]."""
        return measured_time(np.array(self.logged), np.array(self.stamps), what, notes)


@dataclass(frozen=True, slots=True)
class _Chosen:
    """Topics of a bag by what they are for; empty where there is none."""

    command: str
    velocity: str
    steering: str
    gear: str
    others: tuple[str, ...]

    def all(self) -> set[str]:
        return {self.command, self.velocity, self.steering, self.gear, *self.others} - {""}


def read_bag(
    path: Path,
    *,
    command: str | None = None,
    velocity: str | None = None,
    steering: str | None = None,
    pedals: bool = False,
) -> Signals:
    """The signals in a bag, of the topics named or of those that look right.

    Args:
        path: The bag.
        command, velocity, steering: Topics of the commands and of the main measurements.
        pedals: The commands are those of a car with pedals.

    Raises:
        SignalError: The bag cannot be read, or topics are missing.
    """
    readers = command_readers(pedals=pedals)
    try:
        with open_bag(path) as bag:
            counts = {name: (kind, count) for (name, kind), count in bag.counts().items() if count}
            chosen = _choose_topics(path, counts, readers, command, velocity, steering)
            wanted = [one for one in bag.connections if one.topic in chosen.all()]
            commands = readers | {GEAR_COMMAND.topic.type: _gear}
            topics = _columns(path, bag.messages(wanted), {chosen.command, chosen.gear}, commands)
            cut_short = bag.cut_short
    except BagError as error:
        raise SignalError(str(error)) from None
    except UnknownTypeError as error:
        raise SignalError(f"'{path}': {error}") from None
    signals = _signals(chosen, topics)
    main = f"velocities '{chosen.velocity or 'none'}', steering '{chosen.steering or 'none'}'"
    further = sorted({one.source for one in signals.further} - {chosen.velocity, chosen.steering})
    also = f", also measured {', '.join(map(repr, further))}" if further else ""
    signals.notes.insert(0, f"commands '{chosen.command}', {main}{also}")
    if cut_short:
        signals.notes.append(f"'{path}' is cut short; it was read up to its last whole part")
    return signals


def _gear(message: object) -> dict[Key, float]:
    return {Key("gear"): float(GEAR_COMMAND.decode(message).command().gear)}


# ---------------------------------------------------------------------- topics


def _choose_topics(
    path: Path,
    counts: Counts,
    readers: Collection[str],
    command: str | None,
    velocity: str | None,
    steering: str | None,
) -> _Chosen:
    preferred = (*(one.topic.name for one in whole_types()), "cmd_vel")
    commands = _choose(path, counts, readers, "commands", "--command", command, preferred)
    used = {commands, *_never_measured(counts)}
    measured = {name: one for name, one in counts.items() if name not in used and one[0] in MEASUREMENTS}
    speeds = _choose(path, counts, VELOCITY_TYPES, "velocities", "--velocity", velocity, PREFERRED_SPEEDS, measured)
    angles = _choose(
        path, counts, STEERING_TYPES, "steering angles", "--steering", steering, PREFERRED_STEERINGS, measured
    )
    if not measured:
        raise SignalError(_nothing(path, "velocities", "--velocity", counts))
    others = tuple(sorted(measured.keys() - {speeds, angles}))
    geared = {one.topic.type for one in whole_types() if one.geared}
    gears = [name for name, (kind, _) in counts.items() if kind == GEAR_COMMAND.topic.type]
    near = [name for name in gears if _folder(name) == _folder(commands)] or gears
    gear = min(near, default="") if counts[commands][0] in geared else ""
    return _Chosen(commands, speeds, angles, gear, others)


def _never_measured(counts: Counts) -> Iterator[str]:
    """Topics that command, or tell what should be, though their type is one of measurements."""
    ours = {one.topic.name for one in command_types()}
    for name in counts:
        last = name.rpartition("/")[2]
        if last in ours or _NOT_MEASURED.search(last):
            yield name


def _choose(
    path: Path,
    counts: Counts,
    known: Collection[str],
    what: str,
    option: str,
    named: str | None,
    preferred: tuple[str, ...],
    among: Counts | None = None,
) -> str:
    """The topic that was named, or the one that looks most like it; of measurements the only one, or empty."""
    if named is not None:
        name = "/" + named.lstrip("/")
        if name not in counts:
            raise SignalError(f"'{path}' has no messages on '{name}' ({option}); it has {_listed(counts)}")
        if counts[name][0] not in known:
            raise SignalError(f"'{path}': '{name}' is {counts[name][0]}; {what} must be {', '.join(known)}")
        return name
    fitting = [name for name, (kind, _) in (counts if among is None else among).items() if kind in known]
    for last in preferred:
        for name in sorted(fitting):
            if _last(name) == last:
                return name
    if among is None:
        raise SignalError(_nothing(path, what, option, counts))
    return fitting[0] if len(fitting) == 1 else ""


def _nothing(path: Path, what: str, option: str, counts: Counts) -> str:
    return f"'{path}': no topic with {what} was recognised; name it with {option} TOPIC. It has {_listed(counts)}"


def _listed(counts: Counts) -> str:
    return ", ".join(f"{name} ({kind}, {count})" for name, (kind, count) in sorted(counts.items())) or "no messages"


def _folder(topic: str) -> str:
    return topic.rpartition("/")[0]


def _last(topic: str) -> str:
    return topic.rpartition("/")[2]


# ---------------------------------------------------------------------- messages


def _columns(
    path: Path, messages: Iterable[Message], commanding: Collection[str], commands: Mapping[str, Reader]
) -> dict[str, _Column]:
    """The numbers of each topic's messages; times [s] count from the first."""
    types = open_types()
    codecs: dict[str, TypeCodec] = {}
    columns: dict[str, _Column] = {}
    begin: int | None = None
    for connection, time, data in messages:
        kind = connection.msgtype
        codec = codecs.get(kind) or codecs.setdefault(kind, types.codec(kind))
        try:
            message = codec.decode(bytearray(data))
        except MalformedMessageError as error:
            raise SignalError(f"'{path}', topic '{connection.topic}': {error}") from None
        begin = time if begin is None else begin
        stamp = getattr(message, "stamp", None) or getattr(getattr(message, "header", None), "stamp", None)
        stamped = math.nan if stamp is None or not stamp_ns(stamp) else (stamp_ns(stamp) - begin) * 1e-9
        reader = (commands if connection.topic in commanding else MEASUREMENTS)[kind]
        columns.setdefault(connection.topic, _Column()).append((time - begin) * 1e-9, stamped, reader(message))
    return columns


def _signals(chosen: _Chosen, topics: Mapping[str, _Column]) -> Signals:
    signals = Signals()
    for topic in (chosen.command, chosen.gear):
        if (column := topics.get(topic)) is not None:
            logged = np.array(column.logged)
            for key, numbers in _there(column):
                what = f"command {key.quantity}"
                signals.commanded[key.quantity] = clean(logged, numbers, what, signals.notes)
    signals.steers = "steering" in signals.commanded
    for topic, role in _in_order(chosen):
        if (column := topics.get(topic)) is not None:
            _measure(signals, topic, role, column)
    note_pieces(signals)
    return signals


def _in_order(chosen: _Chosen) -> Iterator[tuple[str, str]]:
    """Topics of measurements and what they are for; a copy is one of what comes before."""
    yield chosen.velocity, "velocity"
    yield chosen.steering, "steering"
    for topic in chosen.others:
        yield topic, ""


def _measure(signals: Signals, topic: str, role: str, column: _Column) -> None:
    """Take a topic's numbers as main measurements or further channels."""
    time = column.time(role or f"'{topic}'", signals.notes)
    there = list(_there(column))
    hinges = sum(is_hinge(key.joint) for key, _ in there)
    for key, numbers in there:
        quantity, joint = key
        main = quantity in {"velocity": ("v_x", "v_y", "yaw_rate"), "steering": ("steering",)}.get(role, ())
        if joint and (_last(topic) == _ACTUATORS or (role == "steering" and hinges == 1 and is_hinge(joint))):
            continue  # the one hinge is the steering
        if quantity == "steering" and hinges and not main:
            continue  # the mean of hinges which stand there by themselves
        what = f"{role or topic} {joint or quantity}"
        series = clean(time, numbers, what, signals.notes)
        if main:
            signals.measured[quantity] = series
            signals.sources[quantity] = topic
        else:
            name = f"{topic.lstrip('/')} {joint or quantity}"
            channel = unwrapped(MeasuredChannel(name, quantity, topic, series, joint))
            if not any(_copies(channel, other) for other in signals.channels):
                signals.further.append(channel)


def _there(column: _Column) -> Iterator[tuple[Key, Array]]:
    """The numbers of which there are any."""
    for key, numbers in column.numbers.items():
        values = np.array(numbers)
        if np.isfinite(values).any():
            yield key, values


def _copies(one: MeasuredChannel, other: MeasuredChannel) -> bool:
    """Whether a channel says at the times of another one just what that says."""
    if (one.quantity, one.joint) != (other.quantity, other.joint):
        return False
    _, mine, others = np.intersect1d(one.series.time, other.series.time, assume_unique=True, return_indices=True)
    fewest = min(len(one.series.time), len(other.series.time))
    if len(mine) < max(0.9 * fewest, 1):
        return False
    a, b = one.series.value[mine], other.series.value[others]
    return float(np.max(np.abs(a - b))) <= _SAME * max(float(np.ptp(b)), _SAME)
