"""Point clouds of lidars, received over the graph: every field at its place."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.processes import Probe
from helpers.scenes import at, driven, scene, standing
from helpers.sensors import Heard, described, points

from vds_gz.core.geometry import Transform, quaternion
from vds_gz.core.ros.messages.fields import stamp_ns
from vds_gz.core.sensing.sensors.helios_32 import Helios26
from vds_gz.core.sensing.sensors.ouster_os1 import OusterOs1
from vds_gz.core.sensing.sensors.velodyne_vlp16 import VelodyneVlp16
from vds_gz.core.world.shapes import Box, HalfSpace

ROOM = scene(at(Box((1.0, 200.0, 100.0)), x=8.5, retro=4.0), at(HalfSpace(), retro=2.0))
GAZEBO = [("x", 0, 7), ("y", 4, 7), ("z", 8, 7), ("intensity", 16, 7), ("ring", 24, 4)]


def test_the_layout_of_the_bridge(probe: Probe):
    sensor = VelodyneVlp16(std_noise=0.0, xyz=(0.5, 0.0, 1.5))
    (cloud,) = Heard(probe, sensor, prefix="car/").measured(standing(2.0), ROOM)["points"]
    assert cloud.header.frame_id == "car/front"
    assert stamp_ns(cloud.header.stamp) == 2_000_000_000
    assert described(cloud) == GAZEBO
    assert (cloud.height, cloud.width, cloud.point_step) == (16, 1808, 32)
    assert not cloud.is_dense
    result = points(cloud)
    assert (result["ring"] == np.arange(16)[:, None]).all()

    elevation = np.radians(np.linspace(-15.0, 15.0, 16))[:, None]
    azimuth = np.linspace(-np.pi, np.pi, 1808, endpoint=False)
    rays = np.stack(np.broadcast_arrays(*(np.cos(elevation) * f(azimuth) for f in (np.cos, np.sin)), np.sin(elevation)))
    with np.errstate(divide="ignore"):
        wall = np.where(rays[0] > 0.0, 7.5 / rays[0], np.inf)
        ground = np.where(rays[2] < 0.0, -1.5 / rays[2], np.inf)
    ranges = np.minimum(wall, ground)
    seen = ranges < 80.0
    for axis, expected in zip("xyz", rays * np.where(seen, ranges, 0.0), strict=True):
        assert result[axis][seen] == pytest.approx(expected[seen], abs=2e-5), axis
        assert np.isinf(result[axis][~seen]).all()  # also straight ahead, where y is 0 times the infinite range
    assert (result["intensity"] == np.where(seen, np.where(wall < ground, 4.0, 2.0), 0.0)).mean() > 0.999


def test_a_cloud_without_a_miss_is_dense(probe: Probe):
    box = scene(at(Box((20.0, 20.0, 20.0))))
    (cloud,) = Heard(probe, OusterOs1(rows=4, columns=16)).measured(standing(), box)["points"]
    assert cloud.is_dense


def test_a_helios_with_uneven_rows_sends_a_message_for_each_lidar_that_gazebo_has(probe: Probe):
    clouds = Heard(probe, Helios26(std_noise=0.0)).measured(standing(), ROOM, count=4)["points"]
    assert [cloud.height for cloud in clouds] == [3, 4, 22, 3]
    assert len({stamp_ns(cloud.header.stamp) for cloud in clouds}) == 1
    for cloud in clouds:
        assert points(cloud)["ring"][:, 0].tolist() == list(range(cloud.height))
    lowest = points(clouds[0])[0, 904]
    assert np.degrees(np.arctan2(lowest["z"], lowest["x"])) == pytest.approx(-16.0, abs=1e-4)


def test_the_largest_cloud_goes_over_the_graph(probe: Probe):
    (cloud,) = Heard(probe, OusterOs1()).measured(standing(), ROOM)["points"]
    assert (cloud.height, cloud.width, len(cloud.data)) == (128, 1024, 4_194_304)
    assert np.isfinite(points(cloud)["x"]).any()


# ---------------------------------------------------------------------- in the drivers' layouts


def turning(rate: float):
    """The body turning about the vertical at the origin."""
    return lambda time: Transform((0.0, 0.0, 0.0), quaternion(0.0, 0.0, rate * time))


def test_the_layout_of_velodynes_driver(probe: Probe):
    sensor = VelodyneVlp16(layout="driver", std_noise=0.0, xyz=(0.0, 0.0, 1.5))
    heard = Heard(probe, sensor)
    (cloud,) = heard.measured(driven(turning(1.0), 2.0, 0.1), ROOM)["points"]
    assert described(cloud) == [
        *[("x", 0, 7), ("y", 4, 7), ("z", 8, 7), ("intensity", 12, 7), ("ring", 16, 4), ("time", 18, 7)]
    ]
    assert (cloud.height, cloud.width, cloud.point_step) == (1808, 16, 22)
    assert stamp_ns(cloud.header.stamp) == 2_000_000_000
    result = points(cloud)
    assert (result["ring"] == np.arange(16)).all()
    assert result["time"][-1].tolist() == [0.0] * 16
    assert result["time"][0] == pytest.approx(-heard.output.span * 1e-9)
    assert (np.diff(result["time"], axis=0) > 0.0).all()
    missed = np.isnan(result["x"])
    assert 0.1 < missed.mean() < 0.9
    assert (np.isnan(result["z"]) == missed).all()
    assert (np.isnan(result["intensity"]) == missed).all()
    assert set(result["intensity"][~missed].tolist()) == {2.0, 4.0}
    assert not cloud.is_dense


def test_the_layout_of_rslidars_driver(probe: Probe):
    heard = Heard(probe, Helios26(layout="driver", std_noise=0.0))
    (cloud,) = heard.measured(standing(2.0), ROOM)["points"]
    assert described(cloud) == [
        *[("x", 0, 7), ("y", 4, 7), ("z", 8, 7), ("intensity", 12, 7), ("ring", 16, 4), ("timestamp", 18, 8)]
    ]
    assert (cloud.height, cloud.width, cloud.point_step) == (1808, 32, 26)
    result = points(cloud)
    assert stamp_ns(cloud.header.stamp) == 2_000_000_000 - heard.output.span
    assert result["timestamp"][0] == pytest.approx(stamp_ns(cloud.header.stamp) * 1e-9, abs=1e-9)
    assert result["timestamp"][-1] == pytest.approx(2.0, abs=1e-9)
    assert (result["ring"] == np.arange(32)).all()
    ahead = result[0]
    assert np.degrees(np.arctan2(ahead["z"], ahead["x"]))[[0, 4, 20]] == pytest.approx([-16.0, -11.0, -0.5], abs=1e-4)
    assert np.isnan(result["x"]).any()
    assert (result["intensity"][np.isnan(result["x"])] == 0.0).all()


def test_the_layout_of_ousters_driver(probe: Probe):
    heard = Heard(probe, OusterOs1(layout="driver", std_noise=0.0, rows=8, columns=64, rate=20.0))
    (cloud,) = heard.measured(standing(2.0), ROOM)["points"]
    assert described(cloud) == [
        *[("x", 0, 7), ("y", 4, 7), ("z", 8, 7), ("intensity", 16, 7), ("t", 20, 6), ("reflectivity", 24, 4)],
        *[("ring", 26, 4), ("ambient", 28, 4), ("range", 32, 6)],
    ]
    assert (cloud.height, cloud.width, cloud.point_step) == (8, 64, 48)
    result = points(cloud)
    assert stamp_ns(cloud.header.stamp) == 2_000_000_000 - heard.output.span
    assert result["t"][0] == pytest.approx(np.linspace(0.0, heard.output.span, 64), abs=1.0)
    assert (result["t"] == result["t"][0]).all()
    assert (result["ring"] == np.arange(8)[:, None]).all()
    assert result["z"][0, 32] > 0.0 > result["z"][7, 32]
    distance = np.sqrt(result["x"] ** 2 + result["y"] ** 2 + result["z"] ** 2)
    missed = result["range"] == 0
    assert (np.isnan(distance) == missed).all()
    assert 0.001 * result["range"][~missed] == pytest.approx(distance[~missed], abs=0.00051)
    assert set(result["reflectivity"][~missed].tolist()) == {2, 4}
    assert not result["ambient"].any()
    # Columns go clockwise from right behind.
    assert np.arctan2(result["y"], result["x"])[3, 17:48] == pytest.approx(
        np.pi - np.arange(17, 48) * np.pi / 32, abs=1e-6
    )


def test_a_turn_that_began_before_time_0_is_not_sent(probe: Probe):
    """Its first points would have a negative time, which ROS does not have."""
    heard = Heard(probe, VelodyneVlp16(layout="driver"))
    heard.measured(standing(0.1), ROOM)
    heard.output.measure(standing(0.0), ROOM)
    probe.serve(0.3)
    assert [stamp_ns(message.header.stamp) for message in probe.received["front/points"]] == [100_000_000]


def test_ousters_layout_has_the_quality_of_service_of_its_driver(probe: Probe):
    heard = Heard(probe, OusterOs1(layout="driver", rows=2, columns=8))
    heard.measured(standing(1.0), ROOM)
    offer = probe.graph.offers()["/front/points"]
    assert not offer.qos.reliable
