"""Measure sensors of the live node: processor, memory, time to the first message, and lag of messages.

Run by ``./dev bench live_sensors``, or in a ROS 2 environment by ``python bench/live_sensors.py``. The vehicle drives
in ``worlds/hall.sdf``, and every topic of its sensors has a subscriber. With Gazebo and ros_gz_bridge, ``--gazebo``
measures them too, with the same sensors in the same world.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from live_node import DOMAINS, NODE, Measured

from vds_gz.core.configuration import parameters_of
from vds_gz.core.description.gz_bridge import vehicle_bridge
from vds_gz.core.description.sdf import sdf
from vds_gz.core.plant.gazebo.gazebo_server import Server, Spawn, populated
from vds_gz.core.ros.arguments import parse
from vds_gz.core.ros.graph import Graph, QoS
from vds_gz.core.ros.open_graph import open_graph
from vds_gz.core.sensing.sensor_types import SensorTypes
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.world.load_world import world_file

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
    """Messages of one topic: times of arrival after their stamps [s]."""

    first: float = 0.0
    lags: list[float] = field(default_factory=list)

    def take(self, data: bytes, arrival: int) -> None:
        """Take a serialized message with a header."""
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


def listen(graph: Graph, sensors: Sequence[tuple[str, str, dict[str, object]]]) -> dict[str, Heard]:
    """Listen to all topics of the sensors."""
    heard: dict[str, Heard] = {}
    types = SensorTypes()
    for sensor, kind, _ in sensors:
        for stream in types[kind].streams:
            sink = heard[stream.topic(sensor)] = Heard()
            graph.subscribe(stream.topic(sensor), stream.ros_type, QoS(depth=stream.depth), sink.take, raw=True)
    return heard


def measure(name: str, world: str, seconds: float) -> None:
    """Print the row of the node."""
    begin = time.monotonic()
    node = Measured(command(SETS[name], world), everything=False)
    heard = listen(node.graph, SETS[name])
    node.drive(5.0)
    used = node.processor_seconds()
    for sink in heard.values():
        sink.lags.clear()
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


def measure_gazebo(name: str, world: str, seconds: float) -> None:
    """Print the row of Gazebo's server and the bridge; the vehicle stands still."""
    os.environ |= {"GZ_PARTITION": f"bench_{time.monotonic_ns()}", "ROS_DOMAIN_ID": str(next(DOMAINS))}
    parameters = parse(command(SETS[name], world)[3:], "sim_node").overrides
    loaded = parameters_of(parameters)
    vehicle = Spawn(sdf(models()[loaded.model], loaded.vehicle, sensors=loaded.sensors))
    server = Server(populated(world_file(world), [vehicle])[1], rendering=True)
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(vehicle_bridge(sensors=loaded.sensors, link=[]))
        file.flush()
        from ament_index_python.packages import get_package_prefix

        program = f"{get_package_prefix('ros_gz_bridge')}/lib/ros_gz_bridge/parameter_bridge"
        options = ["--ros-args", "-p", f"config_file:={file.name}"]
        bridge = subprocess.Popen([program, *options], start_new_session=True, stdout=subprocess.DEVNULL)
        graph = open_graph(parse([], "bench"), "bench")
        heard = listen(graph, SETS[name])
        spin(graph, 15.0)
        processes = (server.process.pid, bridge.pid)
        used, counts = group_seconds(processes), len(next(iter(heard.values())).lags)
        spin(graph, seconds)
        core = 100.0 * (group_seconds(processes) - used) / seconds
        rate = (len(next(iter(heard.values())).lags) - counts) / seconds
        print(f"| {name}: Gazebo and bridge | {core:.1f} | | | {rate:.1f} | | |", flush=True)
        bridge.kill()
        server.stop()
        graph.close()


def spin(graph: Graph, seconds: float) -> None:
    """Take messages for a while."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        graph.wait(0.02)


def group_seconds(leaders: Sequence[int]) -> float:
    """Processor time of these process groups [s]."""
    total = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            total += (int(fields[11]) + int(fields[12])) if int(fields[2]) in leaders else 0
    return total / os.sysconf("SC_CLK_TCK")


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="length of each measurement")
    parser.add_argument("--world", default="hall", help="world in which the vehicle drives")
    parser.add_argument("--gazebo", action="store_true", help="measure Gazebo and ros_gz_bridge too")
    options = parser.parse_args()
    print("| sensors | core [%] | memory [MB] | first message [s] | rate [Hz] | after its stamp, median [ms] | 99 % |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in SETS:
        measure(name, options.world, options.seconds)
        if options.gazebo and SETS[name]:
            measure_gazebo(name, options.world, options.seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
