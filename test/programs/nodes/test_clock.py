"""The clocks alone: functions of readings of the monotonic clock."""

from __future__ import annotations

import math
import time

from hypothesis import given
from hypothesis import strategies as st

from vds_gz.programs.nodes.clock import Clock, ReferenceClock, SystemClock

READINGS = st.integers(0, 10**18)
SPANS = st.integers(0, 10**15)
SPEEDS = st.sampled_from([0.25, 0.5, 1.0, 2.0, 8.0])


@given(SPEEDS, READINGS, SPANS)
def test_a_reference_clock_runs_at_its_pace(speed, begin, passed):
    clock = ReferenceClock(speed)
    clock.set(5, begin)
    assert clock.now(begin + passed) == 5 + round(passed * speed)


@given(SPEEDS, READINGS, SPANS, SPANS, SPANS)
def test_a_pause_takes_no_time(speed, begin, before, pause, after):
    clock = ReferenceClock(speed)
    clock.set(0, begin)
    clock.hold(True, begin + before)
    stands = clock.now(begin + before)
    assert clock.now(begin + before + pause) == stands
    clock.hold(False, begin + before + pause)
    assert clock.now(begin + before + pause + after) == stands + round(after * speed)


@given(READINGS, SPANS)
def test_a_paused_clock_can_be_set_and_stays_there(begin, passed):
    clock = ReferenceClock(1.0)
    clock.hold(True, begin)
    clock.set(123, begin + passed)
    assert clock.now(begin + 2 * passed) == 123


@given(SPEEDS, SPEEDS, READINGS, SPANS, SPANS)
def test_a_change_of_pace_makes_no_jump(first, second, begin, before, after):
    clock = ReferenceClock(first)
    clock.set(0, begin)
    middle = clock.now(begin + before)
    clock.set_speed(second, begin + before)
    assert clock.now(begin + before) == middle
    assert clock.now(begin + before + after) == middle + round(after * second)


def test_as_fast_as_possible_a_clock_stays_where_it_was_set():
    clock = ReferenceClock(0.0)
    clock.set(7, 0)
    assert clock.speed == math.inf
    assert clock.now(10**15) == 7


def test_a_followed_clock_gives_the_last_received_time():
    clock = Clock()
    assert clock.now(0) is None
    clock.set(42, 0)
    clock.hold(True, 0)
    assert clock.now(10**15) == 42
    assert clock.speed == 0.0


def test_an_interruption_between_two_readings_is_no_jump(monkeypatch):
    clock = SystemClock()
    before = clock.now(10**12)
    readings = iter([time.time_ns(), time.time_ns() + 10**9])  # the second comes a second late
    monkeypatch.setattr(time, "time_ns", lambda: next(readings, None) or before - 10**12 + time.monotonic_ns())
    assert abs(clock.now(10**12) - before) <= 1
    assert abs(clock.now(10**12) - before) <= 1


def test_only_a_reference_clock_owns_its_time():
    assert ReferenceClock(1.0).owns_time
    assert not SystemClock().owns_time
    assert not Clock().owns_time
