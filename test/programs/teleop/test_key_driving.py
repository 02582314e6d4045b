"""Driving with keys: the ramps, and the program on a pseudo terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers.processes import PATIENCE
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.cli.keys import main
from vds_gz.core.parameters.teleop import KeyParameters
from vds_gz.programs.interface import topics
from vds_gz.programs.teleop.driver_commands import STANDSTILL
from vds_gz.programs.teleop.key_driving import Keyboard, Terminal

MODULE = "vds_gz.cli.keys"
MS = 1_000_000
UP, LEFT = "\x1b[A", "\x1b[D"

PACE = KeyParameters(max_speed=2.0, acceleration=1.0, deceleration=4.0, steering_time=0.5, centering_time=0.25)


class Typist:
    """Presses keys as a terminal reports them: at once, then repeatedly after a delay, and only the last key."""

    def __init__(self, parameters: KeyParameters = PACE) -> None:
        self.keyboard = Keyboard(parameters)
        self.now = MS

    def wait(self, milliseconds: int) -> Any:
        drive = self.keyboard.drive(self.now)
        for _ in range(0, milliseconds, 10):
            self.now += 10 * MS
            drive = self.keyboard.drive(self.now)
        return drive

    def tap(self, key: str) -> None:
        self.keyboard.press(key, self.now)

    def hold(self, key: str, milliseconds: int, delay: int = 500, period: int = 30) -> Any:
        self.tap(key)
        self.wait(delay)
        for _ in range(0, milliseconds - delay, period):
            self.tap(key)
            self.wait(period)
        return self.keyboard.drive(self.now)


def test_a_held_key_accelerates_to_the_maximum_speed_and_stays_there():
    driver = Typist()
    speeds = [driver.hold("w", 600).v_x, driver.hold("w", 3000, delay=30).v_x, driver.hold("w", 500, delay=30).v_x]
    assert 0.1 < speeds[0] < 0.6
    assert speeds[1:] == [2.0, 2.0]


def test_a_released_key_falls_back_to_zero():
    driver = Typist()
    driver.hold("s", 4000)
    assert driver.wait(100).v_x == -2.0
    assert -1.9 < driver.wait(200).v_x < -0.5
    assert driver.wait(600) == STANDSTILL


def test_a_tap_steers_a_little():
    driver = Typist()
    driver.tap("a")
    assert driver.wait(400).steering_angle == pytest.approx(0.5 * 0.15 / 0.5, rel=0.1)
    assert driver.wait(600) == STANDSTILL


def test_speed_is_held_while_the_terminal_repeats_only_the_steering_key():
    driver = Typist()
    before = driver.hold("w", 2000).v_x
    curve = driver.hold("d", 3000)
    assert curve.v_x >= before > 0.5
    assert (curve.steering_angle, curve.yaw_rate) == (-0.5, -1.0)
    assert driver.wait(1500) == STANDSTILL


def test_the_opposite_key_brakes_first():
    driver = Typist()
    driver.hold("w", 5000)
    driver.tap("s")
    assert driver.wait(100).v_x == pytest.approx(1.6, abs=0.05)


@pytest.mark.parametrize("begin", ["w", "s", "a", "d"])
def test_space_stops_at_once(begin):
    driver = Typist()
    driver.hold(begin, 2000)
    driver.tap(" ")
    assert driver.wait(1000) == STANDSTILL


@given(st.lists(st.tuples(st.sampled_from(["w", "A", "s", "d", " ", UP, LEFT, "x", "\x1b[5~"]), st.integers(0, 900))))
def test_any_keys_keep_the_command_within_its_limits_and_end_at_rest(story):
    driver = Typist()
    for key, pause in story:
        driver.tap(key)
        drive = driver.wait(pause)
        assert abs(drive.v_x) <= 2.0
        assert abs(drive.steering_angle) <= 0.5
        assert abs(drive.yaw_rate) <= 1.0
    assert driver.wait(3000) == STANDSTILL


# ---------------------------------------------------------------------- on a terminal


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """Both ends of a pseudo terminal: the user's, and the program's."""
    ours, theirs = pty.openpty()
    yield ours, theirs
    for end in (ours, theirs):
        os.close(end)


def test_keys_are_recognised_also_when_they_arrive_in_pieces(terminal):
    ours, theirs = terminal
    with Terminal(theirs) as keyboard:
        assert keyboard.read() == []
        os.write(ours, b"w\x1b[A\x1bOD\x1b[1;2C \xc3\xa4\x1b[")
        assert keyboard.read() == ["w", UP, "\x1bOD", "\x1b[1;2C", " ", "ä"]
        os.write(ours, b"Bq")
        assert keyboard.read() == ["\x1b[B", "q"]


def test_the_terminal_is_restored_also_after_an_error(terminal):
    _, theirs = terminal
    before = termios.tcgetattr(theirs)

    def fail() -> None:
        with Terminal(theirs):
            assert termios.tcgetattr(theirs) != before
            raise RuntimeError("inside")

    with pytest.raises(RuntimeError, match="inside"):
        fail()
    assert termios.tcgetattr(theirs) == before


class Screen:
    """`vds-gz keys` on a terminal, with its user."""

    def __init__(self, ends: tuple[int, int], *arguments: str) -> None:
        self.ours, self.theirs = ends
        self.before = termios.tcgetattr(self.theirs)
        self.shown = ""
        self.process = subprocess.Popen(
            [sys.executable, "-m", MODULE, *arguments],
            stdin=self.theirs,
            stdout=self.theirs,
            stderr=self.theirs,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # so that Ctrl-C reaches it
        )
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        while True:
            try:
                self.shown += os.read(self.ours, 4096).decode("utf-8", "replace")
            except OSError:
                return

    def type(self, keys: str) -> None:
        os.write(self.ours, keys.encode())

    def end(self) -> int:
        try:
            return self.process.wait(PATIENCE)
        finally:
            self.process.kill()

    @property
    def restored(self) -> bool:
        return termios.tcgetattr(self.theirs) == self.before


@pytest.fixture
def screen(terminal, domain) -> Iterator[Callable[..., Screen]]:
    started: list[Screen] = []

    def start(*arguments: str) -> Screen:
        started.append(Screen(terminal, *arguments))
        return started[-1]

    yield start
    for window in started:
        window.process.kill()
        window.process.wait()


def speeds(probe: Any) -> list[float]:
    return [message.drive.speed for message in probe.received["ackermann_cmd"]]


def press(screen: Screen, probe: Any, keys: str, until: Callable[[], Any]) -> None:
    """Hold a key until a condition is met."""
    end = time.monotonic() + PATIENCE
    while not until():
        assert time.monotonic() < end, screen.shown[-500:]
        screen.type(keys)
        probe.serve(0.05)


def test_keys_drive_a_vehicle_and_its_motion_is_shown(screen, start, probe):
    start()
    probe.listen(topics.ACKERMANN_CMD, topics.TWIST_ACTUAL)
    probe.until(lambda: probe.received["twist_actual"], "the vehicle")
    typist = screen("--max-speed", "2.0", "--acceleration", "4.0")
    press(typist, probe, UP, lambda: speeds(probe) and speeds(probe)[-1] == 2.0)
    press(typist, probe, "a", lambda: probe.received["ackermann_cmd"][-1].drive.steering_angle > 0.49)
    press(typist, probe, UP, lambda: probe.received["twist_actual"][-1].twist.linear.x > 1.0)
    press(typist, probe, UP, lambda: "speed +2.00 m/s" in typist.shown and "vehicle +1." in typist.shown)
    typist.type(" ")
    probe.until(lambda: speeds(probe)[-5:] == [0.0] * 5, "a stop")
    probe.until_quiet(topics.ACKERMANN_CMD)
    assert speeds(probe)[-1] == 0.0
    typist.type("q")
    assert typist.end() == 0
    assert typist.restored


@pytest.mark.parametrize("how", ["\x03", "\x04", signal.SIGHUP])
def test_every_end_stops_the_vehicle_and_restores_the_terminal(screen, probe, how):
    probe.listen(topics.TWIST_REFERENCE)
    twists = probe.received["twist_reference"]
    typist = screen("--output", "twist")
    press(typist, probe, "w", lambda: twists and twists[-1].linear.x > 0.1)
    assert not typist.restored
    if isinstance(how, str):
        typist.type(how)
    else:
        typist.process.send_signal(how)
    assert typist.end() == 0
    assert typist.restored
    probe.until(lambda: twists[-1].linear.x == 0.0, "a stop")


def test_commands_without_a_subscriber_are_reported(screen, probe):
    typist = screen("--ros-args", "-r", "ackermann_cmd:=/car/ackermann_cmd")
    probe.until(lambda: "no one listens to '/car/ackermann_cmd'" in typist.shown, "what is shown")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "keys: standard input is not a terminal, and only a terminal gives keys"),
        (["--max-speed", "fast"], "keys: parameter 'max_speed' is 'fast' (--max-speed); it must be a number"),
        (["--ros-args", "-p", "max_speed:=-1"], "keys: parameter 'max_speed' is -1 (-p); it must be a finite number"),
    ],
)
def test_wrong_use_is_reported_in_one_line(capsys, monkeypatch, arguments, message):
    with Path(os.devnull).open(encoding="utf-8") as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        assert main(arguments) == 2
    said = capsys.readouterr().err
    assert said.startswith(message)
    assert said.count("\n") == 1
