"""Bags: rosbag2 folders, .mcap and .db3 files, also incomplete ones.

MCAP files (https://mcap.dev/spec) without their end are read here, record by record as far as they go.
"""

from __future__ import annotations

import struct
import sys
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from enum import IntEnum
from heapq import merge
from importlib.util import find_spec
from operator import itemgetter
from pathlib import Path, PurePath
from typing import Any, BinaryIO, NamedTuple

import yaml

from vds_gz import files
from vds_gz.errors import RecordingError

#: Extensions of bags that are one file.
SUFFIXES = (".mcap", ".db3")


def may_be_bag(path: Path) -> bool:
    """Whether a path may be a bag: a folder, or a file with an extension of bags."""
    return path.is_dir() or path.suffix in SUFFIXES


class BagError(RecordingError):
    """A bag cannot be read. The message says what was found and what is needed."""


class Connection(NamedTuple):
    """One topic of a bag: its name and the type of its messages."""

    topic: str
    msgtype: str


MAGIC = b"\x89MCAP0\r\n"

#: Names of ROS 2 in MCAP: the profile, the encoding of messages, and that of their definitions.
PROFILE, CDR, DEFINITION = "ros2", "cdr", "ros2msg"

#: Times of recording are less [ns].
LATEST = 2**63

#: The compressions of chunks.
ZSTD, LZ4 = "zstd", "lz4"

#: A record before its body: opcode, length.
RECORD = struct.Struct("<BQ")

#: A message before its data: opcode, length, channel, sequence, log time, publish time [ns].
MESSAGE = struct.Struct("<BQHIQQ")


class Opcode(IntEnum):
    """The type of a record."""

    HEADER = 1
    FOOTER = 2
    SCHEMA = 3
    CHANNEL = 4
    MESSAGE = 5
    CHUNK = 6
    MESSAGE_INDEX = 7
    CHUNK_INDEX = 8
    STATISTICS = 11
    METADATA = 12
    METADATA_INDEX = 13
    SUMMARY_OFFSET = 14
    DATA_END = 15


def is_whole(path: Path) -> bool:
    """Whether a file has the end of an MCAP file."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - len(MAGIC)))
        return file.read() == MAGIC and path.stat().st_size > 2 * len(MAGIC)


def _is_chunked(path: Path) -> bool:
    """Whether the messages of an MCAP file are in chunks, which have an index."""
    with path.open("rb") as file:
        kinds = (opcode for opcode, _ in _raw_records(file, path.stat().st_size))
        return next((kind for kind in kinds if kind in (Opcode.CHUNK, Opcode.MESSAGE)), None) != Opcode.MESSAGE


def contents(path: Path) -> Iterator[tuple[Connection, int, bytes | None]]:
    """Connection, time of recording [ns] and bytes of each message as it was written, up to the first damage.

    Each connection also comes once before its messages, with time 0 and without bytes.
    """
    types: dict[int, str] = {}
    connections: dict[int, Connection] = {}
    with path.open("rb") as file:
        try:
            for opcode, body in _records(file, path.stat().st_size):
                if opcode == Opcode.DATA_END:  # the rest repeats the channels
                    return
                if opcode == Opcode.MESSAGE:
                    channel, _, time, _ = struct.unpack_from("<HIQQ", body)
                    if channel in connections:
                        yield connections[channel], time, body[MESSAGE.size - RECORD.size :]
                elif opcode == Opcode.SCHEMA:
                    types[struct.unpack_from("<H", body)[0]] = _text_at(body, 2)
                elif opcode == Opcode.CHANNEL:
                    number, schema = struct.unpack_from("<HH", body)
                    connections[number] = Connection(_text_at(body, 4), types[schema])
                    yield connections[number], 0, None
        except (ValueError, KeyError, struct.error, MemoryError):  # the damage; everything before it is good
            return


def _records(file: BinaryIO, size: int) -> Iterator[tuple[int, bytes]]:
    """Opcode and body of each whole record; chunks are replaced by their records."""
    for opcode, body in _raw_records(file, size):
        if opcode == Opcode.CHUNK:
            yield from _records_of(_opened(body))
        else:
            yield opcode, body


def _raw_records(file: BinaryIO, size: int) -> Iterator[tuple[int, bytes]]:
    """Opcode and body of each whole record of a file."""
    if file.read(len(MAGIC)) != MAGIC:
        return
    while len(head := file.read(RECORD.size)) == RECORD.size:
        opcode, length = RECORD.unpack(head)
        if length > size - file.tell():
            return
        yield opcode, file.read(length)


def _records_of(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(data):
        opcode, length = RECORD.unpack_from(data, at)
        if opcode not in (Opcode.SCHEMA, Opcode.CHANNEL, Opcode.MESSAGE):  # zeros, for example
            raise ValueError(f"a record of type {opcode} in a chunk")
        at += RECORD.size
        yield opcode, data[at : at + length]
        at += length


def _opened(chunk: bytes) -> bytes:
    """The records in a chunk."""
    size, check = struct.unpack_from("<QI", chunk, 16)
    compression = _text_at(chunk, 28)
    data = chunk[40 + len(compression) :]
    openers = {"": lambda data, size: data, ZSTD: _from_zstd, LZ4: _from_lz4}
    if compression not in openers or size > files.LARGEST_CHUNK:
        raise ValueError(f"{size} bytes, compressed with {compression}")
    opened: bytes = openers[compression](data, size)
    if check not in (0, zlib.crc32(opened)):
        raise ValueError("the checksum is wrong")
    return opened


def _from_lz4(data: bytes, size: int) -> bytes:
    import lz4.frame

    try:
        decompressor = lz4.frame.LZ4FrameDecompressor()
        opened = bytes(decompressor.decompress(data, max_length=size))
    except RuntimeError as error:
        raise ValueError(str(error)) from None
    if not decompressor.eof:
        raise ValueError(f"more than the {size} bytes of the chunk")
    return opened


def _from_zstd(data: bytes, size: int) -> bytes:
    import zstandard

    try:
        if (stated := zstandard.frame_content_size(data)) > size:  # max_output_size does not limit a frame with a size
            raise ValueError(f"a frame of {stated} bytes where the chunk has {size}")
        return zstandard.ZstdDecompressor().decompress(data, max_output_size=size)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from None


def _text_at(body: bytes, at: int) -> str:
    (length,) = struct.unpack_from("<I", body, at)
    return body[at + 4 : at + 4 + length].decode()


#: The only key of a folder's metadata.yaml.
METADATA = "rosbag2_bagfile_information"

#: rosbag2's names of file formats. A folder has its own.
_STORAGES = {".mcap": "mcap", ".db3": "sqlite3"}

#: Parts of rosbag2 that print what they also raise.
_LOGGERS = ("rosbag2_compression", "rosbag2_cpp", "rosbag2_storage", "rosbag2_storage_mcap")

#: Connection, time of recording [ns] and bytes.
BagMessage = tuple[Connection, int, bytes]


class Bag:
    """An open bag, made by :func:`open_bag`.

    Attributes:
        path: The file or folder.
        counts: All connections, also those without messages, with the number of their messages.
        cut_short: The end of the file is missing, with the last messages.
    """

    cut_short = False

    def __init__(self, path: Path) -> None:
        self.path = path
        self.counts: Counter[Connection] = Counter()

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
        ModuleNotFoundError: Neither rosbags nor ROS's rosbag2_py is installed.
    """
    with _named(path):
        bag = _opened_bag(path)
    with closing(bag):
        yield bag


def _opened_bag(path: Path) -> Bag:
    if path.is_dir() and (parts := _parts(path)):
        return _Split(path, parts)
    if path.is_dir() and not (path / "metadata.yaml").exists():
        raise BagError("the folder has neither a metadata.yaml nor .mcap or .db3 files")
    if not path.is_dir():
        files.check(path, sys.maxsize)
    if path.suffix == ".mcap" and path.is_file() and not (is_whole(path) and _is_chunked(path)):
        return ScannedMcap(path)
    if find_spec("rosbags") is None and find_spec("rosbag2_py") is not None:
        return _Rosbag2(path)
    return _Rosbags(path)


def _parts(folder: Path) -> list[Path]:
    """The files of a folder's bag, in the order of their names; none if they are compressed.

    Files that metadata.yaml does not list belong to it too: a recorder that was killed writes no metadata.
    """
    try:
        text = files.read_text(folder / "metadata.yaml", largest=files.LARGEST_YAML)
        information = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))[METADATA]
        named = [str(name) for name in information["relative_file_paths"]]
        compressed = str(information.get("compression_mode") or "none").lower() != "none"
    except (OSError, UnicodeDecodeError, yaml.YAMLError, LookupError, TypeError, AttributeError, ValueError):
        named, compressed = [], False
    if compressed:
        return []
    for name in named:
        if not (folder / PurePath(name).name).exists():
            raise BagError(f"its metadata.yaml names '{name}', which does not exist")
    return sorted(file for file in folder.iterdir() if file.suffix in SUFFIXES and file.is_file())


class _Split(Bag):
    """A bag of several files, whose times may overlap."""

    def __init__(self, path: Path, parts: Sequence[Path]) -> None:
        super().__init__(path)
        self._parts: list[Bag] = []
        for part in parts:
            try:
                self._parts.append(_opened_bag(part))
            except BagError as error:
                self.close()
                raise BagError(f"{part.name}: {error}") from None
            self.counts += self._parts[-1].counts
        self.cut_short = any(part.cut_short for part in self._parts)

    def _messages(self, wanted: set[Connection]) -> Iterator[BagMessage]:
        return merge(*(part.messages(wanted) for part in self._parts), key=itemgetter(1))

    def close(self) -> None:
        for part in self._parts:
            part.close()


class ScannedMcap(Bag):
    """An .mcap file without its end or without chunks; raises :class:`BagError` without any whole message."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.cut_short = not is_whole(path)
        for connection, _, data in contents(path):
            self.counts[connection] += data is not None
        if self.cut_short and not self.counts.total():
            raise BagError("it has no end and no complete message")

    def _messages(self, wanted: set[Connection]) -> Iterator[BagMessage]:
        every = ((connection, time, data) for connection, time, data in contents(self.path) if data is not None)
        yield from sorted((message for message in every if message[0] in wanted), key=itemgetter(1))


class _Rosbags(Bag):
    """A bag read by the package rosbags, without ROS."""

    def __init__(self, path: Path) -> None:
        from rosbags.rosbag2 import Reader

        super().__init__(path)
        # A damaged file provokes any exception in rosbags, SQLite and the decompressors.
        with _damage_reported(Exception):
            self._reader = Reader(path)
            self._reader.open()
            for topic in self._reader.connections:
                self.counts[Connection(topic.topic, topic.msgtype)] += topic.msgcount

    def _messages(self, wanted: set[Connection]) -> Iterator[BagMessage]:
        theirs = [topic for topic in self._reader.connections if (topic.topic, topic.msgtype) in wanted]
        with _damage_reported(Exception):
            for topic, time, data in self._reader.messages(theirs):
                if not isinstance(time, int) or isinstance(data, str | int | float | None):  # a damaged cell
                    raise BagError(f"a message on '{topic.topic}' has no time or no bytes")
                yield Connection(topic.topic, topic.msgtype), time, data

    def close(self) -> None:
        self._reader.close()


class _Rosbag2(Bag):
    """A bag read by rosbag2 itself, as ROS installs it."""

    def __init__(self, path: Path) -> None:
        from rclpy.logging import LoggingSeverity, set_logger_level

        super().__init__(path)
        for name in _LOGGERS:
            set_logger_level(name, LoggingSeverity.FATAL)
        with _damage_reported(RuntimeError, ValueError, IndexError):  # C++ exceptions of rosbag2, YAML and the storages
            for topic in self._open().get_metadata().topics_with_message_count:
                self.counts[Connection(topic.topic_metadata.name, topic.topic_metadata.type)] = topic.message_count

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
        needed = "it must be a complete rosbag2 folder, .mcap or .db3"
        reason = " ".join(str(error).split()).rstrip(".")
        raise BagError(f"bag '{path}' cannot be read ({reason}); {needed}") from None
