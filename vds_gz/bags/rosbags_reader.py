"""Bags read by the package rosbags, where there is no ROS."""

from __future__ import annotations

import sqlite3
import struct
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rosbags.rosbag2 import Reader, ReaderError

from vds_gz.bags.connection import BagError, Connection

if sys.version_info >= (3, 14):
    from compression.zstd import ZstdError
else:
    from backports.zstd import ZstdError  # which rosbags brings

#: What rosbags, SQLite and the decompressors raise where a file is damaged: rosbags checks some of what it reads, and
#: trips over the rest.
_DAMAGE = (
    ReaderError,
    OSError,
    sqlite3.Error,
    ZstdError,
    struct.error,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    AssertionError,
    RuntimeError,
    EOFError,
    MemoryError,
    OverflowError,
)


class RosbagsReader:
    """A bag.

    Attributes:
        connections: All topics, those without messages too.
    """

    def __init__(self, path: Path) -> None:
        """Open it.

        Raises:
            BagError: It cannot be read.
        """
        with _damage_reported():
            self._reader = Reader(path)
            self._reader.open()
            counts: Counter[tuple[str, str]] = Counter()
            for one in self._reader.connections:
                counts[one.topic, one.msgtype] += one.msgcount
        self.connections = [Connection(*topic, count) for topic, count in counts.items()]

    def messages(self, wanted: Sequence[Connection]) -> Iterator[tuple[Connection, int, bytes]]:
        """Connection, time of recording [ns] and bytes of every message on the connections wanted.

        Raises:
            BagError: The bag is damaged.
        """
        chosen = {(one.topic, one.msgtype): one for one in wanted}
        theirs = [one for one in self._reader.connections if (one.topic, one.msgtype) in chosen]
        if theirs:  # none would stand for all
            with _damage_reported():
                for one, time, data in self._reader.messages(theirs):
                    yield chosen[one.topic, one.msgtype], time, data

    def close(self) -> None:
        """Close it."""
        self._reader.close()


@contextmanager
def _damage_reported() -> Iterator[None]:
    """Nothing but calls of rosbags may stand in this block, so that no error of ours is taken for damage."""
    try:
        yield
    except _DAMAGE as error:
        raise BagError(str(error) or type(error).__name__) from None
