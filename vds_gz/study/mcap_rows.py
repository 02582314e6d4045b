"""MCAP files whose messages differ in times and numbers only, written a thousand messages at a stroke.

A message is kept as a template; times and numbers are put into copies of it by numpy. So an hour of a vehicle's
topics takes seconds, where one call a message would take minutes.
"""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import zstandard
from mcap.data_stream import RecordBuilder
from mcap.opcode import Opcode
from mcap.records import Channel, ChunkIndex, DataEnd, Footer, Header, Schema, Statistics, SummaryOffset
from numpy.typing import NDArray

import vds_gz

Array = NDArray[np.float64]
Times = NDArray[np.int64]

MAGIC = b"\x89MCAP0\r\n"

#: Before a message's data: opcode, length, channel, sequence, log time, publish time.
_HEAD = struct.Struct("<BQHIQQ")
_SEQUENCE, _LOG_TIME, _PUBLISH_TIME = 11, 15, 23


@dataclass(frozen=True, slots=True)
class Template:
    """The bytes of a message, and where in them something changes.

    Attributes:
        data: CDR with its header.
        stamps: Where times stand (seconds ``int32``, nanoseconds ``uint32``).
        numbers: Where numbers stand: offset, numpy type, column of the values.
    """

    data: bytes
    stamps: tuple[int, ...]
    numbers: tuple[tuple[int, str, int], ...]


def learn(data: bytes, stamp: int, values: Sequence[float], kind: str = "<f8") -> Template:
    """A template from a message into which known values were put, each of its own.

    Args:
        data: The message.
        stamp: The time [ns] that was put in.
        values: The numbers that were put in, by column; those that are not in it belong to other messages.
        kind: Type of the numbers.
    """
    mark = struct.pack("<iI", *divmod(stamp, 1_000_000_000))
    numbers = [
        (place, kind, column)
        for column, value in enumerate(values)
        for place in _places(data, np.array(value, kind).tobytes())
    ]
    return Template(data, tuple(_places(data, mark)), tuple(numbers))


def _places(data: bytes, mark: bytes) -> list[int]:
    found, at = [], data.find(mark)
    while at >= 0:
        found.append(at)
        at = data.find(mark, at + 1)
    return found


class Rows:
    """Messages of several channels that always come together, one after the other: a row."""

    def __init__(self, templates: Sequence[tuple[int, Template]]) -> None:
        """Lay out a row of these channels and templates."""
        fields: dict[str, tuple[str, int]] = {}
        self._template = b""
        self._counts = 0
        self.channels: list[tuple[int, int]] = []
        self._numbers: list[tuple[str, int]] = []
        for channel, template in templates:
            begin = len(self._template)
            self.channels.append((channel, begin))
            length = _HEAD.size - 9 + len(template.data)
            self._template += _HEAD.pack(Opcode.MESSAGE, length, channel, 0, 0, 0) + template.data
            fields[f"sequence {begin}"] = "<u4", begin + _SEQUENCE
            fields[f"log time {begin}"] = "<u8", begin + _LOG_TIME
            fields[f"publish time {begin}"] = "<u8", begin + _PUBLISH_TIME
            for place in template.stamps:
                fields[f"second {begin + place}"] = "<i4", begin + _HEAD.size + place
                fields[f"nanosecond {begin + place}"] = "<u4", begin + _HEAD.size + place + 4
            for place, kind, column in template.numbers:
                fields[f"number {begin + place}"] = kind, begin + _HEAD.size + place
                self._numbers.append((f"number {begin + place}", column))
        formats, offsets = [kind for kind, _ in fields.values()], [place for _, place in fields.values()]
        self.length = len(self._template)
        description = {"names": list(fields), "formats": formats, "offsets": offsets, "itemsize": self.length}
        self._type: np.dtype[np.void] = np.dtype(description)  # type: ignore[call-overload]

    def fill(self, times: Times, values: Array) -> bytes:
        """Rows at these times [ns] with these numbers, (rows, columns)."""
        rows = np.frombuffer(self._template, np.uint8)[None].repeat(len(times), axis=0)
        fields = rows.view(self._type)[:, 0]
        seconds, nanoseconds = np.divmod(times, 1_000_000_000)
        shared = {"sequence": self._counts + 1 + np.arange(len(times)), "second": seconds, "nanosecond": nanoseconds}
        for name in self._type.names or ():
            kind = name.rpartition(" ")[0]
            if kind != "number":
                fields[name] = shared.get(kind, times)
        for name, column in self._numbers:
            fields[name] = values[:, column]
        self._counts += len(times)
        return rows.tobytes()


class RowWriter:
    """An MCAP file of chunks of rows. Used with ``with``, which finishes the file."""

    def __init__(self, path: str | Path) -> None:
        """Open the file."""
        self._file = Path(path).open("wb")  # noqa: SIM115, closed by close()
        self._file.write(MAGIC)
        self._schemas: dict[str, Schema] = {}
        self._channels: list[Channel] = []
        self._chunks: list[ChunkIndex] = []
        self._counts: Counter[int] = Counter()
        # Compressing is a fifth of the work, and done by another thread while the next chunk is made.
        self._compress = zstandard.ZstdCompressor(level=1).compress
        self._compressor = ThreadPoolExecutor(1)
        self._compressing: Future[None] | None = None
        builder = RecordBuilder()
        Header("ros2", f"vds_gz {vds_gz.__version__}").write(builder)
        self._file.write(builder.end())

    def __enter__(self) -> RowWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.close()

    def channel(self, topic: str, type_name: str, definition: str, about: dict[str, str]) -> int:
        """Announce a topic with its type, the text of the type's definition and what rosbag2 wants to know."""
        builder = RecordBuilder()
        schema = self._schemas.get(type_name)
        if schema is None:
            schema = Schema(len(self._schemas) + 1, definition.encode(), "ros2msg", type_name)
            schema.write(builder)
            self._schemas[type_name] = schema
        channel = Channel(len(self._channels) + 1, topic, "cdr", about, schema.id)
        channel.write(builder)
        self._channels.append(channel)
        self._file.write(builder.end())
        return channel.id

    def write(self, parts: Sequence[tuple[Rows, Times, Array]]) -> None:
        """Write rows as one chunk: layout, times [ns] and values of each kind."""
        data = b""
        entries: dict[int, list[NDArray[np.uint64]]] = {}
        for rows, times, values in parts:
            starts = len(data) + rows.length * np.arange(len(times))
            data += rows.fill(times, values)
            for channel, offset in rows.channels:
                entries.setdefault(channel, []).append(np.column_stack((times, starts + offset)).astype("<u8"))
                self._counts[channel] += len(times)
        every = [times for _, times, _ in parts if len(times)]
        if every:
            first, last = min(int(times[0]) for times in every), max(int(times[-1]) for times in every)
            indices = {key: np.concatenate(items) for key, items in entries.items()}
            self._wait()
            self._compressing = self._compressor.submit(self._write_chunk, data, first, last, indices)

    def _wait(self) -> None:
        """Until the last chunk is written."""
        if self._compressing is not None:
            self._compressing.result()
            self._compressing = None

    def _write_chunk(self, data: bytes, first: int, last: int, entries: dict[int, NDArray[np.uint64]]) -> None:
        compressed = self._compress(data)
        body = struct.pack("<QQQII4sQ", first, last, len(data), zlib.crc32(data), 4, b"zstd", len(compressed))
        start = self._file.tell()
        self._file.write(struct.pack("<BQ", Opcode.CHUNK, len(body) + len(compressed)) + body)
        self._file.write(compressed)
        end = self._file.tell()
        places = {}
        for channel, pairs in entries.items():
            places[channel] = self._file.tell()
            size = pairs.nbytes
            self._file.write(struct.pack("<BQHI", Opcode.MESSAGE_INDEX, 6 + size, channel, size) + pairs.tobytes())
        index_length = self._file.tell() - end
        self._chunks.append(
            ChunkIndex(end - start, start, "zstd", len(compressed), last, index_length, places, first, len(data))
        )

    def close(self) -> None:
        """Write the summary and close the file."""
        if self._file.closed:
            return
        self._wait()
        self._compressor.shutdown()
        builder = RecordBuilder()
        DataEnd(0).write(builder)
        self._file.write(builder.end())
        start = self._file.tell()
        offsets = []
        groups: list[tuple[Opcode, list[Any]]]
        groups = [(Opcode.SCHEMA, list(self._schemas.values())), (Opcode.CHANNEL, self._channels)]
        for opcode, group in (*groups, (Opcode.STATISTICS, [self._statistics()]), (Opcode.CHUNK_INDEX, self._chunks)):
            before = builder.count
            for record in group:
                record.write(builder)
            offsets.append(SummaryOffset(opcode, start + before, builder.count - before))
        offsets_start = start + builder.count
        for offset in offsets:
            offset.write(builder)
        summary = builder.end()
        check = zlib.crc32(struct.pack("<BQQQ", Opcode.FOOTER, 20, start, offsets_start), zlib.crc32(summary))
        Footer(start, offsets_start, check).write(builder)
        self._file.write(summary + builder.end() + MAGIC)
        self._file.close()

    def _statistics(self) -> Statistics:
        first = min((chunk.message_start_time for chunk in self._chunks), default=0)
        last = max((chunk.message_end_time for chunk in self._chunks), default=0)
        counts = dict(self._counts)
        total = sum(counts.values())
        return Statistics(0, len(self._channels), counts, len(self._chunks), total, last, first, 0, len(self._schemas))
