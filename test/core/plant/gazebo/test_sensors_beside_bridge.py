"""Messages of our IMU and satellite receiver against Gazebo's through ros_gz_bridge, with the same parameters."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.ros_gz import need, program

from vds_gz.core.configuration import load_parameters
from vds_gz.core.description.gz_bridge import vehicle_bridge
from vds_gz.core.description.sdf import sdf
from vds_gz.core.geometry import Transform
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.plant.gazebo.gazebo_server import Spawn
from vds_gz.core.sensing.body import BodyState
from vds_gz.core.sensing.sensor_types import sensor_setups
from vds_gz.core.sensing.sensors.gnss import Gnss
from vds_gz.core.sensing.sensors.imu import Imu
from vds_gz.core.share import share
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.world.load_world import load_world
from vds_gz.programs.interface import topics

pytestmark = [pytest.mark.ros, pytest.mark.gazebo, need("ros_gz_bridge")]

THEIRS = {
    "unit": Imu(rate=50.0, rpy=(0.2, 0.1, 0.0)),
    "compass": Imu(rate=50.0, measure_orientation=True),
    "gps": Gnss(rate=50.0),
}
#: Types of messages; our sensors have other names, so their topics differ.
TYPES = {"unit": "Imu", "compass": "Imu", "gps": "NavSatFix"}
STREAM = {"Imu": "data", "NavSatFix": "fix"}


def topic(sensor: str, name: str) -> topics.Topic:
    return topics.Topic(f"{sensor}/{STREAM[TYPES[name]]}", f"sensor_msgs/msg/{TYPES[name]}")


@pytest.fixture
def messages(serve: Any, probe: Any, tmp_path: Path, domain: int) -> Any:
    """For each sensor, a message from Gazebo and one of ours."""
    parameters = load_parameters("vds_defaults")
    serve(Spawn(sdf(models()[parameters.model], parameters.vehicle, sensors=THEIRS)))
    file = tmp_path / "bridge.yaml"
    file.write_text(vehicle_bridge(sensors=THEIRS, link=[]))
    command = [program("ros_gz_bridge", "parameter_bridge"), "--ros-args", "-p", f"config_file:={file}"]
    process = subprocess.Popen(command)
    ours = NodeParameters(sensors={f"{name}2": item for name, item in THEIRS.items()})
    outputs = [setup.type.make(setup) for setup in sensor_setups(probe.graph, ours)]
    scene = load_world(share("worlds", "empty.sdf"))
    for name in THEIRS:
        probe.listen(topic(name, name), topic(f"{name}2", name))

    def complete() -> bool:
        for output in outputs:
            output.measure([BodyState(0, Transform())], scene)
        return all(len(probe.received[topic(name + end, name).name]) > 3 for name in THEIRS for end in ("", "2"))

    try:
        probe.until(complete, "messages of all sensors", patience=60.0)
    finally:
        process.kill()
        process.wait()
    return {name: [probe.received[topic(name + end, name).name][-1] for end in ("", "2")] for name in THEIRS}


def vector(value: Any) -> list[float]:
    return [value.x, value.y, value.z]


def test_messages_are_the_same(messages: Any):
    for name, (theirs, ours) in messages.items():
        assert ours.header.frame_id.replace(f"{name}2", name) == theirs.header.frame_id == name

    for name in ("unit", "compass"):
        theirs, ours = messages[name]
        for field in ("angular_velocity_covariance", "linear_acceleration_covariance"):
            assert np.array(getattr(ours, field)) == pytest.approx(np.array(getattr(theirs, field)), rel=1e-6)
        assert vector(ours.linear_acceleration) == pytest.approx(vector(theirs.linear_acceleration), abs=0.2)
        assert vector(ours.angular_velocity) == pytest.approx(vector(theirs.angular_velocity), abs=0.01)

    theirs, ours = messages["compass"]
    assert [*vector(ours.orientation), ours.orientation.w] == pytest.approx(
        [*vector(theirs.orientation), theirs.orientation.w], abs=1e-3
    )
    assert list(ours.orientation_covariance) == list(theirs.orientation_covariance) == [0.0] * 9

    theirs, ours = messages["gps"]
    for field in ("latitude", "longitude"):
        assert getattr(ours, field) == pytest.approx(getattr(theirs, field), abs=2e-4)
    assert ours.altitude == pytest.approx(theirs.altitude, abs=40.0)
    for field in ("status", "position_covariance_type"):
        assert getattr(ours, field) == getattr(theirs, field)
    assert list(ours.position_covariance) == list(theirs.position_covariance)


def test_only_our_message_marks_a_missing_orientation(messages: Any):
    theirs, ours = messages["unit"]
    assert list(theirs.orientation_covariance) == [0.0] * 9
    assert list(ours.orientation_covariance) == [-1.0] + [0.0] * 8
