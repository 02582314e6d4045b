"""Wheels whose speed differs from v_x are named with the ratio; noise and curves cause no finding."""

import numpy as np
import pytest

from vds_gz.tools.study.reading.wheel_radius import wheels_disagree
from vds_gz.tools.study.recording import MeasuredChannel, Recording, Series

RADIUS, TRACK = 0.1, 0.4


def drive(ratio, noise=0.02, seed=0):
    rng, time = np.random.default_rng(seed), 0.02 * np.arange(1500)
    v_x = np.interp(time, np.arange(0.0, 31.0), rng.uniform(-1.0, 1.5, 31))
    yaw_rate = np.interp(time, np.arange(0.0, 31.0), rng.uniform(-1.0, 1.0, 31))
    signals = Recording(measured={"v_x": Series(time, v_x + rng.normal(0.0, noise, len(time)))})
    for side, sign in (("left", -1.0), ("right", 1.0)):
        rolled = ratio * (v_x + sign * 0.5 * TRACK * yaw_rate) / RADIUS + rng.normal(0.0, noise / RADIUS, len(time))
        joint = f"wheel_{side}_joint"
        later = Series(time + 0.007, np.interp(time + 0.007, time, rolled))
        signals.further.append(MeasuredChannel(joint, "joint_velocity", joint, later, joint))
    return signals


@pytest.mark.parametrize(("ratio", "said"), [(1.03, "3.0% more"), (0.96, "4.0% less")])
@pytest.mark.parametrize("seed", range(5))
def test_a_wrong_tire_diameter_is_named(ratio, said, seed):
    [text] = wheels_disagree(drive(ratio, noise=0.005, seed=seed), RADIUS)
    assert "add --fit tire_diameter" in text
    value, direction = text.split("wheels report ")[1].split(" than")[0].split()
    assert float(value.rstrip("%")) == pytest.approx(float(said.split("%")[0]), abs=0.5)
    assert direction == said.split()[1]


@pytest.mark.parametrize("seed", range(20))
def test_noise_and_curves_are_no_finding(seed):
    assert not list(wheels_disagree(drive(1.0, noise=0.1, seed=seed), RADIUS))


def test_without_wheels_or_motion_there_is_no_finding():
    assert not list(wheels_disagree(Recording(), RADIUS))
    still = drive(1.03)
    still.measured["v_x"] = Series(still.measured["v_x"].time, np.zeros(1500))
    assert not list(wheels_disagree(still, RADIUS))
