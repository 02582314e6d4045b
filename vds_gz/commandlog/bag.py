"""Command logs out of ROS 2 bags: one topic with messages of a command type, at the times of recording."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from vds_gz.bags.connection import BagError
from vds_gz.commandlog.log import CommandLogError, CommandStream, checked
from vds_gz.interface import topics
from vds_gz.interface.commands import GEAR_COMMAND, CommandType, Values, whole_types
from vds_gz.ros.errors import MalformedMessageError, UnknownTypeError

if TYPE_CHECKING:
    from vds_gz.bags.reader import Bag


class _Chosen(NamedTuple):
    """The topic to read, and what is to be noted."""

    topic: str
    type: CommandType
    note: str


_Raw = tuple[str, int, bytes]


def stream_bag(path: Path, topic: str | None = None) -> CommandStream:
    """The log in a rosbag2 folder or file, message by message.

    ``twist_actual`` is no candidate, as it tells what a vehicle did.

    Args:
        path: The folder or file.
        topic: Which topic, where there are several.

    Raises:
        CommandLogError: The bag cannot be read, or it does not hold one usable log.
    """
    raw = _messages(path, topic)
    chosen = next(raw)
    assert isinstance(chosen, _Chosen)
    where = f"{path}, topic '{chosen.topic}'"
    placed = _decoded(where, chosen.type, (one for one in raw if not isinstance(one, _Chosen)))
    return CommandStream(chosen.type, checked(placed, lambda number: f"{where}, message {number}"), chosen.note)


def _messages(path: Path, topic: str | None) -> Iterator[_Chosen | _Raw]:
    """What is read, then type, time [ns] and bytes of each message; gears come along with commands that have one."""
    try:
        from vds_gz.bags.reader import open_bag
    except ModuleNotFoundError as error:
        raise CommandLogError(f"bag '{path}' needs '{error.name}': pip install '.[dds,record]' in a checkout") from None
    try:
        with open_bag(path) as bag:
            name, command = _choose(path, bag, topic)
            yield _Chosen(name, command, f"'{path}' is cut short; what is left of it is used" if bag.cut_short else "")
            wanted = {(name, command.topic.type)}
            if command.geared:
                gear = GEAR_COMMAND.topic
                wanted.add((f"{name.rpartition('/')[0]}/{gear.name}", gear.type))
            for one, time, data in bag.messages(one for one in bag.connections if (one.topic, one.msgtype) in wanted):
                yield one.msgtype, time, data
    except BagError as error:
        raise CommandLogError(str(error)) from None


def _choose(path: Path, bag: Bag, topic: str | None) -> tuple[str, CommandType]:
    """Name and type of the topic to read."""
    counts = bag.counts()
    known = {one.topic.type: one for one in reversed(whole_types())}
    listed = ", ".join(reversed(known))
    if topic is not None:
        wanted = "/" + topic.lstrip("/")
        found = [key for key in counts if key[0] == wanted]
        if not found:
            raise CommandLogError(f"bag '{path}' has no topic '{wanted}'; it has {bag.described()}")
        if found[0][1] not in known:
            raise CommandLogError(f"bag '{path}': topic '{wanted}' is {found[0][1]}; it must be {listed}")
        if counts[found[0]] == 0:
            raise CommandLogError(f"bag '{path}': topic '{wanted}' has no messages")
        return wanted, known[found[0][1]]
    actual = topics.TWIST_ACTUAL.name
    candidates = [key for key in counts if key[1] in known and counts[key] and key[0].rpartition("/")[2] != actual]
    if not candidates:
        raise CommandLogError(
            f"bag '{path}' has no messages with commands; one topic must be {listed}. It has {bag.described()}"
        )
    if len(candidates) > 1:
        several = ", ".join(f"{name} ({kind}, {counts[name, kind]})" for name, kind in sorted(candidates))
        raise CommandLogError(f"bag '{path}' has several topics with commands: {several}; choose one with --topic NAME")
    return candidates[0][0], known[candidates[0][1]]


def _decoded(where: str, command: CommandType, raw: Iterable[_Raw]) -> Iterator[tuple[int, float, Values]]:
    """Number, time [s] and command of each message."""
    from vds_gz.ros.messages.factory import open_types

    types = {one.topic.type: one for one in (GEAR_COMMAND, command)}
    codec = cache(open_types().codec)
    begin = None
    for number, (type_name, time, data) in enumerate(raw, start=1):
        try:
            message = codec(type_name).decode(bytearray(data))
        except (MalformedMessageError, UnknownTypeError) as error:
            raise CommandLogError(f"{where}, message {number}: {error}") from None
        begin = time if begin is None else begin
        yield number, (time - begin) * 1e-9, types[type_name].decode(message)
    if begin is None:
        raise CommandLogError(f"{where}: there are no messages, although the bag's list of topics counts some")
