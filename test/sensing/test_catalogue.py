"""The records of all types of sensors."""

import pytest
from helpers.sensors import IN_GAZEBO, TYPES

from vds_gz.sensing.catalogue import is_of_sensor


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
