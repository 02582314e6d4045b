"""A drive has no offset if the vehicle was seen to stand, or to turn in place, at a speed command of zero."""

import numpy as np
import pytest

from vds_gz.tools.study.identify.problem.unknowns import set_up
from vds_gz.tools.study.recording import Recording, Series

TIMES = 0.05 * np.arange(600)

#: One metre per second for 10 s of 30.
COMMAND = np.where((TIMES > 10.0) & (TIMES < 20.0), 1.0, 0.0)


def has_offset(creep, *, noise=0.0, zero=0.0, yaw_rate=0.0):
    """Whether the drive of a robot may have an offset, which creeps at a command of ``zero``."""
    random = np.random.default_rng(7)
    speed = np.where(COMMAND > 0.0, 1.0, creep) + noise * random.standard_normal(len(TIMES))
    command = {"v_x": Series(TIMES, np.where(COMMAND > 0.0, COMMAND, zero))}
    command["yaw_rate"] = Series(TIMES, np.full(len(TIMES), yaw_rate))
    recording = Recording(command, {"v_x": Series(TIMES, speed)})
    setup = set_up([recording], vehicle=None, wheel_base=None, fit=(), priors={})
    return bool(setup.actuators["drive"]["offset"])


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_a_robot_that_stands_has_none(noise):
    assert not has_offset(0.0, noise=noise)


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_a_robot_that_creeps_may_have_one(noise):
    assert has_offset(0.04, noise=noise)


def test_a_robot_that_was_always_commanded_to_drive_may_have_one():
    assert has_offset(0.0, zero=0.01)


@pytest.mark.parametrize("creep", [0.0, 0.04])
def test_a_robot_that_turns_in_place_shows_whether_it_has_one(creep):
    assert has_offset(creep, noise=0.01, yaw_rate=0.2) == bool(creep)


def test_a_robot_that_creeps_only_while_it_turns_in_place_has_none():
    """It stands in the first seconds, and then creeps in a turn."""
    turn = np.where(TIMES > 5.0, 0.2, 0.0)
    speed = np.where(COMMAND > 0.0, 1.0, np.where(TIMES > 5.0, 0.04, 0.0))
    command = {"v_x": Series(TIMES, COMMAND), "yaw_rate": Series(TIMES, turn)}
    setup = set_up(
        [Recording(command, {"v_x": Series(TIMES, speed)})], vehicle=None, wheel_base=None, fit=(), priors={}
    )
    assert not setup.actuators["drive"]["offset"]
