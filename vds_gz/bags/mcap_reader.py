"""MCAP files (https://mcap.dev/spec), read record by record as far as they go, also without their end."""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import IntEnum
from pathlib import Path
from typing import BinaryIO, NamedTuple

from vds_gz.bags.connection import BagError, Connection

MAGIC = b"\x89MCAP0\r\n"

#: How ROS 2 is named in MCAP: the profile, the encoding of messages, and that of their definitions.
PROFILE, CDR, DEFINITION = "ros2", "cdr", "ros2msg"

#: The compression of chunks.
ZSTD = "zstd"

#: A record before its body: opcode, length.
RECORD = struct.Struct("<BQ")

#: A message before its data: opcode, length, channel, sequence, log time, publish time [ns].
MESSAGE = struct.Struct("<BQHIQQ")


class Opcode(IntEnum):
    """What a record is."""

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


#: A chunk that claims to be larger is taken for damaged [bytes].
LARGEST = 1 << 31


class McapMessage(NamedTuple):
    """A message of a file; the time of recording is in ns."""

    channel: int
    time: int
    data: bytes


class McapChannel(NamedTuple):
    """A topic of a file."""

    number: int
    topic: str
    type: str


def is_whole(path: Path) -> bool:
    """Whether a file ends as MCAP files do."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - len(MAGIC)))
        return file.read() == MAGIC and path.stat().st_size > 2 * len(MAGIC)


def contents(path: Path) -> Iterator[McapChannel | McapMessage]:
    """Channels and messages in the order in which they were written, up to the first damage."""
    types: dict[int, str] = {}
    with path.open("rb") as file:
        try:
            for opcode, body in _records(file, path.stat().st_size):
                if opcode == Opcode.DATA_END:  # what follows repeats the channels
                    return
                if opcode == Opcode.MESSAGE:
                    channel, _, time, _ = struct.unpack_from("<HIQQ", body)
                    yield McapMessage(channel, time, body[MESSAGE.size - RECORD.size :])
                elif opcode == Opcode.SCHEMA:
                    types[struct.unpack_from("<H", body)[0]] = _text_at(body, 2)
                elif opcode == Opcode.CHANNEL:
                    number, schema = struct.unpack_from("<HH", body)
                    yield McapChannel(number, _text_at(body, 4), types[schema])
        except (ValueError, KeyError, struct.error, MemoryError):  # the damage; what was read until then is good
            return


def _records(file: BinaryIO, size: int) -> Iterator[tuple[int, bytes]]:
    """Opcode and body of each whole record; those of chunks instead of the chunks."""
    if file.read(len(MAGIC)) != MAGIC:
        return
    while len(head := file.read(RECORD.size)) == RECORD.size:
        opcode, length = RECORD.unpack(head)
        if length > size - file.tell():
            return
        body = file.read(length)
        if opcode == Opcode.CHUNK:
            yield from _records_of(_opened(body))
        else:
            yield opcode, body


def _records_of(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(data):
        opcode, length = RECORD.unpack_from(data, at)
        at += RECORD.size
        yield opcode, data[at : at + length]
        at += length


def _opened(chunk: bytes) -> bytes:
    """The records in a chunk."""
    size, check = struct.unpack_from("<QI", chunk, 16)
    compression = _text_at(chunk, 28)
    data = chunk[40 + len(compression) :]
    if compression not in ("", ZSTD) or size > LARGEST:
        raise ValueError(f"{size} bytes, compressed with {compression}")
    opened = _decompressed(data, size) if compression else data
    if check not in (0, zlib.crc32(opened)):
        raise ValueError("the check sum is another")
    return opened


def _decompressed(data: bytes, size: int) -> bytes:
    import zstandard

    try:
        return zstandard.ZstdDecompressor().decompress(data, max_output_size=size)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from None


def _text_at(body: bytes, at: int) -> str:
    (length,) = struct.unpack_from("<I", body, at)
    return body[at + 4 : at + 4 + length].decode()


class UnfinishedMcap:
    """An .mcap file without its end, in the order of writing; one without any whole message is a :class:`BagError`.

    Attributes:
        connections: All topics, those without messages too.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._topics: dict[int, tuple[str, str]] = {}
        counts = Counter(topic for topic, _, _ in self._read())
        if not counts:
            raise BagError("it has no end, and no message before it breaks off")
        self.connections = [Connection(*topic, counts[topic]) for topic in dict.fromkeys(self._topics.values())]

    def messages(self, wanted: Sequence[Connection]) -> Iterator[tuple[Connection, int, bytes]]:
        """Connection, time of recording [ns] and bytes of every message on the wanted connections."""
        chosen = {(topic.topic, topic.msgtype): topic for topic in wanted}
        for topic, time, data in self._read():
            if topic in chosen:
                yield chosen[topic], time, data

    def _read(self) -> Iterator[tuple[tuple[str, str], int, bytes]]:
        """Topic and type, time and bytes of all messages up to the damage."""
        for record in contents(self._path):
            if isinstance(record, McapChannel):
                self._topics[record.number] = record.topic, record.type
            elif record.channel in self._topics:
                yield self._topics[record.channel], record.time, record.data
