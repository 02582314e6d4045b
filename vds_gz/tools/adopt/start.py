"""The world of an adopted robot, and the environment of its Gazebo server."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from vds_gz.core.errors import ArgumentError
from vds_gz.core.plant.gazebo.gazebo_server import Inclusion, populated
from vds_gz.core.world.load_world import world_file
from vds_gz.tools.adopt.robot_folder import RobotFolder, Start

#: x, y, z [m], roll, pitch, yaw [rad].
SpawnPose = tuple[float, float, float, float, float, float]


def adopted_world(
    folder: RobotFolder, world: str | None, pose: SpawnPose, real_time_factor: float | None = None
) -> tuple[str, str | Path, Path]:
    """The name of the robot's world, its SDF with the robot or its file, and the file that it comes from.

    Args:
        folder: The robot.
        world: Name or file of a world; None for its own, or an empty one.
        pose: Where it starts; its height is above that of standing on the ground.
        real_time_factor: Pace of Gazebo; that of the world by default.

    Raises:
        ArgumentError: The robot stands in its own world, and another world or a pose is wanted.
        LinkError: The world cannot be read.
    """
    start = folder.start
    if not start.world:
        file = world_file(world or "empty")
        x, y, z, *turn = pose
        place = (x, y, z + start.height, turn[0], turn[1], turn[2])
        name, text = populated(file, [Inclusion(folder.model, start.name, place)], real_time_factor)
        return name, text, file
    if world is not None or any(pose):
        raise ArgumentError(
            f"robot '{start.name}' stands in its own world, {folder.file(start.world)}; for another world or pose, "
            "adopt the file of the model alone"
        )
    file = folder.file(start.world)
    name, text = populated(file, [], real_time_factor)
    return name, file if real_time_factor is None else text, file


def server_environment(start: Start, variables: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment of a server that finds the robot's meshes."""
    paths = [*start.resources, variables.get("GZ_SIM_RESOURCE_PATH", "")]
    return {**variables, "GZ_SIM_RESOURCE_PATH": os.pathsep.join(filter(None, paths))}
