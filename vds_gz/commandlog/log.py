"""Command logs: what somebody told a vehicle to do, and when. Read from CSV files and from ROS 2 bags."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn

from vds_gz.errors import VdsGzError
from vds_gz.interface import topics
from vds_gz.ros.errors import MalformedMessageError, UnknownTypeError
from vds_gz.vehicle.command import DRIVE, GREATEST_GEAR

if TYPE_CHECKING:
    from vds_gz.bags.reader import Bag

Kind = Literal["twist", "twist_stamped", "ackermann", "control", "pedals", "autoware_pedals"]

#: Kinds of commands by the type of their messages.
KINDS: dict[str, Kind] = {
    topics.TWIST_REFERENCE.type: "twist",
    topics.TWIST_STAMPED_REFERENCE.type: "twist_stamped",
    topics.ACKERMANN_CMD.type: "ackermann",
    topics.CONTROL_CMD.type: "control",
    topics.ACTUATION_CMD["tier4"].type: "pedals",
    topics.ACTUATION_CMD["autoware"].type: "autoware_pedals",
}

#: Kinds that have a gear, which comes by messages of its own.
GEARED = ("control", "pedals", "autoware_pedals")

BAG_SUFFIXES = (".mcap", ".db3")


class CommandLogError(VdsGzError, ValueError):
    """A command log cannot be used. The message says what was found, where, and what is needed."""


class Velocity(NamedTuple):
    """A velocity of base_link [m/s, m/s, rad/s]."""

    v_x: float
    v_y: float
    yaw_rate: float


class Ackermann(NamedTuple):
    """Speed [m/s] and steering angle [rad]; rate [rad/s] and acceleration [m/s^2] of 0 are as fast as possible."""

    speed: float
    steering_angle: float
    steering_angle_velocity: float = 0.0
    acceleration: float = 0.0


class Control(NamedTuple):
    """Autoware's Control: velocity [m/s], acceleration [m/s^2] and tire angle [rad]."""

    velocity: float
    acceleration: float
    steering_tire_angle: float


class Pedals(NamedTuple):
    """Positions of accelerator and brake, and what the steering is told, in the vehicle's own units."""

    accel_pedal: float
    brake_pedal: float
    steering_command: float


class Gear(NamedTuple):
    """A gear for all commands that follow, by its code in autoware_vehicle_msgs/GearCommand."""

    gear: int


Entry = Velocity | Ackermann | Control | Pedals | Gear

#: Columns of a table are the fields of one of these.
CSV_KINDS: dict[Any, Kind] = {Ackermann: "ackermann", Velocity: "twist", Control: "control", Pedals: "pedals"}


@dataclass(frozen=True, slots=True)
class CommandLog:
    """Commands in the order of time.

    Attributes:
        kind: Which messages they came in, or should go out in.
        times: When each was given [s], counted from the first.
        commands: All of the kind's type; among those of the kinds in :data:`GEARED` gears may stand.
        note: What was noticed while reading, for people; empty for nothing.
    """

    kind: Kind
    times: tuple[float, ...]
    commands: tuple[Entry, ...]
    note: str = field(default="", compare=False)

    @property
    def duration(self) -> float:
        """From the first command to the last [s]."""
        return self.times[-1]


@dataclass(frozen=True, slots=True)
class CommandStream:
    """A log that is read while it is gone through, so that its length does not matter.

    Attributes:
        kind: Which messages the commands came in, or should go out in.
        entries: Time since the first command [s] and command, in the order of time; it raises
            :class:`CommandLogError` where the log is at fault.
        note: What was noticed while opening, for people; empty for nothing.
    """

    kind: Kind
    entries: Iterator[tuple[float, Entry]]
    note: str = ""


def read(path: str | Path, topic: str | None = None) -> CommandLog:
    """The log in a CSV file, a rosbag2 folder, an MCAP file or a .db3 file.

    Args:
        path: The file or folder.
        topic: Which topic of a bag, where there are several with commands.

    Raises:
        CommandLogError: There is no such file, or it holds no usable log.
    """
    return _collected(stream(path, topic))


def stream(path: str | Path, topic: str | None = None) -> CommandStream:
    """As :func:`read`, command by command.

    Raises:
        CommandLogError: There is no such file, or it holds no usable log.
    """
    path = Path(path)
    if not path.exists():
        raise CommandLogError(f"command log '{path}' does not exist (looked in {Path.cwd()})")
    if path.is_dir() or path.suffix in BAG_SUFFIXES:
        return stream_bag(path, topic)
    if topic is not None:
        raise CommandLogError(f"command log '{path}' is a CSV file, which has no topics; leave out topic '{topic}'")
    return stream_csv(path)


def _collected(log: CommandStream) -> CommandLog:
    times, commands = zip(*log.entries, strict=True)
    return CommandLog(log.kind, times, commands, log.note)


# ---------------------------------------------------------------------- CSV


def read_csv(path: Path) -> CommandLog:
    """The log in a CSV file: a row with the names of the columns, then numbers. Lines that begin with # are comments.

    The columns are ``time`` and one of ``v_x``, ``v_y``, ``yaw_rate``; ``speed``, ``steering_angle`` and, if wanted,
    ``steering_angle_velocity``, ``acceleration``; ``velocity``, ``acceleration``, ``steering_tire_angle`` and, if
    wanted, ``gear``; ``accel_pedal``, ``brake_pedal``, ``steering_command`` and, if wanted, ``gear``. They may stand in
    any order.

    Raises:
        CommandLogError: The file holds no usable log.
    """
    return _collected(stream_csv(path))


def stream_csv(path: Path) -> CommandStream:
    """As :func:`read_csv`, row by row.

    Raises:
        CommandLogError: The file holds no usable log.
    """
    rows = _rows(path)
    first = next(rows, None)
    if first is None:
        raise CommandLogError(f"{path}: the file is empty; {_needed()}")
    line, names = first
    command = _command_type(names, f"{path}, line {line}")
    second = next(rows, None)
    if second is None:
        raise CommandLogError(f"{path}: there are only the names of the columns; rows with numbers must follow")
    placed = _csv_entries(path, names, command, chain([second], rows))
    return CommandStream(CSV_KINDS[command], _checked(placed, lambda line: f"{path}, line {line}"))


def _csv_entries(
    path: Path, names: Sequence[str], command: type[Any], rows: Iterable[tuple[int, list[str]]]
) -> Iterator[tuple[int, float, Any]]:
    """Line, time [s] and command of each row, and gears where they change."""
    time = names.index("time")
    gear, last = (names.index("gear") if "gear" in names else None), None
    places = [(field, names.index(field)) for field in command._fields if field in names]
    in_order = [field for field, _ in places] == list(command._fields[: len(places)])
    columns = [column for _, column in places]
    for line, cells in rows:
        try:
            numbers = list(map(float, cells))
        except ValueError:
            numbers = []
        if len(numbers) != len(names):
            _explain(names, cells, f"{path}, line {line}")
        if gear is not None and numbers[gear] != last:
            last = numbers[gear]
            yield line, numbers[time], Gear(_gear(last, f"{path}, line {line}"))
        if in_order:
            yield line, numbers[time], command(*[numbers[column] for column in columns])
        else:
            yield line, numbers[time], command(**{field: numbers[column] for field, column in places})


def _gear(number: float, where: str) -> int:
    if number not in range(GREATEST_GEAR + 1):
        raise CommandLogError(f"{where}, column 'gear': {number:g} must be a whole number from 0 to {GREATEST_GEAR}")
    return int(number)


def write_csv(log: CommandLog, path: str | Path) -> None:
    """Write a log as :func:`read_csv` reads it; numbers keep all their digits."""
    gears = any(isinstance(command, Gear) for command in log.commands)
    names = next(command._fields for command in log.commands if not isinstance(command, Gear))
    rows: list[tuple[str, ...]] = [("time", *names, *(["gear"] if gears else []))]
    gear: tuple[int, ...] = (DRIVE,) if gears else ()
    for time, command in zip(log.times, log.commands, strict=True):
        if isinstance(command, Gear):
            gear = command
        else:
            rows.append(tuple(map(repr, (time, *command, *gear))))
    Path(path).write_text("".join(",".join(row) + "\n" for row in rows), encoding="utf-8")


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Line numbers and cells, without comments and empty lines."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, start=1):
                text = line.strip()
                if text and text[0] != "#":
                    cells = next(csv.reader([text])) if '"' in text else text.split(",")
                    yield number, [cell.strip() for cell in cells]
    except (OSError, UnicodeDecodeError) as error:
        raise CommandLogError(f"command log '{path}' cannot be read as text: {error}") from None


def _command_type(names: Sequence[str], where: str) -> type[Any]:
    """What the columns hold."""
    if all(_is_number(name) for name in names):
        raise CommandLogError(f"{where}: the first row has numbers and must have the names of the columns; {_needed()}")
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise CommandLogError(f"{where}: column '{repeated[0]}' is there twice")
    known = {"time", "gear"}.union(*(command._fields for command in CSV_KINDS))
    if unknown := [name for name in names if name not in known]:
        raise CommandLogError(f"{where}: column {names.index(unknown[0]) + 1} is '{unknown[0]}'; {_needed()}")
    command: Any = max(CSV_KINDS, key=lambda one: len(set(names) & set(one._fields)))
    required = ["time", *(name for name in command._fields if name not in command._field_defaults)]
    if missing := [name for name in required if name not in names]:
        raise CommandLogError(f"{where}: there is no column '{missing[0]}'; {_needed()}")
    geared = ["gear"] if CSV_KINDS[command] in GEARED else []
    if foreign := [name for name in names if name not in ("time", *command._fields, *geared)]:
        raise CommandLogError(f"{where}: column '{foreign[0]}' does not go with '{required[1]}'; {_needed()}")
    return command


def _explain(names: Sequence[str], cells: Sequence[str], where: str) -> NoReturn:
    """Say what is wrong with a row."""
    if len(cells) != len(names):
        raise CommandLogError(f"{where}: there are {len(cells)} values for {len(names)} columns ({','.join(names)})")
    name, cell = next(pair for pair in zip(names, cells, strict=True) if not _is_number(pair[1]))
    raise CommandLogError(f"{where}, column '{name}': '{cell}' must be a number")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _needed() -> str:
    optional = ",".join(Ackermann._field_defaults)
    driven = " or ".join(f"time,{','.join(command._fields)}[,gear]" for command in (Control, Pedals))
    return f"the columns must be time,v_x,v_y,yaw_rate or time,speed,steering_angle[,{optional}] or {driven}"


# ---------------------------------------------------------------------- bags


def read_bag(path: Path, topic: str | None = None) -> CommandLog:
    """The log in a rosbag2 folder or file: one topic with messages of a command type, at the times of recording.

    ``twist_actual`` is no candidate, as it tells what a vehicle did.

    Args:
        path: The folder or file.
        topic: Which topic, where there are several.

    Raises:
        CommandLogError: The bag cannot be read, or it does not hold one usable log.
    """
    return _collected(stream_bag(path, topic))


def stream_bag(path: Path, topic: str | None = None) -> CommandStream:
    """As :func:`read_bag`, message by message.

    Raises:
        CommandLogError: The bag cannot be read, or it does not hold one usable log.
    """
    raw = _messages(path, topic)
    name, type_name, note = next(raw)
    where = f"{path}, topic '{name}'"
    placed = _decoded(where, raw)
    return CommandStream(KINDS[type_name], _checked(placed, lambda number: f"{where}, message {number}"), note)


def _messages(path: Path, topic: str | None) -> Iterator[Any]:
    """Name and type of the topic to read and what is to be noted, then type, time [ns] and bytes of each message.

    Gears come along with commands that have one.
    """
    try:
        from vds_gz.bags.connection import BagError
        from vds_gz.bags.reader import open_bag
    except ModuleNotFoundError as error:
        raise CommandLogError(f"bag '{path}' needs '{error.name}': pip install 'vds_gz[dds,record]'") from None
    try:
        with open_bag(path) as bag:
            chosen = _choose(path, bag, topic)
            yield *chosen, f"'{path}' is cut short; what is left of it is used" if bag.cut_short else ""
            wanted = {chosen}
            if KINDS[chosen[1]] in GEARED:
                wanted.add((f"{chosen[0].rpartition('/')[0]}/{topics.GEAR_CMD.name}", topics.GEAR_CMD.type))
            for one, time, data in bag.messages(one for one in bag.connections if (one.topic, one.msgtype) in wanted):
                yield one.msgtype, time, data
    except BagError as error:
        raise CommandLogError(str(error)) from None


def _choose(path: Path, bag: Bag, topic: str | None) -> tuple[str, str]:
    """Name and type of the topic to read."""
    counts = bag.counts()
    if topic is not None:
        wanted = "/" + topic.lstrip("/")
        found = [key for key in counts if key[0] == wanted]
        if not found:
            raise CommandLogError(f"bag '{path}' has no topic '{wanted}'; it has {bag.described()}")
        if found[0][1] not in KINDS:
            raise CommandLogError(f"bag '{path}': topic '{wanted}' is {found[0][1]}; it must be {', '.join(KINDS)}")
        if counts[found[0]] == 0:
            raise CommandLogError(f"bag '{path}': topic '{wanted}' has no messages")
        return found[0]
    actual = topics.TWIST_ACTUAL.name
    candidates = [key for key in counts if key[1] in KINDS and counts[key] and key[0].rpartition("/")[2] != actual]
    if not candidates:
        raise CommandLogError(
            f"bag '{path}' has no messages with commands; one topic must be {', '.join(KINDS)}. "
            f"It has {bag.described()}"
        )
    if len(candidates) > 1:
        listed = ", ".join(f"{name} ({kind}, {counts[name, kind]})" for name, kind in sorted(candidates))
        raise CommandLogError(f"bag '{path}' has several topics with commands: {listed}; choose one with --topic NAME")
    return candidates[0]


def _decoded(where: str, raw: Iterable[tuple[str, int, bytes]]) -> Iterator[tuple[int, float, Any]]:
    """Number, time [s] and command of each message."""
    from vds_gz.ros.messages.factory import open_types

    codec = cache(open_types().codec)
    begin = None
    for number, (type_name, time, data) in enumerate(raw, start=1):
        try:
            message = codec(type_name).decode(bytearray(data))
        except (MalformedMessageError, UnknownTypeError) as error:
            raise CommandLogError(f"{where}, message {number}: {error}") from None
        begin = time if begin is None else begin
        yield number, (time - begin) * 1e-9, _command(type_name, message)


def _command(type_name: str, message: Any) -> Entry:
    if type_name == topics.GEAR_CMD.type:
        return Gear(int(message.command))
    kind = KINDS[type_name]
    if kind == "ackermann":
        drive = message.drive
        values = drive.speed, drive.steering_angle, drive.steering_angle_velocity, drive.acceleration
        return Ackermann(*map(float, values))
    if kind == "control":
        along, across = message.longitudinal, message.lateral
        return Control(float(along.velocity), float(along.acceleration), float(across.steering_tire_angle))
    if kind in GEARED:
        actuation = message.actuation if kind == "pedals" else message.actuation_command
        return Pedals(float(actuation.accel_cmd), float(actuation.brake_cmd), float(actuation.steer_cmd))
    twist = message.twist if kind == "twist_stamped" else message
    return Velocity(float(twist.linear.x), float(twist.linear.y), float(twist.angular.z))


# ---------------------------------------------------------------------- both


def _checked(entries: Iterable[tuple[int, float, Any]], where: Callable[[int], str]) -> Iterator[tuple[float, Any]]:
    """Time since the first entry and command of every (place, time, command)."""
    begin = last = None
    finite = math.isfinite
    for place, time, command in entries:
        if not (finite(time) and all(map(finite, command))):
            named = zip(("time", *command._fields), (time, *command), strict=True)
            name, value = next(pair for pair in named if not finite(pair[1]))
            raise CommandLogError(f"{where(place)}: '{name}' is {value}; it must be a finite number")
        if begin is None or last is None:
            begin = last = time
        if time < last:
            raise CommandLogError(
                f"{where(place)}: time is {time:g} s after {last:g} s before it; time must not decrease. "
                "Is another column in its place?"
            )
        last = time
        yield time - begin, command
