"""The programs of ros_gz_bridge and ros2_control beside a real Gazebo server."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from vds_gz.core.description import ros2_control
from vds_gz.core.description.gz_bridge import clock_bridge, vehicle_bridge
from vds_gz.core.description.sdf import sdf
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.plant.gazebo.gazebo_server import Spawn
from vds_gz.core.vehicle.catalogue import models


def need(*packages: str) -> pytest.MarkDecorator:
    """Skips where one of these ROS packages is not installed."""
    missing = packages
    if find_spec("ament_index_python"):
        from vds_gz.programs.launching.actions import installed

        missing = tuple(package for package in packages if not installed(package))
    return pytest.mark.skipif(bool(missing), reason=f"the ROS packages {', '.join(missing)} are not installed")


def program(package: str, name: str) -> str:
    from ament_index_python.packages import get_package_prefix

    return f"{get_package_prefix(package)}/lib/{package}/{name}"


@pytest.fixture
def bridge(tmp_path: Path, domain: int, partition: str) -> Iterator[Callable[[], None]]:
    """Starts the bridges of a vehicle and of the clock."""
    started: list[subprocess.Popen[bytes]] = []

    def start_bridges() -> None:
        for name, text in (("bridge", vehicle_bridge()), ("clock_bridge", clock_bridge())):
            file = tmp_path / f"{name}.yaml"
            file.write_text(text)
            command = [program("ros_gz_bridge", "parameter_bridge"), "--ros-args", "-r", f"__node:={name}"]
            started.append(subprocess.Popen([*command, "-p", f"config_file:={file}"]))

    yield start_bridges
    for process in started:
        process.kill()
        process.wait()


def controlled(parameters: NodeParameters, folder: Path, gain: float, rate: int) -> Spawn:
    """A vehicle that gz_ros2_control moves."""
    model = models()[parameters.model]
    file = folder / "controllers.yaml"
    file.write_text(ros2_control.controllers(model.joints(parameters.vehicle), rate))
    return Spawn(ros2_control.with_plugin(sdf(model, parameters.vehicle), str(file), gain))


def spawn_controllers(parameters: NodeParameters) -> None:
    """Load and start the controllers, and wait until they run."""
    joints = models()[parameters.model].joints(parameters.vehicle)
    names = ros2_control.names(joints)
    subprocess.run([program("controller_manager", "spawner"), *names], check=True, timeout=60.0)
