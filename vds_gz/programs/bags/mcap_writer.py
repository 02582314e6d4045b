"""MCAP files of compressed chunks, which stay readable up to the last flush.

MCAP libraries, and rosbag2 with them, write a chunk when it is full, not on request, so a killed recorder would lose
the last chunk. A message of which only times and numbers change is kept as a template; numpy writes them into a
thousand copies at once. So an hour of a vehicle's topics takes seconds instead of minutes.
"""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import vds_gz
from vds_gz.core.arrays import Array, Integers
from vds_gz.programs.bags.mcap import CDR, DEFINITION, MAGIC, MESSAGE, PROFILE, RECORD, ZSTD, Opcode


class McapWriter:
    """An MCAP file that is being written. Flushed data stay readable."""

    def __init__(self, path: str | Path) -> None:
        """Open the file."""
        self.closed = False
        self._file = Path(path).open("wb")  # noqa: SIM115, closed by close()
        self._schemas: dict[str, int] = {}
        self._channels = 0
        self._counts: Counter[int] = Counter()
        self._times: list[tuple[int, int]] = []
        # Records of the summary, by opcode, in its order.
        self._summary: dict[Opcode, list[bytes]] = {
            Opcode.SCHEMA: [],
            Opcode.CHANNEL: [],
            Opcode.STATISTICS: [],
            Opcode.CHUNK_INDEX: [],
            Opcode.METADATA_INDEX: [],
        }
        self._file.write(MAGIC + _record(Opcode.HEADER, _text(PROFILE) + _text(f"vds_gz {vds_gz.__version__}")))

    def metadata(self, name: str, texts: Mapping[str, str]) -> None:
        """Write texts about the whole file."""
        record = _record(Opcode.METADATA, _text(name) + _texts(texts))
        place = struct.pack("<QQ", self._file.tell(), len(record))
        self._file.write(record)
        self._summary[Opcode.METADATA_INDEX].append(_record(Opcode.METADATA_INDEX, place + _text(name)))

    def channel(self, topic: str, type_name: str, definition: str, about: Mapping[str, str]) -> int:
        """Announce a topic by its absolute name, and return its number; ``about`` is metadata for rosbag2."""
        if type_name not in self._schemas:
            self._schemas[type_name] = number = len(self._schemas) + 1
            encoding = DEFINITION if definition else ""
            body = struct.pack("<H", number) + _text(type_name) + _text(encoding) + _text(definition)
            self._announce(Opcode.SCHEMA, body)
        self._channels += 1
        numbers = struct.pack("<HH", self._channels, self._schemas[type_name])
        self._announce(Opcode.CHANNEL, numbers + _text(topic) + _text(CDR) + _texts(about))
        return self._channels

    def _announce(self, opcode: Opcode, body: bytes) -> None:
        record = _record(opcode, body)
        self._file.write(record)
        self._summary[opcode].append(record)

    def chunk(self, messages: bytes, first: int, last: int, index: Mapping[int, bytes]) -> None:
        """Write messages, each a ``MESSAGE`` and its data, and flush them to the disk.

        ``first`` and ``last`` are their earliest and latest times [ns]. For each channel, the index has time [ns] and
        place of its messages as pairs of ``uint64``.
        """
        compressed, compression = _compressed(messages)
        times = struct.pack("<QQ", first, last)
        head = times + struct.pack("<QI", len(messages), zlib.crc32(messages)) + _text(compression)
        head += struct.pack("<Q", len(compressed))
        begin = self._file.tell()
        self._file.write(RECORD.pack(Opcode.CHUNK, len(head) + len(compressed)) + head)
        self._file.write(compressed)
        end = self._file.tell()
        places = {}
        for channel, pairs in index.items():
            places[channel] = self._file.tell()
            self._file.write(_record(Opcode.MESSAGE_INDEX, struct.pack("<H", channel) + _text(pairs)))
            self._counts[channel] += len(pairs) // 16
        where = struct.pack("<QQ", begin, end - begin) + _numbers(places)
        sizes = struct.pack("<Q", self._file.tell() - end) + _text(compression)
        sizes += struct.pack("<QQ", len(compressed), len(messages))
        self._summary[Opcode.CHUNK_INDEX].append(_record(Opcode.CHUNK_INDEX, times + where + sizes))
        self._times.append((first, last))
        self._file.flush()

    def close(self) -> None:
        """Write the summary and close the file."""
        if self.closed:
            return
        self.closed = True
        self._file.write(_record(Opcode.DATA_END, struct.pack("<I", 0)))
        self._summary[Opcode.STATISTICS] = [self._statistics()]
        start = self._file.tell()
        summary = offsets = b""
        for opcode, records in self._summary.items():
            if records:
                group = b"".join(records)
                offset = struct.pack("<BQQ", opcode, start + len(summary), len(group))
                offsets += _record(Opcode.SUMMARY_OFFSET, offset)
                summary += group
        # The checksum covers everything from the start of the summary to the footer's last field before it.
        checked = summary + offsets + RECORD.pack(Opcode.FOOTER, 20) + struct.pack("<QQ", start, start + len(summary))
        self._file.write(checked + struct.pack("<I", zlib.crc32(checked)) + MAGIC)
        self._file.close()

    def _statistics(self) -> bytes:
        counts = len(self._summary[Opcode.METADATA_INDEX]), len(self._times)
        numbers = struct.pack("<QHIIII", self._counts.total(), len(self._schemas), self._channels, 0, *counts)
        first = min((times[0] for times in self._times), default=0)
        last = max((times[1] for times in self._times), default=0)
        return _record(Opcode.STATISTICS, numbers + struct.pack("<QQ", first, last) + _numbers(self._counts))


def _compressed(data: bytes) -> tuple[bytes, str]:
    """The data and its compression: Zstandard at its fastest level, or none if the package is not installed."""
    try:
        import zstandard
    except ModuleNotFoundError:
        return data, ""
    return zstandard.ZstdCompressor(1).compress(data), ZSTD


def _record(opcode: Opcode, body: bytes) -> bytes:
    return RECORD.pack(opcode, len(body)) + body


def _text(text: str | bytes) -> bytes:
    data = text.encode() if isinstance(text, str) else text
    return struct.pack("<I", len(data)) + data


def _texts(texts: Mapping[str, str]) -> bytes:
    return _text(b"".join(_text(name) + _text(text) for name, text in texts.items()))


def _numbers(numbers: Mapping[int, int]) -> bytes:
    return _text(b"".join(struct.pack("<HQ", key, number) for key, number in numbers.items()))


#: Offsets in a message.
_SEQUENCE, _LOG_TIME, _PUBLISH_TIME = 11, 15, 23


@dataclass(frozen=True, slots=True)
class Template:
    """The bytes of a message, and the places of changing numbers."""

    data: bytes  # CDR with its header
    stamps: Sequence[int] = ()  # offsets of times (seconds ``int32``, nanoseconds ``uint32``)
    numbers: Sequence[tuple[int, str]] = ()  # offsets and numpy types of numbers


class Rows:
    """Rows of messages: those of several channels that always come together, in order."""

    def __init__(self, templates: Sequence[tuple[int, Template]]) -> None:
        """Lay out a row of these channels and templates."""
        fields: list[tuple[str, str, int]] = []  # content, numpy type and offset
        self._template = b""
        self._counts = 0
        self.channels: list[tuple[int, int]] = []
        for channel, template in templates:
            begin = len(self._template)
            data = begin + MESSAGE.size
            self.channels.append((channel, begin))
            length = MESSAGE.size - RECORD.size + len(template.data)
            self._template += MESSAGE.pack(Opcode.MESSAGE, length, channel, 0, 0, 0) + template.data
            fields.append(("sequence", "<u4", begin + _SEQUENCE))
            fields += [("time", "<u8", begin + place) for place in (_LOG_TIME, _PUBLISH_TIME)]
            fields += [("second", "<i4", data + place) for place in template.stamps]
            fields += [("nanosecond", "<u4", data + place + 4) for place in template.stamps]
            fields += [("number", kind, data + place) for place, kind in template.numbers]
        self.length = len(self._template)
        self._contents, formats, offsets = zip(*fields, strict=True)
        names = [str(place) for place in offsets]
        description = {"names": names, "formats": formats, "offsets": offsets, "itemsize": self.length}
        self._type: np.dtype[np.void] = np.dtype(description)  # type: ignore[call-overload]

    def fill(self, times: Integers, values: Array) -> bytes:
        """Rows at these times [ns]; the columns of values are the numbers of all messages, in order."""
        rows = np.frombuffer(self._template, np.uint8)[None].repeat(len(times), axis=0)
        fields = rows.view(self._type)[:, 0]
        seconds, nanoseconds = np.divmod(times, 1_000_000_000)
        sequence = self._counts + 1 + np.arange(len(times))
        shared = {"sequence": sequence, "time": times, "second": seconds, "nanosecond": nanoseconds}
        columns = iter(values.T)
        for name, content in zip(self._type.names or (), self._contents, strict=True):
            fields[name] = next(columns) if content == "number" else shared[content]
        self._counts += len(times)
        return rows.tobytes()


class RowWriter(McapWriter):
    """An MCAP file of chunks of rows, whose topics are announced before them."""

    def __init__(self, path: str | Path) -> None:
        """Open the file."""
        super().__init__(path)
        # Compressing is a fifth of the work, and done by another thread while the next chunk is made.
        self._compressor = ThreadPoolExecutor(1)
        self._compressing: Future[None] | None = None

    def write(self, parts: Sequence[tuple[Rows, Integers, Array]]) -> None:
        """Write rows as one chunk: layout, times [ns] and values of each kind."""
        data = b""
        entries: dict[int, list[NDArray[np.uint64]]] = {}
        for rows, times, values in parts:
            starts = len(data) + rows.length * np.arange(len(times))
            data += rows.fill(times, values)
            for channel, offset in rows.channels:
                entries.setdefault(channel, []).append(np.column_stack((times, starts + offset)).astype("<u8"))
        filled = [times for _, times, _ in parts if len(times)]
        if filled:
            first, last = min(int(times[0]) for times in filled), max(int(times[-1]) for times in filled)
            index = {channel: np.concatenate(pairs).tobytes() for channel, pairs in entries.items()}
            self._wait()
            self._compressing = self._compressor.submit(self.chunk, data, first, last, index)

    def _wait(self) -> None:
        """Wait until the last chunk is written."""
        if self._compressing is not None:
            self._compressing.result()

    def close(self) -> None:
        """Finish the file."""
        with self._compressor:
            self._wait()
        super().close()
