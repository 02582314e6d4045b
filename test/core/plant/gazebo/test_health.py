"""What a node says about Gazebo, and the process that calls Gazebo's services. Neither needs Gazebo."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from vds_gz.core.geometry import Transform
from vds_gz.core.parameters.node import GazeboParameters
from vds_gz.core.plant.base import Level
from vds_gz.core.plant.gazebo.links.gazebo_link import Alive, GazeboLink, JointReadings, Placement, Tick
from vds_gz.core.plant.gazebo.links.helper_process import Helper
from vds_gz.core.plant.gazebo.links.world_services import pause
from vds_gz.core.plant.gazebo.monitoring import RECENT, LinkHealth, StallDetector

HERE = Placement(0, Transform())
JOINTS = JointReadings(0, {"wheel": 0.0}, {"wheel": 0.0})


class Link(GazeboLink):
    """A link with the given fault."""

    name = "bridge"
    clock_cause = "no bridge of the clock"

    def __init__(self, fault: str = "") -> None:
        self._fault = fault

    def fault(self) -> str:
        return self._fault


@pytest.mark.parametrize(
    ("seen", "fault", "level", "text"),
    [
        ((Tick(0), HERE, JOINTS), "", Level.OK, ""),
        ((Tick(0), HERE, JOINTS), "no one listens", Level.ERROR, "no one listens"),
        ((Tick(0),), "is the bridge running?", Level.ERROR, "is the bridge running?"),
        ((Tick(0), HERE), "", Level.ERROR, "nothing reports the joints"),
        ((HERE, JOINTS), "", Level.ERROR, "no bridge of the clock"),
        ((Alive(True), HERE, JOINTS), "", Level.WARN, "paused"),
    ],
    ids=["all", "no controllers", "no bridge", "no joints", "no clock", "paused"],
)
def test_the_first_cause_is_named(seen, fault: str, level: Level, text: str):
    health = LinkHealth(GazeboParameters(), Link(fault), ["wheel"])
    for observation in seen:
        health.add(observation, 10.0)
    found, message = health.verdict(10.1)
    assert (found, text in message) == (level, True), message


def test_a_failed_request_is_reported_for_a_while():
    health = LinkHealth(GazeboParameters(), Link(), ["wheel"])

    def verdict(now: float) -> tuple[Level, str]:
        for observation in (Tick(0), HERE, JOINTS):
            health.add(observation, now)
        return health.verdict(now)

    health.failed("the service refused", 5.0)
    assert verdict(5.0 + 0.9 * RECENT) == (Level.WARN, "the service refused")
    assert verdict(5.0 + 1.1 * RECENT) == (Level.OK, "")


@pytest.mark.parametrize(
    ("commanded", "measured", "stalled"),
    [([5.0, 5.0], [0.0, 0.0], True), ([5.0, 5.0], [0.0, 1.0], False), ([0.1, 0.0], [0.0, 0.0], False)],
    ids=["no wheel turns", "one turns", "standing"],
)
def test_wheels_that_do_not_turn_are_reported(commanded, measured, stalled: bool):
    stall = StallDetector()
    for _ in range(250):
        stall.add(0.01, commanded, measured)
    assert ("5.0 rad/s" in stall.text()) == stalled
    stall.add(0.01, [0.0, 0.0], [0.0, 0.0])
    assert not stall.text()


@pytest.fixture
def gz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Puts a program ``gz`` with the given line into the PATH."""

    def write(line: str) -> None:
        program = tmp_path / "gz"
        program.write_text(f"#!/bin/sh\n{line}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    return write


def test_a_service_call_that_fails_is_reported_once(gz):
    gz("exit 1")
    helper = Helper("")
    helper.call("empty", pause(True))
    failures: list[str] = []
    end = time.monotonic() + 30.0
    while not failures and time.monotonic() < end:
        failures = helper.poll()
        time.sleep(0.01)
    assert failures == ["service '/world/empty/control' of Gazebo refused the request or did not respond"]
    assert helper.poll() == []
    helper.close()


def test_the_process_ends_while_it_waits_for_a_service(gz, tmp_path: Path):
    gz(f"echo $$ >{tmp_path}/pid; exec sleep 60")
    helper = Helper("")
    helper.call("empty", pause(True))
    end = time.monotonic() + 30.0
    while not (tmp_path / "pid").exists() and time.monotonic() < end:
        time.sleep(0.01)
    helper.close()
    child = Path("/proc", (tmp_path / "pid").read_text().strip(), "status")
    while running(child) and time.monotonic() < end:
        time.sleep(0.01)
    assert not running(child)


def running(status: Path) -> bool:
    """Whether the process of a file in /proc runs; it remains there until it is collected."""
    try:
        return "State:\tZ" not in status.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
