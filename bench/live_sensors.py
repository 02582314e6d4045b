"""What sensors cost the live node: processor, memory, time to the first message, and how late messages leave.

Run by ``./dev bench live_sensors``, or in a ROS 2 environment by ``python bench/live_sensors.py``. The vehicle drives
in circles in ``worlds/hall.sdf``, and somebody listens to every topic of its sensors.
"""

from __future__ import annotations

import argparse
import struct
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from live_node import NODE, Measured

from vds_gz.ros.graph import QoS
from vds_gz.sensing.streams import STREAMS

#: Name, type and further parameters of each sensor in each row.
SETS: dict[str, list[tuple[str, str, dict[str, object]]]] = {
    "no sensor": [],
    "RPLidar A2, IMU 100 Hz, GNSS": [
        ("lidar", "rplidar_a2", {}),
        ("imu", "imu", {"rate": 100.0}),
        ("gnss", "gnss", {}),
    ],
    "VLP-16": [("lidar", "velodyne_vlp16", {})],
    "OS1-128": [("lidar", "ouster_os1", {})],
    "depth camera, 640 x 480": [("camera", "rgbd_camera", {})],
}


@dataclass
class Heard:
    """Messages of one topic: when each arrived after its stamp [s]."""

    first: float = 0.0
    lags: list[float] = field(default_factory=list)

    def take(self, data: bytes, arrival: int) -> None:
        """A serialized message with a header."""
        second, nanosecond = struct.unpack_from("<iI", data, 4)
        now = time.time() - (time.monotonic_ns() - arrival) * 1e-9
        self.first = self.first or time.monotonic()
        self.lags.append(now - second - 1e-9 * nanosecond)


def command(sensors: Sequence[tuple[str, str, dict[str, object]]], world: str) -> list[str]:
    """The node's command line."""
    values: dict[str, object] = {"world": world}
    for name, kind, others in sensors:
        values |= {f"sensors.{name}.{key}": value for key, value in {"type": kind, **others}.items()}
        values[f"sensors.{name}.xyz"] = [0.0, 0.0, 0.6]
    return [*NODE, *(part for name, value in values.items() for part in ("-p", f"{name}:={value}"))]


def measure(name: str, world: str, seconds: float) -> None:
    """Print a row."""
    sensors = SETS[name]
    begin = time.monotonic()
    node = Measured(command(sensors, world), everything=False)
    heard: dict[str, Heard] = {}
    for sensor, kind, _ in sensors:
        for stream in STREAMS[kind]:
            topic = stream.topic(sensor)
            heard[topic] = Heard()
            node.graph.subscribe(topic, stream.ros_type, QoS(depth=stream.depth), heard[topic].take, raw=True)
    node.drive(5.0)
    used = node.processor_seconds()
    for one in heard.values():
        one.lags.clear()
    passed = node.drive(seconds)
    core = 100.0 * (node.processor_seconds() - used) / passed
    main = next(iter(heard.values()), Heard())
    lags = sorted(main.lags) or [float("nan")]
    first = main.first - begin if main.first else float("nan")
    print(
        f"| {name} | {core:.1f} | {node.memory():.0f} | {first:.2f} | {len(main.lags) / passed:.1f} "
        f"| {1e3 * lags[len(lags) // 2]:.1f} | {1e3 * lags[int(0.99 * len(lags))]:.1f} |",
        flush=True,
    )
    node.close()


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="length of each measurement")
    parser.add_argument("--world", default="hall", help="where the vehicle drives")
    options = parser.parse_args()
    print("| sensors | core [%] | memory [MB] | first message [s] | rate [Hz] | after its stamp, median [ms] | 99 % |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in SETS:
        measure(name, options.world, options.seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
