"""Speeds that a driver divides by uneven intervals are means over these."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.configuration import parameters_of_file, preset_file
from vds_gz.core.vehicle.catalogue import models
from vds_gz.tools.study.identify.problem.problem_setup import counting
from vds_gz.tools.study.reading.interval_means import interval_means, travelled
from vds_gz.tools.study.recording import MeasuredChannel, Recording, Series

RANDOM = np.random.default_rng(5)
EVEN = 0.15 * np.arange(400)
LATE = EVEN + RANDOM.uniform(0.0, 0.12, 400)
WAY = 0.25 * EVEN + 0.05 * np.sin(0.8 * EVEN)
SPEEDS = Series(LATE[1:], np.diff(WAY) / np.diff(LATE))


def recording(series):
    turns = Series(series.time, 0.5 * series.value)
    return Recording(measured={"v_x": series, "yaw_rate": turns}, sources={"v_x": "/odom", "yaw_rate": "/odom"})


def names(series):
    return [channel.name for channel in interval_means(recording(series).channels)]


def test_ways_of_even_intervals_by_uneven_ones_are_means():
    assert names(SPEEDS) == ["v_x", "yaw_rate"]
    assert travelled(SPEEDS).value[-1] == pytest.approx(WAY[-1] - WAY[1])
    assert np.mean(SPEEDS.value) > 1.05 * 0.25, "which their mean does not show"


@given(noise=st.floats(0.0, 0.5), uneven=st.floats(0.0, 0.9), seed=st.integers(0, 100))
def test_speeds_at_instants_are_no_means_however_uneven_or_noisy(noise: float, uneven: float, seed: int):
    random = np.random.default_rng(seed)
    time = 0.1 * (np.arange(300) + uneven * random.uniform(0.0, 1.0, 300))
    assert names(Series(time, np.sin(0.5 * time) + noise * random.standard_normal(300))) == []


def test_means_are_fitted_over_longer_times_and_the_pose_that_sums_them_is_not():
    odometry = recording(SPEEDS)
    pose = {"x": travelled(SPEEDS).value, "y": np.zeros(399), "heading": np.zeros(399)}
    odometry.further = [MeasuredChannel(f"odom {q}", q, "/odom", Series(LATE[1:], v)) for q, v in pose.items()]
    preset = parameters_of_file(preset_file("indoor_robot"))
    v_x, yaw_rate = counting(odometry, models()[preset.model], preset.vehicle)
    assert (v_x.name, yaw_rate.name) == ("v_x", "yaw_rate")
    at = v_x.series.time - 0.5 * np.median(np.diff(SPEEDS.time))  # the lag of a difference stays in the dead time
    true = np.interp(at + v_x.half, LATE, WAY) - np.interp(at - v_x.half, LATE, WAY)
    assert v_x.series.value == pytest.approx(true / (2.0 * v_x.half))
    assert np.mean(v_x.series.value) == pytest.approx(0.25, rel=0.03)


@pytest.mark.filterwarnings("error")
def test_a_constant_speed_at_uneven_times_is_no_mean():
    assert names(Series(LATE[1:], np.full(399, 0.2))) == []
