"""The dead man's switch, with a clock of the test's own."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.errors import FailureError
from vds_gz.core.vehicle.command import SteadyMotion
from vds_gz.programs.teleop.driver_commands import STANDSTILL, STOPS
from vds_gz.programs.web.deadman import LEAVES_AFTER, TIMEOUT, WINDOW, DeadMansSwitch, MessageLateness

FORWARDS = SteadyMotion(v_x=1.0)
TICK = 0.05


class Road:
    """The outputs of the switch, over time."""

    def __init__(self) -> None:
        self.now = 0.0
        self.made = self.closed = 0
        self.sent: list[SteadyMotion] = []
        self.driver = DeadMansSwitch(self._make, lambda: self.now)

    def _make(self) -> Road:
        self.made += 1
        return self

    def send(self, drive: SteadyMotion) -> None:
        self.sent.append(drive)

    def close(self) -> None:
        self.closed += 1

    def pass_time(self, seconds: float) -> None:
        for _ in range(round(seconds / TICK)):
            self.now += TICK
            self.driver.tick()


def test_without_a_driver_the_vehicle_receives_nothing():
    road = Road()
    road.pass_time(5.0)
    road.driver.leave("a page")
    road.driver.end()
    assert (road.made, road.sent) == (0, [])


def test_a_command_goes_out_once_and_is_never_repeated():
    road = Road()
    road.driver.drive("a", FORWARDS)
    road.pass_time(10.0)
    assert road.sent == [FORWARDS] + [STANDSTILL] * STOPS


@pytest.mark.parametrize("last", [FORWARDS, STANDSTILL])
def test_a_page_that_drives_no_more_is_no_driver(last):
    """It let go, or fell silent: its topic is withdrawn when the vehicle stands, and announced again when it drives."""
    road = Road()
    road.driver.drive("a", FORWARDS)
    road.driver.drive("a", last)
    road.pass_time(LEAVES_AFTER - TICK)
    assert (road.made, road.closed) == (1, 0)
    assert road.sent[-1] == STANDSTILL
    road.pass_time(3 * TICK)
    assert (road.made, road.closed) == (1, 1)
    road.pass_time(5.0)
    road.driver.end()
    road.driver.drive("b", FORWARDS)
    assert (road.made, road.closed) == (2, 1)
    assert road.sent[-1] == FORWARDS


def test_the_vehicle_stops_when_a_page_falls_silent_and_not_before():
    road = Road()
    road.driver.drive("a", FORWARDS)
    road.pass_time(TIMEOUT - TICK)
    assert road.sent == [FORWARDS]
    road.pass_time(3 * TICK)
    assert road.sent[1] == STANDSTILL


@given(st.floats(0.0, TIMEOUT))
def test_a_command_that_was_kept_back_counts_from_when_it_was_sent(late):
    road = Road()
    road.driver.drive("a", FORWARDS, late)
    road.pass_time(TIMEOUT - late + 2 * TICK)
    assert road.sent[:2] == [FORWARDS, STANDSTILL]


def test_a_command_that_comes_too_late_is_refused_and_the_vehicle_stops():
    road = Road()
    road.driver.drive("a", FORWARDS)
    road.pass_time(TIMEOUT - TICK)
    with pytest.raises(FailureError, match=r"0.5 s late; it must come within 0.4 s"):
        road.driver.drive("a", FORWARDS, 0.5)
    road.pass_time(2 * TICK)
    assert road.sent[:2] == [FORWARDS, STANDSTILL]
    road.driver.drive("a", STANDSTILL, 9.0)  # to stop is never too late


@given(
    st.floats(-1e6, 1e6),
    st.floats(0.0, 1.0),
    st.lists(st.tuples(st.floats(0.0, 5.0), st.floats(0.0, 3.0)), min_size=1, max_size=30),
)
def test_lateness_is_the_delay_beyond_the_least_one(offset, least, steps):
    """Whatever the page's clock shows: the first message came without delay, and no later one comes sooner."""
    lateness, sent = MessageLateness(), 0.0
    assert lateness.of(offset, least) == 0.0
    for step, late in steps:
        sent = min(sent + step, 2 * WINDOW - 4.0)
        assert lateness.of(offset + sent, sent + least + late) <= late + 1e-6
        if sent + late < WINDOW - 1.0:
            assert lateness.of(offset + sent, sent + least + late) == pytest.approx(late, abs=1e-6)


def test_a_clock_that_loses_time_or_stood_still_is_believed_again():
    lateness = MessageLateness()
    lateness.of(0.0, 0.0)
    for second in range(1, 70):
        late = lateness.of(second, second + 5.0)
    assert late == 0.0


def test_the_vehicle_stops_at_once_when_the_page_that_drives_goes():
    road = Road()
    road.driver.drive("a", FORWARDS)
    road.driver.leave("b")
    assert road.sent == [FORWARDS]
    road.driver.leave("a")
    assert road.sent == [FORWARDS, STANDSTILL]


def test_the_vehicle_stops_when_the_server_ends():
    road = Road()
    road.driver.drive("a", FORWARDS)
    road.driver.end()
    assert road.sent == [FORWARDS] + [STANDSTILL] * STOPS


def test_the_end_of_the_server_brings_a_stop_that_has_begun_to_its_end():
    road = Road()
    road.driver.drive("a", FORWARDS)
    road.driver.leave("a")
    road.pass_time(TICK)
    road.driver.end()
    assert road.sent == [FORWARDS] + [STANDSTILL] * STOPS


def test_one_page_drives_at_a_time_and_another_when_it_has_let_go():
    road = Road()
    road.driver.drive("a", FORWARDS)
    with pytest.raises(FailureError, match="another page drives"):
        road.driver.drive("b", FORWARDS)
    road.driver.drive("a", STANDSTILL)
    road.driver.drive("b", FORWARDS)
    road.pass_time(2 * TIMEOUT)
    road.driver.drive("a", FORWARDS)


PAGES = st.sampled_from("ab")
EVENTS = st.one_of(
    st.tuples(st.just("drive"), PAGES, st.floats(-1.0, 1.0)),
    st.tuples(st.just("leave"), PAGES, st.just(0.0)),
    st.tuples(st.just("wait"), PAGES, st.floats(0.0, 1.0)),
)


@given(st.lists(EVENTS, max_size=40))
def test_whatever_happens_every_command_came_from_a_page_and_the_last_is_to_stop(events):
    road = Road()
    commanded = []
    for kind, page, number in events:
        if kind == "drive":
            with suppress(FailureError):
                road.driver.drive(page, SteadyMotion(v_x=number))
                commanded.append(SteadyMotion(v_x=number))
        elif kind == "leave":
            road.driver.leave(page)
        else:
            road.pass_time(number)
    road.pass_time(2.0)
    assert [command for command in road.sent if command != STANDSTILL] == [
        command for command in commanded if command != STANDSTILL
    ]
    assert not road.sent or road.sent[-1] == STANDSTILL
