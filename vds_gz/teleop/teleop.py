"""A joystick's controller on the graph: its commands are sent, and why it stops is logged."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from time import monotonic_ns

from vds_gz.interface.vehicle_status import VehicleTime
from vds_gz.parameters.declaration import Value
from vds_gz.parameters.load import replaced
from vds_gz.parameters.teleop import JoystickParameters
from vds_gz.ros.graph import Graph, Severity
from vds_gz.teleop.controller import JoystickController, Mode
from vds_gz.teleop.driver_input import STANDSTILL
from vds_gz.teleop.outputs import CommandOutput

#: Modes that something is wrong in, and what is said of it.
TROUBLE = {Mode.REFUSED: "message on 'joy' refused", Mode.LOST: "the joystick is lost"}

#: The same fault is logged again after this time only [ns].
SAY_AGAIN = 5_000_000_000


#: Commands without a subscriber are reported after this time [ns].
UNHEARD = 2_000_000_000


class Unheard:
    """Reports once that no one listens, until somebody does."""

    def __init__(self) -> None:
        self._since: int | None = None
        self._said = False

    def lasts(self, heard: bool, now: int) -> bool:
        """Whether it is time to say so."""
        if heard:
            self._since, self._said = None, False
            return False
        if self._since is None:
            self._since = now
        if self._said or now - self._since < UNHEARD:
            return False
        self._said = True
        return True


class Teleop:
    """Drives a vehicle by a joystick, wherever its axes and buttons come from."""

    def __init__(self, graph: Graph, parameters: JoystickParameters, sim_time: bool | None) -> None:
        """Announce the commands; ``sim_time`` is ``use_sim_time`` as the user gave it, None for the vehicle's clock."""
        self._graph = graph
        self._controller = JoystickController(parameters)
        self.time = VehicleTime(graph, sim_time)
        self._output = CommandOutput(graph, parameters.output, parameters.frame, self.time.stamp)
        self.time.follow(self._output.topics, self._output.heard)
        self._unheard = Unheard()
        self._mode = self._controller.mode
        self._troubled = False
        self._complained: dict[Mode, int] = {}
        graph.log(Severity.INFO, f"commands go to '{self._output.topic}'; {_holding(parameters)}")

    def joy(self, axes: Sequence[float], buttons: Sequence[int], arrival: int) -> None:
        """The joystick was read, at a reading of the monotonic clock [ns]."""
        self._controller.joy(axes, buttons, arrival)
        self.serve()

    def lost(self, reason: str) -> None:
        """The joystick is gone."""
        self._controller.stop(Mode.LOST, reason, monotonic_ns())
        self.serve()

    def serve(self) -> None:
        """Send what is due."""
        now = monotonic_ns()
        command = self._controller.due(now)
        if command is not None:
            self._output.send(command)
            if self._unheard.lasts(self._output.heard(), now):
                text = f"no one listens to '{self._output.topic}'. Vehicles: {self.time.vehicles()}"
                self._graph.log(Severity.WARN, text)
        self._say(now)

    def idle_time(self) -> float:
        """How long nothing will be due unless a message comes [s]."""
        return max(0.0, self._controller.seconds_until_due(monotonic_ns()))

    def finish(self) -> None:
        """Stop the vehicle, if it is us who move it."""
        if self._controller.moving:
            self._output.send(STANDSTILL)

    def change(self, values: Mapping[str, Value]) -> None:
        """Take new parameters all together, or none.

        Raises:
            ParameterError: They do not fit each other.
        """
        self._controller.parameters = replaced(self._controller.parameters, values)

    def _say(self, now: int) -> None:
        """Say what is wrong when it begins, though not all the time, and that it is over."""
        mode, before = self._controller.mode, self._mode
        self._mode = mode
        if mode is before:
            return
        if mode in TROUBLE and now - self._complained.get(mode, -math.inf) >= SAY_AGAIN:
            self._complained[mode] = now
            self._troubled = True
            self._graph.log(Severity.WARN, f"{TROUBLE[mode]}: {self._controller.reason}. The vehicle is stopped")
        elif mode not in TROUBLE and self._troubled:
            self._troubled = False
            self._graph.log(Severity.INFO, "the joystick is back")


def _holding(parameters: JoystickParameters) -> str:
    if not parameters.require_enable_button:
        return "the sticks act without a button held (require_enable_button is false)"
    return f"hold button {parameters.enable_button} to drive"
