"""Scans, received over the graph."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers.processes import Probe
from helpers.scenes import at, scene, standing
from helpers.sensors import Heard

from vds_gz.core.ros.messages.fields import stamp_ns
from vds_gz.core.sensing.sensors.lidar2d import Lidar2d
from vds_gz.core.sensing.sensors.rplidar_a2 import RplidarA2
from vds_gz.core.world.shapes import Box

WALL = scene(at(Box((1.0, 200.0, 10.0)), x=8.5, retro=4.0))


def test_the_layout_of_the_bridge(probe: Probe):
    sensor = Lidar2d(std_noise=0.0, xyz=(0.5, 0.0, 0.7), max_range=20.0)
    (scan,) = Heard(probe, sensor, prefix="car/").measured(standing(1.25), WALL)["scan"]
    assert scan.header.frame_id == "car/front"
    assert stamp_ns(scan.header.stamp) == 1_250_000_000
    assert (scan.angle_min, scan.angle_max) == pytest.approx((-math.pi / 2, math.pi / 2))
    assert scan.angle_increment == pytest.approx(math.pi / 180)
    assert (scan.time_increment, scan.scan_time) == (0.0, 0.0)
    assert (scan.range_min, scan.range_max) == pytest.approx((0.05, 20.0))
    cosine = np.cos(np.linspace(-math.pi / 2, math.pi / 2, 181))
    expected = np.where(20.0 * cosine > 7.5, 7.5 / cosine, np.inf)
    assert np.array(scan.ranges) == pytest.approx(expected, abs=1e-5)
    assert list(scan.intensities) == np.where(np.isfinite(expected), 4.0, 0.0).tolist()


def test_all_around_the_last_ray_is_not_the_first_again(probe: Probe):
    (scan,) = Heard(probe, RplidarA2()).measured(standing(), WALL)["scan"]
    assert len(scan.ranges) == 800
    assert (scan.angle_min, scan.angle_max) == pytest.approx((-math.pi, math.pi * (1 - 2 / 800)))
    assert scan.angle_increment == pytest.approx(2 * math.pi / 800)


def test_the_layout_of_the_driver(probe: Probe):
    sensor = RplidarA2(std_noise=0.0, xyz=(0.0, 0.0, 0.7), layout="driver")
    heard = Heard(probe, sensor)
    assert heard.output.span == 100_000_000
    (scan,) = heard.measured(standing(1.0), WALL)["scan"]
    assert stamp_ns(scan.header.stamp) == 1_000_000_000 - heard.output.span
    assert (scan.angle_min, scan.angle_max) == pytest.approx((-math.pi, math.pi))
    assert scan.angle_increment == pytest.approx(2 * math.pi / 799)
    assert scan.scan_time == pytest.approx(0.1)
    assert scan.time_increment * 799 == pytest.approx(heard.output.span * 1e-9)
    expected = 8.0 / np.cos(np.linspace(-math.pi, math.pi, 800))
    expected[(expected < 0.0) | (expected > 16.0)] = np.inf
    assert np.array(scan.ranges) == pytest.approx(expected, abs=1e-5)
    assert list(scan.intensities) == np.where(np.isfinite(expected), 47.0, 0.0).tolist()


def test_a_partial_turn_takes_its_part_of_the_period(probe: Probe):
    """A scanner that turns 20 times a second sweeps half a turn in 25 ms."""
    heard = Heard(probe, Lidar2d(rate=20.0, rays=91, layout="driver"))
    (scan,) = heard.measured(standing(1.0), WALL)["scan"]
    assert stamp_ns(scan.header.stamp) == 975_000_000
    assert scan.scan_time == pytest.approx(0.05)
    assert scan.time_increment == pytest.approx(0.025 / 90)


def test_samples_do_not_depend_on_earlier_ones_without_subscribers(probe: Probe):
    """Noise depends on the sample's number, not on how many samples were measured before it."""
    heard = Heard(probe, RplidarA2(), seed=5)
    for number in range(3):
        heard.output.measure(standing(number / 10.0), WALL)  # no subscriber has been found yet

    def ranges(number: int) -> list[float]:
        return list(heard.measured(standing(number / 10.0), WALL)["scan"][0].ranges)

    first = ranges(3)
    assert ranges(4) != first
    assert ranges(3) == first
