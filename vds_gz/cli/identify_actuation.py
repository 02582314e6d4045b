"""``vds-gz identify --model pedals`` and ``--model steering``: maps of pedals, and a mechanical steering."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vds_gz.configuration import NODE_NAME, parameters_of
from vds_gz.errors import ArgumentError
from vds_gz.parameters.autoware import (
    ActuationCmdMechanicalParameters,
    ActuationCmdParameters,
    MechanicalParameters,
)
from vds_gz.parameters.declaration import Override
from vds_gz.parameters.maps import own_map
from vds_gz.parameters.node import NodeParameters
from vds_gz.parameters.yaml_reader import INTERVAL, read_parameter_file
from vds_gz.parameters.yaml_writer import with_values
from vds_gz.study.identify.exports import BEST, NOT_MET, NOT_NEEDED, STANDSTILL
from vds_gz.study.identify.mechanism.fit import FREE, fit_mechanism
from vds_gz.study.identify.pedals.fit import csv_text, fit_pedals
from vds_gz.study.progress import progress
from vds_gz.study.recording import Recording, Series, SignalError
from vds_gz.study.report.actuation import (
    HEAD,
    Rows,
    pedal_notes,
    steering_notes,
    write_pedal_report,
    write_steering_report,
)
from vds_gz.study.report.text import text_table

HEADER = "# Identified by vds-gz identify from {}.\n# Numbers without an interval were not found.\n"

#: What an earlier run said in a parameter file: its header, and its remarks.
_EARLIER = re.compile(
    r"^# (Identified by vds-gz identify|Numbers without an interval).*\n"
    rf"|( +# |; )({INTERVAL}|{NOT_MET}|{NOT_NEEDED}|{STANDSTILL}|{BEST}|--wheel-base).*$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class ActuationTask:
    """What is to be identified.

    Attributes:
        log: Name of the recording.
        signals: What was commanded and measured.
        given: The vehicle that was given, and its parameter file; None where none was.
        folder: Where to write.
    """

    log: str
    signals: Recording
    given: tuple[NodeParameters, Path] | None
    folder: Path

    @property
    def vehicle(self) -> object:
        """Parameter group of the vehicle that was given; None where none was."""
        return self.given[0].vehicle if self.given else None

    def write(self, model: str, found: Sequence[Override]) -> None:
        """Write the vehicle that was given, or the model's defaults, with what was found.

        Maps that lie beside the file are named without their folder, so that all can be moved together.
        """
        text, base, there = f"{NODE_NAME}:\n  ros__parameters:\n    model: {model}\n", [Override("model", model)], None
        if self.given:
            file = self.given[1]
            text, there = _EARLIER.sub("", file.read_text(encoding="utf-8")), file.resolve().parent
            base = read_parameter_file(str(file), f"/{NODE_NAME}")
        parameters_of([*base, *found])
        here = self.folder.resolve()
        values = [*(one._replace(origin="") for one in base if there and _folder(one) == there != here), *found]
        values = [one._replace(value=Path(str(one.value)).name) if _folder(one) == here else one for one in values]
        text = HEADER.format(Path(self.log).name) + with_values(text, values, f"/{NODE_NAME}")
        (self.folder / "parameters.yaml").write_text(text, encoding="utf-8")


def _folder(one: Override) -> Path | None:
    """The folder of the file that a parameter names by its whole path."""
    return Path(str(one.value)).parent if one.name.endswith("_path") and Path(str(one.value)).is_absolute() else None


def identify_pedals(task: ActuationTask) -> None:
    """Find maps of pedals from ``accel``, ``brake`` and ``v_x``; write them, with parameters and a report.

    The maps of the vehicle, or else our own, give the grid.

    Raises:
        SignalError: Something is missing, or the recording does not tell.
        ArgumentError: The vehicle has no pedals.
    """
    vehicle, signals = task.vehicle, task.signals
    if vehicle is not None and not isinstance(vehicle, ActuationCmdParameters):
        raise ArgumentError("the vehicle has no pedals; --model pedals takes one whose model is an actuation_cmd")
    accel_grid, brake_grid = own_map("accel_map.csv"), own_map("brake_map.csv")
    if vehicle is not None:
        accel_grid, brake_grid = vehicle.accel_map, vehicle.brake_map
    accel = _needed(signals, "accel", signals.commanded)
    if "brake" in signals.commanded:
        brake = _needed(signals, "brake", signals.commanded)
    else:
        brake = Series(accel.time, 0.0 * accel.value)
        signals.notes.append("no brake was commanded; it is taken as never pressed")
    with progress("identifying", 1.0) as advance:
        fit = fit_pedals(
            accel,
            brake,
            _needed(signals, "v_x", signals.measured),
            speeds=accel_grid.states,
            accels=accel_grid.actuations,
            brakes=brake_grid.actuations,
            coasts=vehicle is None or vehicle.physical,
            advance=advance,
        )
    model = task.given[0].model if task.given else "actuation_cmd"
    found = []
    for name, table in fit.maps().items():
        path = task.folder / f"{name}_map.csv"
        path.write_text(csv_text(table), encoding="utf-8")
        found.append(Override(f"model_params.{model}.{name}_map_path", str(path.resolve())))
    found += [one.override(f"model_params.{model}.{name}") for name, one in fit.numbers.items() if one is not None]
    task.write(model, found)
    notes = [*signals.notes, *pedal_notes(fit)]
    rows = write_pedal_report(task.folder, task.log, notes, fit)
    filled = f"{int((~fit.filled).sum())} of {fit.filled.size} cells have data"
    _tell(notes, rows, f"{filled}, the others are filled from their neighbours\n")
    for name in ("accel", "brake"):
        print(f"map         {task.folder / f'{name}_map.csv'}")
    _tell_files(task.folder)


def identify_steering(task: ActuationTask, names: Sequence[str]) -> None:
    """Find parameters of a mechanical steering from ``wheel``, ``steering`` and ``v_x``; write them and a report.

    Args:
        task: What is to be identified.
        names: Parameters in ``mechanical_params`` to look for; none: the usual ones.

    Raises:
        SignalError: Something is missing, or the recording does not tell.
        ArgumentError: The vehicle has no mechanical steering, or no such parameters.
    """
    given = ActuationCmdMechanicalParameters() if task.vehicle is None else task.vehicle
    if not isinstance(given, ActuationCmdMechanicalParameters):
        raise ArgumentError("the vehicle has no mechanical steering; its model must be actuation_cmd_mechanical")
    known = [field.name for field in dataclasses.fields(MechanicalParameters)]
    for name in names:
        if name not in known:
            raise ArgumentError(f"--fit '{name}' is no parameter in mechanical_params; there are {', '.join(known)}")
    signals = task.signals
    with progress("identifying", 1.0) as advance:
        fit = fit_mechanism(
            _needed(signals, "wheel", signals.commanded),
            signals.measured.get("v_x"),
            _needed(signals, "steering", signals.measured),
            given,
            free=names or FREE,
            advance=advance,
        )
    model = "actuation_cmd_mechanical"
    group = f"model_params.{model}"
    estimates = {f"mechanical_params.{name}": one for name, one in fit.numbers.items()} | {"steer_bias": fit.offset}
    task.write(model, [one.override(f"{group}.{name}") for name, one in estimates.items() if one is not None])
    notes = [*signals.notes, *steering_notes(fit)]
    _tell(notes, write_steering_report(task.folder, task.log, notes, fit))
    _tell_files(task.folder)


def _needed(signals: Recording, quantity: str, among: dict[str, Series]) -> Series:
    """A signal that there must be."""
    found = among.get(quantity)
    if found is None or len(found.time) < 2:
        there = ", ".join(f"{name} ({len(one.time)})" for name, one in (signals.commanded | signals.measured).items())
        others = sorted({one.source for one in signals.further if one.quantity == quantity})
        hint = f"; it was measured in {' and '.join(others)}: name one of them by an option" if others else ""
        raise SignalError(f"there is no signal '{quantity}' in the recording; it has {there or 'none'}{hint}")
    return found


def _tell(notes: Sequence[str], rows: Rows, *more: str) -> None:
    for note in notes:
        print(f"note: {note}")
    print(f"\n{text_table(HEAD, rows)}\n")
    for line in more:
        print(line)


def _tell_files(folder: Path) -> None:
    print(f"parameters  {folder / 'parameters.yaml'}\nreport      {folder / 'report.html'}")
