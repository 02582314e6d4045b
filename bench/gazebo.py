"""Figures of the Gazebo backend on a real server: ``python bench/gazebo.py [delay] [pace] [parity] [live]``, or all.

``parity`` compares every vehicle with its kinematics in step with Gazebo, as the link ``system`` does, and identifies
its dead times and time constants; ``live`` compares over ``transport`` in real time, which needs an idle machine.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vds_gz.core.configuration import load_parameters, parameters_of

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "test")]

from helpers.identified_responses import answers  # noqa: E402
from helpers.parity import Pair, Sample, averaged, error, manoeuvres, speed, yaw_rate  # noqa: E402
from helpers.stepped import drive  # noqa: E402

from vds_gz.cli.gazebo import environment, in_step  # noqa: E402
from vds_gz.core.description import gz_topics as topics  # noqa: E402
from vds_gz.core.description.sdf import sdf  # noqa: E402
from vds_gz.core.parameters.declaration import Override  # noqa: E402
from vds_gz.core.parameters.node import NodeParameters  # noqa: E402
from vds_gz.core.plant.gazebo.gazebo_server import Server, Spawn, populated  # noqa: E402
from vds_gz.core.plant.gazebo.links import bindings  # noqa: E402
from vds_gz.core.share import share  # noqa: E402
from vds_gz.core.vehicle.catalogue import models  # noqa: E402

PRESETS = (
    *("ackermann_car", "autoware_car", "autoware_delay_car", "deepracer", "f1tenth", "forklift", "indoor_robot"),
    *("midsize_car", "scaled_car", "slippery_forklift"),
)

#: Vehicle models with parameters in ``vds_defaults``; the others have their own defaults.
IN_FILE = ("bicycle", "differential", "omni")

#: Presets, and all vehicle models with their defaults.
VEHICLES = {
    **{name: (name,) for name in PRESETS},
    **{name: ("vds_defaults" if name in IN_FILE else "", ("model", name)) for name in models()},
}

#: Vehicles for ``live``: with lags and without, heavy and light, of each kind.
LIVE = ("ackermann_car", "autoware_car", "deepracer", "scaled_car", "differential", "omni")

SECONDS = 10.0


def preset(name: str, *overrides: tuple[str, object]) -> NodeParameters:
    """A preset's parameters; without a name, the defaults of the model in ``overrides``."""
    if not name:
        return parameters_of([Override(parameter, value, "bench") for parameter, value in overrides])
    return load_parameters(name, dict(overrides))


@contextmanager
def server(parameters: NodeParameters, world: str = "empty", inside: list[str] | None = None) -> Iterator[Server]:
    """A world with the vehicle, in its own partition; ``inside`` is the command line of a node inside the server."""
    os.environ["GZ_PARTITION"] = f"vds_gz_{os.getpid()}_{time.monotonic_ns()}"
    text = sdf(models()[parameters.model], parameters.vehicle, sensors=parameters.sensors)
    if inside is not None:
        text = in_step(text, inside)
    running = Server(populated(share("worlds", f"{world}.sdf"), [Spawn(text)])[1], environment=environment())
    try:
        yield running
    finally:
        running.stop()


@contextmanager
def node(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-m", "vds_gz.programs.nodes.sim_node", "--ros-args", *arguments])
    try:
        yield process
    finally:
        process.terminate()
        process.wait(10.0)


def parity() -> None:
    """Compare vehicles in Gazebo, in step, with their kinematics, and identify their actuators."""
    print(f"{'vehicle':38}speed / yaw rate, RMS in % of the peak; actuators: identified (configured) [s]")
    for name, (file, *overrides) in VEHICLES.items():
        parameters = preset(file, *overrides)
        os.environ["GZ_PARTITION"] = f"vds_gz_{os.getpid()}_{time.monotonic_ns()}"
        wanted = manoeuvres(parameters)
        driven = drive(parameters, wanted)
        show(name, driven)
        for answer in answers(parameters, wanted, driven):
            found = "no lag" if answer.found is None else "dead time {:.4f}, time constant {:.4f}".format(*answer.found)
            verdict = "agrees" if answer.agrees() else "differs"
            print(
                f"{'':38}{answer.actuator}: {found} ({answer.configured[0]:g}, {answer.configured[1]:g}), {verdict}",
                flush=True,
            )


def live() -> None:
    """Compare vehicles over transport with their kinematics, by mean velocities between samples."""
    for name in LIVE:
        file, *overrides = VEHICLES[name]
        parameters = preset(file, *overrides)
        driven = {}
        with server(parameters):
            for manoeuvre in manoeuvres(parameters):
                pair = Pair(parameters)
                driven[manoeuvre.name] = averaged(pair.drive(manoeuvre.commands, manoeuvre.seconds))
                pair.plant.close()
        show(name, driven)


def show(name: str, driven: dict[str, list[Sample]]) -> None:
    errors = (f"{what} {error(seen, speed):.2%} / {error(seen, yaw_rate):.2%}" for what, seen in driven.items())
    print(f"{name:38}{', '.join(errors)}", flush=True)


def delay() -> None:
    """Measure the time from a clock tick's arrival to its joint command, in the link and from outside."""
    parameters = preset("ackermann_car", ("gazebo.world", "empty"))
    with server(parameters):
        inside(parameters)
        with node("-p", "backend:=gazebo", "-p", "model:=bicycle", "-p", "gazebo.world:=empty"):
            outside()


def inside(parameters: NodeParameters) -> None:
    pair = Pair(parameters)
    ticked, delays = [0.0], []
    on_clock, send = pair.link._on_clock, pair.link.send

    def tick(message: Any) -> None:
        ticked[0] = time.perf_counter()
        on_clock(message)

    def sent(*values: Any) -> None:
        send(*values)
        delays.append(time.perf_counter() - ticked[0])

    pair.link._on_clock, pair.link.send = tick, sent
    pair.link._node.unsubscribe("/world/empty/clock")
    pair.link._follow("empty")
    pair.drive(manoeuvres(parameters)[0].commands, 5.0)
    pair.plant.close()
    report("in the layer: tick received -> command sent", delays[50:])


def outside() -> None:
    listener = bindings.transport().Node()
    last, delays = [0.0], []

    def tick(message: Any) -> None:
        last[0] = time.perf_counter()

    def command(message: Any) -> None:
        delays.append(time.perf_counter() - last[0])

    listener.subscribe(bindings.message("clock", "Clock"), "/world/empty/clock", tick)
    listener.subscribe(bindings.message("actuators", "Actuators"), topics.actuators("vehicle"), command)
    time.sleep(SECONDS)
    for topic in listener.subscribed_topics():
        listener.unsubscribe(topic)
    time.sleep(0.3)
    report("from outside: last tick seen -> command seen", delays[200:])


def report(what: str, delays: list[float]) -> None:
    ordered = sorted(delays)
    median, p99 = statistics.median(ordered), ordered[round(0.99 * (len(ordered) - 1))]
    print(f"{what}: median {median * 1e3:.2f} ms, p99 {p99 * 1e3:.2f} ms, {len(ordered)} commands", flush=True)


def pace() -> None:
    """Measure simulated seconds per second, on the test track, with one vehicle and an IMU."""
    imu = (("sensors.imu1.type", "imu"),)
    parameters = preset("ackermann_car", *imu)
    car = ("--params-file", str(share("config", "ackermann_car.yaml")), "-p", "backend:=gazebo")
    with server(parameters, "track") as running:
        measure_pace("transport, server alone", running)
        with node(*car, "-p", "gazebo.world:=track"):
            measure_pace("transport, server and node", running)
    with server(parameters, "track", ["--ros-args", *car]) as running:
        measure_pace("system, server with node inside", running)


def measure_pace(what: str, running: Server) -> None:
    listener = bindings.transport().Node()
    seen: list[tuple[float, float]] = []

    def look(message: Any) -> None:
        seen.append((time.perf_counter(), message.sim_time.sec + message.sim_time.nsec * 1e-9))

    listener.subscribe(bindings.message("world_stats", "WorldStatistics"), "/world/track/stats", look)
    time.sleep(6.0)
    begin, used = len(seen), cpu(running.process.pid)
    time.sleep(SECONDS)
    listener.unsubscribe("/world/track/stats")
    (t0, s0), (t1, s1) = seen[begin], seen[-1]
    share_of_core = (cpu(running.process.pid) - used) / SECONDS
    print(f"{what}: real-time factor {(s1 - s0) / (t1 - t0):.3f}, server {share_of_core:.0%} of a core", flush=True)


def cpu(process: int) -> float:
    """Processor time of a process [s]."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    os.environ.setdefault("GZ_IP", "127.0.0.1")
    os.environ.setdefault("ROS_DOMAIN_ID", str(100 + os.getpid() % 100))
    parts = {"delay": delay, "pace": pace, "parity": parity, "live": live}
    for part in sys.argv[1:] or parts:
        parts[part]()
