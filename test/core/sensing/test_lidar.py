"""Ranges of lidars against closed forms, and noise of ranges."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers.scenes import at, scene, standing
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.sensing.lidar import LidarModel
from vds_gz.core.sensing.sensors.lidar2d import Lidar2d
from vds_gz.core.sensing.sensors.ouster_os1 import OusterOs1
from vds_gz.core.sensing.sensors.rplidar_a2 import RplidarA2
from vds_gz.core.sensing.sensors.velodyne_vlp16 import VelodyneVlp16
from vds_gz.core.world.shapes import Box, Cylinder, HalfSpace, sphere

STILL = {"std_noise": 0.0, "xyz": (0.0, 0.0, 0.0)}
WALL = Box((1.0, 200.0, 100.0))


def angles(lidar: LidarModel) -> tuple[np.ndarray, np.ndarray]:
    """Azimuths and elevations of all rays, of shape (columns, 1) and (rows)."""
    return lidar.grid.azimuths[:, None], lidar.grid.elevations


@given(st.floats(-3.0, 3.0), st.floats(1.0, 20.0))
def test_a_wall(yaw, distance):
    """A ray at the angle a to the wall's normal has the range d / cos(a), at any heading of the vehicle."""
    lidar = LidarModel("a", RplidarA2(**STILL, max_range=50.0), 0)
    result = lidar.measure(standing(x=2.0, y=-1.0, yaw=yaw), scene(at(WALL, x=2.5 + distance))).ranges[:, 0]
    cosine = np.cos(lidar.grid.azimuths + yaw)
    with np.errstate(divide="ignore"):
        expected = np.where((cosine > 0.0) & (distance / cosine < 50.0), distance / cosine, np.inf)
    sure = np.abs(expected - 50.0) > 1e-3
    assert result[sure] == pytest.approx(expected[sure], abs=1e-5)


def test_the_ground_under_a_mast():
    """From the height h, a ray inclined down by e hits the ground at h / sin(e)."""
    lidar = LidarModel("a", VelodyneVlp16(std_noise=0.0, max_range=120.0, xyz=(0.3, 0.2, 1.7)), 0)
    result = lidar.measure(standing(yaw=0.4), scene(at(HalfSpace()))).ranges
    _, elevations = angles(lidar)
    with np.errstate(divide="ignore"):
        expected = np.where(elevations < 0.0, 1.7 / -np.sin(elevations), np.inf)
    assert result == pytest.approx(np.broadcast_to(expected, result.shape), abs=1e-5)


@pytest.mark.parametrize("shape", [Cylinder(0.5, 100.0), sphere(0.5)])
def test_a_round_thing(shape):
    """A ray that passes the middle at the distance b hits the surface sqrt(r^2 - b^2) before it."""
    lidar = LidarModel("a", Lidar2d(**STILL, rays=721), 0)
    result = lidar.measure(standing(), scene(at(shape, x=6.0, y=1.0))).ranges[:, 0]
    along = 6.0 * np.cos(lidar.grid.azimuths) + np.sin(lidar.grid.azimuths)
    beside = 37.0 - along**2
    with np.errstate(invalid="ignore"):
        expected = np.where((beside < 0.25) & (along > 0.0), along - np.sqrt(0.25 - beside), np.inf)
    assert result == pytest.approx(expected, abs=1e-5)
    assert np.isfinite(result).sum() > 10


def test_a_mount_that_is_turned():
    """Rolled by 90 degrees a scanner looks up with its left side; the floor lies to its right."""
    lidar = LidarModel("a", RplidarA2(std_noise=0.0, xyz=(0.0, 0.0, 2.0), rpy=(math.pi / 2, 0.0, 0.0)), 0)
    result = lidar.measure(standing(), scene(at(HalfSpace()))).ranges[:, 0]
    sine = -np.sin(lidar.grid.azimuths)
    with np.errstate(divide="ignore"):
        expected = np.where((sine > 0.0) & (2.0 / sine < 16.0), 2.0 / sine, np.inf)
    assert result == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("layout", ["gazebo", "driver"])
def test_nearer_things_are_seen_through_and_farther_ones_are_not_seen(layout):
    lidar = LidarModel("a", Lidar2d(**STILL, layout=layout, min_range=1.0, max_range=10.0, rays=3), 0)
    thin = Box((0.1, 0.1, 0.1))
    echoes = lidar.measure(standing(), scene(at(thin, x=0.5), at(thin, x=5.0), at(thin, y=10.1), at(thin, y=-9.0)))
    assert echoes.ranges[:, 0] == pytest.approx([8.95, 4.95, np.inf])


def test_intensity_is_the_retro_reflectivity_of_the_thing():
    lidar = LidarModel("a", Lidar2d(**STILL, rays=3), 0)
    ball = sphere(1.0)
    echoes = lidar.measure(standing(), scene(at(ball, y=-5.0, retro=3.0), at(ball, x=5.0, retro=7.5)))
    assert echoes.retro[:, 0].tolist() == [3.0, 7.5, 0.0]


def test_without_a_world_there_are_no_hits():
    result = LidarModel("a", OusterOs1(), 0).measure(standing(), None)
    assert result.ranges.shape == (1024, 128)
    assert np.isinf(result.ranges).all()
    assert not result.retro.any()


# ---------------------------------------------------------------------- noise


def test_noise_has_its_deviation_and_no_mean():
    around = scene(at(Cylinder(5.0, 100.0)))
    lidar = LidarModel("a", OusterOs1(**STILL | {"std_noise": 0.02}, rows=64), 3)
    still = LidarModel("a", OusterOs1(**STILL, rows=64), 3)
    error = lidar.measure(standing(), around).ranges - still.measure(standing(), around).ranges
    count = error.size
    assert error.mean() == pytest.approx(0.0, abs=4.0 * 0.02 / math.sqrt(count))
    assert error.std() == pytest.approx(0.02, rel=4.0 / math.sqrt(2.0 * count))
    assert (np.abs(error) > 0.04).mean() == pytest.approx(0.0455, rel=0.05)


def test_noise_keeps_ranges_within_the_bounds_and_misses_infinite():
    half = scene(at(Cylinder(5.0, 100.0)), at(Box((0.2, 100.0, 100.0)), x=1.1))
    sensor = RplidarA2(**STILL | {"std_noise": 1.0}, min_range=0.99, max_range=5.01)
    result = LidarModel("a", sensor, 0).measure(standing(), half).ranges
    assert result.min() == np.float32(0.99)
    assert result[np.isfinite(result)].max() == np.float32(5.01)
    nothing = LidarModel("a", sensor, 0).measure(standing(), scene(at(WALL, x=50.0))).ranges
    assert np.isinf(nothing).all()


def test_a_sample_does_not_depend_on_those_before_it():
    around = scene(at(Cylinder(5.0, 100.0)))

    def sample(number, name="a", seed=0, before=()):
        lidar = LidarModel(name, RplidarA2(), seed)
        for k in (*before, number):
            echoes = lidar.measure(standing(k / 10.0), around)
        return echoes.ranges.tobytes()

    assert sample(5) == sample(5, before=(0, 1, 2, 3, 4))
    assert len({sample(5), sample(6), sample(5, name="b"), sample(5, seed=1)}) == 4
