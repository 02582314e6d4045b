"""``vds-gz drive``: sends a command log to a vehicle."""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Sequence

from vds_gz.commandlog.csv import columns_of, table_types
from vds_gz.commandlog.files import read
from vds_gz.commandlog.log import CommandLog, CommandLogError
from vds_gz.commandlog.player import NoVehicleError, Player
from vds_gz.errors import ArgumentError
from vds_gz.interface.commands import CommandType, Values, command_type, whole_types
from vds_gz.ros.arguments import parse
from vds_gz.ros.errors import GraphError
from vds_gz.ros.factory import open_graph
from vds_gz.ros.stopping import on_signals

NODE_NAME = "drive"

#: Between two lines of progress, on a terminal and elsewhere [s].
PROGRESS_PERIOD = (0.2, 5.0)

DESCRIPTION = """
Send a command log to a vehicle, at the pace of the clock that it lives by, as its node reports on /diagnostics: the
system's, or /clock. The parameter use_sim_time, true for /clock and false for the system's clock, counts for more.

LOG is a CSV file whose first row names the columns (in brackets what may be left out; times [s], SI units),
{tables}
or a bag (rosbag2 folder, .mcap, .db3) with a topic of one of these types:
{types}
After its last command the log is over, and a command to stop follows.
"""

EPILOG = """
examples:
  vds-gz drive config/drives/parking_lot.csv
  vds-gz drive my_bag/ --topic /cmd_vel --as twist_stamped --rate 0.5
  vds-gz drive log.csv --ros-args -r ackermann_cmd:=/car/ackermann_cmd -p use_sim_time:=true
"""


class Progress:
    """Tells where in the log we are: one line that is written anew on a terminal, else a line now and then."""

    def __init__(self, duration: float) -> None:
        """The log's duration [s]."""
        self._duration = duration
        self._terminal = sys.stdout.isatty()
        self._next = -math.inf

    def __call__(self, passed: float, command: Values) -> None:
        """This command was sent, so many seconds into the log."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + PROGRESS_PERIOD[0 if self._terminal else 1]
        values = ", ".join(f"{name} {value:.2f}" for name, value in zip(command._fields[:3], command, strict=False))
        end = "\r" if self._terminal else "\n"
        print(f"{NODE_NAME}: {passed:6.1f} of {self._duration:.1f} s   {values:60}", end=end, flush=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Send a log.

    Returns:
        0 when it was sent or we were told to stop, 1 if there is no vehicle, 2 if something is wrong with what was
        given.
    """
    try:
        arguments = parse(sys.argv[1:] if argv is None else argv, NODE_NAME)
        options = _parser().parse_args(arguments.rest)
        log = read(options.log, options.topic)
        sent_as = _type(log, options.kind)
        stop = on_signals()
        graph = open_graph(arguments, NODE_NAME)
    except (ArgumentError, CommandLogError, GraphError) as error:
        print(f"{NODE_NAME}: {error}", file=sys.stderr)
        return 2
    player = Player(graph, log, sent_as, stop, rate=options.rate, sim_time=arguments.use_sim_time)
    try:
        player.wait_for_vehicle(options.wait)
        print(
            f"{NODE_NAME}: {len(log.times)} commands, {log.duration / options.rate:.1f} s, to "
            f"'{player.publisher.topic}'",
            flush=True,
        )
        player.run(loop=options.loop, progress=Progress(log.duration))
    except NoVehicleError as error:
        print(f"{NODE_NAME}: {error}", file=sys.stderr)
        return 1
    finally:
        graph.close()
    return 0


def _description() -> str:
    tables = "\n".join(f"  {columns_of(one)}\n      {one.words}, to {one.topic.name}" for one in table_types())
    return DESCRIPTION.format(tables=tables, types="\n".join(f"  {one.topic.type}" for one in whole_types()))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "vds-gz drive", description=_description(), epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("log", metavar="LOG", help="CSV file or bag")
    parser.add_argument("--topic", metavar="NAME", help="the topic of a bag, where several have commands")
    parser.add_argument(
        "--as",
        dest="kind",
        choices=[one.name for one in whole_types()],
        help="messages to send; those of the log by default",
    )
    parser.add_argument("--rate", type=_positive, default=1.0, metavar="X", help="seconds of the log per second (1)")
    parser.add_argument("--loop", action="store_true", help="begin again at the end, until stopped")
    parser.add_argument("--wait", type=_positive, default=10.0, metavar="S", help="wait so long for a vehicle (10)")
    return parser


def _positive(text: str) -> float:
    value = float(text)
    if not 0.0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' must be a number greater than 0")
    return value


def _type(log: CommandLog, wanted: str | None) -> CommandType:
    """The type of messages to send."""
    if wanted is None:
        return log.type
    sent_as = command_type(wanted)
    if sent_as.values is not log.type.values:
        raise CommandLogError(
            f"a log of {log.type.words} cannot be sent as {wanted}; that would need the vehicle's geometry, or maps of "
            "its pedals"
        )
    return sent_as


if __name__ == "__main__":
    sys.exit(main())
