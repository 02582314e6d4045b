"""``vds-gz keys``: drives a vehicle from the terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.declaration import Override, describe
from vds_gz.core.parameters.teleop import KeyParameters, load
from vds_gz.core.parameters.yaml_reader import parse_value
from vds_gz.core.ros.arguments import Arguments, parse
from vds_gz.core.ros.open_graph import open_graph
from vds_gz.core.ros.program_shell import DONE, CommandLine, command, on_signals
from vds_gz.programs.teleop.key_driving import KeyDriver

if TYPE_CHECKING:
    from vds_gz.programs.teleop.key_driving import Terminal

NODE_NAME = "keys"

DESCRIPTION = """
Drive a vehicle from this terminal. W or up: forwards; S or down: backwards, or brake; A, D or left, right: steer;
space: stop at once; Q or Ctrl-C: end. Values return to 0 after the key's release; the speed is held while you steer.
"""

EPILOG = """
examples:
  vds-gz keys
  vds-gz keys --max-speed 3 --output twist
  vds-gz keys --ros-args -r __ns:=/car
"""

HELP = "W/S speed   A/D steer   (or arrows)   space stop   Q end"


@command(NODE_NAME)
def main(argv: list[str]) -> int:
    """Drive until the user ends it."""
    arguments = parse(argv, NODE_NAME)
    parameters = _parameters(arguments)
    terminal = _terminal()
    stop = on_signals()
    graph = open_graph(arguments, NODE_NAME)
    print(HELP, flush=True)
    with terminal:
        KeyDriver(graph, parameters, terminal, arguments.use_sim_time, stop).run()
    if sys.stdout.isatty():
        print()
    return DONE


def _terminal() -> Terminal:
    try:
        from vds_gz.programs.teleop.key_driving import Terminal
    except ImportError:
        raise ArgumentError("driving with keys needs a terminal of Linux or macOS") from None
    if not sys.stdin.isatty():
        raise ArgumentError(
            "standard input is not a terminal, and only a terminal gives keys; start it in one, not in a "
            "pipe, in the background or from a launch file"
        )
    return Terminal(sys.stdin.fileno())


def _parameters(arguments: Arguments) -> KeyParameters:
    """The parameters; each is an option too: ``--max-speed 2`` means ``-p max_speed:=2``."""
    parser = CommandLine("vds-gz keys", description=DESCRIPTION, epilog=EPILOG)
    flags = {"--" + parameter.name.replace("_", "-"): parameter for parameter in describe(KeyParameters())}
    for option, parameter in flags.items():
        unit = f" [{parameter.unit}]" if parameter.unit else ""
        default = str(parameter.default).lower() if isinstance(parameter.default, bool) else parameter.default
        parser.add_argument(option, dest=parameter.name, metavar="X", help=f"{parameter.doc}{unit} ({default})")
    options = vars(parser.parse_args(arguments.rest))
    overrides = [
        Override(parameter.name, parse_value(options[parameter.name], option), option)
        for option, parameter in flags.items()
        if options[parameter.name] is not None
    ]
    return load([*arguments.overrides, *overrides], KeyParameters())


if __name__ == "__main__":
    sys.exit(main())
