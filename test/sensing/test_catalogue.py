"""The records of all types of sensors."""

import subprocess
import sys

import pytest
from helpers.sensors import IN_GAZEBO, TYPES

from vds_gz.sensing.catalogue import is_of_sensor, needs_of


@pytest.mark.parametrize("kind", TYPES)
def test_topics_differ_and_begin_with_the_sensor(kind):
    names = [stream.topic("front") for stream in TYPES[kind].streams]
    assert len(set(names)) == len(names)
    assert all(name.startswith("front/") for name in names)
    assert all(is_of_sensor(name) for name in names)


@pytest.mark.parametrize("kind", TYPES)
def test_a_type_that_gazebo_simulates_has_all_its_topics_there_and_another_none(kind):
    assert [bool(stream.gz and stream.gz_type) for stream in TYPES[kind].streams] == (
        [kind in IN_GAZEBO] * len(TYPES[kind].streams)
    )


def test_images_are_in_optical_frames_and_points_are_not():
    frames = {stream.ros: stream.frame("cam") for stream in TYPES["rgbd_camera"].streams}
    assert frames == {
        "image_raw": "cam_optical_frame",
        "camera_info": "cam_optical_frame",
        "depth/image_raw": "cam_optical_frame",
        "points": "cam",
    }


def test_what_sensors_need_is_what_their_types_say():
    sensors = {name: record.parameters() for name, record in TYPES.items()}
    assert needs_of([]) == frozenset()
    assert needs_of([sensors["lidar2d"], sensors["camera"]]) == frozenset()
    assert needs_of([sensors["imu"], sensors["gnss"]]) == {"motion"}
    assert needs_of([sensors["imu"], sensors["wheel_encoder"]]) == {"motion", "joints"}


def test_only_the_types_that_are_looked_up_are_imported():
    program = """
import sys
from vds_gz import load_parameters
parameters = load_parameters("forklift", {"sensors.unit.type": "imu"})
print(*sorted(name for name in sys.modules if name.startswith("vds_gz.interface.sensors.")))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "vds_gz.interface.sensors.imu" in done.stdout.split()
    assert "vds_gz.interface.sensors.images" not in done.stdout.split()
