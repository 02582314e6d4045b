"""Command logs: what somebody told a vehicle to do, and when. Read from CSV files and from ROS 2 bags."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from vds_gz.ros import topics

Kind = Literal["twist", "twist_stamped", "ackermann"]

#: Kinds of commands by the type of their messages.
KINDS: dict[str, Kind] = {
    topics.TWIST_REFERENCE.type: "twist",
    topics.TWIST_STAMPED_REFERENCE.type: "twist_stamped",
    topics.ACKERMANN_CMD.type: "ackermann",
}

BAG_SUFFIXES = (".mcap", ".db3")


class CommandLogError(ValueError):
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


@dataclass(frozen=True, slots=True)
class CommandLog:
    """Commands in the order of time.

    Attributes:
        kind: Which messages they came in, or should go out in.
        times: When each was given [s], counted from the first.
        commands: All of one type: ``Ackermann`` for the kind ``ackermann``, ``Velocity`` for the others.
    """

    kind: Kind
    times: tuple[float, ...]
    commands: tuple[Velocity | Ackermann, ...]

    @property
    def duration(self) -> float:
        """From the first command to the last [s]."""
        return self.times[-1]


def read(path: str | Path, topic: str | None = None) -> CommandLog:
    """The log in a CSV file, a rosbag2 folder, an MCAP file or a .db3 file.

    Args:
        path: The file or folder.
        topic: Which topic of a bag, where there are several with commands.

    Raises:
        CommandLogError: There is no such file, or it holds no usable log.
    """
    path = Path(path)
    if not path.exists():
        raise CommandLogError(f"command log '{path}' does not exist (looked in {Path.cwd()})")
    if path.is_dir() or path.suffix in BAG_SUFFIXES:
        return read_bag(path, topic)
    if topic is not None:
        raise CommandLogError(f"command log '{path}' is a CSV file, which has no topics; leave out topic '{topic}'")
    return read_csv(path)


# ---------------------------------------------------------------------- CSV


def read_csv(path: Path) -> CommandLog:
    """The log in a CSV file: a row with the names of the columns, then numbers. Lines that begin with # are comments.

    The columns are ``time`` and either ``v_x``, ``v_y``, ``yaw_rate`` or ``speed``, ``steering_angle`` and, if wanted,
    ``steering_angle_velocity``, ``acceleration``. They may stand in any order.

    Raises:
        CommandLogError: The file holds no usable log.
    """
    rows = list(_rows(path))
    if not rows:
        raise CommandLogError(f"{path}: the file is empty; {_needed()}")
    (line, names), data = rows[0], rows[1:]
    command = _command_type(names, f"{path}, line {line}")
    if not data:
        raise CommandLogError(f"{path}: there are only the names of the columns; rows with numbers must follow")
    entries = []
    for line, cells in data:
        numbers = _numbers(names, cells, f"{path}, line {line}")
        entries.append((f"{path}, line {line}", numbers.pop("time"), command(**numbers)))
    return _log("twist" if command is Velocity else "ackermann", entries)


def write_csv(log: CommandLog, path: str | Path) -> None:
    """Write a log as :func:`read_csv` reads it; numbers keep all their digits."""
    rows = [("time", *log.commands[0]._fields)]
    rows += [tuple(map(repr, (time, *command))) for time, command in zip(log.times, log.commands, strict=True)]
    Path(path).write_text("".join(",".join(row) + "\n" for row in rows), encoding="utf-8")


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Line numbers and cells, without comments and empty lines."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandLogError(f"command log '{path}' cannot be read as text: {error}") from None
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield number, [cell.strip() for cell in next(csv.reader([line]))]


def _command_type(names: Sequence[str], where: str) -> type[Velocity] | type[Ackermann]:
    """What the columns hold."""
    if all(_is_number(name) for name in names):
        raise CommandLogError(f"{where}: the first row has numbers and must have the names of the columns; {_needed()}")
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise CommandLogError(f"{where}: column '{repeated[0]}' is there twice")
    if unknown := [name for name in names if name not in ("time", *Velocity._fields, *Ackermann._fields)]:
        raise CommandLogError(f"{where}: column {names.index(unknown[0]) + 1} is '{unknown[0]}'; {_needed()}")
    command = Velocity if set(names) & set(Velocity._fields) else Ackermann
    required = ["time", *(name for name in command._fields if name not in command._field_defaults)]
    if missing := [name for name in required if name not in names]:
        raise CommandLogError(f"{where}: there is no column '{missing[0]}'; {_needed()}")
    if foreign := [name for name in names if name not in ("time", *command._fields)]:
        raise CommandLogError(f"{where}: column '{foreign[0]}' does not go with '{required[1]}'; {_needed()}")
    return command


def _numbers(names: Sequence[str], cells: Sequence[str], where: str) -> dict[str, float]:
    """One row."""
    if len(cells) != len(names):
        raise CommandLogError(f"{where}: there are {len(cells)} values for {len(names)} columns ({','.join(names)})")
    for name, cell in zip(names, cells, strict=True):
        if not _is_number(cell):
            raise CommandLogError(f"{where}, column '{name}': '{cell}' must be a number")
    return {name: float(cell) for name, cell in zip(names, cells, strict=True)}


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _needed() -> str:
    optional = ",".join(Ackermann._field_defaults)
    return f"the columns must be time,v_x,v_y,yaw_rate or time,speed,steering_angle[,{optional}]"


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
    try:
        from rosbags.rosbag2 import Reader
    except ModuleNotFoundError:
        raise CommandLogError(f"reading the bag '{path}' needs rosbags: pip install 'vds_gz[dds]'") from None
    try:
        with Reader(path) as reader:
            counts: dict[tuple[str, str], int] = {}
            for connection in reader.connections:
                key = connection.topic, connection.msgtype
                counts[key] = counts.get(key, 0) + connection.msgcount
            chosen = _choose(path, counts, topic)
            sources = [one for one in reader.connections if (one.topic, one.msgtype) == chosen]
            raw = [(time, bytes(data)) for _, time, data in reader.messages(sources)]
    except CommandLogError:
        raise
    except Exception as error:  # damaged files make the reader, SQLite and zstd raise almost anything
        raise CommandLogError(
            f"bag '{path}' cannot be read ({error}); it must be a complete rosbag2 folder, .mcap or .db3. If its "
            "recording was cut short, `mcap recover` or `ros2 bag reindex` saves what is in it"
        ) from None
    return _log(KINDS[chosen[1]], _decoded(f"{path}, topic '{chosen[0]}'", chosen[1], raw))


def _choose(path: Path, counts: dict[tuple[str, str], int], topic: str | None) -> tuple[str, str]:
    """Name and type of the topic to read."""
    if topic is not None:
        wanted = "/" + topic.lstrip("/")
        found = [key for key in counts if key[0] == wanted]
        if not found:
            raise CommandLogError(f"bag '{path}' has no topic '{wanted}'; it has {_listed(counts)}")
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
            f"It has {_listed(counts)}"
        )
    if len(candidates) > 1:
        listed = _listed({key: counts[key] for key in candidates})
        raise CommandLogError(f"bag '{path}' has several topics with commands: {listed}; choose one with --topic NAME")
    return candidates[0]


def _listed(counts: dict[tuple[str, str], int]) -> str:
    return ", ".join(f"{name} ({kind}, {count})" for (name, kind), count in sorted(counts.items())) or "no topics"


def _decoded(where: str, type_name: str, raw: Iterable[tuple[int, bytes]]) -> Iterator[tuple[str, float, Any]]:
    """Place, time [s] and command of each message."""
    from vds_gz.ros.types import MalformedMessageError, MessageTypes

    codec = MessageTypes().codec(type_name)
    begin = None
    for number, (time, data) in enumerate(raw, start=1):
        try:
            message = codec.decode(bytearray(data))
        except MalformedMessageError as error:
            raise CommandLogError(f"{where}, message {number}: {error}") from None
        begin = time if begin is None else begin
        yield f"{where}, message {number}", (time - begin) * 1e-9, _command(KINDS[type_name], message)


def _command(kind: Kind, message: Any) -> Velocity | Ackermann:
    if kind == "ackermann":
        drive = message.drive
        values = drive.speed, drive.steering_angle, drive.steering_angle_velocity, drive.acceleration
        return Ackermann(*map(float, values))
    twist = message.twist if kind == "twist_stamped" else message
    return Velocity(float(twist.linear.x), float(twist.linear.y), float(twist.angular.z))


# ---------------------------------------------------------------------- both


def _log(kind: Kind, entries: Iterable[tuple[str, float, Any]]) -> CommandLog:
    """A log of (place, time, command), checked."""
    times: list[float] = []
    commands: list[Any] = []
    for where, time, command in entries:
        for name, value in (("time", time), *zip(command._fields, command, strict=True)):
            if not math.isfinite(value):
                raise CommandLogError(f"{where}: '{name}' is {value}; it must be a finite number")
        if times and time < times[-1]:
            raise CommandLogError(
                f"{where}: time is {time:g} s after {times[-1]:g} s before it; time must not decrease. "
                "Is another column in its place?"
            )
        times.append(time)
        commands.append(command)
    begin = times[0]
    return CommandLog(kind, tuple(time - begin for time in times), tuple(commands))
