"""Random parameters and commands, for any vehicle model."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vds_gz.core.parameters.declaration import Description, ParameterError, ParameterGroup, Value, describe
from vds_gz.core.vehicle.command import DRIVE, REVERSE, Command, CommandKind
from vds_gz.core.vehicle.vehicle_model import AnyModel
from vds_gz.tools.conformance.groups import with_values
from vds_gz.tools.fleet.layout import list_lengths

#: Maximum number of draws until parameters do not contradict each other; each changes fewer of them.
DRAWS = 8


def random_parameters(model: AnyModel, random: np.random.Generator, spread: float = 2.0) -> ParameterGroup:
    """The defaults with some flags and choices changed, and some numbers by a factor of up to ``spread``."""
    default: ParameterGroup = model.parameters()
    numbers = "double", "integer", "bool"
    candidates = [candidate for candidate in describe(default) if candidate.type in numbers or candidate.choices]
    share = 0.7
    for _ in range(DRAWS):
        drawn = [candidate for candidate in candidates if random.random() < share]
        try:
            return with_values(default, {item.name: random_value(item, random, spread) for item in drawn})
        except ParameterError:
            share *= 0.5
    return default


def random_value(described: Description, random: np.random.Generator, spread: float) -> Value:
    """A value within the bounds: the default times a factor of up to ``spread``.

    A default of 0 mostly switches something off; it becomes a small number, or stays 0 if the spread is below 2.
    """
    default = described.default
    if described.choices:
        return str(random.choice(described.choices))
    if isinstance(default, bool):
        return bool(random.random() < 0.5)
    assert isinstance(default, (int, float))
    small = random.uniform(0.0, 0.2) if spread >= 2.0 else 0.0
    value = random.uniform(1.0 / spread, spread) * default if default else small
    value = min(max(value, described.minimum), described.maximum)
    return round(value) if described.type == "integer" else value


def whole_kinds(model: AnyModel) -> list[CommandKind]:
    """The accepted kinds of commands for the whole vehicle; the others command a part of it."""
    return [kind for kind in sorted(model.accepts) if kind.part == "whole"]


def random_commands(
    model: AnyModel, parameters: ParameterGroup, count: int, random: np.random.Generator
) -> list[Command]:
    """Commands of all kinds that the model accepts, up to twice its limits."""
    kinds = whole_kinds(model)
    limits, geometry = model.limits(parameters), model.geometry(parameters)
    speed = 2.0 * (limits.speed or 2.0)
    yaw_rate = speed / (geometry.yaw_arm or geometry.wheel_base or 1.0)
    angle = 2.0 * (limits.steering or 0.5)
    return [_command(kinds[int(random.integers(len(kinds)))], speed, yaw_rate, angle, random) for _ in range(count)]


def _command(kind: CommandKind, speed: float, yaw_rate: float, angle: float, random: np.random.Generator) -> Command:
    """A command up to a speed [m/s], a yaw rate [rad/s] and a steering angle [rad]."""
    v_x, v_y, turn, steering, push = random.uniform(-1.0, 1.0, 5).tolist()
    limits = {"steering_rate": random.uniform(0.1, 5.0), "acceleration": random.uniform(0.1, 5.0)}
    if "rear_steering_angle" in kind.fields:
        limits["rear_steering_rate"] = random.uniform(0.1, 5.0)
    return Command(
        kind,
        v_x=speed * v_x,
        v_y=speed * v_y,
        yaw_rate=yaw_rate * turn,
        steering_angle=angle * steering,
        rear_steering_angle=angle * push,
        accel_pedal=max(push, 0.0),
        brake_pedal=max(-push, 0.0),
        steering_command=angle * steering,
        target_acceleration=2.0 * push,
        gear=DRIVE if v_x > 0.0 else REVERSE,
        **(limits if "steering_rate" in kind.fields and random.random() < 0.5 else {}),
    )


def dead_times(model: AnyModel, parameters: ParameterGroup, dt: float) -> Iterator[Description]:
    """The parameters that lengthen lists of the state: dead times."""
    usual = list_lengths(model.at_rest(model.coefficients(parameters, dt)))
    for described in describe(parameters):
        if described.unit == "s" and described.type == "double":
            longer = with_values(parameters, {described.name: longer_dead_time(described)})
            if list_lengths(model.at_rest(model.coefficients(longer, dt))) != usual:
                yield described


def longer_dead_time(described: Description) -> float:
    """A dead time [s] that is longer than the present one."""
    assert isinstance(described.default, float)
    return min(2.0 * described.default or 0.05, described.maximum)
