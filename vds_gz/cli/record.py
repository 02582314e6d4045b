"""``vds-gz record``: records the topics of a running vehicle."""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from vds_gz.cli.shared_options import add_domain_option, add_except_option, enter_domain, positive, split_ros_arguments
from vds_gz.core.errors import ArgumentError
from vds_gz.core.ros.arguments import Arguments, parse
from vds_gz.core.ros.graph import Graph
from vds_gz.core.ros.open_graph import open_graph
from vds_gz.core.ros.program_shell import DONE, FAILED, LONGEST_SLEEP, CommandLine, StopRequest, command, on_signals
from vds_gz.core.sensing.sensor_types import is_of_sensor
from vds_gz.programs.bags.recorder import Recorder
from vds_gz.programs.interface import topics
from vds_gz.programs.interface.commands import vehicle_topics
from vds_gz.programs.interface.model_reports import model_topics
from vds_gz.tools.study.progress import progress
from vds_gz.tools.study.report.text import text_table

NODE_NAME = "record"

#: After this time without any message, a warning lists the topics on the graph [s].
PATIENCE = 5.0

DESCRIPTION = """
Record a vehicle's topics to an MCAP file until Ctrl-C: everything that it receives and publishes, without its
sensors' data unless --sensors is given, or the topics named.

Messages are written as they come, compressed, and are on the disk within a second: a recorder that is
killed leaves a readable file. `ros2 bag info` and `play`, Foxglove and PlotJuggler open recordings,
and so do `vds-gz replay`, `compare` and `identify`. It runs with ROS and without.
"""

EPILOG = """
examples:
  vds-gz record
  vds-gz record --namespace robot1 --duration 60 -o robot1.mcap
  vds-gz record cmd_vel odom /tf /tf_static
  vds-gz record --sensors --except camera/image_raw
  vds-gz record --all                 all topics, also of other vehicles

After --ros-args: remaps, as for any ROS 2 node.
exit code: 0 recorded, 1 no message on a named topic, or on any, 2 wrong use
"""


@command("vds-gz record")
def main(argv: list[str]) -> int:
    """Record."""
    own, ros = split_ros_arguments(argv)
    options = _parser().parse_args(own)
    enter_domain(options.domain)
    path = Path(options.output or f"{datetime.now():%Y-%m-%d_%H-%M-%S}.mcap")
    if path.suffix != ".mcap":
        raise ArgumentError(f"output '{path}' must end in .mcap")
    place = ["-r", f"__ns:=/{options.namespace.strip('/')}"] if options.namespace else []
    arguments = parse(["--ros-args", *place, *ros], NODE_NAME)
    arguments.refuse_parameters()
    wanted, at_once = _wanted(options, arguments)
    stop = on_signals()
    graph = open_graph(arguments, NODE_NAME)
    try:
        recorder = Recorder(graph, path, at_once, wanted=wanted)
        stop.wakes(graph.wake)
        print(f"vds-gz record: {path}; Ctrl-C ends it", flush=True)
        took = _record(graph, recorder, options.duration, stop)
    except OSError as error:
        raise ArgumentError(f"output '{path}' cannot be written: {error.strerror}") from None
    finally:
        graph.close()
    _tell(recorder, took, path)
    missing = [name for name in map(arguments.topic, options.topics) if name not in recorder.counts]
    for name in missing:
        print(f"vds-gz record: nothing came on '{name}'", file=sys.stderr)
    return DONE if recorder.counts and not missing else FAILED


def _parser() -> argparse.ArgumentParser:
    parser = CommandLine("vds-gz record", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("topics", metavar="TOPIC", nargs="*", help="topics to record (all topics of a vehicle)")
    parser.add_argument("--all", action="store_true", help="record every topic on the graph")
    parser.add_argument("--sensors", action="store_true", help="also record the topics of the vehicle's sensors")
    add_except_option(parser, "a topic to leave out; repeatable")
    parser.add_argument("-n", "--namespace", metavar="NAME", default="", help="the vehicle's namespace (none)")
    parser.add_argument("-o", "--output", metavar="FILE", help="the .mcap file to write (one named after the time)")
    parser.add_argument("--duration", type=positive, metavar="S", help="seconds to record")
    add_domain_option(parser)
    return parser


def _wanted(options: argparse.Namespace, arguments: Arguments) -> tuple[Callable[[str], bool], list[topics.Topic]]:
    """The topics to record when they appear, and those to subscribe to at once, before anyone publishes them.

    The clock is not among the latter: its reliability varies and is only known by discovery.
    """
    if options.topics and (options.all or options.sensors):
        option = "--all records every topic" if options.all else "--sensors adds those of sensors to a vehicle's own"
        raise ArgumentError(f"{option}; leave it out, or the names of topics")
    left_out = {arguments.topic(name) for name in options.left_out}
    named = {arguments.topic(name) for name in options.topics}
    known = (*vehicle_topics(), *model_topics(), *topics.SURROUNDINGS)
    own = {arguments.topic(topic.name) for topic in known}
    place = arguments.topic("x")[:-1]

    def wanted(name: str) -> bool:
        # A rule that renames a topic makes it unreachable under its own name.
        if name in left_out or arguments.topic(name) != name:
            return False
        if options.topics or options.all:
            return options.all or name in named
        return name in own or (options.sensors and name.startswith(place) and is_of_sensor(name.removeprefix(place)))

    vehicle = (topic for topic in vehicle_topics() if topic is not topics.CLOCK_IN)
    return wanted, [topic for topic in vehicle if wanted(arguments.topic(topic.name))]


def _record(graph: Graph, recorder: Recorder, duration: float | None, stop: StopRequest) -> float:
    """Record until the time is over or a signal comes; return the duration [s]."""
    begin = shown = now = time.monotonic()
    end = math.inf if duration is None else begin + duration
    waiting = True
    try:
        with progress("recording", duration) as advance:
            while not stop.requested and now < end:
                graph.wait(min(LONGEST_SLEEP, end - now))
                now = time.monotonic()
                if now - shown < LONGEST_SLEEP:
                    continue
                recorder.tick()
                advance(now - shown)
                shown = now
                if waiting and now - begin > PATIENCE:
                    waiting = False
                    _warn(graph, recorder)
        recorder.tick()
    finally:
        recorder.close()
    return now - begin


def _warn(graph: Graph, recorder: Recorder) -> None:
    """Warn if no message has come."""
    if not recorder.counts:
        there = ", ".join(sorted(graph.offers())) or "none"
        print(
            f"vds-gz record: nothing has come in {PATIENCE:g} s; still waiting. Topics on the graph: {there}. Is the "
            "vehicle running, and are ROS_DOMAIN_ID and the namespace the same?",
            file=sys.stderr,
            flush=True,
        )


def _tell(recorder: Recorder, took: float, path: Path) -> None:
    """Print the recorded topics, and the types that lack a definition or were left out."""
    counts = recorder.counts
    rows = [(name, str(count), f"{count / took:.1f}") for name, count in sorted(counts.items())]
    if rows:
        print(text_table(("topic", "messages", "per second"), rows))
    print(f"{sum(counts.values())} messages in {took:.1f} s, {path.stat().st_size / 1e6:.2f} MB in {path}")
    for name in sorted(recorder.undefined):
        print(f"vds-gz record: the definition of type '{name}' is not known; readers of the file need it")
    for name, reason in sorted(recorder.left_out.items()):
        print(f"vds-gz record: topics of type '{name}' were left out: {reason}", file=sys.stderr)
