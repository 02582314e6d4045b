"""Command logs from files, whatever they are: tables or ROS 2 bags."""

from __future__ import annotations

from pathlib import Path

from vds_gz.bags.connection import may_be_bag
from vds_gz.commandlog.bag import stream_bag
from vds_gz.commandlog.csv import stream_csv
from vds_gz.commandlog.log import CommandLog, CommandLogError, CommandStream
from vds_gz.errors import PATH, TEXT, takes


@takes(path=PATH, topic=TEXT.or_none)
def read(path: str | Path, topic: str | None = None) -> CommandLog:
    """The log in a CSV file, a rosbag2 folder, an MCAP file or a .db3 file.

    Args:
        path: The file or folder.
        topic: Which topic of a bag, where there are several with commands.

    Raises:
        CommandLogError: There is no such file, or it holds no usable log.
    """
    return stream(path, topic).collect()


def stream(path: str | Path, topic: str | None = None) -> CommandStream:
    """As :func:`read`, command by command.

    Raises:
        CommandLogError: There is no such file, or it holds no usable log.
    """
    path = Path(path)
    if not path.exists():
        raise CommandLogError(f"command log '{path}' does not exist (looked in {Path.cwd()})")
    if may_be_bag(path):
        return stream_bag(path, topic)
    if topic is not None:
        raise CommandLogError(f"command log '{path}' is a CSV file, which has no topics; leave out topic '{topic}'")
    return stream_csv(path)
