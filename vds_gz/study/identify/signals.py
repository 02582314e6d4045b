"""What was commanded and what was measured, out of bags and tables of any vehicle.

A bag gives two clocks: when a message was recorded, and its stamp. Commands count when they were recorded. Measurements
count at their stamps, which do not jitter; where the stamps come from a clock that is off, they are moved by the least
difference to the recorder's, so that only the quickest message's transport stays in them.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from vds_gz.bags.connection import BagError, Connection, may_be_bag
from vds_gz.bags.reader import open_bag
from vds_gz.interface.commands import CommandType, whole_types
from vds_gz.interface.conversions import stamp_ns
from vds_gz.interface.messages import JointState, Twist
from vds_gz.ros.errors import MalformedMessageError, UnknownTypeError
from vds_gz.ros.messages.factory import TypeCodec, open_types
from vds_gz.study.recording import Array, RecordingError
from vds_gz.vehicle.command import PEDALS

#: Quantities: velocities of base_link [m/s, m/s, rad/s], and the steering angle [rad].
QUANTITIES = ("v_x", "v_y", "yaw_rate", "steering")

#: Commands of a car with pedals: positions of accelerator and brake, angle of the steering wheel [rad].
ACTUATIONS = ("accel", "brake", "wheel")

#: Clocks that differ by less are the same one, and the difference is transport [s].
SAME_CLOCK = 0.3


class SignalError(RecordingError):
    """A file does not hold what is needed. The message says what was found and what is needed."""


@dataclass(frozen=True, slots=True)
class Series:
    """Values at times [s], in the order of time."""

    time: Array
    value: Array


@dataclass(slots=True)
class Signals:
    """What a file holds, by quantity.

    Attributes:
        steers: Commands are of speed and steering angle.
        notes: What was noticed on the way, for people.
    """

    commanded: dict[str, Series] = field(default_factory=dict)
    measured: dict[str, Series] = field(default_factory=dict)
    steers: bool = False
    notes: list[str] = field(default_factory=list)


# ---------------------------------------------------------------------- bags


def _of_twist(twist: Twist) -> dict[str, float]:
    return {"v_x": twist.linear.x, "v_y": twist.linear.y, "yaw_rate": twist.angular.z}


def _of_joints(message: JointState) -> dict[str, float]:
    """The mean of all joints that steer; by their names, for a robot's own bag says nothing else of its joints."""
    angles = [message.position[i] for i, name in enumerate(message.name) if "steer" in name and "wheel" not in name]
    return {"steering": sum(angles) / len(angles)} if angles else {}


Reader = Callable[[Any], dict[str, float]]


def command_readers(*, pedals: bool) -> dict[str, Reader]:
    """How the messages of all command types are read, by their type: those of cars with pedals, or the others."""
    return {one.topic.type: _reader(one) for one in whole_types() if (one.kind == PEDALS) == pedals}


def _reader(one: CommandType) -> Reader:
    if one.kind == PEDALS:
        return lambda message: dict(zip(ACTUATIONS, one.decode(message), strict=True))
    return lambda message: dict(zip(QUANTITIES, one.decode(message).reference(), strict=True))


MEASUREMENTS: dict[str, Reader] = {
    "nav_msgs/msg/Odometry": lambda m: _of_twist(m.twist.twist),
    "geometry_msgs/msg/TwistStamped": lambda m: _of_twist(m.twist),
    "autoware_vehicle_msgs/msg/VelocityReport": lambda m: {
        "v_x": m.longitudinal_velocity,
        "v_y": m.lateral_velocity,
        "yaw_rate": m.heading_rate,
    },
    "autoware_vehicle_msgs/msg/SteeringReport": lambda m: {"steering": m.steering_tire_angle},
    "sensor_msgs/msg/JointState": _of_joints,
}

STEERING_TYPES = ("autoware_vehicle_msgs/msg/SteeringReport", "sensor_msgs/msg/JointState")

#: Of several topics, the first that is there: last parts of names. Of commands, as the table has them.
PREFERRED_SPEEDS = ("twist_actual", "odom", "velocity_status", "odometry")
PREFERRED_STEERINGS = ("actuator_states", "steering_status", "joint_states")


def read_signals(path: str | Path, columns: dict[str, str] | None = None) -> Signals:
    """What was commanded and what was measured, out of a bag or a CSV file, for ``identify``.

    Args:
        path: A bag (rosbag2 folder, .mcap, .db3), whose topics are found by type and name, or a CSV file with a
            column ``time`` [s] and pairs such as ``v_x_command,v_x_measured`` [m/s] or
            ``steering_command,steering_measured`` [rad].
        columns: Of a CSV file, other names by quantity: ``{"v_x": "cmd:odom_v"}``.

    Raises:
        SignalError: The file holds no commands with measurements.
    """
    path = Path(path)
    if may_be_bag(path):
        return read_bag(path)
    return read_csv(path, columns)


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
        command, velocity, steering: Topics.
        pedals: The commands are those of a car with pedals.

    Raises:
        SignalError: The bag cannot be read, or topics are missing.
    """
    known = command_readers(pedals=pedals)
    preferred = (*(one.topic.name for one in whole_types()), "cmd_vel")
    try:
        with open_bag(path) as bag:
            counts = {name: (kind, count) for (name, kind), count in bag.counts().items() if count}
            commands = _choose(path, counts, known, "commands", "--command", command, preferred)
            speeds = _choose(path, counts, MEASUREMENTS, "velocities", "--velocity", velocity, PREFERRED_SPEEDS)
            angles = _optional(path, counts, steering)
            wanted = {commands: "command", speeds: "velocity"} | ({angles: "steering"} if angles else {})
            sources = [one for one in bag.connections if one.topic in wanted]
            rows = list(_rows(path, bag.messages(sources), wanted, known))
            cut_short = bag.cut_short
    except BagError as error:
        raise SignalError(str(error)) from None
    except UnknownTypeError as error:
        raise SignalError(f"'{path}': {error}") from None
    signals = _signals(rows)
    signals.notes.insert(0, f"commands '{commands}', velocities '{speeds}', steering '{angles or 'none'}'")
    if cut_short:
        signals.notes.append(f"'{path}' is cut short; it was read up to its last whole part")
    return signals


def _choose(
    path: Path,
    counts: dict[str, tuple[str, int]],
    known: dict[str, Reader],
    what: str,
    option: str,
    named: str | None,
    preferred: tuple[str, ...],
) -> str:
    """The topic that was named, or the one that looks most like it."""
    listed = ", ".join(f"{name} ({kind}, {count})" for name, (kind, count) in sorted(counts.items())) or "no messages"
    if named is not None:
        name = "/" + named.lstrip("/")
        if name not in counts:
            raise SignalError(f"'{path}' has no messages on '{name}' ({option}); it has {listed}")
        if counts[name][0] not in known:
            raise SignalError(f"'{path}': '{name}' is {counts[name][0]}; {what} must be {', '.join(known)}")
        return name
    fitting = [name for name, (kind, _) in counts.items() if kind in known]
    for last in preferred:
        for name in sorted(fitting):
            if name.rpartition("/")[2] == last:
                return name
    raise SignalError(f"'{path}': no topic with {what} was recognised; name it with {option} TOPIC. It has {listed}")


def _optional(path: Path, counts: dict[str, tuple[str, int]], named: str | None) -> str | None:
    """The topic with steering angles, if there is one."""
    known = {name: MEASUREMENTS[name] for name in STEERING_TYPES}
    try:
        return _choose(path, counts, known, "steering angles", "--steering", named, PREFERRED_STEERINGS)
    except SignalError:
        if named is not None:
            raise
        return None


Message = tuple[Connection, int, bytes]
Row = tuple[str, float, float | None, dict[str, float]]


def _rows(path: Path, messages: Iterable[Message], wanted: dict[str, str], known: dict[str, Reader]) -> Iterator[Row]:
    """Role, time of recording [s], stamp [s] and values of each message."""
    types = open_types()
    codecs: dict[str, TypeCodec] = {}
    begin: int | None = None
    for connection, time, data in messages:
        kind = connection.msgtype
        codec = codecs.get(kind) or codecs.setdefault(kind, types.codec(kind))
        try:
            message = codec.decode(bytearray(data))
        except MalformedMessageError as error:
            raise SignalError(f"'{path}', topic '{connection.topic}': {error}") from None
        begin = time if begin is None else begin
        role = wanted[connection.topic]
        stamp = getattr(message, "stamp", None) or getattr(getattr(message, "header", None), "stamp", None)
        stamped = None if stamp is None or not stamp_ns(stamp) else (stamp_ns(stamp) - begin) * 1e-9
        values = (known if role == "command" else MEASUREMENTS)[kind](message)
        if role == "velocity":
            values.pop("steering", None)
        yield role, (time - begin) * 1e-9, stamped, values


def _signals(rows: list[Row]) -> Signals:
    signals = Signals()
    for role in ("command", "velocity", "steering"):
        chosen = [row for row in rows if row[0] == role]
        if not chosen:
            continue
        logged = np.array([row[1] for row in chosen])
        time = logged if role == "command" else _measured_time(logged, [row[2] for row in chosen], role, signals.notes)
        into = signals.commanded if role == "command" else signals.measured
        for name in (*QUANTITIES, *ACTUATIONS):
            values = np.array([row[3].get(name, math.nan) for row in chosen], float)
            if np.isfinite(values).any():
                into[name] = clean(time, values, f"{role} {name}", signals.notes)
    signals.steers = "steering" in signals.commanded
    return signals


def _measured_time(logged: Array, stamps: list[float | None], role: str, notes: list[str]) -> Array:
    """Times of measurement, by the recorder's clock."""
    if any(stamp is None for stamp in stamps):
        return logged
    stamped = np.array(stamps, float)
    difference = logged - stamped
    if abs(float(np.median(difference))) < SAME_CLOCK:
        return stamped
    offset = float(np.percentile(difference, 1.0))
    notes.append(f"the stamps of {role} are off by {offset:+.3f} s against the recorder's clock; this was taken out")
    return stamped + offset


def clean(time: Array, value: Array, what: str, notes: list[str]) -> Series:
    """The samples that are finite, in the order of time, one a time."""
    finite = np.isfinite(time) & np.isfinite(value)
    if not finite.all():
        notes.append(f"{int((~finite).sum())} samples of {what} are no finite numbers; they were left out")
    time, value = time[finite], value[finite]
    order = np.argsort(time, kind="stable")
    time, value = time[order], value[order]
    last = np.append(np.diff(time) > 0.0, True) if len(time) else np.zeros(0, bool)
    time, value = time[last], value[last]
    if len(time) > 2 and (gap := float(np.max(np.diff(time)))) > max(1.0, 20.0 * float(np.median(np.diff(time)))):
        at = float(time[int(np.argmax(np.diff(time)))])
        notes.append(f"{what} has a gap of {gap:.2f} s at {at:.2f} s")
    return Series(time, value)


# ---------------------------------------------------------------------- tables

#: Names of columns that are understood, first come first served.
COMMAND_COLUMNS = {
    "v_x": ("v_x_command", "speed_command", "cmd_v_x", "drive_reference"),
    "v_y": ("v_y_command", "cmd_v_y"),
    "yaw_rate": ("yaw_rate_command", "cmd_yaw_rate"),
    "steering": ("steering_command", "steering_angle_command", "cmd_steering", "steering_reference"),
}
MEASURED_COLUMNS = {
    "v_x": ("v_x_measured", "speed_measured", "drive_actual", "v_x", "speed"),
    "v_y": ("v_y_measured", "v_y"),
    "yaw_rate": ("yaw_rate_measured", "yaw_rate"),
    "steering": ("steering_measured", "steering_actual", "steering", "steering_angle"),
}


def read_csv(path: Path, columns: dict[str, str] | None = None) -> Signals:
    """The signals in a table with a column ``time`` [s]; an empty cell is no sample.

    Args:
        path: The file.
        columns: Own names by quantity: ``command:measured``.

    Raises:
        SignalError: The file holds no commands with measurements.
    """
    table = _table(path, _needed())
    signals = Signals()
    for quantity in QUANTITIES:
        own = (columns or {}).get(quantity, "").partition(":")
        command = _find(path, table, (own[0],) if own[0] else COMMAND_COLUMNS[quantity], bool(own[0]))
        measured = _find(path, table, (own[2],) if own[2] else MEASURED_COLUMNS[quantity], bool(own[2]))
        if command and measured:
            signals.commanded[quantity] = clean(table["time"], table[command], command, signals.notes)
            signals.measured[quantity] = clean(table["time"], table[measured], measured, signals.notes)
    if not signals.commanded:
        raise SignalError(
            f"{path}: no column with commands has one with measurements; it has {','.join(table)}; {_needed()}"
        )
    signals.steers = "steering" in signals.commanded
    return signals


#: Names of columns of a car with pedals.
ACTUATION_COLUMNS = {
    "accel": ("accel", "accel_cmd", "accel_pedal", "throttle"),
    "brake": ("brake", "brake_cmd", "brake_pedal"),
    "wheel": ("wheel", "steer_cmd", "steering_wheel"),
}


def read_actuation_csv(path: Path, columns: dict[str, str] | None = None) -> Signals:
    """Pedals, steering wheel and what was measured, out of a table with a column ``time`` [s].

    Args:
        path: The file.
        columns: Own names by quantity.

    Raises:
        SignalError: The file is no such table.
    """
    table = _table(path, "needed are time, and accel,brake,v_x or wheel,steering")
    signals = Signals()
    for quantity, names in (ACTUATION_COLUMNS | {one: MEASURED_COLUMNS[one] for one in ("v_x", "steering")}).items():
        own = (columns or {}).get(quantity)
        name = _find(path, table, (own,) if own else names, own is not None)
        if name is not None:
            into = signals.commanded if quantity in ACTUATIONS else signals.measured
            into[quantity] = clean(table["time"], table[name], name, signals.notes)
    return signals


def _table(path: Path, needed: str) -> dict[str, Array]:
    """The columns of a table."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            reader = csv.reader(file)
            rows = [(reader.line_num, row) for row in reader if row and not row[0].startswith("#")]
    except (OSError, UnicodeDecodeError) as error:
        raise SignalError(f"'{path}' cannot be read as text: {error}") from None
    if len(rows) < 2:
        raise SignalError(f"{path}: the file is empty; {needed}")
    (_, head), *body = rows
    names = [name.strip() for name in head]
    if "time" not in names:
        raise SignalError(f"{path}: there is no column 'time'; it has {','.join(names)}; {needed}")
    table = {name: _column(path, body, i, name) for i, name in enumerate(names)}
    if (np.diff(table["time"]) < 0.0).any():
        line = body[int(np.argmax(np.diff(table["time"]) < 0.0)) + 1][0]
        raise SignalError(f"{path}, line {line}: column 'time' decreases. Is another column in its place?")
    return table


def _find(path: Path, table: dict[str, Array], names: tuple[str, ...], required: bool) -> str | None:
    found = next((name for name in names if name in table), None)
    if found is None and required:
        raise SignalError(f"{path}: there is no column '{names[0]}'; it has {','.join(table)}")
    return found


def _column(path: Path, rows: list[tuple[int, list[str]]], place: int, name: str) -> Array:
    values = np.full(len(rows), math.nan)
    for i, (line, row) in enumerate(rows):
        text = row[place].strip() if place < len(row) else ""
        try:
            values[i] = float(text) if text else math.nan
        except ValueError:
            raise SignalError(f"{path}, line {line}, column '{name}': '{text}' must be a number or empty") from None
    return values


def _needed() -> str:
    return "needed are time and pairs such as v_x_command,v_x_measured or steering_command,steering_measured"
