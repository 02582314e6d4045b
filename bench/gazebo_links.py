"""Measure the node beside Gazebo, by link: ``python bench/gazebo_links.py [transport] [bridge] [ros2_control]``.

Processor time of the node's process over 20 s of driving, counted by the scheduler. The links over ROS need
ros_gz_bridge and gz_ros2_control; without ROS (VDS_GZ_GRAPH=dds) they go over DDS.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "test")]

from helpers.gazebo import preset, vehicle  # noqa: E402
from helpers.ros_gz import controlled, program, spawn_controllers  # noqa: E402

from vds_gz.core.description.gz_bridge import clock_bridge, vehicle_bridge  # noqa: E402
from vds_gz.core.plant.gazebo.gazebo_server import Server, populated  # noqa: E402
from vds_gz.core.ros.arguments import parse  # noqa: E402
from vds_gz.core.ros.messages.fields import stamp_ns  # noqa: E402
from vds_gz.core.ros.open_graph import open_graph  # noqa: E402
from vds_gz.core.share import share  # noqa: E402
from vds_gz.programs.interface import topics  # noqa: E402

SECONDS = 20.0
SETTLING = 5.0


@contextmanager
def running(command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(command)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(10.0)


def measure(link: str, folder: Path) -> None:
    """Start everything, drive, and print the node's processor time."""
    parameters = preset("vds_defaults")
    os.environ["GZ_PARTITION"] = f"vds_gz_{os.getpid()}_{link}"
    spawn = controlled(parameters, folder, 1.0, 1000) if link == "ros2_control" else vehicle(parameters)
    node = [sys.executable, "-m", "vds_gz.programs.nodes.sim_node", "--ros-args", "-p", "backend:=gazebo"]
    node += ["-p", f"gazebo.link:={link}", "-p", "gazebo.world:=empty"]
    with ExitStack() as stack:
        process = stack.enter_context(running(node))
        if link != "transport":
            for name, text in (("bridge", vehicle_bridge()), ("clock_bridge", clock_bridge())):
                (folder / name).write_text(text)
                command = [program("ros_gz_bridge", "parameter_bridge"), "--ros-args", "-r", f"__node:={name}"]
                stack.enter_context(running([*command, "-p", f"config_file:={folder / name}"]))
        server = Server(populated(share("worlds", "empty.sdf"), [spawn])[1])
        stack.callback(server.process.kill)
        if link == "ros2_control":
            spawn_controllers(parameters)
        drive(SETTLING)
        before, begin = used(process.pid), time.monotonic()
        speed, pace = drive(SECONDS)
        seconds = time.monotonic() - begin
        after = used(process.pid)
        print(f"{link}: at {speed:.2f} m/s and a real-time factor of {pace:.2f},", end=" ")
        print(f"{(sum(after.values()) - sum(before.values())) / seconds:.0%} of a core; by thread:", end=" ")
        shares = sorted((after[thread] - before.get(thread, 0.0) for thread in after), reverse=True)
        print(", ".join(f"{share / seconds:.0%}" for share in shares if share > 0.005 * seconds), flush=True)


def drive(seconds: float) -> tuple[float, float]:
    """Command the vehicle; return its last speed [m/s], and simulated seconds per second."""
    graph = open_graph(parse([], "driver"), "driver")
    seen: list[tuple[float, int, float]] = []

    def look(message: Any, arrival: int) -> None:
        seen.append((arrival * 1e-9, stamp_ns(message.header.stamp), message.twist.linear.x))

    graph.subscribe(topics.TWIST_ACTUAL.name, topics.TWIST_ACTUAL.type, topics.TWIST_ACTUAL.qos, look)
    publisher = graph.publisher(topics.TWIST_REFERENCE.name, topics.TWIST_REFERENCE.type, topics.TWIST_REFERENCE.qos)
    message = graph.message(topics.TWIST_REFERENCE.type)
    message.linear.x, message.angular.z = 1.0, 0.2
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        publisher.publish(message)
        graph.wait(0.02)
    graph.close()
    (t0, s0, _), (t1, s1, speed) = seen[0], seen[-1]
    return speed, (s1 - s0) * 1e-9 / (t1 - t0)


def used(process: int) -> dict[str, float]:
    """Processor time of each thread [s]."""
    tasks = Path(f"/proc/{process}/task")
    return {task.name: int((task / "schedstat").read_text().split()[0]) * 1e-9 for task in tasks.iterdir()}


if __name__ == "__main__":
    os.environ.setdefault("GZ_IP", "127.0.0.1")
    with tempfile.TemporaryDirectory() as folder:
        for wanted in sys.argv[1:] or ["transport", "bridge", "ros2_control"]:
            measure(wanted, Path(folder))
