"""Bags: rosbag2 folders, .mcap and .db3 files, and what is left of a recording that was cut short."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from vds_gz.bags.mcap import Channel, contents, is_whole
from vds_gz.errors import VdsGzError

SUFFIXES = (".mcap", ".db3")


class BagError(VdsGzError, ValueError):
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

    def __init__(self, path: Path, reader: Any) -> None:
        self.path = path
        self.cut_short = isinstance(reader, _Remains)
        self.connections: list[Any] = list(reader.connections)
        self._reader = reader

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
        ModuleNotFoundError: Neither rosbags nor ROS's rosbag2_py is installed.
    """
    try:
        reader = _Remains(path) if _breaks_off(path) else _opened(path)
    except ModuleNotFoundError:
        raise
    except Exception as error:  # as with messages
        raise _unreadable(path, error) from None
    try:
        yield Bag(path, reader)
    finally:
        reader.close()


def _opened(path: Path) -> Any:
    """What reads bags here: rosbags, or ROS."""
    if find_spec("rosbags") is None and find_spec("rosbag2_py") is not None:
        from vds_gz.bags.rosbag2_reader import Rosbag2Reader

        return Rosbag2Reader(path)
    from rosbags.rosbag2 import Reader

    reader = Reader(path)
    reader.open()
    return reader


def _breaks_off(path: Path) -> bool:
    return path.suffix == ".mcap" and path.is_file() and not is_whole(path)


def _unreadable(path: Path, error: Exception) -> BagError:
    reason = (str(error) or type(error).__name__).rstrip(".")
    return BagError(f"bag '{path}' cannot be read ({reason}); it must be a complete rosbag2 folder, .mcap or .db3")


class _Remains:
    """An .mcap file that has no end, in the order of writing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._topics: dict[int, tuple[str, str]] = {}
        counts: Counter[tuple[str, str]] = Counter()
        for topic, _, _ in self._read():
            counts[topic] += 1
        if not counts:
            raise BagError("it has no end, and nothing before it breaks off")
        self.connections = [Connection(*topic, counts[topic]) for topic in dict.fromkeys(self._topics.values())]

    def messages(self, wanted: Iterable[Connection]) -> Iterator[tuple[Connection, int, bytes]]:
        """As those of the other readers."""
        chosen = {(one.topic, one.msgtype): one for one in wanted}
        for topic, time, data in self._read():
            if topic in chosen:
                yield chosen[topic], time, data

    def close(self) -> None:
        """It is open only while it is read."""

    def _read(self) -> Iterator[tuple[tuple[str, str], int, bytes]]:
        """Topic and type, time and bytes of all messages up to the damage."""
        for one in contents(self._path):
            if isinstance(one, Channel):
                self._topics[one.number] = one.topic, one.type
            elif one.channel in self._topics:
                yield self._topics[one.channel], one.time, one.data
