"""MCAP files of compressed chunks, which stay readable up to the last flush.

MCAP libraries write a chunk when it is full, not on request, also over rosbag2: a killed recorder would lose the last
chunk.
"""

from __future__ import annotations

import struct
import zlib
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import vds_gz
from vds_gz.bags.reader import CDR, DEFINITION, MAGIC, MESSAGE, PROFILE, RECORD, ZSTD, Opcode

#: Size of messages that are written as a chunk before they are flushed [bytes].
CHUNK = 256 * 1024

#: Time [ns] and place of a message in a chunk's index.
_PLACE = struct.Struct("<QQ")


class McapWriter:
    """An MCAP file that is being written. Flushed data stay readable."""

    def __init__(self, path: str | Path) -> None:
        """Open the file."""
        self.closed = False
        self._file = Path(path).open("wb")  # noqa: SIM115, closed by close()
        self._schemas: dict[str, int] = {}
        self._counts: dict[int, int] = {}
        self._times: list[tuple[int, int]] = []
        self._chunk = bytearray()
        self._index: dict[int, bytearray] = defaultdict(bytearray)
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
        self._counts[channel := len(self._counts) + 1] = 0
        numbers = struct.pack("<HH", channel, self._schemas[type_name])
        self._announce(Opcode.CHANNEL, numbers + _text(topic) + _text(CDR) + _texts(about))
        return channel

    def _announce(self, opcode: Opcode, body: bytes) -> None:
        record = _record(opcode, body)
        self._file.write(record)
        self._summary[opcode].append(record)

    def message(self, channel: int, time: int, data: bytes | bytearray) -> None:
        """Add a message, at a time [ns]. It is on the disk after :meth:`flush`, or once a chunk is full."""
        chunk = self._chunk
        self._counts[channel] += 1
        self._index[channel] += _PLACE.pack(time, len(chunk))
        length = MESSAGE.size - RECORD.size + len(data)
        chunk += MESSAGE.pack(Opcode.MESSAGE, length, channel, self._counts[channel] & 0xFFFFFFFF, time, time)
        chunk += data
        if len(chunk) >= CHUNK:
            self.flush()

    def flush(self) -> None:
        """Write the messages added since the last time to the disk."""
        if not self._chunk:
            return
        messages = bytes(self._chunk)
        stamps = [time for pairs in self._index.values() for time, _ in _PLACE.iter_unpack(pairs)]
        first, last = min(stamps), max(stamps)
        compressed, compression = _compressed(messages)
        times = struct.pack("<QQ", first, last)
        head = times + struct.pack("<QI", len(messages), zlib.crc32(messages)) + _text(compression)
        head += struct.pack("<Q", len(compressed))
        begin = self._file.tell()
        self._file.write(RECORD.pack(Opcode.CHUNK, len(head) + len(compressed)) + head)
        self._file.write(compressed)
        end = self._file.tell()
        places = {}
        for channel, pairs in self._index.items():
            places[channel] = self._file.tell()
            self._file.write(_record(Opcode.MESSAGE_INDEX, struct.pack("<H", channel) + _text(bytes(pairs))))
        where = struct.pack("<QQ", begin, end - begin) + _numbers(places)
        sizes = struct.pack("<Q", self._file.tell() - end) + _text(compression)
        sizes += struct.pack("<QQ", len(compressed), len(messages))
        self._summary[Opcode.CHUNK_INDEX].append(_record(Opcode.CHUNK_INDEX, times + where + sizes))
        self._times.append((first, last))
        self._chunk.clear()
        self._index.clear()
        self._file.flush()

    def close(self) -> None:
        """Write the summary and close the file."""
        if self.closed:
            return
        self.flush()
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
        # The check sum goes over everything from the summary's begin to the footer's last field before it.
        checked = summary + offsets + RECORD.pack(Opcode.FOOTER, 20) + struct.pack("<QQ", start, start + len(summary))
        self._file.write(checked + struct.pack("<I", zlib.crc32(checked)) + MAGIC)
        self._file.close()

    def _statistics(self) -> bytes:
        counts = len(self._summary[Opcode.METADATA_INDEX]), len(self._times)
        numbers = struct.pack("<QHIIII", sum(self._counts.values()), len(self._schemas), len(self._counts), 0, *counts)
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
