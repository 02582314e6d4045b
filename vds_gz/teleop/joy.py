"""``vds-gz joy``: reads a gamepad itself and publishes it as ROS's ``joy`` does; with ``--drive`` it drives as well."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic_ns

from vds_gz.errors import ArgumentError
from vds_gz.interface.vehicle_time import VehicleTime
from vds_gz.parameters.description import describe
from vds_gz.parameters.override import Override
from vds_gz.parameters.teleop import GamepadParameters, JoystickParameters, load
from vds_gz.parameters.yaml_reader import read_parameter_file
from vds_gz.ros.arguments import Arguments, parse
from vds_gz.ros.errors import GraphError
from vds_gz.ros.factory import open_graph
from vds_gz.ros.graph import Graph, Severity
from vds_gz.ros.stopping import StopRequest, on_signals
from vds_gz.share import share
from vds_gz.teleop.gamepad import Gamepads
from vds_gz.teleop.outputs import JoyOutput
from vds_gz.teleop.teleop import Teleop
from vds_gz.teleop.watch import watch

NODE_NAME = "joy"

#: Between two looks at the gamepad [s].
PERIOD = 0.01

#: The layout that every gamepad has that SDL knows.
STANDARD = "generic"

DESCRIPTION = """
Read a gamepad and publish it on the topic `joy` (sensor_msgs/Joy), numbered as ROS's joy_node does, so that
joystick_teleop, here or on another machine, can drive with it.

With --drive, also make the commands, as joystick_teleop does. LAYOUT is a parameter file, or the name of one in
config/joystick; without it, every gamepad drives that SDL knows: hold the left shoulder button; left stick: steering,
right stick: speed.
"""

EPILOG = """
examples:
  vds-gz joy --list
  vds-gz joy --watch
  vds-gz joy --drive
  vds-gz joy --drive xbox --ros-args -p output:=twist -p scale_linear.x:=0.5
  vds-gz joy --ros-args -p device_name:=Xbox -r joy:=/car/joy
"""


@dataclass(frozen=True, slots=True)
class Told:
    """What the command line says.

    Attributes:
        gamepad: Which gamepad, and how to read it.
        driving: How to drive; None if it is only published.
        standard: The numbering is SDL's standard one, else the gamepad's own.
    """

    arguments: Arguments
    gamepad: GamepadParameters
    driving: JoystickParameters | None
    standard: bool


class JoyStation:
    """A gamepad on the graph. Everything happens in the thread that calls :meth:`run`."""

    def __init__(self, graph: Graph, gamepads: Gamepads, told: Told, stop: StopRequest) -> None:
        """Announce everything on the graph."""
        self._graph = graph
        self._gamepads = gamepads
        self._stop = stop
        stop.wakes(graph.wake)
        self._repeat = round(1e9 / told.gamepad.autorepeat_rate)
        self._sent: tuple[int, object] = (0, None)
        self._told = ""
        sim_time = told.arguments.use_sim_time
        self._teleop = Teleop(graph, told.driving, sim_time) if told.driving else None
        time = self._teleop.time if self._teleop else VehicleTime(graph, bool(sim_time))
        self._output = JoyOutput(graph, time.stamp)
        # Both groups have use_sim_time.
        parameters = {one.name: one for one in describe(told.gamepad)}
        if told.driving:
            parameters |= {one.name: one for one in describe(told.driving)}
        graph.declare_parameters(parameters.values(), self._teleop.change if self._teleop else lambda values: None)

    def run(self) -> None:
        """Run until told to stop; then stop the vehicle and leave the graph."""
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
        self._tell(pad.name if pad else "")
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

    def _tell(self, name: str) -> None:
        """Say which gamepad there is, or why there is none, once."""
        news = f"'{name}' goes to '{self._output.topic}'" if name else f"{self._gamepads.problem}; waiting for one"
        if news != self._told:
            self._told = news
            self._graph.log(Severity.INFO if name else Severity.WARN, news)


def main(argv: Sequence[str] | None = None) -> int:
    """Read a gamepad until told to stop.

    Returns:
        0 when it was stopped, 1 if PySDL2 is not installed, 2 for wrong use.
    """
    try:
        arguments = parse(sys.argv[1:] if argv is None else argv, NODE_NAME)
        options = _parser().parse_args(arguments.rest)
        told = _told(arguments, options)
        gamepads = _gamepads(told)
        if options.list:
            return _list(gamepads)
        stop = on_signals()
        if options.watch:
            return watch(gamepads, stop)
        station = JoyStation(open_graph(arguments, NODE_NAME), gamepads, told, stop)
    except (ValueError, GraphError, FileNotFoundError) as error:
        print(f"{NODE_NAME}: {error}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "sdl2":
            raise
        print(f"{NODE_NAME}: reading a gamepad needs PySDL2; pip install 'vds_gz[teleop]'", file=sys.stderr)
        return 1
    station.run()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "vds-gz joy",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--list", action="store_true", help="list what is connected, and end")
    parser.add_argument("--watch", action="store_true", help="show which axis or button moves, and publish nothing")
    parser.add_argument("--drive", nargs="?", const=STANDARD, metavar="LAYOUT", help="make commands for a vehicle too")
    parser.add_argument("--standard", action="store_true", help="number all gamepads alike, as game_controller_node")
    return parser


def _told(arguments: Arguments, options: argparse.Namespace) -> Told:
    """Everything that was said, looked over."""
    if options.drive is None:
        return Told(arguments, load(arguments.overrides, GamepadParameters()), None, options.standard)
    overrides = [*_layout(options.drive, arguments.full_name), *arguments.overrides]
    gamepad = load(overrides, GamepadParameters(), describe(JoystickParameters()))
    driving = load(overrides, JoystickParameters(), describe(GamepadParameters()))
    return Told(arguments, gamepad, driving, options.standard or options.drive == STANDARD)


def _layout(layout: str, full_name: str) -> list[Override]:
    """What a layout's file says; the layout is a name or a path."""
    if layout.endswith((".yaml", ".yml")):
        return read_parameter_file(layout, full_name)
    names = sorted(file.stem for file in share("config", "joystick").glob("*.yaml"))
    if layout not in names:
        raise ArgumentError(
            f"argument '--drive {layout}': there is no such layout; it must be one of "
            f"{', '.join(names)}, or a file that ends in .yaml"
        )
    return read_parameter_file(str(share("config", "joystick", f"{layout}.yaml")), full_name)


def _gamepads(told: Told) -> Gamepads:
    gamepad = told.gamepad
    return Gamepads(gamepad.device_id, gamepad.device_name, standard=told.standard, deadzone=gamepad.deadzone)


def _list(gamepads: Gamepads) -> int:
    devices = gamepads.devices()
    for one in devices:
        known = "standard layout known" if one.standard else "no standard layout"
        print(f"{one.number}  {one.name}  {one.axes} axes, {one.buttons} buttons, {known}, {one.guid}")
    if not devices:
        print("no joystick is connected")
    gamepads.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
