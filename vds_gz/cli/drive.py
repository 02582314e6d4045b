"""``vds-gz drive``: sends a command log to a vehicle."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from vds_gz.cli.shared_options import add_topic_option, positive
from vds_gz.core.errors import RecordingError
from vds_gz.core.ros.arguments import parse
from vds_gz.core.ros.open_graph import open_graph
from vds_gz.core.ros.program_shell import DONE, CommandLine, command, on_signals
from vds_gz.programs.commandlog.command_log import CommandLog, columns_of, drive_names, read, table_types
from vds_gz.programs.commandlog.player import Player
from vds_gz.programs.interface.commands import CommandType, Values, command_type, whole_types
from vds_gz.tools.study.progress import Advance, progress

NODE_NAME = "drive"

DESCRIPTION = """
Send a command log to a vehicle, at the pace of the vehicle's clock, which its node reports on /diagnostics: the
system's, or /clock. The parameter use_sim_time overrides this: true for /clock, false for the system's clock.

LOG is a table (.csv, .csv.gz) or a bag. A table may have the columns that `vds-gz identify` reads; the commands among
them are sent: v_x_command, yaw_rate_command, steering_command and others. A table of commands alone may have these
columns instead (those in brackets are optional):
{tables}
A bag (rosbag2 folder, .mcap, .db3, .bag of ROS 1) has a topic of one of these types:
{types}
A command to stop follows the last command of the log.
"""

EPILOG = """
examples:
  vds-gz drive parking_lot
  vds-gz drive my_bag/ --topic /cmd_vel --as twist_stamped --rate 0.5
  vds-gz drive log.csv --ros-args -r ackermann_cmd:=/car/ackermann_cmd -p use_sim_time:=true
"""


@command(NODE_NAME)
def main(argv: list[str]) -> int:
    """Send a log."""
    arguments = parse(argv, NODE_NAME)
    options = _parser().parse_args(arguments.rest)
    arguments.refuse_parameters()
    log = read(options.log, options.topic)
    for finding in log.findings:
        print(f"finding: {finding}")
    sent_as = _type(log, options.kind)
    stop = on_signals()
    graph = open_graph(arguments, NODE_NAME)
    player = Player(graph, log, sent_as, stop, rate=options.rate, sim_time=arguments.use_sim_time)
    try:
        player.wait_for_vehicle(options.wait)
        print(
            f"{NODE_NAME}: {len(log.times)} commands, {log.duration / options.rate:.1f} s, to "
            f"'{player.publisher.topic}'",
            flush=True,
        )
        with progress("driving", log.duration) as advance:
            player.run(loop=options.loop, progress=_shown(advance))
    finally:
        graph.close()
    return DONE


def _shown(advance: Advance) -> Callable[[float, Values], None]:
    """A function of a log's time [s] and its last command, which shows the progress."""
    last = [0.0]

    def show(passed: float, values: Values) -> None:
        pairs = zip(values._fields[:3], values, strict=False)
        advance(passed - last.pop(), ", ".join(f"{name} {value:.2f}" for name, value in pairs))
        last.append(passed)

    return show


def _description() -> str:
    tables = "\n".join(f"  {columns_of(kind)}\n      {kind.words}, to {kind.topic.name}" for kind in table_types())
    return DESCRIPTION.format(tables=tables, types="\n".join(f"  {kind.topic.type}" for kind in whole_types()))


def _parser() -> argparse.ArgumentParser:
    parser = CommandLine("vds-gz drive", description=_description(), epilog=EPILOG)
    parser.add_argument("log", metavar="LOG", help=f"CSV file, bag, or {', '.join(drive_names())}")
    add_topic_option(parser)
    parser.add_argument(
        "--as",
        dest="kind",
        choices=[kind.name for kind in whole_types()],
        help="messages to send (those of the log)",
    )
    parser.add_argument("--rate", type=positive, default=1.0, metavar="X", help="seconds of the log per second (1)")
    parser.add_argument("--loop", action="store_true", help="repeat the log until stopped")
    parser.add_argument("--wait", type=positive, default=10.0, metavar="S", help="maximum wait for a vehicle [s] (10)")
    return parser


def _type(log: CommandLog, kind: str | None) -> CommandType:
    """The type of messages to send."""
    if kind is None:
        return log.type
    sent_as = command_type(kind)
    if sent_as.values is not log.type.values:
        raise RecordingError(
            f"a log of {log.type.words} cannot be sent as {kind}; that would need the vehicle's geometry, or maps of "
            "its pedals"
        )
    return sent_as


if __name__ == "__main__":
    sys.exit(main())
