"""Bags read by rosbag2 itself, as ROS installs it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import rosbag2_py
from rclpy.logging import LoggingSeverity, set_logger_level

from vds_gz.bags.connection import BagError, Connection

#: What rosbag2 calls the formats of files. A folder tells its own.
_STORAGES = {".mcap": "mcap", ".db3": "sqlite3"}

#: Parts of rosbag2 that speak on the terminal of what they also raise.
_LOGGERS = ("rosbag2_compression", "rosbag2_cpp", "rosbag2_storage", "rosbag2_storage_mcap")


class Rosbag2Reader:
    """A bag.

    Attributes:
        connections: All topics, those without messages too.
    """

    def __init__(self, path: Path) -> None:
        """Open it.

        Raises:
            BagError: It cannot be read.
        """
        for name in _LOGGERS:
            set_logger_level(name, LoggingSeverity.FATAL)
        self._path = path
        with _damage_reported():
            topics = self._open().get_metadata().topics_with_message_count
        self.connections = [
            Connection(one.topic_metadata.name, one.topic_metadata.type, one.message_count) for one in topics
        ]

    def messages(self, wanted: Sequence[Connection]) -> Iterator[tuple[Connection, int, bytes]]:
        """Connection, time of recording [ns] and bytes of every message on the connections wanted.

        Raises:
            BagError: The bag is damaged.
        """
        chosen = {one.topic: one for one in wanted}
        with _damage_reported():
            reader = self._open()
            reader.set_filter(rosbag2_py.StorageFilter(topics=list(chosen)))
            while reader.has_next():
                topic, data, time = reader.read_next()[:3]
                yield chosen[topic], time, data

    def close(self) -> None:
        """It is open only while it is read."""

    def _open(self) -> Any:
        as_they_are = rosbag2_py.ConverterOptions("cdr", "cdr")
        storage = rosbag2_py.StorageOptions(uri=str(self._path), storage_id=_STORAGES.get(self._path.suffix, ""))
        compressed = self._path.is_dir() and rosbag2_py.Info().read_metadata(str(self._path), "").compression_mode
        reader = rosbag2_py.SequentialCompressionReader() if compressed else rosbag2_py.SequentialReader()
        reader.open(storage, as_they_are)
        return reader


@contextmanager
def _damage_reported() -> Iterator[None]:
    """C++ exceptions of rosbag2, YAML and the storages come as these; nothing else may stand in this block."""
    try:
        yield
    except (RuntimeError, ValueError, IndexError) as error:
        raise BagError(str(error)) from None
