"""Recordings of other people's programs, VDS and Autoware's simulator, as vehicles whose numbers are known."""

from __future__ import annotations

import csv
import gzip
import math
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from helpers.guest import of_guest
from helpers.identified_vehicles import Case
from vds_gz.core.configuration import parameters_of
from vds_gz.core.parameters.declaration import Override
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.vehicle.command import NONE, REVERSE
from vds_gz.tools.study.recording import Recording, Series

#: What VDS takes where nothing is given; our defaults are those of its parameter file. The track, by which it draws the
#: steered wheels, is that of the recorded joints: tan(left), tan(right) = L tan(d) / (L -+ T/2 tan(d)).
CODE_DEFAULTS = {
    "model_params.bicycle.track_steered": 1.12,
    "model_params.bicycle.wheel_base": 2.0,
    "model_params.omni.wheel_base": 1.4,
    "model_params.omni.track": 1.2,
}

#: Which command a column of Autoware's is.
AUTOWARE_COMMANDS = {"in_vel": "v_x", "in_acc": "acceleration", "in_pedal_acc": "acceleration", "in_steer": "steering"}
AUTOWARE_MEASURED = {"vx": "v_x", "out_wz": "yaw_rate", "steer": "steering"}


@dataclass(frozen=True)
class Recorded:
    """A vehicle, and what it was recorded to do."""

    case: Case
    signals: Recording


def recordings(folder: Path) -> Iterator[Recorded]:
    """All recordings below a folder that are identified as a whole vehicle."""
    for line in (folder / "vds" / "params.txt").read_text().splitlines():
        if line.strip():
            yield vds(folder, line.split()[0])
    for run in (run for read_runs in of_guest("helpers.autoware_recorded:read_runs") for run in read_runs(folder)):
        if "_MAP" not in run.name and not run.name.startswith("ACTUATION") and not slopes(run):
            yield autoware(run)


def vds_parameters(folder: Path, run: str) -> NodeParameters:
    """The parameters of a run, as VDS got them."""
    lines = (folder / "vds" / "params.txt").read_text().splitlines()
    line = next(line for line in lines if line.split()[:1] == [run])
    given = (word.split(":=", 1) for word in shlex.split(line) if ":=" in word)
    values = CODE_DEFAULTS | {name: yaml.safe_load(value) for name, value in given}
    return parameters_of(Override(name, value, "reference run") for name, value in values.items())


def vds_rows(folder: Path, run: str) -> dict[str, list[list[str]]]:
    """Rows of a run by their kind."""
    rows: dict[str, list[list[str]]] = {}
    with gzip.open(folder / "vds" / f"{run}.csv.gz", "rt") as file:
        for kind, *values in csv.reader(file):
            rows.setdefault(kind, []).append(values)
    return rows


def middle(left: float, right: float) -> float:
    """Angle of the wheel between two that turn about one point [rad]: their cotangents' mean."""
    return 0.0 if min(abs(left), abs(right)) < 1e-9 else math.atan(2.0 / (1.0 / math.tan(left) + 1.0 / math.tan(right)))


def vds(folder: Path, run: str) -> Recorded:
    """Twists commanded and measured, and steering angles, of a run of vehicle_dynamics_sim."""
    rows, recording = vds_rows(folder, run), Recording()
    parameters = vds_parameters(folder, run)
    origin = float(rows["cmd"][0][0])
    commands, twists = (np.array(rows[kind], float) for kind in ("cmd", "twist"))
    for column, quantity in enumerate(("v_x", "v_y", "yaw_rate"), start=1):
        if quantity != "v_y" or parameters.model == "omni":
            recording.commanded[quantity] = Series(commands[:, 0] - origin, commands[:, column])
            recording.measured[quantity] = Series(twists[:, 0] - origin, twists[:, column])
    if "joint" in rows:
        joints = [(float(time) - origin, *(float(one.split("=")[1]) for one in two)) for time, *two in rows["joint"]]
        angles = np.array([middle(*row[1:]) for row in joints])
        if parameters.vehicle.steering_actuator.max_position == 0.0:  # it turns all the way round
            angles = 0.5 * np.unwrap(2.0 * angles)
        recording.measured["steering"] = Series(np.array([row[0] for row in joints]), angles)
    return Recorded(Case(run, parameters, {}), recording)


def slopes(run: Any) -> bool:
    """The road of a run does: that is no command."""
    return bool(np.any(run.rows.get("in_slope", np.zeros(1)) != 0.0))


def autoware(run: Any) -> Recorded:
    """What one of Autoware's models was sent and did, inputs of a row held since the row before."""
    time, recording = run.rows["t"], Recording(steers=True)
    gear = run.rows["in_gear"][1:]
    for column, quantity in AUTOWARE_COMMANDS.items():
        if column in run.rows:
            values = run.rows[column][1:]
            if column == "in_acc":  # what a Control says points in the gear's direction
                values = np.where(gear == NONE, 0.0, np.where(np.isin(gear, (REVERSE, REVERSE + 1)), -values, values))
            recording.commanded[quantity] = Series(time[:-1], values)
    recording.commanded["gear"] = Series(time[:-1], gear)
    for column, quantity in AUTOWARE_MEASURED.items():
        if column in run.rows:
            recording.measured[quantity] = Series(time[1:], run.rows[column][1:])
    vehicle = replace(run.parameters, base_link_offset=0.0)
    name = run.model.name
    rate = round(1.0 / run.dt, 9)
    rates = {"step_rate": rate, "pub_rate": min(50.0, rate), "clock_rate": min(100.0, rate)}
    node = NodeParameters(model=name, model_params={name: vehicle}, **rates)
    return Recorded(Case(run.name, node, {}), recording)
