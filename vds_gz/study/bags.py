"""Bags: rosbag2 folders, .mcap and .db3 files, and what is left of a recording that was cut short."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcap.records import Channel, Message, Schema
from mcap.stream_reader import StreamReader
from rosbags.rosbag2 import Reader

SUFFIXES = (".mcap", ".db3")


class BagError(ValueError):
    """A bag cannot be read. The message says what was found and what is needed."""


@dataclass(frozen=True, slots=True)
class Connection:
    """One topic of a bag: its name, the type of its messages, and how many there are."""

    topic: str
    msgtype: str
    msgcount: int


class Bag:
    """What can be asked of a bag. Made by :func:`open_bag`.

    Attributes:
        path: The file or folder.
        connections: All topics, those without messages too.
        cut_short: The end of the file is missing, and with it what came last.
    """

    def __init__(self, path: Path, reader: Reader | _Remains) -> None:
        self.path = path
        self.cut_short = isinstance(reader, _Remains)
        self.connections: list[Any] = list(reader.connections)
        self._reader: Any = reader

    def described(self) -> str:
        """What is in it, for people."""
        listed = ", ".join(
            f"{name} ({kind}, {count})" for (name, kind), count in sorted(self.counts().items()) if count
        )
        return (listed or "no messages") + (", and is cut short: its end is missing" if self.cut_short else "")

    def counts(self) -> dict[tuple[str, str], int]:
        """How many messages there are, by topic and type."""
        counts: Counter[tuple[str, str]] = Counter()
        for one in self.connections:
            counts[one.topic, one.msgtype] += one.msgcount
        return dict(counts)

    def messages(self, wanted: Iterable[Any]) -> Iterator[tuple[Any, int, bytes]]:
        """Connection, time of recording [ns] and bytes of every message on the connections wanted.

        Raises:
            BagError: The bag is damaged.
        """
        connections = list(wanted)
        try:
            if connections:
                yield from self._reader.messages(connections)
        except Exception as error:  # damaged files make the reader, SQLite and zstd raise almost anything
            raise _unreadable(self.path, error) from None


@contextmanager
def open_bag(path: Path) -> Iterator[Bag]:
    """The bag in a file or folder. An .mcap file without its end is read up to where it breaks off.

    Raises:
        BagError: There is none, or nothing in it can be read.
    """
    try:
        reader = Reader(path)
        reader.open()
    except Exception as error:
        remains = _Remains(path) if path.suffix == ".mcap" and path.is_file() else None
        if remains is None or not remains.connections:
            raise _unreadable(path, error) from None
        yield Bag(path, remains)
        return
    try:
        yield Bag(path, reader)
    finally:
        reader.close()


def _unreadable(path: Path, error: Exception) -> BagError:
    reason = (str(error) or type(error).__name__).rstrip(".")
    return BagError(f"bag '{path}' cannot be read ({reason}); it must be a complete rosbag2 folder, .mcap or .db3")


class _Remains:
    """An .mcap file that has no end, in the order of writing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._topics: dict[int, tuple[str, str]] = {}
        counts: Counter[tuple[str, str]] = Counter()
        for message in self._read():
            counts[self._topics[message.channel_id]] += 1
        self.connections = [Connection(*key, counts[key]) for key in dict.fromkeys(self._topics.values())]

    def messages(self, wanted: Iterable[Connection]) -> Iterator[tuple[Connection, int, bytes]]:
        """As those of rosbags' reader."""
        chosen = {(one.topic, one.msgtype): one for one in wanted}
        for message in self._read():
            connection = chosen.get(self._topics[message.channel_id])
            if connection is not None:
                yield connection, message.log_time, message.data

    def _read(self) -> Iterator[Message]:
        """All messages up to the damage."""
        schemas: dict[int, str] = {}
        try:
            with self._path.open("rb") as file:
                for record in StreamReader(file).records:
                    if isinstance(record, Schema):
                        schemas[record.id] = record.name
                    elif isinstance(record, Channel):
                        self._topics[record.id] = record.topic, schemas[record.schema_id]
                    elif isinstance(record, Message):
                        yield record
        except Exception:  # as with every damaged file; what was read until then is good
            return
