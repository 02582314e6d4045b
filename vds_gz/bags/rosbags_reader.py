"""Bags read by the package rosbags, where there is no ROS."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rosbags.rosbag2 import Reader, ReaderError

from vds_gz.bags.connection import BagError, Connection


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
                    if not isinstance(time, int) or isinstance(data, str | int | float | None):  # a damaged cell
                        raise ReaderError(f"a message on '{one.topic}' has no time or no bytes")
                    yield chosen[one.topic, one.msgtype], time, data

    def close(self) -> None:
        """Close it."""
        self._reader.close()


@contextmanager
def _damage_reported() -> Iterator[None]:
    """Nothing but calls of rosbags may stand in this block, so that no error of ours is taken for damage."""
    try:
        yield
    except Exception as error:  # whatever a damaged file provokes in rosbags, SQLite and the decompressors
        raise BagError(str(error) or type(error).__name__) from None
