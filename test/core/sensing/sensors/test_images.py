"""Messages of cameras, received over the graph."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.processes import Probe
from helpers.scenes import at, scene, standing
from helpers.sensors import Heard, described, points

from vds_gz.core.ros.messages.fields import stamp_ns
from vds_gz.core.sensing.body import mounted
from vds_gz.core.sensing.sensors.camera import Camera, Pinhole
from vds_gz.core.sensing.sensors.rgbd_camera import RgbdCamera
from vds_gz.core.world.shapes import Box, HalfSpace, sphere

SMALL = {"columns": 64, "rows": 48, "fx": 40.0, "fy": 50.0, "cx": 30.0, "cy": 25.0}
ROOM = scene(
    at(Box((1.0, 4.0, 100.0)), x=8.5, colour=(0.9, 0.1, 0.3)),
    at(sphere(0.3), x=2.0, y=-0.5, z=1.2, colour=(0.1, 0.9, 0.2)),
    at(HalfSpace(), colour=(0.2, 0.3, 0.9)),
)


@pytest.mark.parametrize("group", [Camera, RgbdCamera])
def test_colours_and_intrinsics(probe: Probe, group: type[Camera]):
    sensor = group(**SMALL)
    heard = Heard(probe, sensor, prefix="car/").measured(standing(1.5), ROOM)
    (image,), (information,) = heard["image_raw"], heard["camera_info"]
    for message in (image, information):
        assert message.header.frame_id == "car/front_optical_frame"
        assert stamp_ns(message.header.stamp) == 1_500_000_000
        assert (message.height, message.width) == (48, 64)
    assert (image.encoding, image.step, image.is_bigendian) == ("rgb8", 192, 0)
    expected = Pinhole(sensor).view(ROOM, mounted(sensor.xyz, sensor.rpy), colour=True).colour
    assert bytes(image.data) == expected.tobytes()
    assert len(np.unique(expected.reshape(-1, 3), axis=0)) > 10

    assert information.distortion_model == "plumb_bob"
    assert list(information.d) == [0.0] * 5
    assert list(information.k) == [40.0, 0.0, 30.0, 0.0, 50.0, 25.0, 0.0, 0.0, 1.0]
    assert list(information.r) == np.eye(3).ravel().tolist()
    assert list(information.p) == [40.0, 0.0, 30.0, 0.0, 0.0, 50.0, 25.0, 0.0, 0.0, 0.0, 1.0, 0.0]
    assert (information.binning_x, information.binning_y, information.roi.do_rectify) == (0, 0, False)


def test_depth_and_points_agree(probe: Probe):
    sensor = RgbdCamera(**SMALL, depth_clip_min=1.3, depth_clip_max=6.0, clip_min=0.1)
    heard = Heard(probe, sensor).measured(standing(), ROOM)
    (depth,), (cloud,), (image,) = heard["depth/image_raw"], heard["points"], heard["image_raw"]
    assert depth.header.frame_id == "front_optical_frame"
    assert (depth.encoding, depth.step, depth.is_bigendian) == ("32FC1", 256, 0)
    seen = np.frombuffer(bytes(depth.data), "<f4").reshape(48, 64)
    assert np.isneginf(seen).any()
    assert np.isposinf(seen).any()

    assert cloud.header.frame_id == "front"
    assert described(cloud) == [("x", 0, 7), ("y", 4, 7), ("z", 8, 7), ("rgb", 16, 7)]
    assert (cloud.height, cloud.width, cloud.point_step) == (48, 64, 24)
    assert not cloud.is_dense
    result = points(cloud)
    assert (result["x"] == seen).all()
    finite = np.isfinite(seen)
    right, down = np.meshgrid((np.arange(64) + 0.5 - 30.0) / 40.0, (np.arange(48) + 0.5 - 25.0) / 50.0)
    assert result["y"][finite] == pytest.approx((-right * seen)[finite], abs=1e-5)
    assert result["z"][finite] == pytest.approx((-down * seen)[finite], abs=1e-5)
    for axis in "yz":
        assert (result[axis][~finite] == seen[~finite]).all()
    ground = result["z"] < -0.999
    assert ground.sum() > 100
    colours = np.frombuffer(result["rgb"].tobytes(), "u1").reshape(48, 64, 4)
    pixels = np.frombuffer(bytes(image.data), "u1").reshape(48, 64, 3)
    assert (colours[..., 2::-1] == pixels).all()
    assert not colours[..., 3].any()


@pytest.mark.parametrize("topic", ["image_raw", "camera_info", "depth/image_raw", "points"])
def test_each_topic_is_published_alone(probe: Probe, topic: str):
    heard = Heard(probe, RgbdCamera(**SMALL), only=topic)
    (message,) = heard.measured(standing(), ROOM)[topic]
    assert message.width == 64
    assert heard.output.subscribed


def test_without_a_world_there_is_sky(probe: Probe):
    heard = Heard(probe, RgbdCamera(**SMALL)).measured(standing(), None)
    assert np.isposinf(np.frombuffer(bytes(heard["depth/image_raw"][0].data), "<f4")).all()
    assert len(set(map(tuple, np.frombuffer(bytes(heard["image_raw"][0].data), "u1").reshape(-1, 3)))) == 1


def test_a_large_image_goes_over_the_graph(probe: Probe):
    heard = Heard(probe, RgbdCamera()).measured(standing(), ROOM)
    assert len(heard["image_raw"][0].data) == 640 * 480 * 3
    assert len(heard["points"][0].data) == 640 * 480 * 24
