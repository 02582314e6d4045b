"""Figures of the Gazebo backend on a real server: ``python bench/gazebo.py [parity] [delay] [pace]``."""

from __future__ import annotations

import math
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from vds_gz.nodes.plants import vehicle_of
from vds_gz.parameters.load import Override, load
from vds_gz.parameters.node import NodeParameters
from vds_gz.plant.gazebo.plant import GazeboPlant
from vds_gz.plant.gazebo.server import Server, Spawn, populated
from vds_gz.plant.gazebo.transport import TransportLink
from vds_gz.ros.parameter_yaml import read_parameter_file
from vds_gz.share import share
from vds_gz.simulation_model import sdf
from vds_gz.vehicle.catalogue import models
from vds_gz.vehicle.command import ACKERMANN, TWIST, Command, ackermann, twist
from vds_gz.vehicle.vehicle import NANOSECONDS, Motion

PRESETS = ("ackermann_car", "deepracer", "forklift", "indoor_robot", "scaled_car", "vds_defaults")

#: Between two samples, as the node publishes [ns].
PERIOD = 20_000_000


def preset(name: str, *overrides: tuple[str, object]) -> NodeParameters:
    given = read_parameter_file(str(share("config", f"{name}.yaml")), "/sim_node")
    given += [Override(key, value) for key, value in overrides]
    return load(given, {key: model.parameters for key, model in models().items()})


@contextmanager
def server(parameters: NodeParameters, world: str = "empty", pace: float | None = None):
    """A world with the vehicle, in a partition of its own."""
    os.environ["GZ_PARTITION"] = f"vds_gz_{os.getpid()}_{time.monotonic_ns()}"
    model = models()[parameters.model]
    _, text = populated(share("worlds", f"{world}.sdf"), [Spawn(sdf(model, parameters.vehicle))], pace)
    running = Server(text)
    try:
        yield running
    finally:
        running.stop()


class Pair:
    """The vehicle in Gazebo, and beside it the same one moved by its kinematics, both told the same at the same time."""

    def __init__(self, parameters: NodeParameters) -> None:
        model = models()[parameters.model]
        self.news = Event()
        self.reference = vehicle_of(parameters, model, moves=True)
        vehicle = vehicle_of(parameters, model, moves=False)
        link = TransportLink(parameters.gazebo)
        self.plant = GazeboPlant(vehicle, parameters.gazebo, link, self.news.set, print)

    def wait(self) -> int | None:
        self.news.wait(0.1)
        self.news.clear()
        return self.plant.observe()

    def drive(self, commands: Sequence[tuple[float, Command]], seconds: float) -> list[tuple[int, Motion, Motion]]:
        """Commands at times since the beginning [s]; samples of what Gazebo and the kinematics did."""
        now = None
        while now is None or self.plant._history.last is None:
            now = self.wait()
        begin = now - now % PERIOD + PERIOD
        for vehicle in (self.plant.vehicle, self.reference):
            vehicle.skip_to(begin)
            for at, command in commands:
                vehicle.enter(command, begin + round(at * NANOSECONDS))
        wanted: list[tuple[int, Motion]] = []
        samples: list[tuple[int, Motion, Motion]] = []
        due = begin + PERIOD
        while len(samples) < seconds * NANOSECONDS / PERIOD:
            now = self.wait()
            if now is None or now < begin:
                continue
            while due <= now:
                self.reference.advance(due)
                wanted.append((due, self.reference.motion()))
                due += PERIOD
            self.plant.command(now)
            while wanted and self.plant.seen(wanted[0][0]):
                at, motion = wanted.pop(0)
                samples.append((at - begin, self.plant.motion(at), motion))
        return samples


def manoeuvres(parameters: NodeParameters) -> list[tuple[str, list[tuple[float, Command]], float]]:
    """A step, a turn, a slalom and a reversal for a vehicle; each begins and ends at rest."""
    p = parameters.vehicle
    drive = getattr(p, "drive_actuator", None) or p.drive_actuators
    speed = 0.6 * min(drive.max_velocity or 2.0, 5.0)
    length = getattr(p, "wheel_base", None) or p.track
    takes_angle = ACKERMANN in models()[parameters.model].accepts

    def go(v: float, curve: float = 0.0) -> Command:
        angle = 0.6 * curve * min(0.6, getattr(getattr(p, "steering_actuator", None), "max_position", 0.6) or 0.6)
        return ackermann(v, angle) if takes_angle else twist(v, 0.0, curve * 0.4 * speed / max(length, 0.4))

    def repeated(phases: Sequence[tuple[float, Command]], end: float) -> list[tuple[float, Command]]:
        """A command each 0.1 s, so that none times out."""
        filled = []
        for (start, command), stop in zip(phases, [*(s for s, _ in phases[1:]), end], strict=True):
            filled += [(start + 0.1 * i, command) for i in range(max(1, math.ceil((stop - start) / 0.1 - 1e-6)))]
        return filled

    back = -speed if getattr(p, "allow_reverse", True) else 0.3 * speed
    plans = {
        "step": ([(0.5, go(speed)), (4.5, go(0.0))], 8.0),
        "turn": ([(0.5, go(speed, 1.0)), (4.5, go(0.0))], 8.0),
        "slalom": ([(0.5 + 0.02 * i, go(speed, math.sin(0.05 * i))) for i in range(250)] + [(5.5, go(0.0))], 8.0),
        "reversal": ([(0.5, go(speed, 0.5)), (3.5, go(back, 0.5)), (6.0, go(0.0))], 8.5),
    }
    return [(name, repeated(phases, end), end) for name, (phases, end) in plans.items()]


def error(samples: Sequence[tuple[int, Motion, Motion]], what: Callable[[Motion], float], delay: float = 0.0) -> float:
    """RMS difference between Gazebo and the kinematics in parts of the peak; Gazebo moved ``delay`` earlier [s]."""
    got = [what(sample[1]) for sample in samples]
    wanted = [what(sample[2]) for sample in samples]
    peak = max(map(abs, wanted))
    if peak < 1e-9:
        return max(map(abs, got))
    return math.sqrt(statistics.fmean((a - b) ** 2 for a, b in zip(got, wanted, strict=True))) / peak


def parity(names: Sequence[str] = PRESETS) -> None:
    """How well the vehicle in Gazebo follows the kinematics."""
    print(f"{'vehicle':24}{'manoeuvre':12}{'speed':>10}{'yaw rate':>10}   RMS of the peak")
    for name in names:
        variants = [()]
        if name == "vds_defaults":
            variants = [(("model", kind),) for kind in ("bicycle", "differential", "omni")]
        for overrides in variants:
            parameters = preset(name, *overrides)
            label = name if len(variants) == 1 else f"{name} {overrides[0][1]}"
            with server(parameters):
                for manoeuvre, commands, seconds in manoeuvres(parameters):
                    pair = Pair(parameters)
                    samples = pair.drive(commands, seconds)
                    lags = dict(pair.plant.status().values)
                    pair.plant.close()
                    speed, turn = (error(samples, pick) for pick in (lambda m: m.v_x, lambda m: m.yaw_rate))
                    print(f"{label:24}{manoeuvre:12}{speed:10.3%}{turn:10.3%}   {lags}", flush=True)


if __name__ == "__main__":
    os.environ.setdefault("GZ_IP", "127.0.0.1")
    wanted = sys.argv[1:] or ["parity"]
    if "parity" in wanted:
        parity([name for name in wanted if name in PRESETS] or PRESETS)
