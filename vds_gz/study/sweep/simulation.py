"""Runs of a case: vehicles with varied parameters, with a command log or a controller on a path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vds_gz.commandlog.log import CommandLog
from vds_gz.fleet import closed_loop
from vds_gz.fleet.controllers.controller import Controller
from vds_gz.fleet.controllers.registry import controller_named
from vds_gz.fleet.fleet import Fleet
from vds_gz.fleet.tracking import FINISHED, RUNNING
from vds_gz.parameters.controllers import ControllerParameters
from vds_gz.parameters.declaration import Description, Value, describe
from vds_gz.parameters.load import replaced
from vds_gz.study.sweep.case import Case, ClosedLoop, Driving, OpenLoop
from vds_gz.study.sweep.delay_margin import Task, delay_margins, later
from vds_gz.study.sweep.distributions import DELAY_MARGIN
from vds_gz.study.sweep.open_loop import run_open_loop
from vds_gz.study.sweep.table import Column
from vds_gz.vehicle.catalogue import models

Reals = NDArray[np.float64]

#: A further variation besides the vehicle's parameters: additional dead time [s] in all actuators.
ADDITIONAL_DEAD_TIME = "additional_dead_time"

#: Prefixes of a controller's parameters, and of a run's initial errors.
CONTROLLER, START = "controller.", "start."

STARTS = ("lateral", "heading_error")

#: The status of a run with a command log, if a measure is NaN or infinite.
UNMEASURED = "unmeasured"

#: Number of periods between checks whether any vehicle is still running.
PERIODS = 250


def simulate(
    case: Case, driving: Driving, values: Mapping[str, Reals], measures: Sequence[str], count: int
) -> dict[str, Column]:
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
    if isinstance(case.drive, OpenLoop):
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


def warm_up(case: Case, driving: Driving, values: Mapping[str, Reals], measures: Sequence[str]) -> None:
    """Compile the programs for runs of a case."""
    if isinstance(case.drive, OpenLoop):
        log = CommandLog(case.drive.log.kind, case.drive.log.times[:1], case.drive.log.commands[:1])
        run_open_loop(log, case.vehicle, vehicles_of(case, values, 1), measures)
    elif controllers_of(case.drive, values, 1) is not None:
        loop_of(case, driving, values, 1).advance(1)


def loop_of(case: Case, driving: Driving, values: Mapping[str, Reals], count: int) -> closed_loop.ClosedLoop:
    """The controlled vehicles of a case, at rest at the start of its path."""
    assert isinstance(case.drive, ClosedLoop)
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


def vehicles_of(case: Case, values: Mapping[str, Reals], count: int) -> list[Any]:
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


def controllers_of(drive: ClosedLoop, values: Mapping[str, Reals], count: int) -> list[ControllerParameters] | None:
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


def _delay_margins(drive: ClosedLoop, case: Case, driving: Driving, values: Mapping[str, Reals], count: int) -> Reals:
    task = Task(
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
