"""How a robot follows, from what was sent and what it did."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.plant.relay.following import INTERVAL, fit


def steps(seed: int) -> np.ndarray:
    """Commands that change now and then."""
    random = np.random.default_rng(seed)
    return np.repeat(random.uniform(-1.0, 1.0, 15), 40)


def response(commands: np.ndarray, dead_time: float, constant: float, gain: float) -> np.ndarray:
    """The response to held commands, by its closed form."""
    fine = 20
    held = np.repeat(commands, fine)
    delayed = np.concatenate((np.full(round(dead_time / INTERVAL * fine), held[0]), held))[: len(held)]
    state, states = float(delayed[0]), []
    step = 1.0 - math.exp(-INTERVAL / fine / constant) if constant else 1.0
    for value in delayed.tolist():
        states.append(state)
        state += step * (value - state)
    return gain * np.array(states[::fine])


@given(
    seed=st.integers(0, 100),
    dead_time=st.floats(0.02, 0.5),
    constant=st.floats(0.02, 0.6),
    gain=st.floats(0.5, 1.5),
)
def test_dead_time_lag_and_gain_come_out(seed, dead_time, constant, gain):
    commands = steps(seed)
    found = fit(commands, response(commands, dead_time, constant, gain))
    assert found is not None
    assert found.dead_time == pytest.approx(dead_time, abs=0.012)
    assert found.time_constant == pytest.approx(constant, abs=0.012 + 0.05 * constant)
    assert found.gain == pytest.approx(gain, rel=0.02)


def test_nothing_is_said_about_a_robot_that_is_not_moved_or_does_something_else():
    standing, random = np.zeros(600), np.random.default_rng(0)
    assert fit(standing, standing) is None
    assert fit(steps(1), random.standard_normal(600)) is None
    assert fit(steps(1), standing) is None
    assert fit(steps(1)[:100], steps(1)[:100]) is None
