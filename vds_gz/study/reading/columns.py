"""The numbers in the messages of a bag, as arrays by topic."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from vds_gz.bags.connection import Connection
from vds_gz.errors import MalformedMessageError
from vds_gz.interface.conversions import stamp_ns
from vds_gz.ros.graph import Message
from vds_gz.ros.messages.factory import TypeCodec, open_types
from vds_gz.study.reading.clocks import Times
from vds_gz.study.reading.messages import Key, Reader
from vds_gz.study.recording import Array
from vds_gz.study.signals import SignalError


@dataclass(slots=True)
class Column:
    """The data of one topic: times of recording and stamps [ns], and the numbers of its messages, NaN if missing.

    A stamp of 0 means no stamp.
    """

    logged: array[int] = field(default_factory=lambda: array("q"))
    stamps: array[int] = field(default_factory=lambda: array("q"))
    numbers: dict[Key, array[float]] = field(default_factory=dict)

    def append(self, logged: int, stamp: int, values: Mapping[Key, float]) -> None:
        """Add a message."""
        for key in values:
            if key not in self.numbers:
                self.numbers[key] = array("d", [math.nan]) * len(self.logged)
        for key, column in self.numbers.items():
            column.append(values.get(key, math.nan))
        self.logged.append(logged)
        self.stamps.append(stamp)

    def known(self) -> Iterator[tuple[Key, Array]]:
        """The numbers that occur in a message."""
        for key, numbers in self.numbers.items():
            values = np.array(numbers)
            if np.isfinite(values).any():
                yield key, values

    def times(self) -> tuple[Times, Times]:
        """Times of recording and stamps [ns]; if no message has a stamp, both are the time of recording."""
        logged, stamps = np.array(self.logged, np.int64), np.array(self.stamps, np.int64)
        return logged, stamps if stamps.any() else logged

    def table(self, keys: Iterable[Key]) -> Array:
        """The numbers of each message, a row each; NaN if missing."""
        missing = np.full(len(self.logged), np.nan)
        return np.column_stack([np.array(self.numbers[key]) if key in self.numbers else missing for key in keys])

    def seconds(self, begin: int) -> tuple[Array, Array]:
        """Times of recording and stamps [s], from a time of recording [ns]; NaN for a message without a stamp."""
        logged, stamps = np.array(self.logged, np.int64), np.array(self.stamps, np.int64)
        return (logged - begin).astype(float) * 1e-9, np.where(
            stamps == 0, np.nan, (stamps - begin).astype(float) * 1e-9
        )


def read_columns(
    path: Path, messages: Iterable[tuple[Connection, int, bytes]], readers: Mapping[str, Reader]
) -> dict[str, Column]:
    """The numbers of each topic's messages.

    Args:
        path: The bag, for messages.
        messages: Connection, time of recording [ns] and bytes.
        readers: The reader of each topic's messages.

    Raises:
        SignalError: A message is damaged.
    """
    types = open_types()
    codecs: dict[str, TypeCodec] = {}
    columns: dict[str, Column] = {}
    for connection, time, data in messages:
        kind = connection.msgtype
        codec = codecs.get(kind) or codecs.setdefault(kind, types.codec(kind))
        try:
            message = codec.decode(bytearray(data))
        except MalformedMessageError as error:
            raise SignalError(f"'{path}', topic '{connection.topic}': {error}") from None
        stamp = _stamp_of(message)
        values = readers[connection.topic](message)
        columns.setdefault(connection.topic, Column()).append(time, 0 if stamp is None else stamp_ns(stamp), values)
    return columns


def _stamp_of(message: Message) -> Message | None:
    """A message's stamp, or the time of a clock message; None if it has none."""
    for name in ("stamp", "clock"):
        if (stamp := getattr(message, name, None)) is not None:
            break
    else:
        stamp = getattr(getattr(message, "header", None), "stamp", None)
    return stamp
