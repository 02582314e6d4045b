"""The three sources of time."""

from __future__ import annotations

import itertools
import time
from typing import Any

import pytest
from helpers.live_node import live_node

from vds_gz.core.ros.messages.fields import set_stamp, stamp_ns
from vds_gz.programs.interface import topics

pytestmark = pytest.mark.graph

CLOCK = topics.CLOCK_IN


def twist(speed: float) -> Any:
    def fill(message: Any) -> None:
        message.linear.x = speed

    return fill


class ClockSource:
    """A simulator that publishes the time."""

    def __init__(self, probe: Any) -> None:
        self.probe = probe
        self.publisher = probe.until_heard(topics.CLOCK)
        self.message = probe.graph.message(topics.CLOCK.type)

    def tell(self, nanoseconds: int) -> None:
        set_stamp(self.message.clock, nanoseconds)
        self.publisher.publish(self.message)

    def begin(self, moment: int) -> None:
        """Publish one time until the node has started at it."""
        odom = self.probe.received["odom"]
        odom.clear()

        def begun() -> bool:
            self.tell(moment)
            self.probe.serve(0.05)
            return bool(odom)

        self.probe.until(begun, f"odom at {moment}")

    def command(self, fill: Any) -> None:
        """Send a command, and keep the time until the node has received it."""
        self.probe.until_known(topics.TWIST_REFERENCE)
        self.probe.send(topics.TWIST_REFERENCE, fill)
        self.probe.until(lambda: self.probe.diagnosed("command age [s]") == "0.000", "the command")

    def run(self, begin: int, end: int, step: int = 10_000_000) -> None:
        """Publish the times from ``begin`` to ``end``; at every output, wait until the node has published it."""
        for moment in range(begin, end + 1, step):
            self.tell(moment)
            if moment % 20_000_000 == 0:
                self.probe.until(lambda moment=moment: last_stamp(self.probe) >= moment, f"odom at {moment}")


def last_stamp(probe: Any) -> int:
    odom = probe.received["odom"]
    return stamp_ns(odom[-1].header.stamp) if odom else -1


def follow(start: Any, probe: Any, *arguments: str) -> ClockSource:
    start("-p", "use_sim_time:=true", "-p", "model:=omni", *arguments)
    probe.listen(topics.ODOM, topics.DIAGNOSTICS)
    return ClockSource(probe)


def test_without_a_clock_the_node_waits_and_reports_that(start, probe):
    start("-p", "use_sim_time:=true")
    probe.listen(topics.ODOM, topics.DIAGNOSTICS)
    probe.until(lambda: probe.received["/diagnostics"])
    assert "waiting for /clock" in probe.received["/diagnostics"][-1].status[0].message
    assert not probe.received["odom"]


def test_the_vehicle_follows_only_the_clock(start, probe):
    clock = follow(start, probe)
    clock.begin(5_000_000_000)
    clock.run(5_020_000_000, 5_500_000_000)
    clock.command(twist(1.0))
    clock.run(5_520_000_000, 6_300_000_000)
    stamps = [stamp_ns(message.header.stamp) for message in probe.received["odom"]]
    assert stamps[-1] == 6_300_000_000
    assert {b - a for a, b in itertools.pairwise(stamps)} == {20_000_000}
    assert probe.received["odom"][-1].twist.twist.linear.x > 0.1


def test_equal_clocks_and_commands_give_equal_bits(start, probe):
    runs = []
    clock = follow(start, probe)
    for begin in (10**10, 10**9):
        clock.begin(begin)
        clock.run(begin + 20_000_000, begin + 100_000_000)
        clock.command(twist(0.7))
        clock.run(begin + 120_000_000, begin + 900_000_000)
        runs.append([message.twist.twist.linear.x for message in probe.received["odom"][-30:]])
    assert runs[0] == runs[1]
    assert runs[0][-1] > 0.1


def test_after_a_jump_back_of_time_the_vehicle_stands(start, probe):
    clock = follow(start, probe)
    clock.begin(100_000_000_000)
    clock.run(100_020_000_000, 100_200_000_000)
    clock.command(twist(1.0))
    clock.run(100_220_000_000, 100_900_000_000)
    assert probe.received["odom"][-1].twist.twist.linear.x > 0.05
    clock.begin(2_000_000_000)
    clock.run(2_020_000_000, 2_500_000_000)
    last = probe.received["odom"][-1]
    assert stamp_ns(last.header.stamp) == 2_500_000_000
    assert last.twist.twist.linear.x == 0.0


def test_a_jump_far_ahead_does_not_hang_the_node(start, probe):
    clock = follow(start, probe)
    clock.begin(10**9)
    clock.run(1_020_000_000, 1_100_000_000)
    year = 365 * 86400 * 10**9
    clock.tell(year)
    clock.tell(year + 40_000_000)
    probe.until(lambda: last_stamp(probe) >= year)


def test_a_reference_clock_gives_time_to_others(start, probe):
    start("-p", "be_reference_clock:=true", "-p", "speed_factor:=4.0")
    probe.listen(topics.CLOCK, topics.ODOM)
    probe.until(lambda: len(probe.received["/clock"]) > 10)

    def pace() -> float:
        """Simulated seconds per second. A node that does not keep up continues later."""
        probe.next(topics.CLOCK)
        begin, at = stamp_ns(probe.received["/clock"][-1].clock), time.monotonic()
        probe.serve(1.0)
        return (stamp_ns(probe.received["/clock"][-1].clock) - begin) * 1e-9 / (time.monotonic() - at)

    probe.until(lambda: pace() == pytest.approx(4.0, rel=0.05), "four times real time")
    probe.until(lambda: probe.received["odom"], "odom")
    # A busy listener may miss messages; those that it gets are on the grid.
    assert {stamp_ns(message.clock) % 10_000_000 for message in probe.received["/clock"]} == {0}
    assert {stamp_ns(message.header.stamp) % 20_000_000 for message in probe.received["odom"]} == {0}


def test_as_fast_as_possible_is_faster_than_real_time(start, probe):
    start("-p", "be_reference_clock:=true", "-p", "speed_factor:=0.0", "-p", "model:=omni")
    probe.listen(topics.CLOCK, topics.TWIST_ACTUAL)
    probe.until(lambda: probe.received["/clock"] and stamp_ns(probe.received["/clock"][-1].clock) > 20 * 10**9)
    twists = probe.received["twist_actual"]
    moved = lambda: any(message.twist.linear.x > 0.1 for message in twists)  # noqa: E731
    probe.hold(topics.TWIST_REFERENCE, twist(0.5), moved, "motion", every=0.005)


def test_the_clock_does_not_go_back_when_the_vehicle_is_paused(domain):
    with live_node(be_reference_clock=True, clock_rate=300.0, pub_rate=60.0) as live:
        for paused in [True, False] * 8:
            wanted = len(live.received["/clock"]) + 7
            live.turn_until(lambda wanted=wanted: len(live.received["/clock"]) > wanted)
            live.simulation.pause(paused)
        times = [stamp_ns(message.clock) for message in live.received["/clock"]]
    assert times == sorted(times)
