"""Motion without a command is left out, and slow responses are not taken for it."""

import numpy as np
import pytest
from helpers.sporadic_commands import INTERVAL, driven, robot

from vds_gz.tools.study.identify.problem.hand_motion import without_hand_motion
from vds_gz.tools.study.recording import Recording, Series

END = 40.0


def drive(stand=12.0, speed=0.5, turn=0.6):
    """Commands at 10 Hz: three runs, each followed by zeros for some seconds."""
    times = np.arange(0.0, END, 0.1)
    runs = (times % (stand + 1.3) < 1.3) & (times > 0.5)
    return [(time, speed * run, turn * run) for time, run in zip(times, runs, strict=True)]


def pushed(recording, begin, end, rate=1.0):
    """A recording with a yaw rate that no command explains."""
    series = recording.measured["yaw_rate"]
    by_hand = np.where((series.time > begin) & (series.time < end), rate, 0.0)
    measured = dict(recording.measured) | {"yaw_rate": Series(series.time, series.value + by_hand)}
    return Recording(recording.commanded, measured)


def test_a_turn_by_hand_is_left_out_with_one_note():
    recording = pushed(pushed(driven(robot(), drive(), END), 33.0, 34.0), 35.5, 37.0, -1.4)
    cleaned = without_hand_motion(recording)
    [finding] = cleaned.findings
    assert "32.6 to 37.5 s" in finding
    assert "yaw_rate up to 1.4" in finding
    time = cleaned.measured["v_x"].time
    assert not ((time > 32.7) & (time < 37.3)).any()
    assert len(recording.measured["v_x"].time) - len(time) == pytest.approx(5.0 / INTERVAL, abs=3)


def test_a_turn_by_hand_under_a_constant_command_is_left_out():
    commands = [(0.1 * k, 0.2 * (k < 100), -0.2 * (k >= 100)) for k in range(400)]
    [finding] = without_hand_motion(pushed(driven(robot(), commands, END), 25.0, 30.0, 1.5)).findings
    assert "24.6 to 30.5 s" in finding


@pytest.mark.parametrize(
    "parameters",
    [
        {"dead_time": 1.9},
        {"time_constant": 3.0},
        {"max_deceleration": 0.05},
        {"dead_time": 1.5, "max_deceleration": 0.1},
        {"offset": 0.05},
    ],
)
def test_slow_vehicles_and_those_that_creep_are_not_turned_by_hand(parameters):
    recording = driven(robot(**parameters), drive(), END)
    assert without_hand_motion(recording) is recording


@pytest.mark.parametrize("rate", [0.03, 0.08])
def test_offsets_and_creep_that_begin_at_standstill_are_not_turned_by_hand(rate):
    recording = pushed(driven(robot(), drive(), END), 33.0, END, rate)
    assert without_hand_motion(recording) is recording


def test_a_late_stop_of_a_slow_robot_is_not_turned_by_hand():
    commands = [(0.1 * k, 0.5 * (k < 100), 0.6 * (k < 100)) for k in range(400)]
    recording = driven(robot(max_deceleration=0.02, dead_time=1.9), commands, END)
    assert without_hand_motion(recording) is recording
