"""``vds-gz joy``: reads a gamepad itself and publishes it as ROS's ``joy`` does; with ``--drive`` it drives as well."""

from __future__ import annotations

import argparse
import sys

from vds_gz.errors import ArgumentError, FailureError
from vds_gz.parameters.declaration import describe
from vds_gz.parameters.override import Override
from vds_gz.parameters.teleop import GamepadParameters, JoystickParameters, load
from vds_gz.parameters.yaml_reader import read_parameter_file
from vds_gz.ros.arguments import Arguments, parse
from vds_gz.ros.factory import open_graph
from vds_gz.ros.programs import DONE, CommandLine, command
from vds_gz.ros.stopping import on_signals
from vds_gz.share import share
from vds_gz.teleop.gamepad import Gamepads
from vds_gz.teleop.joy import JoySettings, JoyStation
from vds_gz.teleop.watch import watch

NODE_NAME = "joy"

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


@command(NODE_NAME)
def main(argv: list[str]) -> int:
    """Read a gamepad until told to stop.

    Returns:
        0 when it was stopped, 1 if PySDL2 is not installed, 2 for wrong use.
    """
    arguments = parse(argv, NODE_NAME)
    options = _parser().parse_args(arguments.rest)
    settings = _settings(arguments, options)
    gamepads = _gamepads(settings.gamepad, standard=options.standard or options.drive == STANDARD)
    if options.list:
        return _list(gamepads)
    stop = on_signals()
    if options.watch:
        return watch(gamepads, stop)
    JoyStation(open_graph(arguments, NODE_NAME), gamepads, settings, stop).run()
    return DONE


def _parser() -> argparse.ArgumentParser:
    parser = CommandLine("vds-gz joy", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("--list", action="store_true", help="list what is connected, and end")
    parser.add_argument("--watch", action="store_true", help="show which axis or button moves, and publish nothing")
    parser.add_argument("--drive", nargs="?", const=STANDARD, metavar="LAYOUT", help="make commands for a vehicle too")
    parser.add_argument("--standard", action="store_true", help="number all gamepads alike, as game_controller_node")
    return parser


def _settings(arguments: Arguments, options: argparse.Namespace) -> JoySettings:
    """Everything that was given, checked."""
    if options.drive is None:
        return JoySettings(load(arguments.overrides, GamepadParameters()), None, arguments.use_sim_time)
    overrides = [*_layout(options.drive, arguments.full_name), *arguments.overrides]
    gamepad = load(overrides, GamepadParameters(), describe(JoystickParameters()))
    driving = load(overrides, JoystickParameters(), describe(GamepadParameters()))
    return JoySettings(gamepad, driving, arguments.use_sim_time)


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


def _gamepads(gamepad: GamepadParameters, *, standard: bool) -> Gamepads:
    try:
        return Gamepads(gamepad.device_id, gamepad.device_name, standard=standard, deadzone=gamepad.deadzone)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "sdl2":
            raise
        raise FailureError("reading a gamepad needs PySDL2; pip install '.[teleop]' in a checkout") from None


def _list(gamepads: Gamepads) -> int:
    devices = gamepads.devices()
    for one in devices:
        known = "standard layout known" if one.standard else "no standard layout"
        print(f"{one.number}  {one.name}  {one.axes} axes, {one.buttons} buttons, {known}, {one.guid}")
    if not devices:
        print("no joystick is connected")
    gamepads.close()
    return DONE


if __name__ == "__main__":
    sys.exit(main())
