"""The node ``joystick_teleop``: converts messages of a joystick to commands for a vehicle."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from time import monotonic_ns

from vds_gz.core.parameters.conversion import replaced
from vds_gz.core.parameters.declaration import Value, describe
from vds_gz.core.parameters.teleop import JoystickParameters, load
from vds_gz.core.ros.arguments import parse
from vds_gz.core.ros.graph import Graph, Message, Severity
from vds_gz.core.ros.open_graph import open_graph
from vds_gz.core.ros.program_shell import DONE, LONGEST_SLEEP, CommandLine, StopRequest, command, on_signals
from vds_gz.core.vehicle.command import NEVER
from vds_gz.programs.interface.topics import Topic
from vds_gz.programs.interface.vehicle_status import VehicleTime
from vds_gz.programs.teleop.driver_commands import STANDSTILL, CommandOutput
from vds_gz.programs.teleop.joystick import JoystickController, Mode

NODE_NAME = "joystick_teleop"

JOY = Topic("joy", "sensor_msgs/msg/Joy")

DESCRIPTION = """\
Convert a joystick's messages on the topic `joy` (sensor_msgs/Joy) to commands for a vehicle. Axes, buttons and scales
are ROS parameters; config/joystick has files for several controllers."""

EXAMPLE = "joystick_teleop --ros-args --params-file config/joystick/xbox.yaml -p output:=twist"

#: Modes in which something is wrong, and the message about it.
TROUBLE = {Mode.REFUSED: "message on 'joy' refused", Mode.LOST: "the joystick is lost"}

#: Times after which the same fault is logged again, and commands without a subscriber are reported [ns].
SAY_AGAIN, UNHEARD = 5_000_000_000, 2_000_000_000


class JoystickTeleop:
    """The node. Everything happens in the thread that calls :meth:`run`."""

    def __init__(self, graph: Graph, parameters: JoystickParameters, sim_time: bool | None, stop: StopRequest) -> None:
        """Join the topics; ``sim_time`` is ``use_sim_time`` as the user gave it, None for the vehicle's clock."""
        self._graph = graph
        self._stop = stop
        stop.wakes(graph.wake)
        self._controller = JoystickController(parameters)
        self.time = VehicleTime(graph, sim_time)
        self._output = CommandOutput(graph, parameters.output, parameters.frame, self.time.stamp)
        self.time.follow(self._output.topics, self._output.heard)
        self._unheard: int | None = None
        self._mode = self._controller.mode
        self._troubled = False
        self._complained: dict[Mode, int] = {}
        how = f"hold button {parameters.enable_button} to drive"
        if not parameters.require_enable_button:
            how = "the sticks act without a button held (require_enable_button is false)"
        graph.log(Severity.INFO, f"commands go to '{self._output.topic}'; {how}")
        graph.subscribe(JOY.name, JOY.type, JOY.qos, self._on_joy)
        graph.declare_parameters(describe(parameters), self._change)

    def run(self) -> None:
        """Run until it is stopped; then stop the vehicle and leave the graph."""
        try:
            while not self._stop.requested:
                idle = max(0.0, self._controller.seconds_until_due(monotonic_ns()))
                self._graph.wait(min(idle, LONGEST_SLEEP))
                self.serve()
        finally:
            if self._controller.moving:
                self._output.send(STANDSTILL)
            self._graph.close()

    def serve(self) -> None:
        """Send the command that is due."""
        now = monotonic_ns()
        command = self._controller.due(now)
        if command is not None:
            self._output.send(command)
            self._report_unheard(now)
        self._report_trouble(now)

    def _on_joy(self, message: Message, arrival: int) -> None:
        self._controller.joy(message.axes, message.buttons, arrival)
        self.serve()

    def _change(self, values: Mapping[str, Value]) -> None:
        self._controller.parameters = replaced(self._controller.parameters, values)

    def _report_unheard(self, now: int) -> None:
        """Log once that the commands have no subscriber, until they have one."""
        if self._output.heard():
            self._unheard = None
        elif self._unheard is None:
            self._unheard = now + UNHEARD
        elif now >= self._unheard:
            self._unheard = NEVER
            text = f"no one listens to '{self._output.topic}'. Vehicles: {self.time.vehicles()}"
            self._graph.log(Severity.WARN, text)

    def _report_trouble(self, now: int) -> None:
        """Log trouble when it begins, at a limited rate, and when it is over."""
        mode, before = self._controller.mode, self._mode
        self._mode = mode
        if mode is before:
            return
        if mode in TROUBLE and now - self._complained.get(mode, -SAY_AGAIN) >= SAY_AGAIN:
            self._complained[mode] = now
            self._troubled = True
            self._graph.log(Severity.WARN, f"{TROUBLE[mode]}: {self._controller.reason}. The vehicle is stopped")
        elif mode not in TROUBLE and self._troubled:
            self._troubled = False
            self._graph.log(Severity.INFO, "the joystick is back")


@command(NODE_NAME)
def main(argv: list[str]) -> int:
    """Run the node until it is stopped."""
    arguments = parse(argv, NODE_NAME)
    _parser().parse_args(arguments.rest)
    parameters = load(arguments.overrides, JoystickParameters())
    stop = on_signals()
    graph = open_graph(arguments, NODE_NAME)
    JoystickTeleop(graph, parameters, arguments.use_sim_time, stop).run()
    return DONE


def _parser() -> CommandLine:
    return CommandLine(
        NODE_NAME,
        usage=f"ros2 run vds_gz {NODE_NAME} [--ros-args ...]",
        description=DESCRIPTION,
        epilog=f"example:\n  ros2 run vds_gz {EXAMPLE}\n\nexit code: 0 it was stopped, 2 wrong use",
    )


if __name__ == "__main__":
    sys.exit(main())
