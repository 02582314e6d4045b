"""Lidars and cameras of a vehicle before a wall, rendered by a real Gazebo."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from helpers.gazebo import PATIENCE
from helpers.sensors import TYPES

from vds_gz.core.description import gz_topics as topics
from vds_gz.core.description.sdf import sdf
from vds_gz.core.parameters.vehicles import BicycleParameters
from vds_gz.core.plant.gazebo.gazebo_server import Server, Spawn, populated
from vds_gz.core.plant.gazebo.links import bindings
from vds_gz.core.sensing.sensor import Stream
from vds_gz.core.sensing.sensors.camera import Camera
from vds_gz.core.sensing.sensors.lidar2d import Lidar2d
from vds_gz.core.sensing.sensors.rgbd_camera import RgbdCamera
from vds_gz.core.sensing.sensors.velodyne_vlp16 import VelodyneVlp16
from vds_gz.core.share import share
from vds_gz.core.vehicle.catalogue import models

pytestmark = pytest.mark.gazebo

SMALL = {"columns": 64, "rows": 48, "fx": 40.0, "fy": 40.0, "cx": 32.0, "cy": 24.0}

SENSORS: dict[str, Any] = {
    "scan1": Lidar2d(rate=10.0, rays=91),
    "lidar1": VelodyneVlp16(rate=5.0),
    "camera1": Camera(rate=5.0, **SMALL),
    "rgbd1": RgbdCamera(rate=4.0, **SMALL),
}

#: Distance to the near side of the wall [m].
WALL = 7.5

WALL_SDF = """<sdf version="1.9"><model name="wall"><static>true</static><link name="link">
<visual name="visual"><geometry><box><size>1 20 4</size></box></geometry></visual></link></model></sdf>"""

#: Files and names of the messages.
MESSAGES = {
    "gz.msgs.LaserScan": ("laserscan", "LaserScan"),
    "gz.msgs.PointCloudPacked": ("pointcloud_packed", "PointCloudPacked"),
    "gz.msgs.Image": ("image", "Image"),
    "gz.msgs.CameraInfo": ("camera_info", "CameraInfo"),
}

#: Messages of a server that cannot render.
NO_RENDERING = ("render engine", "rendering engine", "OpenGL", "EGL", "GLX", "Failed to load plugin")

#: Number of messages of each topic to wait for.
COUNT = 4


@pytest.fixture
def received(partition: str, capfd: pytest.CaptureFixture[str]) -> dict[str, list[Any]]:
    """The first messages of every sensor, by topic in ROS."""
    vehicle = Spawn(sdf(models()["bicycle"], BicycleParameters(), sensors=SENSORS))
    wall = Spawn(WALL_SDF, (WALL + 0.5, 0.0, 2.0, 0.0, 0.0, 0.0))
    server = Server(populated(share("worlds", "empty.sdf"), [vehicle, wall])[1], rendering=True)
    result: dict[str, list[Any]] = defaultdict(list)
    node = bindings.node()
    for name, _, stream in streams():
        kind = bindings.message(*MESSAGES[stream.gz_type])
        node.subscribe(kind, topics.of_sensor("vehicle", f"{name}/{stream.gz}"), result[stream.topic(name)].append)
    end = time.monotonic() + 2 * PATIENCE
    try:
        while min(map(len, result.values())) < COUNT and server.running() and time.monotonic() < end:
            time.sleep(0.1)
    finally:
        for topic in node.subscribed_topics():
            node.unsubscribe(topic)
        server.stop()
    said = [line for line in capfd.readouterr().err.splitlines() if any(word in line for word in NO_RENDERING)]
    if not any(result.values()) and said:
        pytest.skip(f"Gazebo cannot render here: {said[0]}")
    return result


def streams() -> list[tuple[str, Any, Stream]]:
    return [(name, sensor, stream) for name, sensor in SENSORS.items() for stream in TYPES[sensor.type].streams]


def test_messages_of_lidars_and_cameras(received: dict[str, list[Any]]):
    for name, sensor, stream in streams():
        messages = received[stream.topic(name)]
        assert len(messages) >= COUNT, stream.topic(name)
        # The first one is sent when the world starts, not after a period.
        times = np.array([message.header.stamp.sec + message.header.stamp.nsec * 1e-9 for message in messages[1:]])
        assert np.diff(times) == pytest.approx(1.0 / sensor.rate, abs=1e-3), stream.topic(name)
        frame = next(pair.value[0] for pair in messages[0].header.data if pair.key == "frame_id")
        if (sensor.type, stream.ros) != ("rgbd_camera", "points"):  # Gazebo has another frame
            assert frame == stream.frame(name)

    scan = received["scan1/scan"][-1]
    assert len(scan.ranges) == 91
    assert (scan.angle_min, scan.angle_max) == pytest.approx((-math.pi / 2, math.pi / 2))
    assert scan.ranges[45] == pytest.approx(WALL - SENSORS["scan1"].xyz[0], abs=0.05)
    assert math.isinf(scan.ranges[0])
    assert received["lidar1/points"][-1].height == SENSORS["lidar1"].rows

    for topic in ("camera1/image_raw", "rgbd1/image_raw", "rgbd1/depth/image_raw", "rgbd1/points"):
        assert (received[topic][-1].width, received[topic][-1].height) == (64, 48), topic
    image = received["camera1/image_raw"][-1]
    assert len(image.data) == 64 * 48 * 3
    assert len(set(image.data)) > 3  # the image is not uniform
    information = received["camera1/camera_info"][-1]
    assert list(information.intrinsics.k)[:6] == pytest.approx([40.0, 0.0, 32.0, 0.0, 40.0, 24.0])
    depth = np.frombuffer(received["rgbd1/depth/image_raw"][-1].data, "<f4").reshape(48, 64)
    assert depth[20, 32] == pytest.approx(WALL - SENSORS["rgbd1"].xyz[0], abs=0.05)
