"""A keyboard as the driver of a vehicle."""

from __future__ import annotations

import math
import shutil
import sys
from time import monotonic_ns
from typing import TYPE_CHECKING, Any

from vds_gz.interface import topics
from vds_gz.interface.vehicle_status import VehicleTime
from vds_gz.parameters.declaration import describe
from vds_gz.parameters.teleop import KeyParameters
from vds_gz.ros.graph import Graph
from vds_gz.ros.stopping import StopRequest
from vds_gz.teleop.driver_input import STANDSTILL, STOPS, Drive
from vds_gz.teleop.outputs import CommandOutput
from vds_gz.teleop.ramp import Ramp

if TYPE_CHECKING:
    from vds_gz.teleop.terminal import Terminal

SPEED = {"w": 1, "\x1b[A": 1, "\x1bOA": 1, "s": -1, "\x1b[B": -1, "\x1bOB": -1}
STEERING = {"a": 1, "\x1b[D": 1, "\x1bOD": 1, "d": -1, "\x1b[C": -1, "\x1bOC": -1}
STOP = " "
QUIT = ("q", "\x04")

#: A vehicle that says nothing for so long is silent [ns].
SILENT = 1_000_000_000


class Keyboard:
    """Speed and direction from keys."""

    def __init__(self, parameters: KeyParameters) -> None:
        """At a standstill."""
        p = self._parameters = parameters
        self._speed = Ramp(p.max_speed / p.acceleration, p.max_speed / p.deceleration)
        self._steering = Ramp(p.steering_time, p.centering_time)

    def press(self, key: str, now: int) -> None:
        """A key has come, at a reading of the monotonic clock [ns]."""
        key = key.lower() if len(key) == 1 else key
        if key in SPEED:
            self._speed.press(SPEED[key], now)
        elif key in STEERING:
            self._steering.press(STEERING[key], now)
            self._speed.keep(now)
        elif key == STOP:
            self._speed.stop()
            self._steering.stop()

    def drive(self, now: int) -> Drive:
        """What the driver wants now."""
        p = self._parameters
        speed, steering = self._speed.advance(now), self._steering.advance(now)
        return Drive(speed * p.max_speed, 0.0, steering * p.max_yaw_rate, steering * p.max_steering_angle)


class KeyDriver:
    """A keyboard on the graph. Everything happens in the thread that calls :meth:`run`."""

    def __init__(
        self, graph: Graph, parameters: KeyParameters, terminal: Terminal, sim_time: bool | None, stop: StopRequest
    ) -> None:
        """Announce everything on the graph."""
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

    def _send(self, drive: Drive, now: int) -> None:
        """Send a command; of a standstill only the first few, so that somebody else can drive."""
        if drive != STANDSTILL:
            self._stops = STOPS
        if self._stops:
            self._output.send(drive)
            self._stops -= drive == STANDSTILL
        self._show(f"{self._command(drive)}   {self._feedback(now)}")

    def _command(self, drive: Drive) -> str:
        turn = f"{drive.yaw_rate:+.2f} rad/s" if self._turns else f"{math.degrees(drive.steering_angle):+6.1f} deg"
        return f"speed {drive.v_x:+.2f} m/s   steering {turn}"

    def _feedback(self, now: int) -> str:
        heard, speed, yaw_rate = self._actual
        if heard and now - heard < SILENT:
            return f"vehicle {speed:+.2f} m/s {yaw_rate:+.2f} rad/s"
        if not self._output.heard():
            return f"no one listens to '{self._output.topic}': {self._time.vehicles()}"
        return "the vehicle says nothing on 'twist_actual'"

    def _show(self, line: str) -> None:
        if sys.stdout.isatty():
            width = shutil.get_terminal_size().columns - 1
            print(f"\r{line[:width]}\x1b[K", end="", flush=True)

    def _on_actual(self, message: Any, arrival: int) -> None:
        self._actual = (arrival, message.twist.linear.x, message.twist.angular.z)
