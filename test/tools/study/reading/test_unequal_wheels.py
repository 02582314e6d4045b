"""Poses of a robot with unequal wheels, or with a gyroscope that drifts, that is commanded to drive straight ahead."""

import re

import numpy as np
import pytest

from vds_gz.tools.study.reading.unequal_wheels import turns_while_straight
from vds_gz.tools.study.recording import MeasuredChannel, Recording, Series

TIME = np.arange(0.0, 80.0, 0.05)

#: Forwards, a turn, backwards, standstill: (until [s], v_x [m/s], yaw rate [rad/s]).
PARTS = [(30.0, 0.4, 0.0), (35.0, 0.3, 0.6), (60.0, -0.3, 0.0), (80.0, 0.0, 0.0)]


def recorded(curvature=0.0, bias=0.0, noise=0.002):
    """A recording of a robot that turns by a curvature [1/m] too much, and whose heading drifts [rad/s]."""
    ends = np.array([end for end, _, _ in PARTS])
    part = np.searchsorted(ends, TIME, side="right")
    v_x, yaw_rate = (np.array([row[k] for row in PARTS])[part] for k in (1, 2))
    random = np.random.default_rng(3)
    heading = np.cumsum(yaw_rate + curvature * v_x + bias) * 0.05
    columns = {"x": np.cumsum(v_x * np.cos(heading)) * 0.05, "y": np.cumsum(v_x * np.sin(heading)) * 0.05}
    columns["heading"] = heading
    channels = [
        MeasuredChannel(f"slam {name}", name, "/slam", Series(TIME, values + noise * random.standard_normal(len(TIME))))
        for name, values in columns.items()
    ]
    return Recording({"v_x": Series(TIME, v_x), "yaw_rate": Series(TIME, yaw_rate)}, {}, further=channels)


@pytest.mark.parametrize(("curvature", "side"), [(0.06, "left"), (-0.1, "right")])
def test_a_turn_in_proportion_to_the_distance_proposes_wheel_gains(curvature, side):
    [finding] = turns_while_straight(recorded(curvature))
    begin, number = re.fullmatch(r"(.*) by ([0-9.]+) rad per metre .*--fit wheel_gains", finding).groups()
    assert begin == f"slam heading: at a commanded yaw rate of 0 the vehicle turns to the {side}"
    assert float(number) == pytest.approx(abs(curvature), rel=0.05)


@pytest.mark.parametrize("recording", [recorded(), recorded(bias=0.02), recorded(0.03, noise=0.05)])
def test_straight_motion_a_drifting_gyroscope_and_noise_give_no_finding(recording):
    assert list(turns_while_straight(recording)) == []
