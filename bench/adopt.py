"""Adopted robots beside their own drive plugins in Gazebo: ``python bench/adopt.py FILE [v [w]] ...``.

Every robot of gz-sim's plugins is driven twice by the same commands in simulated time, by its own plugin and by the
node with neutral actuators. The table has the length of the path, the largest distance between both, and the RMS
difference of speed and yaw rate in percent of the peak. ``FILE:MODEL`` names a model in a world.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "test")]

from helpers.processes import Probe  # noqa: E402

from vds_gz.adopt.folder import read_folder  # noqa: E402
from vds_gz.adopt.start import adopted_world, server_environment  # noqa: E402
from vds_gz.adopt.write import Adoption, adopt  # noqa: E402
from vds_gz.interface.topics import TWIST_REFERENCE  # noqa: E402
from vds_gz.plant.gazebo.links import bindings  # noqa: E402
from vds_gz.plant.gazebo.server import Inclusion, Server, populated  # noqa: E402
from vds_gz.ros.arguments import parse  # noqa: E402
from vds_gz.ros.factory import open_graph  # noqa: E402
from vds_gz.share import share  # noqa: E402

#: Rate of commands [Hz], and of the compared samples.
RATE = 50.0

#: Time for server and node to start, and for a drive [s].
PATIENCE = 120.0


def profile(speed: float, yaw_rate: float) -> list[tuple[float, float, float]]:
    """Durations [s], speeds [m/s] and yaw rates [rad/s]: ahead, a left turn, a right turn, backward, a stop."""
    return [
        (1.0, 0.0, 0.0),
        (3.0, speed, 0.0),
        (3.0, speed, yaw_rate),
        (3.0, speed, -yaw_rate),
        (2.0, -0.5 * speed, 0.0),
        (2.0, 0.0, 0.0),
    ]


class Path2:
    """The poses of a model in simulated time."""

    def __init__(self, world: str, model: str) -> None:
        self.samples: list[tuple[float, float, float, float]] = []
        self._model = model
        self._node = bindings.node("")
        kind = bindings.message("pose_v", "Pose_V")
        self._node.subscribe(kind, f"/world/{world}/dynamic_pose/info", self._take)

    def _take(self, message: Any) -> None:
        for pose in message.pose:
            if pose.name == self._model:
                q, stamp = pose.orientation, message.header.stamp
                yaw = math.atan2(2 * (q.w * q.z + q.x * q.y), 1 - 2 * (q.y * q.y + q.z * q.z))
                self.samples.append((stamp.sec + stamp.nsec * 1e-9, pose.position.x, pose.position.y, yaw))

    def drive(self, send: Callable[[float, float], None], commands: list[tuple[float, float, float]]) -> np.ndarray:
        """Send commands by simulated time; the samples from their begin: time, x, y, yaw."""
        end = time.monotonic() + PATIENCE
        while not self.samples:
            assert time.monotonic() < end, f"no pose of '{self._model}'"
            time.sleep(0.05)
        begin, total = self.samples[-1][0], sum(command[0] for command in commands)
        while (now := self.samples[-1][0] - begin) < total:
            assert time.monotonic() < end, "the drive took too long"
            for duration, speed, yaw_rate in commands:
                if now < duration:
                    send(speed, yaw_rate)
                    break
                now -= duration
            time.sleep(1.0 / RATE)
        samples = np.array([sample for sample in self.samples if sample[0] >= begin])
        samples[:, 0] -= begin
        samples[:, 3] = np.unwrap(samples[:, 3])
        return samples


@contextmanager
def partition() -> Iterator[None]:
    """A partition of Gazebo and a domain of ROS that nobody else uses."""
    os.environ["GZ_PARTITION"] = f"vds_gz_adopt_{os.getpid()}_{time.monotonic_ns()}"
    os.environ["GZ_IP"] = "127.0.0.1"
    yield


def by_plugin(adoption: Adoption, original: Path, commands: list[tuple[float, float, float]]) -> np.ndarray:
    """The path with the robot's own plugin."""
    start = adoption.start
    with partition():
        if start.world:
            world, text = populated(original, [])[0], original
        else:
            pose = (0.0, 0.0, start.height, 0.0, 0.0, 0.0)
            world, text = populated(share("worlds", "empty.sdf"), [Inclusion(original, start.name, pose)])
        server = Server(text, folder=original.parent, environment=server_environment(start))
        try:
            path = Path2(world, start.name)
            kind = bindings.message("twist", "Twist")
            node = bindings.node("")
            publisher = node.advertise(adoption.drive.command_topic, kind)

            def send(speed: float, yaw_rate: float) -> None:
                message = kind()
                message.linear.x, message.angular.z = speed, yaw_rate
                publisher.publish(message)

            return path.drive(send, commands)
        finally:
            server.stop()


def by_node(folder: Path, commands: list[tuple[float, float, float]]) -> np.ndarray:
    """The path with the node, as ``vds-gz gazebo FOLDER`` starts it."""
    robot = read_folder(folder)
    with partition():
        world = adopted_world(robot, None, (0.0,) * 6)[0]
        command = [sys.executable, "-m", "vds_gz.cli", "gazebo", str(folder), "--headless"]
        process = subprocess.Popen(command, start_new_session=True)
        try:
            path = Path2(world, robot.start.name)
            remaps = dict(robot.remaps())
            graph = open_graph(parse([], "bench"), "bench")
            probe = Probe(graph)
            topic = replace(TWIST_REFERENCE, name=remaps.get("twist_reference", "twist_reference"))
            publisher = probe.until_heard(topic)

            def send(speed: float, yaw_rate: float) -> None:
                message = graph.message(topic.type)
                message.linear.x, message.angular.z = speed, yaw_rate
                publisher.publish(message)
                graph.wait(0.0)

            return path.drive(send, commands)
        finally:
            process.terminate()
            process.wait()


def compared(plugin: np.ndarray, node: np.ndarray) -> str:
    """The figures of two paths."""
    end = min(plugin[-1, 0], node[-1, 0])
    times = np.arange(0.0, end, 1.0 / RATE)
    paths = [
        np.array([np.interp(times, path[:, 0], path[:, column]) for column in (1, 2, 3)]).T for path in (plugin, node)
    ]
    for path in paths:
        path -= path[0]
    apart = np.hypot(*(paths[0] - paths[1])[:, :2].T).max()
    lengths = [float(np.hypot(*np.diff(path[:, :2], axis=0).T).sum()) for path in paths]
    rates = [np.diff(path, axis=0) * RATE for path in paths]
    speeds = [np.hypot(*rate[:, :2].T) for rate in rates]
    errors = []
    for ours, theirs in ((speeds[1], speeds[0]), (rates[1][:, 2], rates[0][:, 2])):
        window = np.ones(10) / 10.0
        difference = np.convolve(ours - theirs, window, "same")
        peak = np.abs(np.convolve(theirs, window, "same")).max()
        errors.append(100.0 * float(np.sqrt(np.mean(difference**2))) / peak if peak > 1e-3 else 0.0)
    turn = [math.degrees(path[-1, 2]) for path in paths]
    return (
        f"path {lengths[0]:.3f} m, {lengths[1]:.3f} m; turned {turn[0]:.1f}, {turn[1]:.1f} deg; apart {apart:.3f} m; "
        f"speed {errors[0]:.2f} %, yaw rate {errors[1]:.2f} %"
    )


def main() -> None:
    """Compare the robots of the command line."""
    words = sys.argv[1:]
    while words:
        name, *words = words
        numbers = []
        while words and words[0].replace(".", "").isdigit():
            numbers.append(float(words.pop(0)))
        speed, yaw_rate = [*numbers, 0.4, 0.5][:2] if len(numbers) != 1 else (numbers[0], 0.5)
        file, _, model = name.partition(":")
        with tempfile.TemporaryDirectory() as folder:
            adoption, output = adopt(Path(file), Path(folder, "robot"), model=model or None)
            adoption.write(output)
            original = adoption.robot.world.path if adoption.robot.world else adoption.robot.path
            if adoption.robot.expanded:
                original = Path(folder, "original.urdf" if adoption.robot.is_urdf else "original.sdf")
                original.write_bytes(adoption.robot.document.data)
            commands = profile(speed, yaw_rate)
            plugin = by_plugin(adoption, original, commands)
            print(adoption.robot.name, compared(plugin, by_node(output, commands)), flush=True)


if __name__ == "__main__":
    main()
