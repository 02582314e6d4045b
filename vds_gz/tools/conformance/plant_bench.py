"""A bench for plants: makes them without a node, drives them, and samples them, for the check of plants."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from time import monotonic, sleep
from typing import NamedTuple, TypeVar

from vds_gz.core.geometry import Attitude
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.plant.base import Plant
from vds_gz.core.plant.plant_setup import installed_plant, plant_setup
from vds_gz.core.plant.plant_types import PlantType
from vds_gz.core.vehicle.command import ACKERMANN, Command, ackermann, twist
from vds_gz.core.vehicle.vehicle import NANOSECONDS, Motion
from vds_gz.core.vehicle.vehicle_model import JointStates

T = TypeVar("T")

#: Time at which the plants start [ns]: that of a clock, not 0.
START = 1_700_000_000 * NANOSECONDS

#: Real time in which a plant that gives time must observe what is due [s].
PATIENCE = 10.0

#: Speed of commands [m/s] to vehicles without a limit, and the highest to others.
SPEED = 2.0


class LateError(Exception):
    """A plant that gives time does not observe what is due, or no longer knows the time."""


class Sample(NamedTuple):
    """What a plant says of an instant."""

    motion: Motion
    attitude: Attitude | None
    joints: JointStates

    def numbers(self) -> dict[str, float]:
        """All numbers by name."""
        numbers = {f"motion().{field.name}": getattr(self.motion, field.name) for field in fields(Motion)}
        if self.attitude is not None:
            numbers |= {f"attitude().{field.name}": getattr(self.attitude, field.name) for field in fields(Attitude)}
        for what in ("positions", "velocities"):
            values = enumerate(getattr(self.joints, what))
            numbers |= {f"joint_states().{what}[{k}]": value for k, value in values}
        return numbers


@dataclass(frozen=True)
class Bench:
    """Makes plants of one kind for one vehicle.

    Attributes:
        name: Name of the plant.
        kind: Its record.
        parameters: Those of the vehicle.
    """

    name: str
    kind: PlantType
    parameters: NodeParameters

    @contextmanager
    def plant(self) -> Iterator[Plant]:
        """A new plant at its first instant; it is closed at the end."""
        own = self.parameters.plant_params.get(self.name) or self.kind.parameters()
        plant = installed_plant(self.kind, plant_setup(self.parameters, own))
        try:
            plant.vehicle.skip_to(until(plant.observe, "observe() returned None") if plant.gives_time else START)
            yield plant
        finally:
            plant.close()


def command(plant: Plant, turn: float = 0.0) -> Command:
    """A command well within the vehicle's limits: forwards, and to the left by a ``turn`` of -1 to 1."""
    model, parameters = plant.vehicle.model, plant.vehicle.parameters
    limits, geometry = model.limits(parameters), model.geometry(parameters)
    speed = 0.5 * min(limits.speed or SPEED, SPEED)
    if ACKERMANN in model.accepts:
        return ackermann(speed, turn * 0.5 * min(limits.steering or 0.6, 0.6))
    return twist(speed, 0.0, turn * 0.5 * speed / (geometry.yaw_arm or geometry.wheel_base))


def enter(plant: Plant, turn: float = 0.0) -> None:
    """Give a plant's vehicle a command now."""
    plant.vehicle.enter(command(plant, turn), plant.vehicle.time)


def advance(plant: Plant, time: int) -> None:
    """Advance a plant to a time [ns] as the node does; raise LateError if it does not come that far."""
    if plant.gives_time:
        until(lambda: _turn(plant, time), f"observe() did not reach {time} ns")
        until(lambda: plant.seen(time) or (_turn(plant, time) and None), f"seen({time}) stayed false")
    else:
        for moment in _command_times(plant, time):
            plant.advance(moment)
            plant.command(moment)
        plant.advance(time)


def _command_times(plant: Plant, end: int) -> list[int]:
    """The times up to ``end`` at which a plant with a ``command_rate`` commands, on whole steps [ns]."""
    if not plant.command_rate:
        return []
    vehicle = plant.vehicle
    interval = max(1, round(vehicle.step_rate / plant.command_rate))
    steps = range(vehicle.steps + 1, vehicle.steps_until(end) + 1)
    return [vehicle.time_of(step) for step in steps if step % interval == 0]


def _turn(plant: Plant, end: int) -> bool | None:
    """One turn of the loop of a plant that gives time; true at the end."""
    now = plant.observe()
    if now is None:
        raise LateError("observe() returned None after it had known the time")
    plant.advance(min(now, end))
    plant.command(now)
    return now >= end or None


def advance_by(plant: Plant, seconds: float, period: float = 0.0) -> list[Sample]:
    """Advance a plant by some time [s]; sample it in periods [s], by default at the end only."""
    start, count = plant.vehicle.time, max(1, round(seconds / period)) if period else 1
    samples = []
    for k in range(1, count + 1):
        time = start + round(k * seconds / count * NANOSECONDS)
        advance(plant, time)
        samples.append(sample(plant, time))
    return samples


def sample(plant: Plant, time: int | None = None) -> Sample:
    """What a plant says of a time [ns], by default the present."""
    time = plant.vehicle.time if time is None else time
    attitude = None if plant.flat else plant.attitude(time)
    return Sample(plant.motion(time), attitude, plant.joint_states(time))


def until(condition: Callable[[], T | None], text: str) -> T:
    """The first result of a condition that is not None or false; raise LateError after :data:`PATIENCE`."""
    deadline = monotonic() + PATIENCE
    while not (result := condition()):
        if monotonic() > deadline:
            raise LateError(f"{text} within {PATIENCE:g} s")
        sleep(0.001)
    return result
