"""MCAP files (https://mcap.dev/spec): read by their index, or record by record as far as they go.

Memory does not depend on the length of a file: at most :data:`MOST_HELD` bytes of messages are in memory while they
are sorted by time.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import IntEnum
from heapq import heappop, heappush
from itertools import count, pairwise
from pathlib import Path
from typing import BinaryIO, NamedTuple

from vds_gz.core import files

MAGIC = b"\x89MCAP0\r\n"

#: Names of ROS 2 in MCAP: the profile, the encoding of messages, and that of their definitions.
PROFILE, CDR, DEFINITION = "ros2", "cdr", "ros2msg"

#: The compressions of chunks, and the packages that they need.
ZSTD, LZ4 = "zstd", "lz4"
PACKAGES = {ZSTD: "zstandard", LZ4: "lz4"}

#: A record before its body: opcode, length.
RECORD = struct.Struct("<BQ")

#: A message before its data: opcode, length, channel, sequence, log time, publish time [ns].
MESSAGE = struct.Struct("<BQHIQQ")

#: The end of a file: footer with the place of the summary, that of its offsets and the checksum; then the magic.
_FOOTER = struct.Struct("<BQQQI8s")

#: Maximum size of messages in memory [bytes]. Each counts as this much more than its data.
MOST_HELD, MESSAGE_OVERHEAD = 1 << 30, 200

#: Messages outside chunks are read in blocks of this size [bytes].
_BLOCK = 1 << 20

#: Exceptions that damage provokes in this module.
DAMAGE = (ValueError, LookupError, struct.error, MemoryError)


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


#: Records that chunks may have.
_CHUNKED = (Opcode.SCHEMA, Opcode.CHANNEL, Opcode.MESSAGE)


class Connection(NamedTuple):
    """One topic of a bag: its name and the type of its messages."""

    topic: str
    msgtype: str


class MessageBlock(NamedTuple):
    """A part of a file with messages: the earliest time [ns], and the places of its first byte and of its end."""

    first: int
    begin: int
    end: int


#: Comes after all blocks.
_END = MessageBlock(2**64, 0, 0)


@dataclass
class Index:
    """What an MCAP file holds, and where.

    Attributes:
        connections: By channel.
        counts: Number of messages by channel.
        blocks: The parts of the file with all its messages, in any order.
        span: Earliest and latest time of a message [ns]; None without any.
        compressions: Those of the chunks, as far as they are not decompressed yet.
        whole: Whether the file has its end, and everything before it can be read.
    """

    connections: dict[int, Connection] = field(default_factory=dict)
    counts: Counter[int] = field(default_factory=Counter)
    blocks: list[MessageBlock] = field(default_factory=list)
    span: tuple[int, int] | None = None
    compressions: set[str] = field(default_factory=set)
    whole: bool = False


Data = bytes | memoryview


class _ChannelRegistry:
    """The connections of channels, from the records that announce them."""

    def __init__(self, connections: dict[int, Connection]) -> None:
        self._connections = connections
        self._types = {0: ""}  # a channel without a schema has number 0

    def note(self, opcode: int, body: Data) -> None:
        """Take a record, if it announces a type or a channel."""
        if opcode == Opcode.SCHEMA:
            self._types[struct.unpack_from("<H", body)[0]] = _text_at(body, 2)
        elif opcode == Opcode.CHANNEL:
            channel, schema = struct.unpack_from("<HH", body)
            self._connections[channel] = Connection(_text_at(body, 4), self._types[schema])


def index_of(path: Path) -> Index:
    """The index of a file: its summary, or without a usable one the result of reading all records up to a damage."""
    size = path.stat().st_size
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            return Index()
        file.seek(max(len(MAGIC), size - _FOOTER.size))
        end = file.read()
        index = None
        if end.endswith(MAGIC):
            with suppress(*DAMAGE):
                index = _summarised(file, size - len(end), end)
        if index is None:
            index = _scanned(file, size)
            index.whole &= end.endswith(MAGIC)
        return index


def _summarised(file: BinaryIO, size: int, end: bytes) -> Index | None:
    """The index in a summary up to a place in a file, followed by the footer; None if it is missing or incomplete."""
    opcode, _, begin, _, check, _ = _FOOTER.unpack(end)
    if opcode != Opcode.FOOTER or not size - files.LARGEST_CHUNK <= begin < size or not begin:
        return None
    file.seek(begin)
    summary = file.read(size - begin)
    if check not in (0, zlib.crc32(summary + end[: -len(MAGIC) - 4])):
        return None
    index, number, chunks = Index(whole=True), 0, 0
    channels = _ChannelRegistry(index.connections)
    for opcode, body in _records_of(summary):
        channels.note(opcode, body)
        if opcode == Opcode.CHUNK_INDEX:
            first, _, place, length = struct.unpack_from("<QQQQ", body)
            index.blocks.append(MessageBlock(first, place, place + length))
            index.compressions.add(_text_at(body, 44 + struct.unpack_from("<I", body, 32)[0]))
        elif opcode == Opcode.STATISTICS:
            number, _, _, _, _, chunks, *span = struct.unpack_from("<QHIIIIQQ", body)
            index.span = (span[0], span[1]) if number else None
            counts = body[46 : 46 + struct.unpack_from("<I", body, 42)[0]]
            index.counts.update(dict(struct.iter_unpack("<HQ", counts)))
    indexed = chunks == len(index.blocks) > 0 and index.counts.total() == number
    return index if indexed and index.counts.keys() <= index.connections.keys() else None


def _scanned(file: BinaryIO, size: int) -> Index:
    """The index of the records up to the end of the data, or to the first damage."""
    index = Index()
    channels = _ChannelRegistry(index.connections)
    try:
        for opcode, body, begin, end in _raw_records(file, len(MAGIC), size):
            if opcode == Opcode.DATA_END:  # the rest repeats the channels
                index.whole = True
                break
            counts, first, last = Counter[int](), math.inf, -1
            for kind, record in _records_in(opcode, body):
                channels.note(kind, record)
                if kind == Opcode.MESSAGE:
                    channel, _, time, _ = struct.unpack_from("<HIQQ", record)
                    if channel in index.connections:
                        counts[channel] += 1
                        first, last = min(first, time), max(last, time)
            if counts:
                _add(index, counts, MessageBlock(int(first), begin, end), last)
    except DAMAGE:  # everything before it is good
        pass
    return index


def _add(index: Index, counts: Counter[int], block: MessageBlock, last: int) -> None:
    """Add a part of a file to its index; one that continues a short block is joined with that."""
    index.counts += counts
    begin, end = index.span or (block.first, last)
    index.span = min(begin, block.first), max(end, last)
    before = index.blocks[-1] if index.blocks else None
    if before is not None and before.end == block.begin and block.end - before.begin < _BLOCK:
        index.blocks[-1] = MessageBlock(min(before.first, block.first), before.begin, block.end)
    else:
        index.blocks.append(block)


def messages(path: Path, index: Index, wanted: Mapping[int, Connection]) -> Iterator[tuple[Connection, int, bytes]]:
    """Connection, time of recording [ns] and bytes of each message on the wanted channels, in the order of time.

    Raises:
        ValueError, LookupError, struct.error, MemoryError: A part of the file is damaged, or messages are so far from
            the order of time that more than :data:`MOST_HELD` bytes would be in memory.
    """
    blocks = sorted(index.blocks)
    held, number = 0, count()
    heap: list[tuple[int, int, Connection, bytes]] = []
    with path.open("rb") as file:
        for block, following in pairwise([*blocks, _END]):
            for channel, time, data in _messages_in(file, block):
                if channel in wanted:
                    if time < block.first:
                        raise ValueError(f"a chunk from {block.first} ns on has a message of {time} ns")
                    heappush(heap, (time, next(number), wanted[channel], bytes(data)))
                    held += len(data) + MESSAGE_OVERHEAD
            if held > MOST_HELD:
                raise ValueError(f"more than {MOST_HELD} bytes of messages are not in the order of time")
            while heap and heap[0][0] <= following.first:
                time, _, connection, data = heappop(heap)
                held -= len(data) + MESSAGE_OVERHEAD
                yield connection, time, data


def _messages_in(file: BinaryIO, block: MessageBlock) -> Iterator[tuple[int, int, Data]]:
    """Channel, time [ns] and data of each message in a block."""
    for opcode, body, _, _ in _raw_records(file, block.begin, block.end):
        for kind, record in _records_in(opcode, body):
            if kind == Opcode.MESSAGE:
                channel, _, time, _ = struct.unpack_from("<HIQQ", record)
                yield channel, time, record[MESSAGE.size - RECORD.size :]


def _raw_records(file: BinaryIO, begin: int, end: int) -> Iterator[tuple[int, Data, int, int]]:
    """Opcode, body, begin and end of each record in a part of a file; empty bodies of records that are not needed."""
    file.seek(begin)
    while begin < end:
        opcode, length = RECORD.unpack(file.read(RECORD.size))
        after = begin + RECORD.size + length
        if after > end:
            raise ValueError(f"a record of {length} bytes is longer than the file")
        if opcode not in (Opcode.CHUNK, *_CHUNKED):
            file.seek(after)
            yield opcode, b"", begin, after
        elif length > files.LARGEST_CHUNK:
            raise ValueError(f"a record of {length} bytes; at most {files.LARGEST_CHUNK} are read")
        else:
            yield opcode, file.read(length), begin, after
        begin = after


def _records_in(opcode: int, body: Data) -> Iterator[tuple[int, Data]]:
    """The records in a chunk; the record itself if it is none."""
    if opcode != Opcode.CHUNK:
        yield opcode, body
        return
    for kind, record in _records_of(_opened(body)):
        if kind not in _CHUNKED:  # zeros, for example
            raise ValueError(f"a record of type {kind} in a chunk")
        yield kind, record


def _records_of(data: Data) -> Iterator[tuple[int, Data]]:
    """Opcode and body of each record in a summary or a chunk."""
    view, at = memoryview(data), 0
    while at < len(view):
        opcode, length = RECORD.unpack_from(view, at)
        at += RECORD.size
        if length > len(view) - at:
            raise ValueError(f"a record of {length} bytes where {len(view) - at} are left")
        yield opcode, view[at : at + length]
        at += length


def _opened(chunk: Data) -> Data:
    """The content of a chunk, decompressed."""
    size, check = struct.unpack_from("<QI", chunk, 16)
    compression = _text_at(chunk, 28)
    data = memoryview(chunk)[40 + len(compression) :]
    openers: dict[str, Callable[[Data, int], Data]] = {"": lambda data, _: data, ZSTD: _from_zstd, LZ4: _from_lz4}
    if compression not in openers or size > files.LARGEST_CHUNK:
        raise ValueError(f"{size} bytes, compressed with {compression}")
    opened = openers[compression](data, size)
    if check not in (0, zlib.crc32(opened)):
        raise ValueError("the checksum is wrong")
    return opened


def _from_lz4(data: Data, size: int) -> Data:
    import lz4.frame

    try:
        decompressor = lz4.frame.LZ4FrameDecompressor()
        opened = bytes(decompressor.decompress(data, max_length=size))
    except RuntimeError as error:
        raise ValueError(str(error)) from None
    if not decompressor.eof:
        raise ValueError(f"more than the {size} bytes of the chunk")
    return opened


def _from_zstd(data: Data, size: int) -> Data:
    import zstandard

    try:
        if (stated := zstandard.frame_content_size(data)) > size:  # max_output_size does not limit a frame with a size
            raise ValueError(f"a frame of {stated} bytes where the chunk has {size}")
        return zstandard.ZstdDecompressor().decompress(data, max_output_size=size)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from None


def _text_at(body: Data, at: int) -> str:
    (length,) = struct.unpack_from("<I", body, at)
    return str(body[at + 4 : at + 4 + length], "utf-8")
