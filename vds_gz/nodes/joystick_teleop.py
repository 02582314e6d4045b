"""The node ``joystick_teleop``: converts messages of a joystick to commands for a vehicle."""

from __future__ import annotations

import sys

from vds_gz.interface.topics import Topic
from vds_gz.parameters.declaration import describe
from vds_gz.parameters.teleop import JoystickParameters, load
from vds_gz.ros.arguments import parse
from vds_gz.ros.factory import open_graph
from vds_gz.ros.graph import Graph, Message
from vds_gz.ros.programs import DONE, LONGEST_SLEEP, CommandLine, StopRequest, command, on_signals
from vds_gz.teleop.joystick import Teleop

NODE_NAME = "joystick_teleop"

JOY = Topic("joy", "sensor_msgs/msg/Joy")

DESCRIPTION = """\
Convert a joystick's messages on the topic `joy` (sensor_msgs/Joy) to commands for a vehicle. Axes, buttons and scales
are ROS parameters; config/joystick has files for several controllers."""

EXAMPLE = "joystick_teleop --ros-args --params-file config/joystick/xbox.yaml -p output:=twist"


class JoystickTeleop:
    """The node. Everything happens in the thread that calls :meth:`run`."""

    def __init__(self, graph: Graph, parameters: JoystickParameters, sim_time: bool | None, stop: StopRequest) -> None:
        self._graph = graph
        self._stop = stop
        stop.wakes(graph.wake)
        self._teleop = Teleop(graph, parameters, sim_time)
        graph.subscribe(JOY.name, JOY.type, JOY.qos, self._on_joy)
        graph.declare_parameters(describe(parameters), self._teleop.change)

    def run(self) -> None:
        """Run until it is stopped; then stop the vehicle and leave the graph."""
        try:
            while not self._stop.requested:
                self._graph.wait(min(self._teleop.idle_time(), LONGEST_SLEEP))
                self._teleop.serve()
        finally:
            self._teleop.finish()
            self._graph.close()

    def _on_joy(self, message: Message, arrival: int) -> None:
        self._teleop.joy(message.axes, message.buttons, arrival)


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
