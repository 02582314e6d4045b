"""Adopted robots beside their own drive plugins in Gazebo: ``python bench/adopt.py FILE[:MODEL] [v [w]] ...``.

Every robot is driven twice by the same commands at the same steps, by its own plugin, and by its copy with joint
controllers, which follow a vehicle with neutral actuators. Server and commands are in one process and in step, so a run
is the same on any machine. The table has the length of both paths [m], both turns [deg], the largest distance between
the paths [m], and the RMS difference of speed and yaw rate in percent of the peak.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from vds_gz.core.configuration import parameters_of_file
from vds_gz.core.description import gz_topics as topics
from vds_gz.core.plant.gazebo.gazebo_server import Inclusion, populated
from vds_gz.core.plant.gazebo.links import bindings
from vds_gz.core.share import share
from vds_gz.core.vehicle.command import twist
from vds_gz.core.vehicle.make_vehicle import make_vehicle
from vds_gz.tools.adopt.robot_folder import read_folder
from vds_gz.tools.adopt.start import adopted_world, server_environment
from vds_gz.tools.adopt.write import Adoption, adopt

#: Length of a step [ns], and steps between two compared samples.
STEP, EVERY = 1_000_000, 20

#: Durations [s], and shares of the speed and of the yaw rate: rest, ahead, a left and a right turn, backward, a stop.
PROFILE = ((1.0, 0.0, 0.0), (2.0, 1.0, 0.0), (3.0, 1.0, 1.0), (3.0, 1.0, -1.0), (2.0, -0.5, 0.0), (2.0, 0.0, 0.0))

#: Sends a speed [m/s] and a yaw rate [rad/s] for the step that begins at a time [ns].
Send = Callable[[int, float, float], None]


def driven(world: Path, model: str, speed: float, yaw_rate: float, send: Send) -> np.ndarray:
    """Poses of a model's body: x, y [m] and heading [rad], one each ``EVERY`` steps."""
    sim = bindings.sim()
    fixture = sim.TestFixture(str(world))
    ends = np.cumsum([duration for duration, _, _ in PROFILE])
    body: list[Any] = []
    poses: list[tuple[float, float, float]] = []

    def before(info: Any, ecm: Any) -> None:
        if not body:
            entity = sim.World(sim.world_entity(ecm)).model_by_name(ecm, model)
            body.append(sim.Link(sim.Model(entity).canonical_link(ecm)))
        step = round(info.sim_time.total_seconds() * 1000.0) - 1
        _, ahead, turn = PROFILE[min(int(np.searchsorted(ends, step * 1e-3, "right")), len(PROFILE) - 1)]
        send(step * STEP, speed * ahead, yaw_rate * turn)
        if step % EVERY == 0:
            pose = body[0].world_pose(ecm)
            poses.append((pose.pos().x(), pose.pos().y(), pose.rot().yaw()))

    fixture.on_pre_update(before)
    fixture.finalize()
    fixture.server().run(True, round(ends[-1] * 1000.0), False)
    path = np.array(poses)
    path[:, 2] = np.unwrap(path[:, 2])
    return path


def by_plugin(world: Path, model: str, topic: str, speed: float, yaw_rate: float) -> np.ndarray:
    """The path with the robot's own plugin, which gets a command every 20 ms."""
    kind, node = bindings.message("twist", "Twist"), bindings.node()
    publisher = node.advertise(topic, kind)

    def send(time: int, v_x: float, turn: float) -> None:
        if time % (EVERY * STEP) == 0:
            message = kind()
            message.linear.x, message.angular.z = v_x, turn
            publisher.publish(message)

    return driven(world, model, speed, yaw_rate, send)


def by_copy(world: Path, model: str, folder: Path, speed: float, yaw_rate: float) -> np.ndarray:
    """The path with the copy, whose joints follow a vehicle of ours."""
    vehicle = make_vehicle(parameters_of_file(folder / "robot.yaml"), moves=False)
    joints = vehicle.model.joints(vehicle.parameters)
    kind, node = bindings.message("actuators", "Actuators"), bindings.node()
    publisher = node.advertise(topics.actuators(model), kind)

    def send(time: int, v_x: float, turn: float) -> None:
        if time < 0:
            return
        if time % (EVERY * STEP) == 0:
            vehicle.enter(twist(v_x, 0.0, turn), time)
        vehicle.advance(time + STEP)
        states = vehicle.model.joint_states(vehicle.coefficients, vehicle.state)
        message = kind()
        pairs = list(zip(joints, states.positions, states.velocities, strict=True))
        message.velocity.extend(velocity for joint, _, velocity in pairs if joint.kind == "wheel")
        message.position.extend(position for joint, position, _ in pairs if joint.kind == "steering")
        publisher.publish(message)

    return driven(world, model, speed, yaw_rate, send)


def original_world(adoption: Adoption, folder: Path) -> Path:
    """The robot as it was, in its own world or in an empty one without sensors."""
    robot, start = adoption.robot, adoption.start
    if robot.world is not None:
        return robot.world.path
    path = robot.path
    if robot.expanded:
        path = folder / ("original.urdf" if robot.is_urdf else "original.sdf")
        path.write_bytes(robot.document.data)
    return _written(populated(_plain(folder), [Inclusion(path, start.name, (0, 0, start.height, 0, 0, 0))])[1], folder)


def copied_world(output: Path, folder: Path) -> Path:
    """The robot's copy, in the same world."""
    robot = read_folder(output)
    _, text, _ = adopted_world(robot, None if robot.start.world else str(_plain(folder)), (0.0,) * 6)
    return text if isinstance(text, Path) else _written(text, folder)


def _written(text: str, folder: Path) -> Path:
    path = folder / f"world{len(list(folder.iterdir()))}.sdf"
    path.write_text(text, encoding="utf-8")
    return path


def _plain(folder: Path) -> Path:
    """The empty world without the system that renders sensors, which no drive needs."""
    tree = ElementTree.parse(share("worlds", "empty.sdf"))
    world = tree.getroot().find("world")
    assert world is not None
    for plugin in world.findall("plugin"):
        if plugin.get("name", "").endswith("::Sensors"):
            world.remove(plugin)
    tree.write(folder / "plain.sdf")
    return folder / "plain.sdf"


def compared(plugin: np.ndarray, copy: np.ndarray) -> str:
    """The figures of two paths, as a row of a table."""
    paths = [path - path[0] for path in (plugin, copy)]
    apart = np.hypot(*(paths[0] - paths[1])[:, :2].T).max()
    lengths = [float(np.hypot(*np.diff(path[:, :2], axis=0).T).sum()) for path in paths]
    rates = [np.diff(path, axis=0) / (EVERY * 1e-3) for path in paths]
    errors = []
    for ours, theirs in ((_speed(rates[1]), _speed(rates[0])), (rates[1][:, 2], rates[0][:, 2])):
        errors.append(100.0 * float(np.sqrt(np.mean((ours - theirs) ** 2)) / np.abs(theirs).max()))
    turns = [math.degrees(path[-1, 2]) for path in paths]
    return (
        f"{lengths[0]:.3f} / {lengths[1]:.3f} | {turns[0]:.1f} / {turns[1]:.1f} | {apart:.3f} | "
        f"{errors[0]:.2f} | {errors[1]:.2f}"
    )


def _speed(rates: np.ndarray) -> np.ndarray:
    return np.hypot(rates[:, 0], rates[:, 1])


def main() -> None:
    """Compare the robots of the command line."""
    words = sys.argv[1:]
    print("| robot | path: plugin / adopted [m] | turned [deg] | apart [m] | speed [%] | yaw rate [%] |")
    while words:
        name, *words = words
        numbers = []
        while words and words[0].replace(".", "").isdigit():
            numbers.append(float(words.pop(0)))
        speed, yaw_rate = (numbers + [0.4, 0.5][len(numbers) :])[:2]
        file, _, model = name.partition(":")
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            adoption, output = adopt(Path(file), folder / "robot", model=model or None)
            adoption.write(output)
            os.environ.update(server_environment(adoption.start), GZ_PARTITION=f"vds_gz_adopt_{os.getpid()}")
            called, topic = adoption.start.name, adoption.drive.command_topic
            worlds = original_world(adoption, folder), copied_world(output, folder)
            with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
                plugin = pool.apply(by_plugin, (worlds[0], called, topic, speed, yaw_rate))
                copy = pool.apply(by_copy, (worlds[1], called, output, speed, yaw_rate))
            print(f"| {Path(file).parent.name}/{Path(file).stem} | {compared(plugin, copy)} |", flush=True)


if __name__ == "__main__":
    main()
