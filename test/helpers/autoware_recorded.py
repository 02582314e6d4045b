"""Runs recorded from Autoware's own program, and how to drive our models through them.

A run is a JSON with all parameters beside a CSV with inputs, states and outputs, one row every ``row_decimation``
updates; what stands in a row holds at the end of the updates that its inputs were held for.
"""

from __future__ import annotations

import csv
import gzip
import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from vds_gz.autoware.parameters.car_parameters import MechanicalParameters
from vds_gz.autoware.vehicle.command_kinds import DIRECT, PEDALS
from vds_gz.autoware.vehicle.models import AUTOWARE_MODELS
from vds_gz.autoware.vehicle.state import actuation_status, put, steering_report
from vds_gz.core.vehicle.command import Command
from vds_gz.core.vehicle.vehicle_model import VehicleModel

MODELS = {one.name.upper(): one for one in AUTOWARE_MODELS}

#: Agreement asked for, absolute or relative, whichever is larger. States are printed with 13 digits.
TOLERANCE = 1e-9

INPUTS = {
    "in_accel": "accel_pedal",
    "in_brake": "brake_pedal",
    "in_slope": "slope",
    "in_gear": "gear",
    "in_vel": "v_x",
    "in_acc": "target_acceleration",
    "in_pedal_acc": "target_acceleration",
}
STATES = {
    "x": "x",
    "y": "y",
    "yaw": "heading",
    "vx": "v_x",
    "accx": "acceleration",
    "pedal_accx": "drive_acceleration",
    "out_wz": "yaw_rate",
    "out_ax": "acceleration",
    "out_vx": "v_x",
}
MECHANISM = {
    "mech_omega": "rate",
    "mech_dead_zone": "in_dead_zone",
    "mech_pid_integral": "integral",
    "mech_pid_error": "error",
    "mech_prev_tire_des": "previous",
    "mech_buf_len": "count",
}


@dataclass
class Run:
    """One recorded run."""

    name: str
    model: VehicleModel
    parameters: object
    dt: float
    decimation: int
    rows: dict[str, np.ndarray]
    initial: dict[str, float]
    resets: dict[int, dict[str, float]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows["t"])

    @property
    def coefficients(self):
        return self.model.coefficients(self.parameters, self.dt)

    def start(self, c):
        """The state before the first row."""
        s = self.model.at_rest(c)
        begin(c, s, self.initial)
        return s

    def command(self, row: int) -> Command:
        """What was held during the updates that end at a row."""
        pedals = "in_accel" in self.rows
        values = {ours: float(self.rows[theirs][row]) for theirs, ours in INPUTS.items() if theirs in self.rows}
        values["gear"] = int(values["gear"])
        values["steering_command" if pedals else "steering_angle"] = float(self.rows["in_steer"][row])
        return Command(PEDALS if pedals else DIRECT, **values)

    def columns(self) -> list[str]:
        return [name for name in self.rows if name != "t" and not name.startswith("in_")]


def begin(c, s, state: dict[str, float]) -> None:
    """Put a vehicle into a state that a JSON gives."""
    put(c, s, *(state.get(name, 0.0) for name in ("x", "y", "yaw", "vx", "steer", "accx")))
    s.drive_acceleration = state.get("pedal_accx", 0.0)


def observed(c, s, name: str) -> float:
    """What our model has in a column of the CSV."""
    if name in STATES:
        return getattr(s, STATES[name])
    if name == "steer":
        return s.steering.angle
    if name == "out_steer":
        return steering_report(c, s)
    if name in ("accel_status", "brake_status"):
        return getattr(actuation_status(c, s), name.removesuffix("_status"))
    return getattr(s.steering.mechanism, MECHANISM[name])


def deviation(ours, theirs):
    """How far two numbers are apart, in units of what is asked for."""
    return np.abs(ours - theirs) / (TOLERANCE * np.maximum(1.0, np.abs(theirs)))


def read_runs(golden: Path) -> list[Run]:
    """All runs below a folder."""
    return [_read(file) for file in sorted((golden / "autoware").glob("*.json"))]


def _read(file: Path) -> Run:
    meta = json.loads(file.read_text())
    with gzip.open(file.with_suffix(".csv.gz"), "rt", newline="") as text:
        head, *body = csv.reader(text)
    rows = {name: np.array([float(cell or "nan") for cell in cells]) for name, *cells in zip(head, *body, strict=True)}
    model = MODELS[meta["model"]]
    return Run(
        name=file.stem,
        model=model,
        parameters=parameters_of(model, meta["params"], file.parent),
        dt=meta["dt"],
        decimation=meta["row_decimation"],
        rows=rows,
        initial=meta["initial_state"],
        resets=_resets(meta),
    )


def parameters_of(model: VehicleModel, values: dict, folder: Path, **more):
    """The parameter group that a JSON means."""
    mechanical = {key: float(values[key]) for key in values if key in MechanicalParameters.__dataclass_fields__}
    given = {"compatibility": "autoware", **more}
    for key, value in values.items():
        if key in mechanical:
            continue
        if key.endswith("_path"):
            value = str(folder / value) if value else ""
        elif key.startswith("convert_"):
            value = bool(value)
        else:
            value = float(value)
        given["wheel_base" if key == "wheelbase" else key] = value
    if mechanical:
        given["mechanical_params"] = MechanicalParameters(**mechanical)
    return model.parameters(**given)


def _resets(meta: dict) -> dict[int, dict[str, float]]:
    """Updates before which the vehicle was put somewhere, and where."""
    result = [value for key, value in meta.items() if "reset" in key or "set_state" in key]
    steps = [one for value in result for one in (value if isinstance(value, list) else [value])]
    state = next((step for step in steps if isinstance(step, dict) and "x" in step), meta["initial_state"])
    return {step: state for step in steps if isinstance(step, int)}
