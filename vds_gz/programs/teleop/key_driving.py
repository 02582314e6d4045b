"""Driving with keys: values grow while a key is held and fall back after its release.

A terminal does not report the release of a key. It only repeats the last pressed key, after an initial delay. Times are
readings of the monotonic clock [ns].
"""

from __future__ import annotations

import math
import os
import re
import select
import shutil
import sys
import termios
from time import monotonic_ns

from vds_gz.core.parameters.declaration import describe
from vds_gz.core.parameters.teleop import KeyParameters
from vds_gz.core.ros.graph import Graph, Message
from vds_gz.core.ros.program_shell import StopRequest
from vds_gz.core.vehicle.command import SteadyMotion
from vds_gz.programs.interface import topics
from vds_gz.programs.interface.vehicle_status import VehicleTime
from vds_gz.programs.teleop.driver_commands import STANDSTILL, STOPS, CommandOutput

#: The key that is read when the terminal is gone, or the user presses Ctrl-D.
END = "\x04"

_KEY = re.compile(r"\x1b[\[O][0-9;]*[A-Za-z~]|[\s\S]")
#: The beginning of a key's incomplete sequence.
_BEGUN = re.compile(r"\x1b([\[O][0-9;]*)?\Z")


class Terminal:
    """A terminal that delivers every key at once, without echo, within a ``with`` block, and is then restored.

    Ctrl-C still interrupts. Ctrl-Z does nothing: a suspended program could not stop the vehicle.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._begun = ""

    def __enter__(self) -> Terminal:
        self._before = termios.tcgetattr(self._descriptor)
        raw = termios.tcgetattr(self._descriptor)
        raw[0] &= ~(termios.IXON | termios.ICRNL)
        raw[3] &= ~(termios.ICANON | termios.ECHO | termios.IEXTEN)
        raw[6][termios.VSUSP] = bytes([os.fpathconf(self._descriptor, "PC_VDISABLE")])
        raw[6][termios.VMIN], raw[6][termios.VTIME] = 1, 0
        termios.tcsetattr(self._descriptor, termios.TCSAFLUSH, raw)
        return self

    def __exit__(self, *_: object) -> None:
        try:
            termios.tcsetattr(self._descriptor, termios.TCSAFLUSH, self._before)
        except termios.error:  # it is gone
            return

    def read(self) -> list[str]:
        """The pressed keys: characters, or the sequences of special keys."""
        if not select.select([self._descriptor], [], [], 0.0)[0]:
            return []
        try:
            data = os.read(self._descriptor, 1024)
        except OSError:
            data = b""
        if not data:
            return [END]
        text = self._begun + data.decode("utf-8", "ignore")
        begun = _BEGUN.search(text)
        self._begun = begun[0] if begun else ""
        return _KEY.findall(text[: len(text) - len(self._begun)])


#: A key counts as held for this time after each arrival; terminals repeat every 30 to 100 ms [ns].
PUSH = 150_000_000

#: Maximum delay before a key repeats; until then its effect stays [ns].
FIRST_REPEAT = 600_000_000


class Ramp:
    """A value between -1 and 1 that one key increases and another one decreases.

    ``push`` and ``back`` are the times that it takes from 0 to 1 and from 1 to 0 [s].
    """

    def __init__(self, push: float, back: float) -> None:
        self.value = 0.0
        self._push, self._back = push, back
        self._direction = 0
        self._pushed_until = self._kept_until = self._now = 0

    def press(self, direction: int, now: int) -> None:
        """Take a key: +1 up, -1 down."""
        repeats = direction == self._direction and now < self._kept_until
        self._direction = direction
        self._pushed_until = now + PUSH
        self._kept_until = now + (PUSH if repeats else FIRST_REPEAT)

    def keep(self, now: int) -> None:
        """Take another key, which silences this one: it may still be held, so its effect stays for a while."""
        if now < self._kept_until:
            self._kept_until = max(self._kept_until, now + FIRST_REPEAT)

    def stop(self) -> None:
        """Back to 0 at once."""
        self.value = 0.0
        self._direction = self._pushed_until = self._kept_until = 0

    def advance(self, now: int) -> float:
        """Advance to the present and return the value."""
        seconds = (now - self._now) * 1e-9 if self._now else 0.0
        self._now = now
        if now < self._pushed_until:
            against = self.value * self._direction < 0.0
            self.value = self._direction * min(
                1.0, self._direction * self.value + seconds / (self._back if against else self._push)
            )
        elif now >= self._kept_until:
            left = abs(self.value) - seconds / self._back
            self.value = math.copysign(left, self.value) if left > 0.0 else 0.0
        return self.value


SPEED = {"w": 1, "\x1b[A": 1, "\x1bOA": 1, "s": -1, "\x1b[B": -1, "\x1bOB": -1}
STEERING = {"a": 1, "\x1b[D": 1, "\x1bOD": 1, "d": -1, "\x1b[C": -1, "\x1bOC": -1}
STOP = " "
QUIT = ("q", END)

#: A vehicle without messages for this time is silent [ns].
SILENT = 1_000_000_000


class Keyboard:
    """Speed and direction from keys."""

    def __init__(self, parameters: KeyParameters) -> None:
        p = self._parameters = parameters
        self._speed = Ramp(p.max_speed / p.acceleration, p.max_speed / p.deceleration)
        self._steering = Ramp(p.steering_time, p.centering_time)

    def press(self, key: str, now: int) -> None:
        """Take a key at a reading of the monotonic clock [ns]."""
        key = key.lower() if len(key) == 1 else key
        if key in SPEED:
            self._speed.press(SPEED[key], now)
        elif key in STEERING:
            self._steering.press(STEERING[key], now)
            self._speed.keep(now)
        elif key == STOP:
            self._speed.stop()
            self._steering.stop()

    def drive(self, now: int) -> SteadyMotion:
        """The driver's present demand."""
        p = self._parameters
        speed, steering = self._speed.advance(now), self._steering.advance(now)
        return SteadyMotion(speed * p.max_speed, 0.0, steering * p.max_yaw_rate, steering * p.max_steering_angle)


class KeyDriver:
    """A keyboard on the graph. Everything happens in the thread that calls :meth:`run`."""

    def __init__(
        self, graph: Graph, parameters: KeyParameters, terminal: Terminal, sim_time: bool | None, stop: StopRequest
    ) -> None:
        self._graph = graph
        self._terminal = terminal
        self._keyboard = Keyboard(parameters)
        self._turns = "twist" in parameters.output
        self._period = 1.0 / parameters.publish_rate
        self._stop = stop
        stop.wakes(graph.wake)
        self._stops = 0
        self._actual: tuple[int, float, float] = (0, 0.0, 0.0)
        self._time = VehicleTime(graph, sim_time)
        self._output = CommandOutput(graph, parameters.output, parameters.frame, self._time.stamp)
        self._time.follow(self._output.topics, self._output.heard)
        actual = topics.TWIST_ACTUAL
        graph.subscribe(actual.name, actual.type, actual.qos, self._on_actual)
        graph.declare_parameters(describe(parameters), lambda values: None)

    def run(self) -> None:
        """Drive until the user ends it or it is stopped; then stop the vehicle and leave the graph."""
        due = monotonic_ns()
        try:
            while not self._stop.requested:
                self._graph.wait(max(0.0, (due - monotonic_ns()) * 1e-9))
                now = monotonic_ns()
                for key in self._terminal.read():
                    if key.lower() in QUIT:
                        self._stop.request()
                    self._keyboard.press(key, now)
                if now >= due and not self._stop.requested:
                    due = now + round(self._period * 1e9)
                    self._send(self._keyboard.drive(now), now)
        finally:
            if self._stops:
                self._output.send(STANDSTILL)
            self._graph.close()

    def _send(self, drive: SteadyMotion, now: int) -> None:
        """Send a command; at standstill only the first few, so another node can drive."""
        if drive != STANDSTILL:
            self._stops = STOPS
        if self._stops:
            self._output.send(drive)
            self._stops -= drive == STANDSTILL
        if sys.stdout.isatty():
            turn = f"{drive.yaw_rate:+.2f} rad/s" if self._turns else f"{math.degrees(drive.steering_angle):+6.1f} deg"
            line = f"speed {drive.v_x:+.2f} m/s   steering {turn}   {self._feedback(now)}"
            print(f"\r{line[: shutil.get_terminal_size().columns - 1]}\x1b[K", end="", flush=True)

    def _feedback(self, now: int) -> str:
        heard, speed, yaw_rate = self._actual
        if heard and now - heard < SILENT:
            return f"vehicle {speed:+.2f} m/s {yaw_rate:+.2f} rad/s"
        if not self._output.heard():
            return f"no one listens to '{self._output.topic}': {self._time.vehicles()}"
        return "nothing is received on 'twist_actual'"

    def _on_actual(self, message: Message, arrival: int) -> None:
        self._actual = (arrival, message.twist.linear.x, message.twist.angular.z)
