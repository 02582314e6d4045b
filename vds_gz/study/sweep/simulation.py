"""Cases of a sweep, and their runs: vehicles with varied parameters, sent a log, or under control on a path."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from vds_gz.commandlog.files import CommandLog
from vds_gz.fleet import closed_loop
from vds_gz.fleet.controllers import Controller, controller_named
from vds_gz.fleet.fleet import Fleet
from vds_gz.fleet.path import Path
from vds_gz.fleet.tracking import FINISHED, RUNNING
from vds_gz.parameters.controllers import ControllerParameters
from vds_gz.parameters.declaration import Description, ParameterGroup, Value, describe
from vds_gz.parameters.load import replaced
from vds_gz.parameters.node import NodeParameters
from vds_gz.study.sweep.analysis import DELAY_MARGIN
from vds_gz.study.sweep.delay_margin import DelayTask, delay_margins, later
from vds_gz.study.sweep.open_loop import TAIL, run_open_loop
from vds_gz.vehicle.catalogue import models


@dataclass(frozen=True, slots=True)
class Driving:
    """How vehicles are driven along paths.

    Attributes:
        rate: Commands per second [Hz].
        duration: Maximum duration of a run [s].
        bound: A vehicle whose lateral error exceeds it has left the path [m].
        laps: Number of laps of a closed path until the run is finished.
        lateral, heading_error: Of base_link's reference point from the path at the start [m, rad].
    """

    rate: float = 50.0
    duration: float = 60.0
    bound: float = math.inf
    laps: int = 1
    lateral: float = 0.0
    heading_error: float = 0.0


@dataclass(frozen=True, slots=True)
class LoggedDrive:
    """Commands for a vehicle."""

    log: CommandLog = field(repr=False)


@dataclass(frozen=True, slots=True)
class ControlledDrive:
    """A controller, by its name or ``module:function``, with its gains and its path."""

    controller: str
    gains: Mapping[str, float]
    path: Path = field(repr=False)


@dataclass(frozen=True, slots=True)
class Case:
    """The common properties of all runs of a case.

    Attributes:
        labels: By column of the table: vehicle, and commands, or controller and path.
        vehicle: Its nominal parameters.
        drive: Its commands, or its controller and path.
    """

    labels: dict[str, str]
    vehicle: NodeParameters = field(repr=False)
    drive: LoggedDrive | ControlledDrive = field(repr=False)

    def duration(self, driving: Driving) -> float:
        """Maximum duration of a run [s]."""
        return self.drive.log.duration + TAIL if isinstance(self.drive, LoggedDrive) else driving.duration


def cases_of(
    vehicles: Mapping[str, NodeParameters],
    logs: Mapping[str, CommandLog],
    controllers: Mapping[str, Mapping[str, float]],
    paths: Mapping[str, Path],
) -> Iterator[Case]:
    """Every vehicle with every log, and with every controller on every path."""
    for label, vehicle in vehicles.items():
        for name, log in logs.items():
            yield Case({"vehicle": label, "commands": name}, vehicle, LoggedDrive(log))
        for (name, gains), (file, path) in product(controllers.items(), paths.items()):
            yield Case(
                {"vehicle": label, "controller": name, "path": file}, vehicle, ControlledDrive(name, gains, path)
            )


Reals = NDArray[np.float64]

#: Of a table of runs: one entry a run.
Column: TypeAlias = "NDArray[np.float64] | NDArray[np.int64] | NDArray[np.str_]"

#: Columns by name.
Table: TypeAlias = "dict[str, Column]"

#: A further variation besides the vehicle's parameters: additional dead time [s] in all actuators.
ADDITIONAL_DEAD_TIME = "additional_dead_time"

#: Prefixes of a controller's parameters, and of a run's initial errors.
CONTROLLER, START = "controller.", "start."

STARTS = ("lateral", "heading_error")

#: The status of a run with a command log, if a measure is NaN or infinite.
UNMEASURED = "unmeasured"

#: Number of periods between checks whether any vehicle is still running.
PERIODS = 250


def simulate(case: Case, driving: Driving, values: Mapping[str, Reals], measures: Sequence[str], count: int) -> Table:
    """Do so many runs of a case; return their measures by name, and their status.

    Args:
        case: The case.
        driving: Settings for controllers.
        values: Values of the varied parameters, by their names in the plan.
        measures: Names of measures.
        count: Number of runs.

    Raises:
        VdsGzError: A controller failed, or the parameters of a run contradict each other.
    """
    if isinstance(case.drive, LoggedDrive):
        found = run_open_loop(case.drive.log, case.vehicle, vehicles_of(case, values, count), measures)
        done = np.logical_and.reduce([~np.isnan(found[name]) for name in measures])
        return {**found, "status": np.where(done, "done", UNMEASURED)}
    loop = loop_of(case, driving, values, count)
    periods = round(driving.duration * driving.rate)
    for begun in range(0, periods, PERIODS):
        loop.advance(min(PERIODS, periods - begun))
        if not (loop.tracking.status == RUNNING).any():
            break
    known = loop.measures()
    # The times of events that do not happen are infinite.
    known["finished"] = np.where(loop.tracking.status == FINISHED, known["finished"], np.inf)
    known["left"] = np.where(np.isin(loop.tracking.status, (RUNNING, FINISHED)), np.inf, known["left"])
    if DELAY_MARGIN in measures:
        known[DELAY_MARGIN] = _delay_margins(case.drive, case, driving, values, count)
    return {**{name: known[name] for name in measures}, "status": np.array(loop.statuses())}


def loop_of(case: Case, driving: Driving, values: Mapping[str, Reals], count: int) -> closed_loop.ClosedLoop:
    """The controlled vehicles of a case, at rest at the start of its path."""
    assert isinstance(case.drive, ControlledDrive)
    fleet = Fleet(models()[case.vehicle.model], vehicles_of(case, values, count), step_rate=case.vehicle.step_rate)
    loop = closed_loop.ClosedLoop(
        fleet,
        case.drive.path,
        case.drive.controller,
        controllers_of(case.drive, values, count),
        rate=driving.rate,
        bound=driving.bound,
        laps=driving.laps,
    )
    loop.place(
        lateral=values.get(f"{START}lateral", driving.lateral),
        heading_error=values.get(f"{START}heading_error", driving.heading_error),
    )
    return loop


def vehicles_of(case: Case, values: Mapping[str, Reals], count: int) -> list[ParameterGroup]:
    """The parameter groups of vehicles with varied parameters."""
    names = vehicle_parameters(case)
    varied = {names[name].name: column.tolist() for name, column in values.items() if name in names}
    extra = values.get(ADDITIONAL_DEAD_TIME, np.zeros(count)).tolist()
    vehicles = (
        replaced(case.vehicle.vehicle, {name: column[i] for name, column in varied.items()}) for i in range(count)
    )
    return [later(one, more) if more else one for one, more in zip(vehicles, extra, strict=True)]


def vehicle_parameters(case: Case) -> dict[str, Description]:
    """The vehicle's own parameters, by all of their names in a plan; the description has the short one."""
    prefix = f"model_params.{case.vehicle.model}."
    names: dict[str, Description] = {}
    for one in describe(case.vehicle.vehicle):
        for name in (one.name, *one.other_names):
            names[name] = names[prefix + name] = one
    return names


def controllers_of(
    drive: ControlledDrive, values: Mapping[str, Reals], count: int
) -> list[ControllerParameters] | None:
    """The parameters of each vehicle's controller; None for a function."""
    controller = controller_named(drive.controller)
    if not isinstance(controller, Controller):
        return None
    varied = {name.removeprefix(CONTROLLER): one for name, one in values.items() if name.startswith(CONTROLLER)}
    columns = {name: column.tolist() for name, column in varied.items()}
    gains: Mapping[str, Value] = drive.gains
    return [
        controller.parameters(**{**gains, **{name: column[i] for name, column in columns.items()}})
        for i in range(count)
    ]


def _delay_margins(
    drive: ControlledDrive, case: Case, driving: Driving, values: Mapping[str, Reals], count: int
) -> Reals:
    task = DelayTask(
        drive.path,
        drive.controller,
        driving.bound,
        duration=driving.duration,
        laps=driving.laps,
        lateral=values.get(f"{START}lateral", driving.lateral),
        heading_error=values.get(f"{START}heading_error", driving.heading_error),
        rate=driving.rate,
        step_rate=case.vehicle.step_rate,
    )
    controllers = controllers_of(drive, values, count) or [ControllerParameters()] * count
    return delay_margins(task, models()[case.vehicle.model], vehicles_of(case, values, count), controllers)
