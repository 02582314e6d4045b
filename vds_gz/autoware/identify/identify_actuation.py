"""``vds-gz identify --model pedals`` and ``--model steering``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from vds_gz.autoware.identify.actuation_report import HEAD, pedal_findings, steering_findings, write_report
from vds_gz.autoware.identify.mechanism_fit import FREE, fit_mechanism
from vds_gz.autoware.identify.pedal_fit import csv_text, fit_pedals
from vds_gz.autoware.parameters.car_parameters import (
    ActuationCmdMechanicalParameters,
    ActuationCmdParameters,
    MechanicalParameters,
)
from vds_gz.autoware.parameters.map_files import own_map
from vds_gz.cli.cli_extensions import GivenVehicle
from vds_gz.cli.identified_parameters import print_files, write_parameters
from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.declaration import Override
from vds_gz.tools.study.identify.results import NamedEstimates
from vds_gz.tools.study.progress import progress
from vds_gz.tools.study.recording import Recording, Series, SignalError
from vds_gz.tools.study.report.text import text_table


def identify_pedals(log: str, recording: Recording, given: GivenVehicle | None, folder: Path) -> None:
    """Identify maps of pedals from ``accel``, ``brake`` and ``v_x``; write them, parameters and a report.

    The maps of the given vehicle, or else those of this package, set the grid.
    """
    vehicle = given[0].vehicle if given else None
    if vehicle is not None and not isinstance(vehicle, ActuationCmdParameters):
        raise ArgumentError("the vehicle has no pedals; --model pedals takes one whose model is an actuation_cmd")
    accel_grid, brake_grid = own_map("accel_map.csv"), own_map("brake_map.csv")
    if vehicle is not None:
        accel_grid, brake_grid = vehicle.accel_map, vehicle.brake_map
    accel = _needed(recording, "accel", recording.commanded)
    if "brake" in recording.commanded:
        brake = _needed(recording, "brake", recording.commanded)
    else:
        brake = Series(accel.time, 0.0 * accel.value)
        recording.findings.append("no brake was commanded; it is taken as never pressed")
    with progress("identifying", 1.0) as advance:
        fit = fit_pedals(
            accel,
            brake,
            _needed(recording, "v_x", recording.measured),
            speeds=accel_grid.states,
            accels=accel_grid.actuations,
            brakes=brake_grid.actuations,
            coasts=vehicle is None or vehicle.physical,
            advance=advance,
        )
    model = given[0].model if given else "actuation_cmd"
    lines, files = [], []
    for name, table in fit.maps().items():
        files.append(folder / f"{name}_map.csv")
        files[-1].write_text(csv_text(table), encoding="utf-8")
        lines.append(Override(f"model_params.{model}.{name}_map_path", str(files[-1].resolve())))
    write_parameters(folder, log, given, model, [*lines, *_lines(model, fit.numbers)])
    findings = [*recording.findings, *pedal_findings(fit)]
    _print_result(findings, write_report(folder, log, findings, fit))
    with_data = f"{int((~fit.filled).sum())} of {fit.filled.size} cells have data"
    print(f"{with_data}, the others are filled from their neighbours\n")
    for file in files:
        print(f"map         {file}")
    print_files(folder)


def identify_steering(
    log: str, recording: Recording, given: GivenVehicle | None, folder: Path, names: Sequence[str]
) -> None:
    """Identify a mechanical steering from ``wheel``, ``steering`` and ``v_x``; write its parameters and a report.

    The names are those of parameters in ``mechanical_params``; without names, the usual ones are identified.
    """
    vehicle = given[0].vehicle if given else ActuationCmdMechanicalParameters()
    if not isinstance(vehicle, ActuationCmdMechanicalParameters):
        raise ArgumentError("the vehicle has no mechanical steering; its model must be actuation_cmd_mechanical")
    known = [field.name for field in dataclasses.fields(MechanicalParameters)]
    for name in names:
        if name not in known:
            raise ArgumentError(f"--fit '{name}' is not a parameter in mechanical_params; there are {', '.join(known)}")
    with progress("identifying", 1.0) as advance:
        fit = fit_mechanism(
            _needed(recording, "wheel", recording.commanded),
            recording.measured.get("v_x"),
            _needed(recording, "steering", recording.measured),
            vehicle,
            free=names or FREE,
            advance=advance,
        )
    model = "actuation_cmd_mechanical"
    numbers = {f"mechanical_params.{name}": number for name, number in fit.numbers.items()} | {"steer_bias": fit.offset}
    write_parameters(folder, log, given, model, _lines(model, numbers))
    findings = [*recording.findings, *steering_findings(fit)]
    _print_result(findings, write_report(folder, log, findings, fit))
    print_files(folder)


def _lines(model: str, numbers: NamedEstimates) -> list[Override]:
    """Lines of a parameter file."""
    return [number.override(f"model_params.{model}.{name}") for name, number in numbers.items() if number is not None]


def _needed(recording: Recording, quantity: str, group: dict[str, Series]) -> Series:
    """A signal without which nothing can be identified."""
    signal = group.get(quantity)
    if signal is None or len(signal.time) < 2:
        present = (recording.commanded | recording.measured).items()
        there = ", ".join(f"{name} ({len(series.time)} samples)" for name, series in present)
        sources = sorted({channel.source for channel in recording.further if channel.quantity == quantity})
        remedy = f"; it was measured in {' and '.join(sources)}: name one of them by an option" if sources else ""
        raise SignalError(f"there is no signal '{quantity}' in the recording; it has {there or 'none'}{remedy}")
    return signal


def _print_result(findings: Sequence[str], rows: Sequence[tuple[str, ...]]) -> None:
    for finding in findings:
        print(f"finding: {finding}")
    print(f"\n{text_table(HEAD, rows)}\n")
