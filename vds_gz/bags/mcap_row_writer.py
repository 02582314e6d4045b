"""MCAP files whose messages differ in times and numbers only, written a thousand messages at a stroke.

A message is kept as a template; times and numbers are put into copies of it by numpy. So an hour of a vehicle's
topics takes seconds, where one call a message would take minutes.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from vds_gz.bags.mcap_format import MESSAGE, RECORD, Opcode
from vds_gz.bags.mcap_writer import McapWriter

Array = NDArray[np.float64]
Times = NDArray[np.int64]

#: Where in a message these stand.
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
    stamps: Sequence[int] = ()
    numbers: Sequence[tuple[int, str, int]] = ()


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
            length = MESSAGE.size - RECORD.size + len(template.data)
            self._template += MESSAGE.pack(Opcode.MESSAGE, length, channel, 0, 0, 0) + template.data
            fields[f"sequence {begin}"] = "<u4", begin + _SEQUENCE
            fields[f"log time {begin}"] = "<u8", begin + _LOG_TIME
            fields[f"publish time {begin}"] = "<u8", begin + _PUBLISH_TIME
            for place in template.stamps:
                fields[f"second {begin + place}"] = "<i4", begin + MESSAGE.size + place
                fields[f"nanosecond {begin + place}"] = "<u4", begin + MESSAGE.size + place + 4
            for place, kind, column in template.numbers:
                fields[f"number {begin + place}"] = kind, begin + MESSAGE.size + place
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
        self._file = McapWriter(path)
        # Compressing is a fifth of the work, and done by another thread while the next chunk is made.
        self._compressor = ThreadPoolExecutor(1)
        self._compressing: Future[None] | None = None

    def __enter__(self) -> RowWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.close()

    def channel(self, topic: str, type_name: str, definition: str, about: dict[str, str]) -> int:
        """Announce a topic with its type, the text of the type's definition and what rosbag2 wants to know."""
        self._wait()
        return self._file.channel(topic, type_name, definition, about)

    def write(self, parts: Sequence[tuple[Rows, Times, Array]]) -> None:
        """Write rows as one chunk: layout, times [ns] and values of each kind."""
        data = b""
        entries: dict[int, list[NDArray[np.uint64]]] = {}
        for rows, times, values in parts:
            starts = len(data) + rows.length * np.arange(len(times))
            data += rows.fill(times, values)
            for channel, offset in rows.channels:
                entries.setdefault(channel, []).append(np.column_stack((times, starts + offset)).astype("<u8"))
        every = [times for _, times, _ in parts if len(times)]
        if every:
            first, last = min(int(times[0]) for times in every), max(int(times[-1]) for times in every)
            index = {channel: np.concatenate(pairs).tobytes() for channel, pairs in entries.items()}
            self._wait()
            self._compressing = self._compressor.submit(self._file.chunk, data, first, last, index)

    def _wait(self) -> None:
        """Until the last chunk is written."""
        if self._compressing is not None:
            self._compressing.result()
            self._compressing = None

    def close(self) -> None:
        """Finish the file."""
        if not self._file.closed:
            self._wait()
            self._compressor.shutdown()
            self._file.close()
