"""Times of recording that cannot order messages: header stamps replace them, for every reader of bags."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.bag_files import write_bag
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.errors import RecordingError
from vds_gz.core.ros.messages.fields import set_stamp
from vds_gz.core.ros.messages.message_types import open_types
from vds_gz.programs.bags.times import FEWEST, FINE, repeated
from vds_gz.programs.commandlog import command_log
from vds_gz.tools.study.reading import recorded_run
from vds_gz.tools.study.reading.bag import read_signals

SECOND, PERIOD = 1_000_000_000, 20_000_000
STAMPED, UNSTAMPED = "ackermann_msgs/msg/AckermannDriveStamped", "geometry_msgs/msg/Twist"
ODOM = "nav_msgs/msg/Odometry"

#: Clocks of recorders: the true time [ns] to the time of recording [ns].
CLOCKS: dict[str, Callable[[int], int]] = {
    "constant": lambda time: 5 * SECOND,
    "zero": lambda time: 0,
    "whole seconds": lambda time: time - time % SECOND,
}


def write(path: Path, command: str, clock: Callable[[int], int], stamped: bool = True) -> Path:
    """Ten seconds of commands and odometry at 50 Hz, from 100 s on."""
    messages = []
    for k in range(500):
        time = 100 * SECOND + k * PERIOD
        order, odometry = open_types().new(command), open_types().new(ODOM)
        speed = 1.0 + k // 100
        if command == STAMPED:
            order.drive.speed = speed
            if stamped:
                set_stamp(order.header.stamp, time)
        else:
            order.linear.x = speed
        odometry.twist.twist.linear.x = speed
        set_stamp(odometry.header.stamp, time)
        messages += [("/cmd", clock(time), order), ("/odom", clock(time), odometry)]
    write_bag(path, "mcap", {"/cmd": command, "/odom": ODOM}, messages)
    return path


@pytest.mark.parametrize("clock", CLOCKS)
def test_stamps_replace_times_that_are_too_coarse(tmp_path: Path, clock: str):
    path = write(tmp_path / "bag", STAMPED, CLOCKS[clock])
    log, signals, recorded = command_log.read(path), read_signals(path), recorded_run.read(path)
    assert log.times == pytest.approx([k * 0.02 for k in range(500)])
    assert "header stamps are used instead" in log.findings[0]
    for recording in (signals, recorded):
        assert len(recording.measured["v_x"].time) == 500
        assert sum("header stamps are used instead" in finding for finding in recording.findings) == 1


@pytest.mark.parametrize(("command", "stamped"), [(UNSTAMPED, True), (STAMPED, False)], ids=["no header", "no stamp"])
@pytest.mark.parametrize(
    "read", [command_log.read, read_signals, recorded_run.read], ids=["replay", "identify", "compare"]
)
def test_without_stamps_they_are_refused(tmp_path: Path, command: str, stamped: bool, read):
    path = write(tmp_path / "bag", command, CLOCKS["constant"], stamped)
    with pytest.raises(RecordingError, match=r"too coarse \(499 of 500 messages .* no header stamps to use instead"):
        read(path)


@given(st.lists(st.integers(FINE + 1, 100 * FINE), min_size=FEWEST, max_size=50), st.integers(0, 10))
def test_times_that_tell_messages_apart_are_kept(steps: list[int], start: int):
    times = [start + sum(steps[:k]) for k in range(len(steps))]
    twice = sorted(times * 2)
    assert not repeated(times)
    assert repeated(twice) == len(times)
    assert not repeated(twice, [time + 1 for time in twice])  # of two publishers, at the same steps of a simulation


@pytest.mark.parametrize(("period", "kept"), [(10_000_000, ""), (50_000_000, "which has none, are right to 0.05 s")])
def test_commands_without_stamps_keep_times_of_a_clock_that_is_fine_enough(tmp_path: Path, period: int, kept: str):
    """As under the clock of a simulation, which several messages of odometry share."""
    messages = []
    for k in range(4000):
        odometry = open_types().new(ODOM)
        set_stamp(odometry.header.stamp, time := 100 * SECOND + k * 5_000_000)
        messages.append(("/odom", time - time % period, odometry))
        if k % 40 == 0:
            messages.append(("/cmd", time - time % period, open_types().new(UNSTAMPED)))
    write_bag(tmp_path / "bag", "mcap", {"/cmd": UNSTAMPED, "/odom": ODOM}, messages)
    signals = read_signals(tmp_path / "bag")
    assert signals.commanded["v_x"].time == pytest.approx([0.2 * k for k in range(100)])
    assert signals.measured["v_x"].time == pytest.approx([0.005 * k for k in range(4000)])
    assert sum("header stamps are used instead" in finding for finding in signals.findings) == bool(kept)
    assert kept in " ".join(signals.findings)


@pytest.mark.parametrize("stamped", [True, False])
@pytest.mark.parametrize("read", [command_log.read, read_signals])
def test_a_clock_that_is_set_while_recording_is_no_clock(tmp_path: Path, read, stamped: bool):
    path = write(tmp_path / "bag", STAMPED, lambda time: 0 if time < 102 * SECOND else time + 10**6 * SECOND, stamped)
    if stamped:
        assert "span 1e+06 s" in " ".join(read(path).findings)
    else:
        with pytest.raises(RecordingError, match=r"span 1e\+06 s; at most 100000 s .* no header stamps to use instead"):
            read(path)
