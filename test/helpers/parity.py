"""A vehicle in a real Gazebo and the same one moved by its kinematics, told the same at the same time, compared.

Two ways lead to Gazebo. In step with it (stepped.py) every joint command acts in the step that it was made for, and the
velocities of both can be compared as they are. Over transport, in real time, a command may act a step of the physics
early or late: Gazebo tells its clock just before the step begins, so whoever answers at once is in time for that step,
and otherwise for the next one. An actuator that jumps then jumps 1 ms early, and a velocity that is taken over the last
5 ms is wrong by a fifth of the jump for 5 ms. What counts there is how far both have moved between two samples.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from itertools import pairwise
from threading import Event
from typing import NamedTuple

from helpers.guest import of_guest
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.plant.gazebo.gazebo_plant import GazeboPlant
from vds_gz.core.plant.gazebo.links.transport import TransportLink
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.command import ACKERMANN, Command, ackermann, twist
from vds_gz.core.vehicle.make_vehicle import make_vehicle
from vds_gz.core.vehicle.vehicle import NANOSECONDS, Motion

#: Between two samples, as the node publishes [ns].
PERIOD = 20_000_000

#: How often commands are given again, so that none times out [s].
AGAIN = 0.1


class Sample(NamedTuple):
    """At a time since the beginning [s], what Gazebo did and what the kinematics did."""

    time: float
    gazebo: Motion
    wanted: Motion


class Pair:
    """Both vehicles, the one in Gazebo over transport."""

    def __init__(self, parameters: NodeParameters) -> None:
        self._news = Event()
        self._reference = make_vehicle(parameters)
        vehicle = make_vehicle(parameters, moves=False)
        self.link = TransportLink(parameters.gazebo)
        self.plant = GazeboPlant(vehicle, parameters.gazebo, self.link, self._news.set, print)

    def wait(self) -> int | None:
        self._news.wait(0.1)
        self._news.clear()
        return self.plant.observe()

    def drive(self, commands: Sequence[tuple[float, Command]], seconds: float) -> list[Sample]:
        """Give commands at times since the beginning [s]."""
        now = None
        while now is None or not self.plant.seen(now - PERIOD):
            now = self.wait()
        begin = now - now % PERIOD + PERIOD
        for vehicle in (self.plant.vehicle, self._reference):
            vehicle.skip_to(begin)
            for at, command in commands:
                vehicle.enter(command, begin + round(at * NANOSECONDS))
        wanted: list[tuple[int, Motion]] = []
        samples: list[Sample] = []
        due = begin + PERIOD
        while len(samples) * PERIOD < seconds * NANOSECONDS:
            now = self.wait()
            if now is None or now < begin:
                continue
            while due <= now:
                self._reference.advance(due)
                wanted.append((due, self._reference.motion()))
                due += PERIOD
            self.plant.command(now)
            while wanted and self.plant.seen(wanted[0][0]):
                at, motion = wanted.pop(0)
                samples.append(Sample((at - begin) * 1e-9, self.plant.motion(at), motion))
        return samples


class Manoeuvre(NamedTuple):
    name: str
    commands: list[tuple[float, Command]]
    seconds: float


def manoeuvres(parameters: NodeParameters) -> list[Manoeuvre]:
    """A step, a turn, a slalom and a reversal for a vehicle, and a launch if it takes accelerations; from rest to rest.

    Something is asked for every :data:`AGAIN` seconds, nothing in the beginning.
    """
    p = parameters.vehicle
    drive = getattr(p, "drive_actuator", None) or getattr(p, "drive_actuators", None)
    speed = 0.6 * min(drive.max_velocity or 2.0, 5.0) if drive else 3.0
    takes_angle = ACKERMANN in models()[parameters.model].accepts
    steering = getattr(p, "steering_actuator", None)
    angle = 0.36 * min(1.0, getattr(steering, "max_position", 0.6) or 1.0)
    length = getattr(p, "wheel_base", None) or p.track

    def go(v: float, curve: float = 0.0) -> Command:
        if takes_angle:
            return ackermann(v, angle * curve)
        return twist(v, 0.0, curve * 0.4 * speed / max(length, 0.4))

    def held(*phases: tuple[float, Command], end: float) -> list[tuple[float, Command]]:
        filled = []
        for (start, command), stop in zip(phases, [*(start for start, _ in phases[1:]), end], strict=True):
            filled += [(start + AGAIN * i, command) for i in range(math.ceil((stop - start) / AGAIN - 1e-6))]
        return filled

    swings = [(0.3 + 0.02 * i, go(speed, math.sin(0.06 * i))) for i in range(150)]
    back = -speed if getattr(p, "allow_reverse", True) else 0.3 * speed
    launches = [
        held((0.0, go(0.0)), (0.3, control(20.0, 1.0, 0.0)), (2.3, control(0.0, -0.8, 0.0)), (3.8, go(0.0)), end=6.0)
        for control in of_guest("vds_gz.autoware.vehicle.command_kinds:control")
        if "control" in {kind.name for kind in models()[parameters.model].accepts}
    ]
    return [
        Manoeuvre("step", held((0.0, go(0.0)), (0.3, go(speed)), (2.8, go(0.0)), end=5.0), 5.0),
        Manoeuvre("turn", held((0.0, go(0.0)), (0.3, go(speed)), (1.5, go(speed, 1.0)), (3.5, go(0.0)), end=5.5), 5.5),
        Manoeuvre("slalom", [*swings, *held((3.3, go(0.0)), end=5.5)], 5.5),
        Manoeuvre(
            "reversal", held((0.0, go(0.0)), (0.3, go(speed, 0.5)), (2.3, go(back, 0.5)), (4.3, go(0.0)), end=6.0), 6.0
        ),
        *(Manoeuvre("launch", launch, 6.0) for launch in launches),
    ]


def error(samples: Sequence[Sample], what: Callable[[Motion], float]) -> float:
    """RMS difference between Gazebo and the kinematics, in parts of the kinematics' peak; where that is 0, the RMS."""
    pairs = [(what(sample.gazebo), what(sample.wanted)) for sample in samples]
    peak = max(abs(wanted) for _, wanted in pairs)
    rms = math.sqrt(statistics.fmean((got - wanted) ** 2 for got, wanted in pairs))
    return rms / peak if peak > 1e-9 else rms


def averaged(samples: Sequence[Sample]) -> list[Sample]:
    """The same with mean velocities since the sample before, as the poses say."""
    return [
        Sample(
            after.time, *(_moved(a, b, after.time - before.time) for a, b in zip(before[1:], after[1:], strict=True))
        )
        for before, after in pairwise(samples)
    ]


def _moved(before: Motion, after: Motion, interval: float) -> Motion:
    turn = math.remainder(after.heading - before.heading, math.tau)
    cosine, sine = math.cos(before.heading + turn / 2), math.sin(before.heading + turn / 2)
    x, y = after.x - before.x, after.y - before.y
    v_x, v_y = (cosine * x + sine * y) / interval, (cosine * y - sine * x) / interval
    return Motion(after.x, after.y, after.heading, v_x, v_y, turn / interval)


def speed(motion: Motion) -> float:
    return motion.v_x


def lateral_speed(motion: Motion) -> float:
    return motion.v_y


def yaw_rate(motion: Motion) -> float:
    return motion.yaw_rate
