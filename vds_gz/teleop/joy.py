"""A gamepad on the graph: published as ROS's ``joy`` does, and driving a vehicle if it shall."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic_ns

from vds_gz.interface.vehicle_status import VehicleTime
from vds_gz.parameters.declaration import describe
from vds_gz.parameters.teleop import GamepadParameters, JoystickParameters
from vds_gz.ros.graph import Graph, Severity
from vds_gz.ros.stopping import StopRequest
from vds_gz.teleop.gamepad import Gamepads
from vds_gz.teleop.outputs import JoyOutput
from vds_gz.teleop.teleop import Teleop

#: Between two looks at the gamepad [s].
PERIOD = 0.01


@dataclass(frozen=True, slots=True)
class JoySettings:
    """What a gamepad is to do.

    Attributes:
        gamepad: Which gamepad, and how to read it.
        driving: How to drive; None if it is only published.
        use_sim_time: What the user gave; None for nothing.
    """

    gamepad: GamepadParameters
    driving: JoystickParameters | None = None
    use_sim_time: bool | None = None


class JoyStation:
    """A gamepad on the graph. Everything happens in the thread that calls :meth:`run`."""

    def __init__(self, graph: Graph, gamepads: Gamepads, settings: JoySettings, stop: StopRequest) -> None:
        """Announce everything on the graph."""
        self._graph = graph
        self._gamepads = gamepads
        self._stop = stop
        stop.wakes(graph.wake)
        self._repeat = round(1e9 / settings.gamepad.autorepeat_rate)
        self._sent: tuple[int, object] = (0, None)
        self._reported = ""
        sim_time = settings.use_sim_time
        self._teleop = Teleop(graph, settings.driving, sim_time) if settings.driving else None
        time = self._teleop.time if self._teleop else VehicleTime(graph, bool(sim_time))
        self._output = JoyOutput(graph, time.stamp)
        # Both groups have use_sim_time.
        parameters = {one.name: one for one in describe(settings.gamepad)}
        if settings.driving:
            parameters |= {one.name: one for one in describe(settings.driving)}
        graph.declare_parameters(parameters.values(), self._teleop.change if self._teleop else lambda values: None)

    def run(self) -> None:
        """Run until it is stopped; then stop the vehicle and leave the graph."""
        try:
            while not self._stop.requested:
                self._graph.wait(PERIOD)
                self.spin_once()
        finally:
            if self._teleop:
                self._teleop.finish()
            self._gamepads.close()
            self._graph.close()

    def spin_once(self) -> None:
        """Look at the gamepad once, and send what is new or due."""
        before = self._gamepads.pad
        self._gamepads.poll()
        pad = self._gamepads.pad
        if before is not None and pad is not before and self._teleop:
            self._teleop.lost(f"'{before.name}' was unplugged")
        if pad is not None:
            self._publish(*pad.read())
        self._report(pad.name if pad else "")
        if self._teleop:
            self._teleop.serve()

    def _publish(self, axes: list[float], buttons: list[int]) -> None:
        now = monotonic_ns()
        sent, last = self._sent
        if (axes, buttons) == last and now - sent < self._repeat:
            return
        self._sent = (now, (axes, buttons))
        self._output.send(axes, buttons)
        if self._teleop:
            self._teleop.joy(axes, buttons, now)

    def _report(self, name: str) -> None:
        """Say which gamepad there is, or why there is none, once."""
        news = f"'{name}' goes to '{self._output.topic}'" if name else f"{self._gamepads.problem}; waiting for one"
        if news != self._reported:
            self._reported = news
            self._graph.log(Severity.INFO if name else Severity.WARN, news)
