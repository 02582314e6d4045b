"""Records runs for a comparison: of running vehicles, and of one that is started in Gazebo."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vds_gz.core import configuration
from vds_gz.core.errors import ArgumentError, FailureError
from vds_gz.core.parameters.yaml_reader import read_parameter_file
from vds_gz.core.plant.gazebo.links.link_types import LINKS
from vds_gz.core.ros.arguments import Arguments, parse
from vds_gz.core.ros.open_graph import open_graph
from vds_gz.programs.bags.recorder import Recorder
from vds_gz.programs.commandlog.command_log import CommandLog, write_csv
from vds_gz.programs.interface import topics
from vds_gz.programs.interface.commands import vehicle_topics
from vds_gz.programs.interface.model_reports import model_topics
from vds_gz.tools.study.progress import progress
from vds_gz.tools.study.session import Session, write_parameters

NODE_NAME = "compare"

#: Longest sleep, so that the file is written regularly [s].
LONGEST_SLEEP = 0.05

#: Time for a vehicle's first message [s].
PATIENCE = 10.0

#: Time for Gazebo to start [s].
GAZEBO_STARTS_WITHIN = 60.0


#: Global topics that are remapped for a vehicle in Gazebo.
SHARED = tuple(topic.name for topic in (topics.CLOCK, topics.TF, topics.TF_STATIC, topics.DIAGNOSTICS))


@dataclass(frozen=True, slots=True)
class Gazebo:
    """Settings of a vehicle in Gazebo."""

    world: str = "empty"  # a world of this package, or an SDF file
    link: str = "auto"  # the link to the joints; auto: in step with physics if Gazebo's Python bindings are installed


def record_live(namespaces: Sequence[str], path: Path, duration: float, arguments: Arguments) -> None:
    """Record running vehicles into one file, as soon as all of them publish."""
    graph = open_graph(arguments, NODE_NAME)
    names = dict.fromkeys(_in(place, topic) for place in namespaces for topic in (*vehicle_topics(), *model_topics()))
    # Commands may come from outside the namespaces, for several vehicles.
    recorder = Recorder(graph, path, wanted={*names, *(_in("/", topic) for topic in vehicle_topics())}.__contains__)
    try:
        begin = now = time.monotonic()
        publishing = False
        with progress(f"recording {' and '.join(namespaces)}", duration) as advance:
            while now < begin + (duration if publishing else PATIENCE):
                graph.wait(LONGEST_SLEEP)
                recorder.tick()
                previous, now = now, time.monotonic()
                advance(now - previous if publishing else 0.0)
                if not publishing and not _silent(namespaces, recorder):
                    publishing, begin = True, now
                    print(f"recording {' and '.join(namespaces)} for {duration:g} s", flush=True)
        if silent := _silent(namespaces, recorder):
            there = ", ".join(sorted(graph.offers())) or "none"
            raise FailureError(
                f"nothing came from the vehicle in namespace '{silent[0]}' within {PATIENCE:g} s, on "
                f"'{topics.GROUND_TRUTH.name}' or '{topics.ODOM.name}'. Topics on the graph: {there}. Is ROS_DOMAIN_ID "
                "the same?"
            )
    finally:
        recorder.close()
        graph.close()


def _in(namespace: str, topic: topics.Topic) -> str:
    """The absolute name of a topic in a namespace."""
    return topic.name if topic.name.startswith("/") else f"/{namespace.strip('/')}/{topic.name}".replace("//", "/")


def _silent(namespaces: Sequence[str], recorder: Recorder) -> list[str]:
    """Vehicles without a pose yet."""
    counts = recorder.counts
    motions = (topics.GROUND_TRUTH, topics.ODOM)
    return [place for place in namespaces if not any(counts[_in(place, topic)] for topic in motions)]


def run_in_gazebo(parameters: Path, log: CommandLog, folder: Path, gazebo: Gazebo) -> Path:
    """Start Gazebo with a vehicle, drive it with a log, and end it.

    Gazebo has its own partition and the vehicle its own namespace, so other programs on this machine do not interfere.
    """
    if shutil.which("gz") is None:
        raise ArgumentError("comparing with Gazebo needs Gazebo, and the program 'gz' is not in the PATH")
    folder.mkdir(parents=True, exist_ok=True)
    write_csv(log, folder / "log.csv")
    namespace = f"compare_{os.getpid()}"
    ours = [f"__ns:=/{namespace}", *(f"{name}:={name[1:]}" for name in SHARED)]
    remaps = ["--ros-args", *(part for rule in ours for part in ("-r", rule))]
    file = write_parameters(read_parameter_file(str(parameters), f"/{configuration.NODE_NAME}"), folder)
    link = "system" if gazebo.link == "auto" and not LINKS["system"].fault() else gazebo.link
    node = ["--params", str(file), "--headless", "--world", gazebo.world, "--link", link]
    driver = [str(folder / "log.csv"), "--wait", str(GAZEBO_STARTS_WITHIN)]
    session = Session(
        parameters.stem,
        [*node, *remaps, "-p", "be_reference_clock:=true"],
        parse(remaps, NODE_NAME),
        folder,
        show=False,
        program="vds_gz.cli.gazebo",
        environment={"GZ_IP": "127.0.0.1", **os.environ, "GZ_PARTITION": f"{namespace}_{time.time_ns()}"},
    )
    with session, progress("driving in Gazebo", log.duration) as advance:
        previous = time.monotonic()

        def report_progress() -> None:
            nonlocal previous
            earlier, previous = previous, time.monotonic()
            advance(previous - earlier)

        session.drive([*driver, *remaps, "-p", "use_sim_time:=true"], report_progress)
    return folder / "recording.mcap"
