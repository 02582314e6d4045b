"""Measurement noise: seeded, of the spread in the parameters, and none when it is off."""

from __future__ import annotations

import numpy as np
import pytest

from vds_gz.parameters.node import MeasurementNoiseParameters
from vds_gz.sensing.localization import Measurement, MeasurementNoise

TRUE = Measurement(1.0, 2.0, 3.0, 4.0, 0.5)


def test_off_changes_nothing():
    assert MeasurementNoise(MeasurementNoiseParameters()).of(TRUE) is TRUE


def test_same_seed_same_noise_also_after_a_reset():
    first, second = (MeasurementNoise(MeasurementNoiseParameters(add_measurement_noise=True, seed=7)) for _ in range(2))
    run = [first.of(TRUE) for _ in range(5)]
    assert run == [second.of(TRUE) for _ in range(5)]
    first.reset()
    assert run == [first.of(TRUE) for _ in range(5)]


def test_spread_is_that_of_the_parameters():
    p = MeasurementNoiseParameters(
        add_measurement_noise=True,
        pos_noise_stddev=0.1,
        vel_noise_stddev=0.2,
        rpy_noise_stddev=0.3,
        steer_noise_stddev=0.4,
    )
    noise = MeasurementNoise(p)
    draws = [noise.of(TRUE) for _ in range(4000)]
    for name, spread in {"x": 0.1, "y": 0.1, "speed": 0.2, "heading": 0.3, "steering": 0.4}.items():
        values = np.array([getattr(draw, name) for draw in draws]) - getattr(TRUE, name)
        assert np.std(values) == pytest.approx(spread, rel=0.05)
        assert abs(np.mean(values)) < 4.0 * spread / np.sqrt(len(values))
