"""Sensors of a node in another process, received over the graph: equal to the models, noise included."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from helpers.processes import Probe
from helpers.scenes import standing
from helpers.sensors import points

from vds_gz.core.ros.graph import QoS
from vds_gz.core.ros.messages.fields import stamp_ns
from vds_gz.core.sensing.body import mounted
from vds_gz.core.sensing.lidar import LidarModel
from vds_gz.core.sensing.sensors.camera import Pinhole
from vds_gz.core.sensing.sensors.rgbd_camera import RgbdCamera
from vds_gz.core.sensing.sensors.rplidar_a2 import RplidarA2
from vds_gz.core.sensing.sensors.velodyne_vlp16 import VelodyneVlp16
from vds_gz.core.share import share
from vds_gz.core.world.load_world import load_world
from vds_gz.programs.interface.topics import Topic

PARAMETERS = """
sim_node:
  ros__parameters:
    world: {world}
    random_seed: 7
    sensors:
      flat: {{type: rplidar_a2}}
      round: {{type: velodyne_vlp16, rate: 5.0, layout: driver}}
      eye: {{type: rgbd_camera, rate: 2.0, columns: 64, rows: 48, fx: 40.0, fy: 40.0, cx: 32.0, cy: 24.0}}
"""

# Reliable, or clouds of 1.3 MB may be lost over Fast DDS.
RELIABLE = QoS(5)
SCAN = Topic("flat/scan", "sensor_msgs/msg/LaserScan", RELIABLE)
POINTS = Topic("round/points", "sensor_msgs/msg/PointCloud2", RELIABLE)
DEPTH = Topic("eye/depth/image_raw", "sensor_msgs/msg/Image", RELIABLE)


def test_a_standing_vehicle_measures_the_same_here_and_there(
    start: Callable[..., Any], probe: Probe, tmp_path: Path
) -> None:
    world = share("worlds", "hall.sdf")
    file = tmp_path / "sensors.yaml"
    file.write_text(PARAMETERS.format(world=world), encoding="utf-8")
    node = start("--params-file", str(file))
    probe.listen(SCAN, POINTS, DEPTH)
    probe.until(lambda: all(len(probe.received[topic.name]) >= 3 for topic in (SCAN, POINTS, DEPTH)), "measurements")
    assert node.stop() == 0, node.output

    scene = load_world(world)
    lidar = LidarModel("flat", RplidarA2(), 7)
    for scan in probe.received[SCAN.name][:3]:
        time = stamp_ns(scan.header.stamp)
        assert time % 100_000_000 == 0
        expected = lidar.measure(standing(time * 1e-9), scene).ranges[:, 0]
        assert np.array(scan.ranges, np.float32).tolist() == expected.tolist()

    lidar = LidarModel("round", VelodyneVlp16(rate=5.0, layout="driver"), 7)
    for cloud in probe.received[POINTS.name][:3]:
        time = stamp_ns(cloud.header.stamp)
        assert time % 200_000_000 == 0
        expected = lidar.measure(standing(time * 1e-9), scene).ranges
        expected = np.where(np.isfinite(expected), expected, np.float32(np.nan))
        assert np.array_equal(points(cloud)["z"], expected * lidar.directions[..., 2].astype("f4"), equal_nan=True)

    camera = RgbdCamera(rate=2.0, columns=64, rows=48, fx=40.0, fy=40.0, cx=32.0, cy=24.0)
    depth = Pinhole(camera).view(scene, mounted(camera.xyz, camera.rpy), colour=False).depth
    depth[depth > camera.depth_clip_max] = np.inf
    assert bytes(probe.received[DEPTH.name][-1].data) == depth.tobytes()
