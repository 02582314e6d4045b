"""Commands and measurements from a file of any kind."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from vds_gz.bags.connection import may_be_bag
from vds_gz.errors import MAPPING, PATH, takes
from vds_gz.study.reading.bag import read_bag
from vds_gz.study.reading.table import read_csv
from vds_gz.study.signals import Signals


@takes(path=PATH, columns=MAPPING.or_none)
def read_signals(path: str | Path, columns: Mapping[str, str] | None = None) -> Signals:
    """Commands and measurements from a bag or a CSV file, for ``identify``.

    Args:
        path: A bag (rosbag2 folder, .mcap, .db3), whose topics are found by type and name, or a CSV file with a
            column ``time`` [s], commands such as ``v_x_command`` [m/s] or ``steering_command`` [rad], and measurements
            such as ``v_x_measured``, ``steering_measured``, ``x``, ``y``, ``heading``, ``imu_yaw_rate`` [rad/s] or
            ``<joint>_velocity`` [rad/s].
        columns: Custom names of a CSV file's columns, by quantity: ``{"v_x": "cmd:odom_v"}``.

    Raises:
        SignalError: The file holds no commands with measurements.
    """
    path = Path(path)
    if may_be_bag(path):
        return read_bag(path)
    return read_csv(path, columns)
