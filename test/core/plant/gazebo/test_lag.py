"""Estimates of the lag of joints from commands and measured states."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.plant.gazebo.monitoring import LagEstimator, allowed, configured
from vds_gz.core.vehicle.catalogue import models

STEP = 0.001


def swing(t):
    return 0.3 * math.sin(2.0 * t) + 0.1 * math.sin(5.0 * t)


def first_order(lag, seconds=10.0, every=5):
    """Commands and positions of a joint with a first-order lag, sampled every few steps."""
    angle, samples = 0.0, []
    for i in range(round(seconds / STEP)):
        commanded = swing(i * STEP)
        if i % every == 0:
            samples.append((commanded, angle))
        angle += (commanded - angle) * (1.0 - math.exp(-STEP / lag)) if lag else commanded - angle
    return samples


@given(lag=st.floats(0.002, 0.1), every=st.integers(1, 10))
def test_a_first_order_lag_is_found(lag, every):
    estimator = LagEstimator(0.01)
    for commanded, measured in first_order(lag, every=every):
        estimator.add(every * STEP, [commanded], [measured])
    assert estimator.lag() == pytest.approx(lag, rel=0.1, abs=0.001)


@given(delay=st.floats(-0.01, 0.03))
def test_a_dead_time_is_found(delay):
    estimator = LagEstimator(0.01)
    for i in range(2000):
        t = 0.005 * i
        estimator.add(0.005, [swing(t)] * 2, [swing(t - delay)] * 2)
    assert estimator.lag() == pytest.approx(delay, rel=0.1, abs=0.0005)


def test_joints_at_rest_have_no_estimate():
    estimator = LagEstimator(0.01)
    for _ in range(1000):
        estimator.add(0.005, [0.2], [0.2])
    assert estimator.lag() is None


def test_a_gap_does_not_change_the_estimate():
    estimator = LagEstimator(0.01)
    for i in range(1000):
        t = 0.005 * i
        estimator.add(0.005, [swing(t)], [swing(t - 0.02)])
    before = estimator.lag()
    estimator.forget()
    assert estimator.lag() is None
    estimator.add(0.005, [100.0], [0.0])
    for i in range(1000):
        t = 0.005 * i
        estimator.add(0.005 if i else 0.0, [swing(t)], [swing(t - 0.02)])
    assert estimator.lag() == pytest.approx(before, rel=0.05)


@pytest.mark.parametrize("name", models())
def test_the_configured_dynamics_of_every_model_are_found(name):
    parameters = models()[name].parameters()
    for steering in (False, True):
        assert math.isfinite(configured(parameters, steering))
    if name == "bicycle":
        assert configured(parameters, steering=False) == pytest.approx(0.6)
        assert configured(parameters, steering=True) == pytest.approx(0.25)
    if name == "differential":
        assert configured(parameters, steering=False) > 0.0


def test_what_is_small_depends_on_what_was_configured():
    assert allowed(0.0) == allowed(0.05) < allowed(0.5) < 0.1
