"""The catalogue of sensors' topics."""

import pytest

from vds_gz.parameters.sensors import TYPES
from vds_gz.sensing.streams import STREAMS


def test_it_has_every_type():
    assert set(STREAMS) == set(TYPES)


@pytest.mark.parametrize("kind", STREAMS)
def test_topics_differ_and_begin_with_the_sensor(kind):
    names = [stream.topic("front") for stream in STREAMS[kind]]
    assert len(set(names)) == len(names)
    assert all(name.startswith("front/") for name in names)


def test_images_are_in_optical_frames_and_points_are_not():
    frames = {stream.ros: stream.frame("cam") for stream in STREAMS["rgbd_camera"]}
    assert frames == {
        "image_raw": "cam_optical_frame",
        "camera_info": "cam_optical_frame",
        "depth/image_raw": "cam_optical_frame",
        "points": "cam",
    }
