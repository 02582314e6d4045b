"""The records of all types of sensors."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from helpers.sensors import TYPES

from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.declaration import ParameterGroup
from vds_gz.core.parameters.sensor_parameters import kind
from vds_gz.core.sensing.sensor import GazeboSide, SensorType, Stream
from vds_gz.core.sensing.sensor_types import is_of_sensor, needs_of
from vds_gz.core.sensing.sensors.imu import Imu


@pytest.mark.parametrize("name", TYPES)
def test_topics_differ_and_begin_with_the_sensors_name(name):
    names = [stream.topic("front") for stream in TYPES[name].streams]
    assert len(set(names)) == len(names)
    assert all(topic.startswith("front/") for topic in names)
    assert all(is_of_sensor(topic) for topic in names)


@dataclass(frozen=True)
class Unchecked:
    """Parameters without checks."""

    type: str = "unchecked"
    rate: float = 1.0


@dataclass(frozen=True, slots=True)
class Rateless(ParameterGroup):
    """A sensor without a rate."""

    type: str = kind("rateless")


SIDE = GazeboSide(Path("probe.xacro"))


@pytest.mark.parametrize(
    ("group", "side", "words"),
    [
        (Unchecked, None, "parameters .* are <class '.*Unchecked'>; they must be a dataclass that derives from Param"),
        (Rateless, None, "parameter group Rateless has no rate; every sensor has a type and a rate"),
        (Imu, SIDE, "type of sensor 'imu': topic 'data' must have 'gz' and 'gz_type' with a Gazebo side"),
    ],
)
def test_invalid_types_are_refused(group, side, words):
    with pytest.raises(ArgumentError, match=words):
        SensorType(group, (Stream("data", "sensor_msgs/msg/Imu"),), lambda setup: None, gazebo=side)


def test_a_topic_in_gazebo_needs_a_gazebo_side():
    stream = Stream("data", "sensor_msgs/msg/Imu", "imu", "gz.msgs.IMU")
    with pytest.raises(ArgumentError, match="topic 'data' must have neither 'gz' nor 'gz_type' without a Gazebo side"):
        SensorType(Imu, (stream,), lambda setup: None)


def test_images_are_in_optical_frames_and_points_are_not():
    frames = {stream.ros: stream.frame("cam") for stream in TYPES["rgbd_camera"].streams}
    assert frames == {
        "image_raw": "cam_optical_frame",
        "camera_info": "cam_optical_frame",
        "depth/image_raw": "cam_optical_frame",
        "points": "cam",
    }


def test_needs_of_sensors_are_those_of_their_types():
    sensors = {name: record.parameters() for name, record in TYPES.items()}
    assert needs_of([]) == frozenset()
    assert needs_of([sensors["lidar2d"], sensors["camera"]]) == frozenset()
    assert needs_of([sensors["imu"], sensors["gnss"]]) == {"motion"}
    assert needs_of([sensors["imu"], sensors["wheel_encoder"]]) == {"motion", "joints"}


@pytest.mark.parametrize("values", [{}, {"sensors.unit.type": "imu"}], ids=["none", "one"])
def test_a_vehicle_without_sensors_imports_none(values):
    program = f"""
import sys
from vds_gz import load_parameters
load_parameters("forklift", {values})
print(*(name for name in sys.modules if name.startswith("vds_gz.core.sensing.sensors.")))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ("vds_gz.core.sensing.sensors.imu" in done.stdout.split()) == bool(values)
    assert bool(done.stdout.split()) == bool(values)
