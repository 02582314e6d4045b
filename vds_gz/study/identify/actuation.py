"""``vds-gz identify --model pedals`` and ``--model steering``: maps of pedals, and a mechanical steering."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from vds_gz.cli import maps
from vds_gz.configuration import write_parameters
from vds_gz.errors import ArgumentError
from vds_gz.parameters.autoware import (
    ActuationCmdMechanicalParameters,
    ActuationCmdParameters,
    MechanicalParameters,
)
from vds_gz.parameters.maps import ActuationMap, own_map
from vds_gz.parameters.override import Override
from vds_gz.study.identify.estimates import CERTAIN, INTERVAL, Estimate
from vds_gz.study.identify.mechanism_fit import FREE, MechanismFit, fit_mechanism
from vds_gz.study.identify.pedal_fit import PedalFit, fit_pedals
from vds_gz.study.identify.signals import Series, SignalError, Signals
from vds_gz.study.progress import progress
from vds_gz.study.recording import Array
from vds_gz.study.report.html import Page
from vds_gz.study.report.plots import ACTUAL, ASKED, INK, STYLE, png
from vds_gz.study.report.text import text_table

HEAD = ("number", "value", f"interval ({INTERVAL})")
CELL_HEAD = ("pedal", "speed", "acceleration", f"interval ({INTERVAL})", "data", "")


def identify_pedals(signals: Signals, vehicle: object, base: list[Override], log: str, folder: Path) -> str:
    """Find maps of pedals and write them, with parameters and a report, into a folder.

    Args:
        signals: What was commanded (``accel``, ``brake``) and measured (``v_x``).
        vehicle: The vehicle whose maps give the grid; None: our own maps'.
        base: Its parameters.
        log: Name of the recording.
        folder: Where to write.

    Returns:
        What to tell.

    Raises:
        SignalError: Something is missing, or the recording does not tell.
        ArgumentError: The vehicle has no pedals.
    """
    if vehicle is not None and not isinstance(vehicle, ActuationCmdParameters):
        raise ArgumentError("the vehicle has no pedals; --model pedals takes one whose model is an actuation_cmd")
    accel_grid, brake_grid = own_map("accel_map.csv"), own_map("brake_map.csv")
    if vehicle is not None:
        accel_grid, brake_grid = vehicle.accel_map, vehicle.brake_map
    accel = needed(signals, "accel", signals.commanded)
    brake = signals.commanded.get("brake") or Series(accel.time, 0.0 * accel.value)
    with progress("identifying", 1.0) as advance:
        fit = fit_pedals(
            accel,
            brake,
            needed(signals, "v_x", signals.measured),
            speeds=accel_grid.states,
            accels=accel_grid.actuations,
            brakes=brake_grid.actuations,
            coasts=vehicle is None or vehicle.physical,
            advance=advance,
        )
    written = {"accel": fit.accel_map(), "brake": fit.brake_map()}
    overrides = list(base) or [Override("model", "actuation_cmd")]
    model = next(one.value for one in overrides if one.name == "model")
    for name, table in written.items():
        path = folder / f"{name}_map.csv"
        path.write_text(csv_text(table), encoding="utf-8")
        maps.draw(table, f"{name} map of {Path(log).name}", folder / f"{name}_map.png")
        overrides.append(Override(f"model_params.{model}.{name}_map_path", str(path.resolve())))
    overrides += _overrides(f"model_params.{model}", fit.times)
    write_parameters(folder / "parameters.yaml", overrides, _head(log))
    notes = [*signals.notes, *_pedal_notes(fit)]
    rows = list(_rows(fit.times, "s"))
    picture = _picture(folder, fit.time, None, fit.measured, fit.modelled, "speed [m/s]")
    report = {
        "times": _plain(fit.times),
        "residual": fit.residual,
        "speeds": fit.speeds.tolist(),
        "pedals": fit.pedals.tolist(),
        "values": fit.values.tolist(),
        "half_intervals": fit.half.tolist(),
        "seconds": fit.seconds.tolist(),
        "filled": fit.filled.tolist(),
    }
    _write_report(folder, log, notes, rows, picture, report, list(_cells(fit)))
    told = int((~fit.filled).sum())
    lines = [f"note: {note}" for note in notes]
    lines += ["", text_table(HEAD, [*rows, ("residual", f"{fit.residual:.4g} m/s", "standard deviation")]), ""]
    lines += [f"{told} of {fit.filled.size} cells have data, the others are filled from their neighbours", ""]
    return "\n".join([*lines, *_files(folder, *(f"{name}_map.csv" for name in written))])


def identify_steering(
    signals: Signals, vehicle: object, base: list[Override], names: list[str], log: str, folder: Path
) -> str:
    """Find parameters of a mechanical steering; arguments as of :func:`identify_pedals`.

    Args:
        names: Parameters in ``mechanical_params`` to look for; none: the usual ones.

    Raises:
        SignalError: Something is missing, or the recording does not tell.
        ArgumentError: The vehicle has no mechanical steering, or no such parameters.
    """
    given = ActuationCmdMechanicalParameters() if vehicle is None else vehicle
    if not isinstance(given, ActuationCmdMechanicalParameters):
        raise ArgumentError("the vehicle has no mechanical steering; its model must be actuation_cmd_mechanical")
    known = [field.name for field in dataclasses.fields(MechanicalParameters)]
    for name in names:
        if name not in known:
            raise ArgumentError(f"--fit '{name}' is no parameter in mechanical_params; there are {', '.join(known)}")
    with progress("identifying", 1.0) as advance:
        fit = fit_mechanism(
            needed(signals, "wheel", signals.commanded),
            signals.measured.get("v_x"),
            needed(signals, "steering", signals.measured),
            given,
            free=names or FREE,
            advance=advance,
        )
    overrides = list(base) or [Override("model", "actuation_cmd_mechanical")]
    group = "model_params.actuation_cmd_mechanical"
    bias = Override(f"{group}.steer_bias", float(f"{fit.offset.value:.5g}"), _interval(fit.offset))
    overrides += [*_overrides(f"{group}.mechanical_params", fit.numbers), bias]
    write_parameters(folder / "parameters.yaml", overrides, _head(log))
    notes = [*signals.notes, *_steering_notes(fit)]
    rows = [*_rows(fit.numbers, ""), *_rows({"steer_bias": fit.offset}, "rad")]
    picture = _picture(folder, fit.time, fit.commanded, fit.measured, fit.modelled, "tire angle [rad]")
    report = {"numbers": _plain(fit.numbers | {"steer_bias": fit.offset}), "residual": fit.residual}
    _write_report(folder, log, notes, rows, picture, report, [])
    lines = [f"note: {note}" for note in notes]
    table = text_table(HEAD, [*rows, ("residual", f"{fit.residual:.4g} rad", "standard deviation")])
    return "\n".join([*lines, "", table, "", *_files(folder)])


def needed(signals: Signals, quantity: str, among: dict[str, Series]) -> Series:
    """A signal that there must be."""
    found = among.get(quantity)
    if found is None or len(found.time) < 2:
        there = ", ".join(f"{name} ({len(one.time)})" for name, one in (signals.commanded | signals.measured).items())
        raise SignalError(f"there is no signal '{quantity}' in the recording; it has {there or 'none'}")
    return found


def csv_text(table: ActuationMap) -> str:
    """A map as the node reads it."""
    rows = [[table.label, *(f"{key:g}" for key in table.states)]]
    for key, values in zip(table.actuations, table.values, strict=True):
        rows.append([f"{key:g}", *(f"{value:.4f}" for value in values)])
    return "\n".join(",".join(row) for row in rows) + "\n"


# ---------------------------------------------------------------------- what is told


def _pedal_notes(fit: PedalFit) -> Iterator[str]:
    if fit.mended:
        yield f"{fit.mended} cells were moved so that more pedal gives more; there the recording contradicts itself"
    wide = (fit.half > 0.3) & ~fit.filled
    if wide.any():
        yield f"{int(wide.sum())} cells with data are only known to more than 0.3 m/s^2; stay longer at their pedals"
    untold = [name for name, number in fit.times.items() if number is None]
    if untold:
        yield f"{', '.join(untold)}: not excited; step on the pedals and release them suddenly, and often"


def _steering_notes(fit: MechanismFit) -> Iterator[str]:
    untold = [name for name, number in fit.numbers.items() if number is None]
    if untold:
        yield f"{', '.join(untold)}: not excited, kept as given; the intervals of the others hold if these are right"
    for name, number in fit.numbers.items():
        half = 0.5 * (number.high - number.low) / number.value if number is not None else 0.0
        if half > CERTAIN:
            yield (
                f"{name} is poorly determined, to +-{half:.0%} only; more slow and small turns tell more "
                "(`vds-gz profile turns`), or a longer recording"
            )
    if fit.left_out:
        yield (
            f"{fit.left_out} of {fit.pieces} pieces of the recording were left out: there the steering sticks or slips "
            "otherwise than the model; where less of that shows, it looks like friction, and intervals are too narrow"
        )
    if fit.parameters.mechanical_params.dead_zone_threshold > 0.0:
        yield (
            "the dead zone stops the steering by chance, which the model of the search leaves out: intervals are too "
            "narrow; of twenty such steerings they held between half (friction) and nine tenths (kp) of the true values"
        )
    yield "torques have no scale in such a recording; they are in the unit of the steering_torque_limit given"


def _cells(fit: PedalFit) -> Iterator[tuple[str, ...]]:
    for i, pedal in enumerate(fit.pedals):
        for j, speed in enumerate(fit.speeds):
            value, half = fit.values[i, j], fit.half[i, j]
            mark = "filled from its neighbours" if fit.filled[i, j] else ""
            interval = f"{value - half:.3f} to {value + half:.3f}"
            seconds = f"{fit.seconds[i, j]:.1f} s"
            yield f"{pedal:g}", f"{speed:g} m/s", f"{value:.3f} m/s²", interval, seconds, mark


def _rows(numbers: dict[str, Estimate | None], unit: str) -> Iterator[tuple[str, str, str]]:
    for name, number in numbers.items():
        if number is None:
            yield name, "not excited", ""
        else:
            yield name, f"{number.value:.4g} {unit}".strip(), number.interval


def _overrides(group: str, numbers: dict[str, Estimate | None]) -> Iterator[Override]:
    for name, number in numbers.items():
        if number is not None:
            yield Override(f"{group}.{name}", float(f"{number.value:.5g}"), _interval(number))


def _interval(number: Estimate) -> str:
    return f"{INTERVAL}: {number.interval}"


def _head(log: str) -> str:
    return f"Identified by vds-gz identify from {Path(log).name}.\nNumbers without an interval were not found."


def _plain(numbers: dict[str, Estimate | None]) -> dict[str, object]:
    return {name: None if number is None else dataclasses.asdict(number) for name, number in numbers.items()}


def _files(folder: Path, *more: str) -> Iterator[str]:
    for name in more:
        yield f"map         {folder / name}"
    yield f"parameters  {folder / 'parameters.yaml'}"
    yield f"report      {folder / 'report.html'}"


def _write_report(
    folder: Path,
    log: str,
    notes: list[str],
    rows: list[tuple[str, str, str]],
    picture: bytes,
    content: dict[str, object],
    cells: list[tuple[str, ...]],
) -> None:
    page = Page(f"What {Path(log).name} tells of the vehicle")
    for note in notes:
        page.text(note)
    page.picture(picture, "measured and modelled")
    page.table(HEAD, rows)
    if cells:
        for name in ("accel", "brake"):
            page.picture((folder / f"{name}_map.png").read_bytes(), f"{name} map")
        page.heading("Every cell")
        page.text("Brakes are negative pedals. Data is the time that the recording spent around a cell.")
        page.table(CELL_HEAD, cells)
    (folder / "report.html").write_text(page.html(), encoding="utf-8")
    text = json.dumps({"log": log, "notes": notes, **content}, indent=2)
    (folder / "report.json").write_text(text + "\n", encoding="utf-8")


def _picture(folder: Path, time: Array, commanded: Array | None, measured: Array, modelled: Array, what: str) -> bytes:
    """What was measured and what the model does; also written as identified.png."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(12.0, 4.2), dpi=100, layout="constrained")
        panel = figure.subplots()
        if commanded is not None:
            panel.step(time, commanded, where="post", color=ASKED, linewidth=1.2, label="commanded")
        panel.plot(time, measured, ".", color=ACTUAL, markersize=2.0, alpha=0.5, label="measured")
        panel.plot(time, modelled, color=INK, linewidth=1.1, label="model")
        panel.set_title(what)
        panel.set_xlabel("time [s]")
        panel.legend(ncols=3, loc="upper right")
        data = png(figure)
    (folder / "identified.png").write_bytes(data)
    return data
