"""Bags: rosbag2 folders, .mcap and .db3 files, and what is left of a recording that was cut short."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from vds_gz.bags.connection import BagError, Connection
from vds_gz.bags.mcap_reader import UnfinishedMcap, is_whole

#: What rosbag2 calls the formats of files. A folder tells its own.
_STORAGES = {".mcap": "mcap", ".db3": "sqlite3"}

#: Parts of rosbag2 that print what they also raise.
_LOGGERS = ("rosbag2_compression", "rosbag2_cpp", "rosbag2_storage", "rosbag2_storage_mcap")

#: Connection, time of recording [ns] and bytes.
BagMessage = tuple[Connection, int, bytes]


class Bag:
    """An open bag, made by :func:`open_bag`.

    Attributes:
        path: The file or folder.
        connections: All topics, those without messages too.
        cut_short: The end of the file is missing, and with it what came last.
    """

    def __init__(self, path: Path, reader: _Rosbags | _Rosbag2 | UnfinishedMcap) -> None:
        self.path = path
        self.cut_short = isinstance(reader, UnfinishedMcap)
        self.connections = reader.connections
        self._reader = reader

    def described(self) -> str:
        """What is in it, for people."""
        counts = sorted(self.counts().items())
        listed = ", ".join(f"{name} ({kind}, {count})" for (name, kind), count in counts if count)
        return (listed or "no messages") + (", and is cut short: its end is missing" if self.cut_short else "")

    def counts(self) -> dict[tuple[str, str], int]:
        """How many messages there are, by topic and type."""
        return {(topic.topic, topic.msgtype): topic.msgcount for topic in self.connections}

    def messages(self, wanted: Iterable[Connection]) -> Iterator[BagMessage]:
        """Every message on the wanted connections; raises :class:`BagError` where the bag is damaged."""
        with _named(self.path):
            yield from self._reader.messages(list(wanted))


@contextmanager
def open_bag(path: Path) -> Iterator[Bag]:
    """The bag in a file or folder. An .mcap file without its end is read up to where it breaks off.

    Raises:
        BagError: There is none, or nothing in it can be read.
        ModuleNotFoundError: Neither rosbags nor ROS's rosbag2_py is installed.
    """
    reader: _Rosbags | _Rosbag2 | UnfinishedMcap
    with _named(path):
        if path.suffix == ".mcap" and path.is_file() and not is_whole(path):
            reader = UnfinishedMcap(path)
        elif find_spec("rosbags") is None and find_spec("rosbag2_py") is not None:
            reader = _Rosbag2(path)
        else:
            reader = _Rosbags(path)
    try:
        yield Bag(path, reader)
    finally:
        if isinstance(reader, _Rosbags):
            reader.close()


class _Rosbags:
    """A bag read by the package rosbags, where there is no ROS."""

    def __init__(self, path: Path) -> None:
        from rosbags.rosbag2 import Reader

        # A damaged file provokes any exception in rosbags, SQLite and the decompressors.
        with _damage_reported(Exception):
            self._reader = Reader(path)
            self._reader.open()
            counts: Counter[tuple[str, str]] = Counter()
            for connection in self._reader.connections:
                counts[connection.topic, connection.msgtype] += connection.msgcount
        self.connections = [Connection(*topic, count) for topic, count in counts.items()]

    def messages(self, wanted: Sequence[Connection]) -> Iterator[BagMessage]:
        chosen = {(topic.topic, topic.msgtype): topic for topic in wanted}
        theirs = [topic for topic in self._reader.connections if (topic.topic, topic.msgtype) in chosen]
        if theirs:  # none would stand for all
            with _damage_reported(Exception):
                for topic, time, data in self._reader.messages(theirs):
                    if not isinstance(time, int) or isinstance(data, str | int | float | None):  # a damaged cell
                        raise BagError(f"a message on '{topic.topic}' has no time or no bytes")
                    yield chosen[topic.topic, topic.msgtype], time, data

    def close(self) -> None:
        self._reader.close()


class _Rosbag2:
    """A bag read by rosbag2 itself, as ROS installs it."""

    def __init__(self, path: Path) -> None:
        from rclpy.logging import LoggingSeverity, set_logger_level

        for name in _LOGGERS:
            set_logger_level(name, LoggingSeverity.FATAL)
        self._path = path
        with _damage_reported(RuntimeError, ValueError, IndexError):  # C++ exceptions of rosbag2, YAML and the storages
            topics = self._open().get_metadata().topics_with_message_count
        self.connections = [
            Connection(topic.topic_metadata.name, topic.topic_metadata.type, topic.message_count) for topic in topics
        ]

    def messages(self, wanted: Sequence[Connection]) -> Iterator[BagMessage]:
        import rosbag2_py

        chosen = {topic.topic: topic for topic in wanted}
        with _damage_reported(RuntimeError, ValueError, IndexError):
            reader = self._open()
            reader.set_filter(rosbag2_py.StorageFilter(topics=list(chosen)))
            while reader.has_next():
                topic, data, time = reader.read_next()[:3]
                yield chosen[topic], time, data

    def _open(self) -> Any:
        import rosbag2_py

        storage = rosbag2_py.StorageOptions(uri=str(self._path), storage_id=_STORAGES.get(self._path.suffix, ""))
        compressed = self._path.is_dir() and rosbag2_py.Info().read_metadata(str(self._path), "").compression_mode
        reader = rosbag2_py.SequentialCompressionReader() if compressed else rosbag2_py.SequentialReader()
        reader.open(storage, rosbag2_py.ConverterOptions("cdr", "cdr"))
        return reader


@contextmanager
def _damage_reported(*kinds: type[Exception]) -> Iterator[None]:
    """Exceptions of a library as :class:`BagError`. No other code may stand in the block."""
    try:
        yield
    except kinds as error:
        raise BagError(str(error) or type(error).__name__) from None


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Errors say which bag it is."""
    try:
        yield
    except (BagError, OSError) as error:
        needed = "it must be a complete rosbag2 folder, .mcap or .db3"
        reason = " ".join(str(error).split()).rstrip(".")
        raise BagError(f"bag '{path}' cannot be read ({reason}); {needed}") from None
