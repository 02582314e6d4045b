"""Our lidars and cameras against those of a real Gazebo through the bridge, in the same place of the same world.

Gazebo renders a lidar into textures, and a ray has the range of the nearest texel. So a range in Gazebo is between the
least and the greatest exact range within a texel of its ray.
"""

from __future__ import annotations

import math
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.processes import Probe
from helpers.ros_gz import need, program
from helpers.scenes import standing
from helpers.sensors import TYPES, Heard, points

from vds_gz.core.description.gz_bridge import vehicle_bridge
from vds_gz.core.description.sdf import sdf
from vds_gz.core.parameters.vehicles import BicycleParameters
from vds_gz.core.plant.gazebo.gazebo_server import Server, Spawn, populated
from vds_gz.core.ros.graph import QoS
from vds_gz.core.ros.messages.fields import stamp_ns
from vds_gz.core.sensing.body import mounted
from vds_gz.core.sensing.lidar import Lidar, RangeFinder, RayGrid
from vds_gz.core.sensing.noise import SampleNoise
from vds_gz.core.sensing.sensors.camera import Camera
from vds_gz.core.sensing.sensors.helios_32 import Helios26
from vds_gz.core.sensing.sensors.ouster_os1 import OusterOs1
from vds_gz.core.sensing.sensors.rgbd_camera import RgbdCamera
from vds_gz.core.sensing.sensors.rplidar_a2 import RplidarA2
from vds_gz.core.sensing.sensors.velodyne_vlp16 import VelodyneVlp16
from vds_gz.core.share import share
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.world.load_world import load_world
from vds_gz.programs.interface.topics import Topic

pytestmark = [pytest.mark.ros, pytest.mark.gazebo, need("ros_gz_bridge")]

PICTURE: dict[str, Any] = {"columns": 160, "rows": 120, "fx": 150.0, "fy": 150.0, "cx": 80.0, "cy": 60.0, "rate": 2.0}

#: The sensors are one above the other, so high that none sees the vehicle or another sensor.
SENSORS: dict[str, Any] = {
    "flat": RplidarA2(xyz=(0.0, 0.0, 1.8), std_noise=0.0, rate=4.0),
    "puck": VelodyneVlp16(xyz=(0.0, 0.0, 2.1), std_noise=0.0, rate=5.0),
    "ouster": OusterOs1(xyz=(0.0, 0.0, 2.4), std_noise=0.0, rate=2.0, rows=32, columns=512),
    "helios": Helios26(xyz=(0.0, 0.0, 2.7), std_noise=0.0, rate=5.0),
    "eye": Camera(xyz=(0.0, 0.0, 3.0), **PICTURE),
    "depth": RgbdCamera(xyz=(0.0, 0.0, 3.3), **PICTURE),
}

#: Minimum number of texels for 90 degrees.
TEXELS = {"flat": 256, "puck": 512, "ouster": 256}

#: Number of messages of each topic to wait for.
COUNT = 4

WORLD = share("worlds", "hall.sdf")


@pytest.fixture
def gazebos(partition: str, probe: Probe, tmp_path: Path) -> dict[str, list[Any]]:
    """The first messages of every sensor in Gazebo, by topic in ROS."""
    file = tmp_path / "bridge.yaml"
    file.write_text(vehicle_bridge(sensors=SENSORS))
    vehicle = Spawn(sdf(models()["bicycle"], BicycleParameters(), sensors=SENSORS))
    server = Server(populated(WORLD, [vehicle])[1], rendering=True)
    command = [program("ros_gz_bridge", "parameter_bridge"), "--ros-args", "-p", f"config_file:={file}"]
    bridge = subprocess.Popen(command)
    result: dict[str, list[Any]] = defaultdict(list)
    topics = [stream.topic(name) for name, sensor in SENSORS.items() for stream in TYPES[sensor.type].streams]
    try:
        for name, sensor in SENSORS.items():
            for stream in TYPES[sensor.type].streams:
                probe.listen(Topic(stream.topic(name), stream.ros_type, QoS(stream.depth)))
        probe.until(
            lambda: all(len(probe.received[topic]) >= COUNT for topic in topics), "messages of all sensors", 120.0
        )
        result |= {topic: list(probe.received[topic]) for topic in topics}
    finally:
        bridge.kill()
        bridge.wait()
        server.stop()
    return result


def plain(message: Any, without: set[str]) -> Any:
    """A message as values that can be compared."""
    if isinstance(message, list):
        return [plain(item, set()) for item in message]
    if not hasattr(message, "get_fields_and_field_types"):
        return message if isinstance(message, str | int | float | bool) else list(message)
    return {
        name: plain(getattr(message, name), set())
        for name in message.get_fields_and_field_types()
        if name not in without
    }


def test_messages_are_the_same(gazebos: dict[str, list[Any]], probe: Probe) -> None:
    scene = load_world(WORLD)
    for name, sensor in SENSORS.items():
        count = 4 if isinstance(sensor, Helios26) else 1
        ours = Heard(probe, sensor, name=f"our_{name}").measured(standing(), scene, count)
        for stream in TYPES[sensor.type].streams:
            there, here = gazebos[stream.topic(name)], ours[stream.ros]
            for one, other in zip(there[-2 * count : -count], here, strict=True):
                compare(name, stream.ros, one, other)
            # The first measurement is at the start of the world, not after a period.
            times = np.array([stamp_ns(message.header.stamp) * 1e-9 for message in there])[count::count]
            assert np.diff(times) == pytest.approx(1.0 / sensor.rate, abs=2e-3), stream.topic(name)


def compare(name: str, topic: str, there: Any, here: Any) -> None:
    """Compare everything except time, names and measurements."""
    apart = {"header", "data", "ranges", "is_dense"}
    one, other = plain(there, apart), plain(here, apart)
    assert one.keys() == other.keys()
    for key in one:
        assert one[key] == (pytest.approx(other[key], abs=1e-4) if key in ("p", "k", "r") else other[key]), (topic, key)
    for field in ("data", "ranges"):
        if hasattr(there, field):
            assert len(getattr(there, field)) == len(getattr(here, field))
    # With older bridges, points of an RGBD camera have the optical frame.
    assert there.header.frame_id in {here.header.frame_id.removeprefix("our_"), f"{name}_optical_frame"}


def envelope(name: str, sensor: Lidar) -> tuple[np.ndarray, np.ndarray]:
    """The least and the greatest exact range within a texel of each ray."""
    grid, scene = sensor.gazebo_grid(), load_world(WORLD)
    place, texel = mounted(sensor.xyz, sensor.rpy), 0.5 * math.pi / TEXELS[name]
    tries = [
        RangeFinder(sensor, RayGrid(grid.azimuths + across * texel, grid.elevations + up * texel))
        .measure(scene, place, SampleNoise(0, name).generator(0))
        .ranges
        for across in (-1.0, -0.5, 0.0, 0.5, 1.0)
        for up in ((-1.0, -0.5, 0.0, 0.5, 1.0) if len(grid.elevations) > 1 else (0.0,))
    ]
    return np.min(tries, axis=0), np.max(tries, axis=0)


def test_ranges_are_the_same_within_a_texel(gazebos: dict[str, list[Any]]) -> None:
    for name in TEXELS:
        sensor = SENSORS[name]
        message = gazebos[f"{name}/{TYPES[sensor.type].streams[0].ros}"][-1]
        if hasattr(message, "ranges"):
            there = np.array(message.ranges)[:, None]
        else:
            cloud = points(message)
            there = np.sqrt(sum(cloud[axis].astype(float) ** 2 for axis in "xyz")).T
        least, greatest = envelope(name, sensor)
        within = (there >= least - 2e-3) & (there <= greatest + 2e-3)
        assert within.mean() > 0.985, name
        exact = exact_ranges(name, sensor)
        met = np.isfinite(there) & np.isfinite(exact)
        assert np.median(np.abs(there[met] - exact[met])) < 0.02, name


def exact_ranges(name: str, sensor: Lidar) -> np.ndarray:
    """The exact ranges."""
    finder = RangeFinder(sensor, sensor.gazebo_grid())
    random = SampleNoise(0, name).generator(0)
    return finder.measure(load_world(WORLD), mounted(sensor.xyz, sensor.rpy), random).ranges


def test_pictures_are_the_same(gazebos: dict[str, list[Any]], probe: Probe) -> None:
    ours = Heard(probe, SENSORS["depth"]).measured(standing(), load_world(WORLD))
    there, here = (
        np.frombuffer(bytes(one.data), "<f4").reshape(120, 160)
        for one in (gazebos["depth/depth/image_raw"][-1], ours["depth/image_raw"][0])
    )
    both = np.isfinite(there) & np.isfinite(here)
    assert (np.isfinite(there) == np.isfinite(here)).mean() > 0.98
    differences = np.abs(there[both] - here[both])
    assert np.median(differences) < 1e-3
    assert np.percentile(differences, 90) < 0.05
    there_points, here_points = points(gazebos["depth/points"][-1])[both], points(ours["points"][0])[both]
    for axis in "xyz":
        assert np.median(np.abs(there_points[axis] - here_points[axis])) < 2e-3, axis
    there, here = (
        np.frombuffer(bytes(one.data), "u1").reshape(120, 160, 3).astype(float)
        for one in (gazebos["depth/image_raw"][-1], ours["image_raw"][0])
    )
    assert np.median(np.abs(there - here)) < 6.0
