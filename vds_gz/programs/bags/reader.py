"""Bags: rosbag2 folders, .mcap, .db3 and .bag files (ROS 1), also incomplete ones.

:mod:`vds_gz.programs.bags.mcap` reads .mcap files. The package rosbags, or ROS's rosbag2 without it, reads .db3 files,
compressed folders, and .mcap files whose compression needs a package that is not installed. Only rosbags reads .bag
files.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from heapq import merge
from importlib.util import find_spec
from itertools import pairwise
from operator import itemgetter
from pathlib import Path, PurePath
from typing import Any

import yaml

from vds_gz.core import files
from vds_gz.core.errors import RecordingError
from vds_gz.programs.bags import mcap
from vds_gz.programs.bags.mcap import Connection

#: Extensions of bags that are one file.
SUFFIXES = (".mcap", ".db3", ".bag")


def may_be_bag(path: Path) -> bool:
    """Whether a path may be a bag: a folder, or a file with an extension of bags."""
    return path.is_dir() or path.suffix in SUFFIXES


class BagError(RecordingError):
    """A bag cannot be read. The message says what was found and what is needed."""


#: Times of recording are less [ns].
LATEST = 2**63

#: Files of one recording follow each other. They overlap in time by at most this [ns], as clocks are not read in order.
OVERLAP = 1_000_000_000

#: The only key of a folder's metadata.yaml.
METADATA = "rosbag2_bagfile_information"

#: rosbag2's names of file formats. A folder has its own.
_STORAGES = {".mcap": "mcap", ".db3": "sqlite3"}

#: Packages that read bags, the preferred one first.
_LIBRARIES = ("rosbags", "rosbag2_py")

#: Parts of rosbag2 that print what they also raise.
_LOGGERS = ("rosbag2_compression", "rosbag2_cpp", "rosbag2_storage", "rosbag2_storage_mcap")

#: Connection, time of recording [ns] and bytes.
BagMessage = tuple[Connection, int, bytes]


class Bag:
    """An open bag, made by :func:`open_bag`.

    Attributes:
        path: The file or folder.
        counts: All connections, also those without messages, with the number of their messages.
        span: Earliest and latest time of recording [ns]; None without messages.
        cut_short: The end of a file is missing, with the last messages.
        findings: Findings on the files, for people.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.counts: Counter[Connection] = Counter()
        self.span: tuple[int, int] | None = None
        self.cut_short = False
        self.findings: list[str] = []

    def by_name(self) -> dict[str, tuple[str, int]]:
        """Type and number of the messages of each topic that has any."""
        return {topic: (kind, count) for (topic, kind), count in self.counts.items() if count}

    def messages(self, wanted: Collection[tuple[str, str]]) -> Iterator[BagMessage]:
        """Every message on the wanted connections in the order of recording.

        Raises:
            BagError: The bag is damaged.
        """
        chosen = {connection for connection in self.counts if connection in wanted}
        if chosen:  # the libraries take an empty list as all topics
            with _named(self.path):
                for message in self._messages(chosen):
                    if not 0 <= message[1] < LATEST:
                        raise BagError(f"a message on '{message[0].topic}' has the time {message[1]} ns")
                    yield message

    def _messages(self, wanted: set[Connection]) -> Iterator[BagMessage]:
        """The messages on these connections of the bag."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the files."""


@contextmanager
def open_bag(path: Path) -> Iterator[Bag]:
    """The bag in a file or folder. An .mcap file without its end is read as far as it goes.

    Raises:
        BagError: There is no bag, or it cannot be read.
        ModuleNotFoundError: A package that reads the file is not installed: zstandard or lz4, rosbags or rosbag2_py.
    """
    with _named(path):
        bag = _opened_bag(path)
    with closing(bag):
        if bag.cut_short and not bag.counts.total():
            with _named(path):
                raise BagError("it has no end and no complete message")
        yield bag


def _opened_bag(path: Path) -> Bag:
    if path.is_dir():
        return _opened_folder(path)
    files.check(path, sys.maxsize)
    if path.suffix == ".bag":
        return _Ros1(path)
    if path.suffix != ".mcap":
        return _by_library(path)
    bag = _Mcap(path)
    return bag if bag.can_be_opened or not any(map(find_spec, _LIBRARIES)) else _by_library(path)


def _by_library(path: Path) -> Bag:
    if find_spec("rosbags") is None and find_spec("rosbag2_py") is not None:
        return _Rosbag2(path)
    return _Rosbags(path)


def _opened_folder(folder: Path) -> Bag:
    """The bag in a folder: the files that metadata.yaml lists, or all, as a recorder that was killed writes none."""
    listed, compressed = _metadata(folder)
    bags = sorted(file for file in folder.iterdir() if file.suffix in SUFFIXES and file.is_file())
    parts = [file for file in bags if file.name in listed] if listed else bags
    if not parts and not (folder / "metadata.yaml").exists():
        raise BagError("the folder has neither a metadata.yaml nor .mcap, .db3 or .bag files")
    if compressed or not parts:
        return _by_library(folder)
    bag = _Split(folder, parts)
    if listed:
        others = (f"'{file}'" for file in bags if file not in parts)
        bag.findings += [f"{other} is left out, because metadata.yaml does not list it" for other in others]
    else:
        bag.check_apart()
    return bag


def _metadata(folder: Path) -> tuple[set[str], bool]:
    """Names of the files that a usable metadata.yaml lists, none without one; and whether they are compressed."""
    try:
        text = files.read_text(folder / "metadata.yaml", largest=files.LARGEST_YAML)
        information = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))[METADATA]
        names = {PurePath(str(name)).name for name in information["relative_file_paths"]}
        compressed = str(information.get("compression_mode") or "none").lower() != "none"
    except (OSError, UnicodeDecodeError, yaml.YAMLError, LookupError, TypeError, AttributeError, ValueError):
        return set(), False
    if missing := [name for name in sorted(names) if not (folder / name).exists()]:
        raise BagError(f"its metadata.yaml names '{missing[0]}', which does not exist")
    return names, compressed


class _Split(Bag):
    """A bag of several files."""

    def __init__(self, path: Path, parts: Sequence[Path]) -> None:
        super().__init__(path)
        self._parts: list[Bag] = []
        for part in parts:
            try:
                self._parts.append(_Empty(part) if part.stat().st_size == 0 else _opened_bag(part))
            except BagError as error:
                self.close()
                raise BagError(f"{part.name}: {error}") from None
            self.counts.update(self._parts[-1].counts)
            self.findings += self._parts[-1].findings
        self.cut_short = any(part.cut_short for part in self._parts)
        spans = [part.span for part in self._parts if part.span is not None]
        self.span = (min(span[0] for span in spans), max(span[1] for span in spans)) if spans else None

    def check_apart(self) -> None:
        """Refuse files that overlap in time: one is a copy, or of another recording."""
        spans = sorted((*part.span, part.path.name) for part in self._parts if part.span is not None)
        for (_, last, name), (begin, end, other) in pairwise(spans):
            if min(last, end) - begin > min(OVERLAP, (end - begin) // 2):
                self.close()
                raise BagError(
                    f"'{name}' and '{other}' overlap in time, and no metadata.yaml lists the files of the bag; move "
                    "files that are not of it to another folder"
                )

    def _messages(self, wanted: set[Connection]) -> Iterator[BagMessage]:
        return merge(*(part.messages(wanted) for part in self._parts), key=itemgetter(1))

    def close(self) -> None:
        for part in self._parts:
            part.close()


class _Empty(Bag):
    """An empty file, as a recorder leaves that was killed when it began one."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.cut_short = True
        self.findings = [f"'{path}' is empty"]


class _Mcap(Bag):
    """An .mcap file."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._index = mcap.index_of(path)
        for channel, connection in self._index.connections.items():
            self.counts[connection] += self._index.counts[channel]
        self.span = self._index.span
        self.cut_short = not self._index.whole
        if self.cut_short:
            self.findings = [f"'{path}' is cut short; it was read up to its last whole part"]

    @property
    def can_be_opened(self) -> bool:
        """Whether the packages are installed that its compression needs."""
        return all(find_spec(mcap.PACKAGES[name]) for name in self._index.compressions & mcap.PACKAGES.keys())

    def _messages(self, wanted: set[Connection]) -> Iterator[BagMessage]:
        channels = {channel: topic for channel, topic in self._index.connections.items() if topic in wanted}
        with _damage_reported(*mcap.DAMAGE):
            yield from mcap.messages(self.path, self._index, channels)


class _Rosbags(Bag):
    """A bag read by the package rosbags, without ROS."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        # A damaged file provokes any exception in rosbags, SQLite and the decompressors.
        with _damage_reported(Exception):
            self._reader = self._reader_of(path)
            self._reader.open()
            for topic in self._reader.connections:  # in ROS 1 one for each publisher
                self.counts[self._connection(topic)] += topic.msgcount
            if self._reader.message_count:
                self.span = self._reader.start_time, self._reader.end_time - 1

    def _reader_of(self, path: Path) -> Any:
        from rosbags.rosbag2 import Reader

        return Reader(path)

    def _connection(self, topic: Any) -> Connection:
        return Connection(topic.topic, topic.msgtype)

    def _messages(self, wanted: set[Connection]) -> Iterator[BagMessage]:
        theirs = [topic for topic in self._reader.connections if self._connection(topic) in wanted]
        with _damage_reported(Exception):
            for topic, time, data in self._reader.messages(theirs):
                if not isinstance(time, int) or isinstance(data, str | int | float | None):  # a damaged cell
                    raise BagError(f"a message on '{topic.topic}' has no time or no bytes")
                yield self._connection(topic), time, data

    def close(self) -> None:
        self._reader.close()


class _Ros1(_Rosbags):
    """A bag of ROS 1, whose messages are given as those of the types of ROS 2 with the same names."""

    def _reader_of(self, path: Path) -> Any:
        from rosbags.rosbag1 import Reader

        return Reader(path)

    def _connection(self, topic: Any) -> Connection:
        """A connection of ROS 1; a name of a topic may lack its first slash there."""
        return Connection(f"/{topic.topic.lstrip('/')}", topic.msgtype)

    def _messages(self, wanted: set[Connection]) -> Iterator[BagMessage]:
        from vds_gz.core.ros.messages.portable import MessageTypes

        types = MessageTypes()
        codecs = {connection: types.codec(connection.msgtype) for connection in wanted}
        with _damage_reported(Exception):
            for connection, time, data in super()._messages(wanted):
                yield connection, time, codecs[connection].from_ros1(data)


class _Rosbag2(Bag):
    """A bag read by rosbag2 itself, as ROS installs it."""

    def __init__(self, path: Path) -> None:
        from rclpy.logging import LoggingSeverity, set_logger_level

        super().__init__(path)
        for name in _LOGGERS:
            set_logger_level(name, LoggingSeverity.FATAL)
        with _damage_reported(RuntimeError, ValueError, IndexError):  # C++ exceptions of rosbag2, YAML and the storages
            metadata = self._open().get_metadata()
            for topic in metadata.topics_with_message_count:
                self.counts[Connection(topic.topic_metadata.name, topic.topic_metadata.type)] = topic.message_count
            if metadata.message_count and hasattr(metadata.starting_time, "nanoseconds"):  # not in Humble
                begin = metadata.starting_time.nanoseconds
                self.span = begin, begin + metadata.duration.nanoseconds

    def _messages(self, wanted: set[Connection]) -> Iterator[BagMessage]:
        import rosbag2_py

        chosen = {connection.topic: connection for connection in wanted}
        with _damage_reported(RuntimeError, ValueError, IndexError):
            reader = self._open()
            reader.set_filter(rosbag2_py.StorageFilter(topics=list(chosen)))
            while reader.has_next():
                topic, data, time = reader.read_next()[:3]
                yield chosen[topic], time, data

    def _open(self) -> Any:
        import rosbag2_py

        storage = rosbag2_py.StorageOptions(uri=str(self.path), storage_id=_STORAGES.get(self.path.suffix, ""))
        compressed = self.path.is_dir() and rosbag2_py.Info().read_metadata(str(self.path), "").compression_mode
        reader = rosbag2_py.SequentialCompressionReader() if compressed else rosbag2_py.SequentialReader()
        reader.open(storage, rosbag2_py.ConverterOptions("cdr", "cdr"))
        return reader


@contextmanager
def _damage_reported(*kinds: type[Exception]) -> Iterator[None]:
    """Raise exceptions of a library as :class:`BagError`. The block must call nothing else."""
    try:
        yield
    except kinds as error:
        raise BagError(str(error) or type(error).__name__) from None


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Make errors name the bag."""
    try:
        yield
    except (BagError, OSError) as error:
        needed = "it must be a complete rosbag2 folder, .mcap, .db3 or .bag"
        reason = " ".join(str(error).split()).rstrip(".")
        raise BagError(f"bag '{path}' cannot be read ({reason}); {needed}") from None
