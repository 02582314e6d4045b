"""MCAP files of compressed chunks, written so that what was flushed stays readable.

The libraries for MCAP write a chunk when it is full and not when we say so, and over rosbag2 they cannot be told to: a
recorder that is killed would lose whatever the last chunk held.
"""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import vds_gz
from vds_gz.bags.mcap_format import CDR, DEFINITION, MAGIC, PROFILE, RECORD, ZSTD, Opcode
from vds_gz.bags.zstd import compress


class McapWriter:
    """An MCAP file that is being written. What was flushed can be read, whatever happens then.

    Attributes:
        closed: Nothing more can be written.
    """

    def __init__(self, path: str | Path) -> None:
        """Open the file.

        Raises:
            OSError: It cannot be written.
        """
        self.closed = False
        self._file = Path(path).open("wb")  # noqa: SIM115, closed by close()
        self._schemas: dict[str, int] = {}
        self._channels = 0
        self._counts: Counter[int] = Counter()
        self._times: list[tuple[int, int]] = []
        # Records that the summary repeats or has besides, by opcode, in the order that it has them.
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
        """Announce a topic; the number that its messages have.

        Args:
            topic: Its absolute name.
            type_name: The type of its messages.
            definition: The text of the type's definition; empty where it is not known.
            about: What rosbag2 wants to know.
        """
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
        """Write messages, and put them on the disk.

        Args:
            messages: One after the other, each a ``MESSAGE`` and its data.
            first, last: Times of the earliest and the latest [ns].
            index: Of each channel, time [ns] and place of its messages, as pairs of ``uint64``.
        """
        compressed = compress(messages)
        times = struct.pack("<QQ", first, last)
        head = times + struct.pack("<QI", len(messages), zlib.crc32(messages)) + _text(ZSTD)
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
        sizes = struct.pack("<Q", self._file.tell() - end) + _text(ZSTD)
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
        # The check sum goes over everything from the summary's begin to the footer's last field before it.
        checked = summary + offsets + RECORD.pack(Opcode.FOOTER, 20) + struct.pack("<QQ", start, start + len(summary))
        self._file.write(checked + struct.pack("<I", zlib.crc32(checked)) + MAGIC)
        self._file.close()

    def _statistics(self) -> bytes:
        counts = len(self._summary[Opcode.METADATA_INDEX]), len(self._times)
        numbers = struct.pack("<QHIIII", self._counts.total(), len(self._schemas), self._channels, 0, *counts)
        first = min((times[0] for times in self._times), default=0)
        last = max((times[1] for times in self._times), default=0)
        return _record(Opcode.STATISTICS, numbers + struct.pack("<QQ", first, last) + _numbers(self._counts))


def _record(opcode: Opcode, body: bytes) -> bytes:
    return RECORD.pack(opcode, len(body)) + body


def _text(text: str | bytes) -> bytes:
    data = text.encode() if isinstance(text, str) else text
    return struct.pack("<I", len(data)) + data


def _texts(texts: Mapping[str, str]) -> bytes:
    return _text(b"".join(_text(name) + _text(text) for name, text in texts.items()))


def _numbers(numbers: Mapping[int, int]) -> bytes:
    return _text(b"".join(struct.pack("<HQ", key, number) for key, number in numbers.items()))
