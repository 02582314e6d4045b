"""Bags: rosbag2 folders, .mcap and .db3 files, and what is left of a recording that was cut short."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from vds_gz.bags.connection import BagError, BagReader, Connection
from vds_gz.bags.mcap_reader import UnfinishedMcap, is_whole


class Bag:
    """What can be asked of a bag. Made by :func:`open_bag`.

    Attributes:
        path: The file or folder.
        connections: All topics, those without messages too.
        cut_short: The end of the file is missing, and with it what came last.
    """

    def __init__(self, path: Path, reader: BagReader) -> None:
        self.path = path
        self.cut_short = isinstance(reader, UnfinishedMcap)
        self.connections = reader.connections
        self._reader = reader

    def described(self) -> str:
        """What is in it, for people."""
        counts = sorted(self.counts().items())
        listed = ", ".join(f"{name} ({kind}, {count})" for (name, kind), count in counts if count)
        return (listed or "no messages") + (", and is cut short: its end is missing" if self.cut_short else "")

    def counts(self) -> dict[tuple[str, str], int]:
        """How many messages there are, by topic and type."""
        return {(one.topic, one.msgtype): one.msgcount for one in self.connections}

    def messages(self, wanted: Iterable[Connection]) -> Iterator[tuple[Connection, int, bytes]]:
        """Connection, time of recording [ns] and bytes of every message on the connections wanted.

        Raises:
            BagError: The bag is damaged.
        """
        with _named(self.path):
            yield from self._reader.messages(list(wanted))


@contextmanager
def open_bag(path: Path) -> Iterator[Bag]:
    """The bag in a file or folder. An .mcap file without its end is read up to where it breaks off.

    Raises:
        BagError: There is none, or nothing in it can be read.
        ModuleNotFoundError: Neither rosbags nor ROS's rosbag2_py is installed.
    """
    with _named(path):
        reader = _opened(path)
    try:
        yield Bag(path, reader)
    finally:
        reader.close()


def _opened(path: Path) -> BagReader:
    """By our own reader where the end is missing, else by rosbags or ROS."""
    if path.suffix == ".mcap" and path.is_file() and not is_whole(path):
        return UnfinishedMcap(path)
    if find_spec("rosbags") is None and find_spec("rosbag2_py") is not None:
        from vds_gz.bags.rosbag2_reader import Rosbag2Reader

        return Rosbag2Reader(path)
    from vds_gz.bags.rosbags_reader import RosbagsReader

    return RosbagsReader(path)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Errors say which bag it is."""
    try:
        yield
    except (BagError, OSError) as error:
        needed = "it must be a complete rosbag2 folder, .mcap or .db3"
        reason = " ".join(str(error).split()).rstrip(".")
        raise BagError(f"bag '{path}' cannot be read ({reason}); {needed}") from None
