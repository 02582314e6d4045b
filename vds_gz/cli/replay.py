"""``vds-gz replay``: simulates a model with a command log, offline, and writes a recording or a table."""

from __future__ import annotations

import argparse
import gc
from pathlib import Path
from time import perf_counter

from vds_gz.cli.shared_options import add_topic_option, add_vehicle_options, positive, vehicle_of
from vds_gz.core.errors import ArgumentError
from vds_gz.core.ros.program_shell import DONE, CommandLine, command
from vds_gz.programs.commandlog.command_log import drive_names, stream
from vds_gz.tools.study.offline.offline_replay import Replay, write_csv
from vds_gz.tools.study.offline.replay_bag import write_mcap
from vds_gz.tools.study.progress import progress

DESCRIPTION = """
Send a command log through a vehicle's model, thousands of times faster than real time, and write the response.

LOG is a table or a bag, as for `vds-gz drive`, also a recording of `vds-gz run`. The result equals that of the live
node with the same commands at the same times, to the last bit, in the world of its parameters. An .mcap
file has all topics of the node and opens in ros2 bag, Foxglove and PlotJuggler; a .csv file has one row a sample: time,
pose, velocity, and each actuator's reference and response. Logs of Autoware's Control and pedals, with their gears,
drive Autoware's models.
"""


@command("vds-gz replay")
def main(argv: list[str]) -> int:
    """Replay a log."""
    options = _parser().parse_args(argv)
    output = Path(options.output or f"{Path(options.log).stem}_replay.mcap")
    partial = output.with_name(output.name + ".part")
    try:
        if output.suffix not in (".mcap", ".csv"):
            raise ArgumentError(f"output '{output}' must end in .mcap or .csv")
        parameters = vehicle_of(options)
        log = stream(options.log, options.topic)
        to_csv = output.suffix == ".csv"
        replay = Replay(log, parameters, rate=options.rate, tail=options.tail, with_joints=not to_csv)
        for finding in log.findings:
            print(f"finding: {finding}")
        if not replay.compiled and not replay.in_world:
            print(
                "vds-gz replay: numba is missing or switched off, so the model runs interpreted, about 100 times slower"
            )
        compiling = perf_counter()
        replay.warm_up()
        gc.disable()  # there are no reference cycles, and the search for them takes a third of the time
        begin = perf_counter()
        with progress("replaying", None) as advance:
            count = (write_csv if to_csv else write_mcap)(replay, partial, parameters, advance)
        partial.replace(output)
    finally:
        gc.enable()
        partial.unlink(missing_ok=True)
    for touch in replay.touches:
        print(touch)
    took, simulated = perf_counter() - begin, count / (options.rate or parameters.pub_rate)
    print(
        f"{output}: {count} samples, {simulated:.1f} s in {took:.2f} s ({simulated / took:,.0f} x real time; "
        f"compiling took {begin - compiling:.1f} s before)"
    )
    return DONE


def _parser() -> argparse.ArgumentParser:
    parser = CommandLine(
        "vds-gz replay",
        description=DESCRIPTION,
        epilog="exit code: 0 written, 2 wrong use or input",
    )
    parser.add_argument("log", metavar="LOG", help=f"commands: CSV file, bag, or {', '.join(drive_names())}")
    add_vehicle_options(parser)
    add_topic_option(parser)
    parser.add_argument("-o", "--output", metavar="FILE", help=".mcap or .csv file to write (LOG_replay.mcap)")
    parser.add_argument("--rate", type=positive, metavar="HZ", help="samples per second (the vehicle's pub_rate)")
    parser.add_argument("--tail", type=positive, default=1.0, metavar="S", help="time after the last command (1)")
    return parser
