"""Pauses between commands show whether a vehicle holds its last command or times out."""

import dataclasses

import numpy as np
import pytest
from helpers.sporadic_commands import INTERVAL, driven, robot

from vds_gz.core.parameters.node import NEVER_OLD
from vds_gz.tools.study.identify.estimates import Estimate
from vds_gz.tools.study.identify.exports import overrides
from vds_gz.tools.study.identify.identification import identify
from vds_gz.tools.study.identify.problem.command_hold import CommandHold, command_hold, with_known_commands
from vds_gz.tools.study.identify.problem.segments import segments_of
from vds_gz.tools.study.identify.problem.unused_samples import unused_words
from vds_gz.tools.study.identify.recording_faults import AFTER_COMMAND
from vds_gz.tools.study.identify.results import VehicleFit
from vds_gz.tools.study.recording import MeasuredChannel, Recording, Series
from vds_gz.tools.study.report.identification_report import fit_rows


def bursts(pause, *, stop, seed=0, count=8):
    """Commands at 10 Hz for 2 s, then a pause; with ``stop``, every second burst ends with a command to stop."""
    random, commands, time = np.random.default_rng(seed), [], 0.5
    for k in range(count):
        speed, turn = random.uniform(0.3, 0.8), random.uniform(-0.8, 0.8)
        burst = [(time + 0.1 * i, speed, turn) for i in range(20)]
        commands += burst
        if stop and k % 2:
            commands.append((time + 2.0, 0.0, 0.0))
        time += 2.0 + pause
    return commands, time


def events(seed=0, count=10):
    """Rare commands, each for some seconds."""
    random, commands, time = np.random.default_rng(seed), [], 0.5
    for k in range(count):
        commands.append((time, *((0.0, 0.0) if k % 3 == 2 else (random.uniform(0.3, 0.8), random.uniform(-0.8, 0.8)))))
        time += random.uniform(1.5, 4.0)
    return commands, time


@pytest.mark.parametrize("stop", [True, False])
@pytest.mark.parametrize("timeout", [0.25, 0.5, 1.0, 2.0])
def test_time_outs_are_found_within_the_sampling_interval(timeout, stop):
    commands, end = bursts(timeout + 2.5, stop=stop)
    hold = command_hold([driven(robot(timeout), commands, end)])
    assert hold.timeout.value == pytest.approx(timeout, abs=INTERVAL)
    assert hold.timeout.low <= timeout <= hold.timeout.high


@pytest.mark.parametrize("timeout", [0.5, 1.0, 2.0])
def test_time_outs_end_single_commands(timeout):
    random, commands, end = np.random.default_rng(0), [], 0.5
    for _ in range(12):
        commands.append((end, random.choice([0.5, 0.3, -0.3]), random.choice([0.0, 0.6, -0.6])))
        end += random.uniform(2.5, 4.0)
    hold = command_hold([driven(robot(timeout), commands, end)])
    assert hold.timeout.value == pytest.approx(timeout, abs=2 * INTERVAL)
    assert hold.timeout.low <= timeout <= hold.timeout.high


@pytest.mark.parametrize("drive", [{"max_acceleration": 0.8, "max_deceleration": 0.8}, {"dead_time": 0.6}])
def test_slow_robots_do_not_shift_the_time_out(drive):
    commands, end = bursts(4.0, stop=True)
    assert command_hold([driven(robot(0.5, **drive), commands, end)]).timeout.value == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("dead_time", [0.2, 1.0])
def test_commands_that_are_repeated_rarely_are_no_starts(dead_time):
    """Commands at 3 Hz, and the last one times out when the recording ends."""
    time = 0.3 * np.arange(130)
    commands = list(zip(time, 0.5 * np.sign(np.sin(time)), 0.3 * np.sin(0.167 * time), strict=True))
    hold = command_hold([driven(robot(1.0, dead_time=dead_time), commands, 40.0)])
    assert (hold.timeout, hold.endless) == (None, False)
    assert hold.least < 1.0


@pytest.mark.parametrize("timeout", [0.25, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_quick_events_and_late_robots_give_no_wrong_time_out(timeout, seed):
    random, commands, end = np.random.default_rng(seed), [], 0.5
    while end < 45.0:
        commands.append((end, random.choice([0.0, 0.5, -0.5, 0.3]), random.choice([0.0, 0.6, -0.6])))
        end += random.uniform(0.2, 1.5)
    hold = command_hold([driven(robot(timeout, dead_time=0.6, max_acceleration=0.5), commands, end)])
    assert not hold.endless
    assert hold.timeout is None or hold.timeout.low - INTERVAL < timeout < hold.timeout.high + INTERVAL


@pytest.mark.parametrize("rare", [True, False])
def test_a_robot_that_holds_its_last_command_is_recognised(rare):
    commands, end = events() if rare else bursts(3.0, stop=True)
    hold = command_hold([driven(robot(), commands, end)])
    assert hold.timeout is None
    assert hold.endless == rare
    assert 2.0 < hold.least < hold.pause
    assert rare or 2.0 < hold.least_timeout < 3.0


@pytest.mark.parametrize("seed", range(4))
def test_a_time_out_longer_than_all_pauses_is_not_called_holding(seed):
    random, commands, end = np.random.default_rng(seed), [], 0.5
    while end < 60.0:
        commands.append((end, random.choice([0.5, 0.3, -0.3]), random.choice([0.0, 0.6, -0.6])))
        end += random.uniform(0.8, 1.9)
    hold = command_hold([driven(robot(2.0), commands, end)])
    assert (hold.timeout, hold.endless, hold.stopped) == (None, False, False)
    assert 1.0 < hold.least_timeout <= 2.0
    once = command_hold([driven(robot(2.0), commands, commands[-1][0] + 5.0)])
    assert (once.timeout, once.stopped, once.least_timeout) == (None, True, 0.0), "a single stop is no time-out"


@pytest.mark.parametrize(("given", "written"), [(1.0, [NEVER_OLD]), (1.8, [NEVER_OLD]), (5.0, [])])
def test_a_time_out_that_was_not_met_is_a_limit_that_was_not_met(given, written):
    hold = CommandHold(least=2.1, pause=2.31)
    fit = VehicleFit("differential", robot().vehicle, {}, {}, {}, (), (), (), command_hold=hold)
    lines = [line for line in overrides(fit, robot(given)) if line.name == "twist_reference_max_oldness"]
    assert [line.value for line in lines] == written
    assert all(line.origin == "unlimited: not met; longer than 1.8 s" for line in lines)
    assert list(fit_rows(fit, lines)) == [("commands", "time-out", "not met", "longer than 1.8 s")]


def test_pauses_at_standstill_show_nothing_and_are_used():
    # 2.5 s of commands, which end with zeros, and 7.5 s without
    commands = [(10.0 * k + 0.1 * i, 0.5 * (i < 20), 0.3 * (i < 20)) for k in range(4) for i in range(25)]
    recording = driven(robot(1.0), commands, 40.0)
    hold = command_hold([recording])
    assert (hold.timeout, hold.endless, hold.contradiction) == (None, False, "")
    [segment] = segments_of([with_known_commands(recording, hold)], [recording.channels], 1e-3)
    assert segment.duration > 33.0


def test_contradicting_pauses_are_left_out():
    commands, end = bursts(3.0, stop=True)
    stopping, holding = (driven(robot(timeout), commands, end) for timeout in (0.5, NEVER_OLD))
    hold = command_hold([stopping, holding])
    assert (hold.timeout, hold.endless) == (None, False)
    assert "moved on" in hold.contradiction
    assert with_known_commands(stopping, hold).hold_time == 0.0


def test_one_stop_is_not_a_time_out():
    commands, end = bursts(3.0, stop=True, count=1)
    recording = driven(robot(0.5), commands, end + 2.0)
    assert command_hold([recording]) == CommandHold(stopped=True)


def test_a_finding_says_what_was_not_used():
    commands, end = bursts(3.0, stop=False)
    recording = driven(robot(), [(time + 4.5, speed, turn) for time, speed, turn in commands], end + 7.5)
    [words] = unused_words([recording], [recording.channels], 1e-3)
    assert words.startswith("40% of the samples were used; left out: 5.0 s before the first command, ")
    assert "17.9 s in pauses for which the command is unknown" in words
    known = with_known_commands(recording, command_hold([recording]))
    [words] = unused_words([known], [known.channels], 1e-3)
    assert "pauses" not in words


def test_the_time_before_the_first_command_ends_with_it():
    """The samples are 0.25 s apart, and the first command comes at 1.1 s."""
    time = 0.25 * np.arange(50)
    channel = MeasuredChannel("v_x", "v_x", "", Series(time, time))
    sent = np.arange(1.1, 12.0, 0.2)
    recording = Recording({"v_x": Series(sent, np.ones(len(sent)))}, {"v_x": channel.series})
    [words] = unused_words([recording], [(channel,)], 1e-3)
    assert "1.1 s before the first command" in words


def test_recordings_of_which_nothing_is_used_are_named():
    """A sensor that begins after the commands, or of which no channel counts, beside a good recording."""
    commands, end = bursts(3.0, stop=True)
    good = driven(robot(0.5), commands, end)
    v_x, yaw_rate = good.channels
    late = dataclasses.replace(v_x, series=Series(v_x.series.time + 100.0, v_x.series.value))
    longer = np.arange(0.0, 2.0 * end, 0.1)
    other = dataclasses.replace(yaw_rate, series=Series(longer, 0.0 * longer))
    words = unused_words([good] * 4, [[v_x], [], [late], [v_x, other]], 1e-3)
    assert words[1] == ""
    assert words[2].startswith("0% of the samples were used; left out: 40.4 s after the last command")
    assert "s after the last command" in words[3], "not only the channel with the most samples counts"


def test_zeros_at_time_outs_are_commands():
    commands, end = bursts(3.0, stop=True)
    recording = driven(robot(0.5), commands, end)
    known = with_known_commands(recording, command_hold([recording]))
    assert len(known.commands.time) == len(recording.commands.time) + 4
    [segment] = segments_of([known], [known.channels], 1e-3)
    assert segment.duration > 0.8 * end


def test_a_time_out_that_no_pause_reaches_explains_nothing():
    """Without stops there are too few commands to compare with the motion."""
    commands = [(0.5 + 2.64 * k, (0.3, 0.5)[k % 2], (0.6, 0.0, -0.6)[k % 3]) for k in range(12)]
    hold = command_hold([driven(robot(2.0, dead_time=0.05, time_constant=0.05), commands, 0.5 + 2.64 * 12)])
    assert hold.contradiction == ""
    assert hold.timeout.value == pytest.approx(2.0, abs=2 * INTERVAL)


def test_constant_motion_shows_no_lag():
    """The vehicle moved on for the pause, but for the longest lag."""
    times = 0.05 * np.arange(400)
    sent = np.r_[0.1 * np.arange(100), 15.0]
    commanded = {"v_x": Series(sent, np.full(len(sent), 0.5))}
    hold = command_hold([Recording(commanded, {"v_x": Series(times, np.full(len(times), 0.5))})])
    pause = 15.0 - sent[-2]
    assert hold.least == pytest.approx(pause - AFTER_COMMAND, abs=2 * INTERVAL)


def test_the_range_of_a_time_out_is_labelled_as_what_was_seen():
    hold = CommandHold(Estimate(0.5, 0.45, 0.56))
    fit = VehicleFit("differential", robot().vehicle, {}, {}, {}, (), (), (), command_hold=hold)
    [line] = (line for line in overrides(fit, robot()) if line.name == "twist_reference_max_oldness")
    assert (line.value, line.origin) == (0.5, "stops seen: 0.45 to 0.56")
    assert list(fit_rows(fit, [line])) == [("commands", "time-out", "0.5 s", line.origin)]


@pytest.mark.slow
@pytest.mark.parametrize("timeout", [0.5, NEVER_OLD])
def test_the_file_has_the_time_out_and_the_pauses_help(timeout):
    commands, end = bursts(4.0, stop=True)
    given = robot()
    recording = driven(robot(timeout), commands, end - 1.5)
    fit = identify(recording, vehicle=dataclasses.replace(given, twist_reference_max_oldness=1.0), hold_out=0.0)
    lines = list(overrides(fit, given))
    [line] = (line for line in lines if line.name == "twist_reference_max_oldness")
    assert line.value == pytest.approx(timeout, abs=INTERVAL)
    assert [row[:2] for row in fit_rows(fit, lines)].count(("commands", "time-out")) == 1
    assert fit.numbers["drive_actuators.dead_time"].value == pytest.approx(0.2, abs=0.02)
    assert not any("samples were used" in finding for finding in fit.findings)
    channel = fit.channels[0]
    assert channel.residual < 1.3 * 0.01
