"""The least standard deviations that any unbiased estimate can have, by Cramer and Rao, computed without any fit.

Derivatives are finite differences of the vehicles' own steps, one vehicle of a fleet for each number and side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

import numpy as np

from helpers.identified_vehicles import DT, Case, is_dead_time
from vds_gz.core.vehicle.catalogue import models
from vds_gz.programs.commandlog.command_log import CommandLog
from vds_gz.tools.fleet.fleet import Fleet

#: Half the difference: of dead times and of times that are 0 [s], and as a part of everything else.
TIME_STEP, PART = 2e-3, 1e-3

#: Fields of commands by their quantities, where a gain of each acts.
FIELDS = {"v_x": "v_x", "v_y": "v_y", "yaw_rate": "yaw_rate", "steering": "steering_angle"}


def bound(
    case: Case, log: CommandLog, names: Sequence[str], channels: Mapping[str, tuple[np.ndarray, float]]
) -> dict[str, float]:
    """Least standard deviations of numbers that are all unknown together.

    Args:
        case: The vehicle.
        log: Its commands, at whole steps.
        names: Dotted names of parameters, "v_x gain" for that of a command, "v_x offset" for that of a channel.
        channels: Times of the samples [s], at whole steps, and standard deviation of the noise by quantity.
    """
    moved = [name for name in names if not name.endswith(" offset")]
    vehicles, gains, widths = [], [], []
    for name in moved:
        for sign in (1.0, -1.0):
            vehicle, gain, width = _with(case.vehicle, name, sign)
            vehicles.append(vehicle)
            gains.append(gain)
            widths.append(width)
    seen = responses(case, log, vehicles, gains, {name: times for name, (times, _) in channels.items()})
    blocks = []
    for quantity, (times, noise) in channels.items():
        columns = {
            name: (seen[quantity][:, 2 * k] - seen[quantity][:, 2 * k + 1]) / (widths[2 * k] + widths[2 * k + 1])
            for k, name in enumerate(moved)
        }
        columns |= {
            name: np.full(len(times), float(name == f"{quantity} offset")) for name in names if name not in columns
        }
        blocks.append(np.column_stack([columns[name] for name in names]) / noise)
    jacobian = np.concatenate(blocks)
    size = np.linalg.norm(jacobian, axis=0)
    unit = jacobian / size
    deviations = np.sqrt(np.diag(np.linalg.inv(unit.T @ unit))) / size
    return dict(zip(names, deviations.tolist(), strict=True))


def _with(vehicle: Any, name: str, sign: float) -> tuple[Any, dict[str, float], float]:
    """A vehicle with a number moved to one side, gains of its commands, and by how much it was moved."""
    if name.endswith(" gain"):
        return vehicle, {name.removesuffix(" gain"): 1.0 + sign * PART}, PART
    value = attrgetter(name)(vehicle)
    if name.endswith("max_deceleration") and not value:
        value = attrgetter(name.replace("deceleration", "acceleration"))(vehicle)
    width = TIME_STEP if is_dead_time(name) or value == 0.0 else PART * abs(value)
    if name.endswith("max_acceleration"):  # its fall is another number
        fall = name.replace("acceleration", "deceleration")
        vehicle = replaced(vehicle, fall, attrgetter(fall)(vehicle) or value)
    return replaced(vehicle, name, max(value + sign * width, 0.0)), {}, width if sign > 0.0 else min(width, value)


def replaced(group: Any, name: str, value: float) -> Any:
    """A parameter group with another number, by its dotted name."""
    head, _, rest = name.partition(".")
    return replace(group, **{head: replaced(getattr(group, head), rest, value) if rest else value})


def responses(
    case: Case,
    log: CommandLog,
    vehicles: Sequence[Any],
    gains: Sequence[Mapping[str, float]],
    times: Mapping[str, np.ndarray],
) -> dict[str, np.ndarray]:
    """What each of some vehicles does, (samples, vehicles) by quantity, when it is sent a log with gains of its own."""
    fleet = Fleet(models()[case.parameters.model], vehicles, step_rate=1.0 / DT)
    factor = {name: np.array([gain.get(name, 1.0) for gain in gains]) for name in FIELDS}
    begins = [round(time / DT) for time in log.times]
    samples = {name: np.maximum(np.rint(at / DT).astype(int), 0) for name, at in times.items()}
    steps = np.unique(np.concatenate([*samples.values(), begins]))
    course: dict[str, dict[int, np.ndarray]] = {name: {} for name in times}
    wanted = {name: set(at.tolist()) for name, at in samples.items()}
    sent, done, k = log.type.as_sent, 0, 0
    commands = [sent(command).command() for command in log.commands]
    offset = case.vehicle.base_link_offset
    for step in steps.tolist():
        fleet.advance(step - done)
        done = step
        states = fleet.states
        for name, at in wanted.items():
            if step in at:
                value = states.steering.angle if name == "steering" else getattr(states, name)
                course[name][step] = value + offset * states.yaw_rate if name == "v_y" else value.copy()
        while k < len(begins) and begins[k] <= step:
            fleet.commands[slice(None)] = commands[k]
            for name, field in FIELDS.items():
                setattr(fleet.commands, field, getattr(commands[k], field) * factor[name])
            k += 1
    return {name: np.array([course[name][step] for step in at.tolist()]) for name, at in samples.items()}
