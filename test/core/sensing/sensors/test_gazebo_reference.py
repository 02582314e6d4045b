"""Comparison with messages of Gazebo Harmonic's sensors through ros_gz_bridge, at the origin of ``worlds/hall.sdf``."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from helpers.processes import Probe
from helpers.scenes import standing
from helpers.sensors import Heard, points

from vds_gz.core.sensing.sensors.camera import Camera
from vds_gz.core.sensing.sensors.gnss import Gnss
from vds_gz.core.sensing.sensors.helios_32 import Helios26
from vds_gz.core.sensing.sensors.imu import Imu
from vds_gz.core.sensing.sensors.lidar2d import Lidar2d
from vds_gz.core.sensing.sensors.ouster_os1 import OusterOs1
from vds_gz.core.sensing.sensors.rgbd_camera import RgbdCamera
from vds_gz.core.sensing.sensors.rplidar_a2 import RplidarA2
from vds_gz.core.sensing.sensors.velodyne_vlp16 import VelodyneVlp16
from vds_gz.core.world.load_world import load_world, world_file

REFERENCE = Path(__file__).resolve().parents[3] / "reference" / "gazebo"

SMALL = {"columns": 160, "rows": 120, "fx": 100.0, "fy": 100.0, "cx": 80.0, "cy": 60.0, "xyz": (0.3, 0.0, 0.5)}

#: Each sensor as it was recorded, and the texels that Gazebo renders per 90 degrees.
SENSORS = {
    "scan2d": (Lidar2d(xyz=(0.2, 0.0, 0.4), std_noise=0.0), 128),
    "rp": (RplidarA2(xyz=(0.0, 0.0, 0.6), std_noise=0.0), 256),
    "h26": (Helios26(xyz=(0.0, 0.0, 0.9), std_noise=0.0), 512),
    "vlp": (VelodyneVlp16(xyz=(0.1, 0.0, 0.8), std_noise=0.0), 512),
    "os1": (OusterOs1(xyz=(0.0, 0.0, 1.0), std_noise=0.0), 256),
    "imu": (Imu(xyz=(0.1, 0.2, 0.3), measure_orientation=True), None),
    "gps": (Gnss(xyz=(0.0, 0.0, 0.5)), None),
    "cam": (Camera(**SMALL), None),
    "rgbd": (RgbdCamera(**SMALL), None),
}

#: Rows of the lidars that represent a HELIOS in Gazebo, from the lowest up.
HELIOS = [3, 4, 22, 3]

#: Fields that differ between measurements, and fields that we fill and Gazebo does not.
MEASURED = {
    *("latitude", "longitude", "altitude", "orientation", "angular_velocity", "linear_acceleration"),
    *("orientation_covariance", "is_dense"),
}


@cache
def recorded():
    return (
        json.loads((REFERENCE / "sensors.json").read_text()),
        dict(np.load(REFERENCE / "sensors.npz")),
    )


@cache
def hall():
    return load_world(world_file("hall"))


def plain(message):
    """A message as numbers, texts and lists; of long arrays their lengths."""
    # The graph's messages are those of rosbags or of ROS.
    fields = getattr(message, "__dataclass_fields__", None) or getattr(message, "get_fields_and_field_types", dict)()
    if fields:
        names = [name for name in fields if name.islower() and name not in ("stamp", "__msgtype__")]
        return {name: plain(getattr(message, name)) for name in names}
    if hasattr(message, "__len__") and not isinstance(message, str):
        return f"{len(message)} numbers" if len(message) > 100 else [plain(item) for item in message]
    return message


def same(ours, theirs, path=""):
    """The differences, each with its path."""
    if isinstance(theirs, dict):
        if ours.keys() != theirs.keys():
            return [f"{path}: {sorted(ours)} for {sorted(theirs)}"]
        keys = [key for key in theirs if key not in MEASURED]
        return [fault for key in keys for fault in same(ours[key], theirs[key], f"{path}.{key}")]
    if isinstance(theirs, list):
        if len(ours) != len(theirs):
            return [f"{path}: {len(ours)} for {len(theirs)}"]
        pairs = enumerate(zip(ours, theirs, strict=True))
        return [fault for k, pair in pairs for fault in same(*pair, f"{path}[{k}]")]
    equal = ours == pytest.approx(theirs, rel=1e-6, abs=1e-12) if isinstance(theirs, float) else ours == theirs
    return [] if equal else [f"{path}: {ours!r} for {theirs!r}"]


@pytest.mark.parametrize("name", SENSORS)
def test_messages_are_those_of_the_bridge(probe: Probe, name):
    """All but the measurement itself: sizes, fields, encodings, frames, ranges, intrinsics, covariances."""
    reference, _ = recorded()
    heard = Heard(probe, SENSORS[name][0]).measured(standing(1.0), hall(), len(HELIOS) if name == "h26" else 1)
    for topic, messages in heard.items():
        theirs = {message.get("height"): message for message in reference[f"{name}/{topic}"]["messages"]}
        heights = HELIOS if name == "h26" else [*theirs]
        for ours, height in zip(messages, heights, strict=True):
            # Gazebo writes the optical frame into points that lie in the frame that looks along x.
            frame = name if topic == "points" else theirs[height]["header"]["frame_id"]
            expected = {**theirs[height], "header": {"frame_id": frame.replace(name, "front")}}
            assert same(plain(ours), expected) == [], topic


def bounds(azimuths, elevations, origin, reach, texels):
    """The least and the greatest range that exact rays have within one texel around each."""
    texel = np.radians(90.0 / texels)
    result = []
    for i in (-1.0, -0.5, 0.0, 0.5, 1.0):
        for j in (-1.0, -0.5, 0.0, 0.5, 1.0):
            az, el = np.broadcast_arrays(azimuths + i * texel, elevations + j * texel)
            rays = np.stack([np.cos(el) * np.cos(az), np.cos(el) * np.sin(az), np.sin(el)], axis=-1)
            result.append(hall().cast(np.array(origin), rays.reshape(-1, 3), reach)[0].reshape(az.shape))
    return np.min(result, axis=0), np.max(result, axis=0)


@pytest.mark.parametrize("name", ["scan2d", "rp"])
def test_scans_agree_within_gazebos_texels(probe: Probe, name):
    sensor, texels = SENSORS[name]
    (scan,) = Heard(probe, sensor).measured(standing(1.0), hall())["scan"]
    azimuths = np.linspace(scan.angle_min, scan.angle_max, len(scan.ranges))
    low, high = bounds(azimuths, np.zeros(len(azimuths)), sensor.xyz, sensor.max_range, texels)
    for ranges in (np.asarray(scan.ranges), recorded()[1][f"{name}/scan"]):
        assert within(ranges, low, high) > 0.97


@pytest.mark.parametrize(("name", "every"), [("vlp", 2), ("os1", 8)])
def test_clouds_agree_within_gazebos_texels(probe: Probe, name, every):
    sensor, texels = SENSORS[name]
    (cloud,) = Heard(probe, sensor).measured(standing(1.0), hall())["points"]
    result = points(cloud)
    ours = np.sqrt(sum(result[axis].astype(float) ** 2 for axis in "xyz"))[:, ::every]
    key = f"{name}/points@{cloud.height}x{cloud.width}"
    assert (result["ring"][:, 0] == recorded()[1][f"{key}@ring"]).all()
    half = sensor.vertical_fov / 2.0
    elevations = np.linspace(-half, half, cloud.height)[:, None]
    azimuths = np.linspace(-np.pi, np.pi, cloud.width, endpoint=False)[None, ::every]
    low, high = bounds(azimuths, elevations, sensor.xyz, sensor.max_range, texels)
    assert within(ours, low, high) > 0.999
    assert within(recorded()[1][key], low, high) > 0.98


def within(ranges, low, high):
    """The share of ranges within bounds, with a tolerance of a millimetre."""
    inside = (ranges >= low - 1e-3) & (ranges <= high + 1e-3)
    return (inside | (np.isinf(ranges) & np.isinf(high))).mean()


def test_depth_agrees_except_at_edges(probe: Probe):
    heard = Heard(probe, SENSORS["rgbd"][0]).measured(standing(1.0), hall())
    (image,), (cloud,) = heard["depth/image_raw"], heard["points"]
    ours = np.frombuffer(bytes(image.data), np.float32).reshape(image.height, image.width)
    theirs = recorded()[1]["rgbd/depth/image_raw"]
    both = np.isfinite(ours) & np.isfinite(theirs)
    assert (np.isfinite(ours) == np.isfinite(theirs)).mean() > 0.99
    assert (np.abs(ours[both] - theirs[both]) < 0.02 * theirs[both]).mean() > 0.98
    # The lateral and vertical coordinates of Gazebo's points are a ninth too large by its own depth image.
    result, expected = points(cloud), recorded()[1]["rgbd/points@xyz"]
    xyz = np.stack([result["x"], result["y"] / 0.9, result["z"] / 0.9], axis=-1)[::4, ::4]
    seen = np.isfinite(expected).all(axis=2) & np.isfinite(xyz).all(axis=2)
    apart = np.linalg.norm(xyz[seen] - expected[seen], axis=1)
    assert (apart < 0.03 * np.linalg.norm(expected[seen], axis=1)).mean() > 0.97


def test_scans_of_a_drive_agree():
    """At Gazebo's own poses the median difference of ranges is below 1 cm, and 90 % of them are below 5 cm."""
    _, arrays = recorded()
    truth = arrays["drive/truth"]
    heading = np.unwrap(2.0 * np.arctan2(truth[:, 6], truth[:, 7]))
    azimuths = np.linspace(-np.pi, 3.1337387561798096, 800)[::4]
    errors = []
    for time, scan in zip(arrays["drive/scan_times"], arrays["drive/scans"], strict=True):
        x, y, z = (np.interp(time, truth[:, 0], truth[:, k]) for k in (1, 2, 3))
        turned = azimuths + np.interp(time, truth[:, 0], heading)
        rays = np.stack([np.cos(turned), np.sin(turned), np.zeros(len(turned))], axis=-1)
        ranges, _ = hall().cast(np.array((x, y, z + 0.6)), rays, 16.0)
        both = np.isfinite(ranges) & np.isfinite(scan)
        assert (np.isfinite(ranges) == np.isfinite(scan)).mean() > 0.95
        errors.append(np.abs(ranges[both] - scan[both]))
    spread = np.percentile(np.concatenate(errors), [50, 90])
    assert spread[0] < 0.01
    assert spread[1] < 0.05
