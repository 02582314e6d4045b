"""Cases of a sweep, and their runs: vehicles with varied parameters, sent a log, or under control on a path."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from vds_gz.core.arrays import Array, Flags, Integers
from vds_gz.core.parameters.controller_parameters import ControllerParameters
from vds_gz.core.parameters.conversion import replaced
from vds_gz.core.parameters.declaration import Description, ParameterGroup, Value, describe
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.vehicle.catalogue import models
from vds_gz.programs.commandlog.command_log import CommandLog
from vds_gz.tools.fleet.closed_loop import ClosedLoop
from vds_gz.tools.fleet.controllers import Controller, controller_named
from vds_gz.tools.fleet.fleet import Fleet
from vds_gz.tools.fleet.path import Path
from vds_gz.tools.fleet.tracking import DIVERGED, FINISHED, LEFT, RUNNING
from vds_gz.tools.study.progress import ignore
from vds_gz.tools.study.sweep.analysis import DELAY_MARGIN
from vds_gz.tools.study.sweep.measures import TAIL, run_open_loop

#: A column of a table, with an entry for each run.
Column: TypeAlias = "NDArray[np.float64] | NDArray[np.int64] | NDArray[np.str_]"

#: Columns by name.
Table: TypeAlias = "dict[str, Column]"

#: A further variation besides the vehicle's parameters: additional dead time [s] in all actuators.
ADDITIONAL_DEAD_TIME = "additional_dead_time"

#: End of the names of actuators' dead times in all models.
DEAD_TIMES = ("dead_time", "time_delay")

#: Prefixes of a controller's parameters, and of a run's initial errors.
CONTROLLER, START = "controller.", "start."

STARTS = ("lateral", "heading_error")

#: The status of a run with a command log, if a measure is NaN.
UNMEASURED = "unmeasured"

#: Number of periods between checks whether any vehicle is still running.
PERIODS = 250

#: Maximum delay margin [ms], and milliseconds per second. Margins are whole milliseconds.
LONGEST_MARGIN, MILLISECONDS = 1000, 1e3

#: Lengths of the steps in which delay margins are scanned, from coarse to fine [ms].
SCAN_STEPS = (64, 16, 4, 1)

#: Maximum number of vehicles that are probed together: enough for all lanes of all cores, but little memory.
PROBED_TOGETHER = 2048


@dataclass(frozen=True, slots=True)
class Driving:
    """Settings of drives along paths."""

    rate: float = 50.0  # commands per second [Hz]
    duration: float = 60.0  # maximum duration of a run [s]
    bound: float = math.inf  # a vehicle whose lateral error exceeds it has left the path [m]
    laps: int = 1  # number of laps of a closed path until the run is finished
    # lateral, heading_error: of the vehicle's reference point from the path at the start [m, rad]
    lateral: float = 0.0
    heading_error: float = 0.0


@dataclass(frozen=True, slots=True)
class ControlledDrive:
    """A controller, by its name or ``module:function``, with its gains and its path."""

    controller: str
    gains: Mapping[str, float]
    path: Path = field(repr=False)


@dataclass(frozen=True, slots=True)
class Case:
    """Vehicle and drive of all runs of a case."""

    labels: dict[str, str]  # by column of the table: vehicle, and commands, or controller and path
    vehicle: NodeParameters = field(repr=False)  # its nominal parameters
    drive: CommandLog | ControlledDrive = field(repr=False)  # its commands, or its controller and path

    def duration(self, driving: Driving) -> float:
        """Maximum duration of a run [s]."""
        return self.drive.duration + TAIL if isinstance(self.drive, CommandLog) else driving.duration


def simulate(
    case: Case,
    driving: Driving,
    values: Mapping[str, Array],
    measures: Sequence[str],
    count: int,
    advance: Callable[[float], object] = ignore,
) -> Table:
    """Do ``count`` runs of a case with these values of varied parameters; return measures by name, and the status.

    ``advance`` is called with further parts of the work, 1 in all.
    """
    if isinstance(case.drive, CommandLog):
        numbers = run_open_loop(case.drive, case.vehicle, vehicles_of(case, values, count), measures, advance)
        measured = np.logical_and.reduce([~np.isnan(numbers[name]) for name in measures])
        return {**numbers, "status": np.where(measured, "done", UNMEASURED)}
    loop = loop_of(case, driving, values, count)
    stages = 1 + len(SCAN_STEPS) if DELAY_MARGIN in measures else 1
    in_stage = partial(_advance_share, advance, 1.0 / stages)
    _drive(loop, driving, in_stage)
    numbers = loop.measures()
    # The times of events that do not happen are infinite.
    numbers["finished"] = np.where(loop.tracking.status == FINISHED, numbers["finished"], np.inf)
    numbers["left"] = np.where(np.isin(loop.tracking.status, (RUNNING, FINISHED)), np.inf, numbers["left"])
    if DELAY_MARGIN in measures:
        numbers[DELAY_MARGIN] = _delay_margins(case, driving, values, count, in_stage)
    return {**{name: numbers[name] for name in measures}, "status": np.array(loop.statuses())}


def loop_of(case: Case, driving: Driving, values: Mapping[str, Array], count: int) -> ClosedLoop:
    """The controlled vehicles of a case, at rest at the start of its path."""
    assert isinstance(case.drive, ControlledDrive)
    fleet = Fleet(models()[case.vehicle.model], vehicles_of(case, values, count), step_rate=case.vehicle.step_rate)
    loop = ClosedLoop(
        fleet,
        case.drive.path,
        case.drive.controller,
        _controllers_of(case.drive, values, count),
        rate=driving.rate,
        bound=driving.bound,
        laps=driving.laps,
    )
    loop.place(
        lateral=values.get(f"{START}lateral", driving.lateral),
        heading_error=values.get(f"{START}heading_error", driving.heading_error),
    )
    return loop


def _drive(loop: ClosedLoop, driving: Driving, advance: Callable[[float], object]) -> None:
    """Drive until all runs have ended; reports parts of 1."""
    total = left = round(driving.duration * driving.rate)
    while left > 0 and (loop.tracking.status == RUNNING).any():
        periods = min(PERIODS, left)
        loop.advance(periods)
        left -= periods
        advance(periods / total)
    advance(left / total)


def _delay_margins(
    case: Case, driving: Driving, values: Mapping[str, Array], count: int, advance: Callable[[float], object]
) -> Array:
    """The additional dead time in all actuators up to which each vehicle stays within the bound [s].

    It is 0 for a vehicle that leaves the bound anyway, and at most :data:`LONGEST_MARGIN`.
    """

    def stay(rows: Integers, milliseconds: Integers) -> Flags:
        stayed = np.empty(len(rows), bool)
        for begin in range(0, len(rows), PROBED_TOGETHER):
            part = slice(begin, begin + PROBED_TOGETHER)
            probed = {name: column[rows[part]] for name, column in values.items()}
            extra = probed.get(ADDITIONAL_DEAD_TIME, np.zeros(len(rows[part])))
            probed[ADDITIONAL_DEAD_TIME] = extra + milliseconds[part] / MILLISECONDS
            loop = loop_of(case, driving, probed, len(extra))
            _drive(loop, driving, partial(_advance_share, advance, len(extra) / len(rows)))
            stayed[part] = ~np.isin(loop.tracking.status, (LEFT, DIVERGED))
        return stayed

    return np.maximum(last_before_leaving(stay, count, LONGEST_MARGIN), 0) / MILLISECONDS


def _advance_share(advance: Callable[[float], object], share: float, part: float) -> None:
    """Report a part of a share of the work."""
    advance(share * part)


def linear_delay_margin(k1: float, k2: float, speed: float) -> float:
    """The dead time [s] at which a linear path follower becomes unstable; docs/delay_margin.md has the equations.

    It drives at a speed [m/s] with the curvature -(k1 y + k2 psi) [1/m] for a lateral error y [m] and a heading error
    psi [rad].
    """
    square = k2**2 * speed**2
    w = math.sqrt(0.5 * (square + math.sqrt(square**2 + 4.0 * k1**2 * speed**4)))
    return math.atan(k2 * w / (k1 * speed)) / w


def last_before_leaving(stays: Callable[[Integers, Integers], Flags], count: int, most: int) -> Integers:
    """For each candidate, the value of 0 ... ``most`` before the first one at which it leaves; -1 if that is 0.

    Bisection would be wrong: a candidate that leaves at one value may stay at a larger one. The search scans all values
    in long steps, then in shorter ones from one long step before the last value at which the candidate stays.
    ``stays`` takes candidates and values, both of shape (n,), and returns whether each candidate stays at its value.
    """
    begin, leaves = np.zeros(count, np.int64), np.full(count, most + 1)
    last = begin
    for step in SCAN_STEPS:
        probes = -((begin - leaves) // step)
        rows = np.repeat(np.arange(count), probes)
        values = begin[rows] + step * (np.arange(len(rows)) - np.repeat(np.cumsum(probes) - probes, probes))
        np.minimum.at(leaves, rows, np.where(stays(rows, values), most + 1, values))
        last = begin + (leaves - 1 - begin) // step * step
        begin = np.maximum(last - step, 0)
    return np.where(leaves > 0, last, -1)


def vehicles_of(case: Case, values: Mapping[str, Array], count: int) -> list[ParameterGroup]:
    """The parameter groups of vehicles with varied parameters."""
    names = vehicle_parameters(case)
    varied = {names[name].name: column for name, column in values.items() if name in names}
    if (extra := values.get(ADDITIONAL_DEAD_TIME)) is not None:
        for name, parameter in names.items():
            if name == parameter.name and name.endswith(DEAD_TIMES):
                varied[name] = varied.get(name, float(str(parameter.default))) + extra
    columns: dict[str, list[Value]] = {name: column.tolist() for name, column in varied.items()}
    for parameter in names.values():
        if isinstance(parameter.default, tuple) and any(name in columns for name in elements(parameter)):
            numbers = [columns.pop(name, [nominal] * count) for name, nominal in elements(parameter).items()]
            columns[parameter.name] = list(zip(*numbers, strict=True))
    vehicle = case.vehicle.vehicle
    return [replaced(vehicle, {name: column[i] for name, column in columns.items()}) for i in range(count)]


def vehicle_parameters(case: Case) -> dict[str, Description]:
    """The vehicle's own parameters, by all of their names in a plan; the description has the short one.

    The numbers of a list are parameters too: ``trailers.drawbar[0]``.
    """
    prefix = f"model_params.{case.vehicle.model}."
    names: dict[str, Description] = {}
    for parameter in describe(case.vehicle.vehicle):
        for name in (parameter.name, *parameter.other_names):
            names[name] = names[prefix + name] = parameter
        for name, nominal in elements(parameter).items():
            names[name] = names[prefix + name] = replace(parameter, name=name, type="double", default=nominal)
    return names


def elements(parameter: Description) -> dict[str, float]:
    """The nominal numbers of a list, by their names; nothing for other parameters."""
    numbers = parameter.default if isinstance(parameter.default, tuple) else ()
    return {element(parameter.name, k): number for k, number in enumerate(numbers)}


def element(name: str, k: int) -> str:
    """The name of a number of a list."""
    return f"{name}[{k}]"


def _controllers_of(
    drive: ControlledDrive, values: Mapping[str, Array], count: int
) -> list[ControllerParameters] | None:
    """The parameters of each vehicle's controller; None for a function."""
    controller = controller_named(drive.controller)
    if not isinstance(controller, Controller):
        return None
    varied = {name.removeprefix(CONTROLLER): numbers for name, numbers in values.items() if name.startswith(CONTROLLER)}
    columns = {name: column.tolist() for name, column in varied.items()}
    gains: Mapping[str, Value] = drive.gains
    return [
        controller.parameters(**{**gains, **{name: column[i] for name, column in columns.items()}})
        for i in range(count)
    ]
