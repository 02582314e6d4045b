"""``vds-gz identify``: from a recording of a vehicle to a model that answers the same."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from vds_gz.cli.options import add_vehicle_options, vehicle_of
from vds_gz.configuration import NODE_NAME, write_parameters
from vds_gz.errors import ArgumentError
from vds_gz.parameters.description import ParameterError
from vds_gz.parameters.node import NodeParameters
from vds_gz.parameters.override import Override
from vds_gz.parameters.yaml_reader import read_parameter_file
from vds_gz.share import share
from vds_gz.study.identify.actuation import identify_pedals, identify_steering
from vds_gz.study.identify.axis_fit import LIMITS, NAMES
from vds_gz.study.identify.estimates import INTERVAL
from vds_gz.study.identify.signals import (
    ACTUATIONS,
    QUANTITIES,
    Signals,
    read_actuation_csv,
    read_bag,
    read_csv,
)
from vds_gz.study.identify.vehicle_fit import Axis, autoware, identify, model_of, nav2, overrides
from vds_gz.study.progress import progress
from vds_gz.study.recording import RecordingError
from vds_gz.study.report.html import Page
from vds_gz.study.report.plots import ACTUAL, ASKED, INK, STYLE, png
from vds_gz.study.report.text import text_table
from vds_gz.vehicle.catalogue import models

DESCRIPTION = """
Measure a vehicle from what it was commanded and what it did: dead time, time constant, limits, gain and offset of every
axis, each with its confidence interval (95 % if the model holds), or "not excited" where the recording does not tell.

LOG is a bag (rosbag2 folder, .mcap, .db3) or a CSV file. Of a bag, the commands (Twist, TwistStamped,
AckermannDriveStamped, Autoware's Control), the velocities (Odometry, TwistStamped, VelocityReport) and the steering
angles (JointState, SteeringReport) are found by type and name, or named by options. A CSV file has a column time [s]
and pairs such as v_x_command,v_x_measured and steering_command,steering_measured.

--model pedals finds the accelerator's and the brake's map, dead times and lags from commands of pedals
(ActuationCommandStamped; columns accel, brake, v_x); --model steering the parameters of a mechanical steering (columns
wheel, steering, v_x). Both are those of the models actuation_cmd*.

Written into a folder: parameters.yaml, which the node loads, report.html, report.json and identified.png, and maps as
CSV. With --preset or --params the new numbers replace those of that vehicle, which brings the geometry.
"""

EPILOG = """
examples:
  vds-gz identify my_bag/ --command /cmd_vel --velocity /odom
  vds-gz identify car.mcap --params my_car.yaml -o my_car_identified
  vds-gz identify log.csv --column v_x=cmd:odom_v
  vds-gz identify drive.mcap --model pedals -o pedals
  vds-gz identify log.csv --model steering --column wheel=steer_cmd --fit inertia,damping

exit code: 0 done, 1 nothing was excited, 2 wrong use or input
"""

#: What can be found; of which signals pedals and steering are found.
MODELS = ("axes", "pedals", "steering")
ACTUATION_QUANTITIES = (*ACTUATIONS, "v_x", "steering")

HEAD = ("axis", "number", "value", f"interval ({INTERVAL})")


def main(argv: Sequence[str] | None = None) -> int:
    """Identify a vehicle.

    Returns:
        0 when something was found, 1 if nothing was excited, 2 if something is wrong with what was given.
    """
    options = _parser().parse_args(argv)
    try:
        vehicle = vehicle_of(options) if options.preset or options.params else None
        signals = _signals(options)
        if options.model != "axes":
            print(_actuation(options, signals, getattr(vehicle, "vehicle", None)))
            return 0
        base = options.wheel_base or _wheel_base(vehicle)
        with progress("identifying", None):
            axes = identify(signals, wheel_base=base)
        folder = Path(options.output)
        folder.mkdir(parents=True, exist_ok=True)
        model = vehicle.model if vehicle is not None else model_of(signals, axes)
        _write_parameters(folder / "parameters.yaml", options, model, axes)
        _write_report(folder, options.log, signals, axes)
    except (ArgumentError, ParameterError, RecordingError, OSError) as error:
        print(f"vds-gz identify: {error}", file=sys.stderr)
        return 2
    for note in signals.notes:
        print(f"note: {note}")
    print(f"\n{text_table(HEAD, list(_rows(axes)))}\n")
    print("\n".join((*nav2(axes, signals), "", *autoware(axes))))
    for advice in chain.from_iterable(axis.advice() for axis in axes):
        print(f"\npoorly determined: {advice}")
    print(f"\nparameters  {folder / 'parameters.yaml'}\nreport      {folder / 'report.html'}")
    return 0 if any(number for axis in axes for number in axis.fit.numbers.values()) else 1


def _wheel_base(vehicle: NodeParameters | None) -> float | None:
    """Distance between the axles [m]; None where the vehicle is not known, or has one axle."""
    return models()[vehicle.model].geometry(vehicle.vehicle).wheel_base or None if vehicle is not None else None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "vds-gz identify", description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("log", metavar="LOG", help="a bag or a CSV file")
    add_vehicle_options(parser, required=False)
    parser.add_argument(
        "--model", choices=MODELS, default="axes", help="what to find: axes, pedals or (mechanical) steering (axes)"
    )
    parser.add_argument(
        "--fit", type=_names, default=[], metavar="NAME,NAME", help="parameters of the steering to find; else the usual"
    )
    parser.add_argument("--command", metavar="TOPIC", help="topic with the commands")
    parser.add_argument("--velocity", metavar="TOPIC", help="topic with the velocities that were measured")
    parser.add_argument("--steering", metavar="TOPIC", help="topic with the steering angles that were measured")
    parser.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="QUANTITY=COMMAND:MEASURED",
        help=f"columns of a CSV file, for {', '.join(QUANTITIES)}; with another --model QUANTITY=COLUMN, for "
        f"{', '.join(ACTUATION_QUANTITIES)}; may be given several times",
    )
    parser.add_argument("--wheel-base", type=float, metavar="M", help="of a car that is commanded velocities")
    parser.add_argument("-o", "--output", metavar="DIR", default="identified", help="folder for results (identified)")
    return parser


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _signals(options: argparse.Namespace) -> Signals:
    path = Path(options.log)
    if not path.exists():
        raise ArgumentError(f"'{path}' does not exist (looked in {Path.cwd()})")
    axes = options.model == "axes"
    if path.is_dir() or path.suffix in (".mcap", ".db3"):
        topics = {"command": options.command, "velocity": options.velocity, "steering": options.steering}
        return read_bag(path, **topics, pedals=not axes)
    columns = {}
    known = QUANTITIES if axes else ACTUATION_QUANTITIES
    for text in options.column:
        quantity, equals, names = text.partition("=")
        if quantity not in known or not equals or (axes and ":" not in names):
            example = "v_x=cmd:odom_v" if axes else "accel=throttle"
            raise ArgumentError(f"--column '{text}' must be one of {', '.join(known)} with columns, e.g. {example}")
        columns[quantity] = names
    return read_csv(path, columns) if axes else read_actuation_csv(path, columns)


def _actuation(options: argparse.Namespace, signals: Signals, vehicle: object) -> str:
    """Find and write pedals or steering; what to tell."""
    folder = Path(options.output)
    folder.mkdir(parents=True, exist_ok=True)
    base = _base(options)
    if options.model == "pedals":
        return identify_pedals(signals, vehicle, base, options.log, folder)
    return identify_steering(signals, vehicle, base, options.fit, options.log, folder)


def _base(options: argparse.Namespace) -> list[Override]:
    """The parameters that were given."""
    if not (options.preset or options.params):
        return []
    file = options.params or str(share("config", f"{options.preset}.yaml"))
    return [Override(one.name, one.value) for one in read_parameter_file(file, f"/{NODE_NAME}")]


def _write_parameters(path: Path, options: argparse.Namespace, model: str, axes: list[Axis]) -> None:
    """The vehicle that was given, or the model's defaults, with what was found."""
    base = _base(options)
    if not base:
        base = [Override("model", model)]
        if options.wheel_base and model == "bicycle":
            base.append(Override("model_params.bicycle.wheel_base", options.wheel_base, "--wheel-base"))
    head = f"Identified by vds-gz identify from {Path(options.log).name}.\nNumbers without an interval were not found."
    write_parameters(path, [*base, *overrides(model, axes)], head)


# ---------------------------------------------------------------------- the report


def _rows(axes: list[Axis]) -> Iterator[tuple[str, str, str, str]]:
    for axis in axes:
        for name in NAMES:
            if name == "fall" and axis.quantity == "steering":
                continue
            number, unit = axis.fit.numbers[name], axis.unit_of(name)
            if number is not None:
                yield axis.quantity, axis.label(name), f"{number.value:.4g} {unit}".strip(), number.interval
            elif name in LIMITS:
                reached = getattr(axis.fit.reached, name)
                yield axis.quantity, axis.label(name), "not excited", f"reached {reached:.3g} {unit}"
            else:
                yield axis.quantity, axis.label(name), "not excited", ""
        left_out = f", {axis.fit.left_out} samples left out" if axis.fit.left_out else ""
        yield axis.quantity, "residual", f"{axis.fit.residual:.4g} {axis.unit}", f"standard deviation{left_out}"


def _write_report(folder: Path, log: str, signals: Signals, axes: list[Axis]) -> None:
    picture = png(_figure(axes))
    (folder / "identified.png").write_bytes(picture)
    content = {
        "log": log,
        "notes": signals.notes,
        "axes": {
            axis.quantity: {
                "unit": axis.unit,
                "numbers": {
                    name: None if number is None else dataclasses.asdict(number)
                    for name, number in axis.fit.numbers.items()
                },
                "reached": axis.fit.reached._asdict(),
                "residual": axis.fit.residual,
                "left_out": axis.fit.left_out,
            }
            for axis in axes
        },
        "nav2": list(nav2(axes, signals)),
        "autoware": list(autoware(axes)),
    }
    (folder / "report.json").write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    page = Page(f"What {Path(log).name} tells of the vehicle")
    for note in signals.notes:
        page.text(note)
    page.picture(picture, "commanded, measured and modelled")
    page.table(HEAD, _rows(axes))
    for title, lines in (("For Nav2", nav2(axes, signals)), ("For Autoware", autoware(axes))):
        page.heading(title)
        page.table((), [(line,) for line in lines])
    (folder / "report.html").write_text(page.html(), encoding="utf-8")


def _figure(axes: list[Axis]) -> Figure:
    """Of each axis what was commanded, measured and modelled, and what is left."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(12.0, 3.3 * len(axes) + 0.4), dpi=100, layout="constrained")
        heights = [part for _ in axes for part in (3.0, 1.0)]
        panels = figure.subplots(2 * len(axes), 1, sharex=True, height_ratios=heights, squeeze=False)[:, 0]
        for axis, panel, below in zip(axes, panels[::2], panels[1::2], strict=True):
            fit = axis.fit
            panel.step(fit.time, fit.commanded, where="post", color=ASKED, linewidth=1.2, label="commanded")
            panel.plot(fit.time, fit.measured, ".", color=ACTUAL, markersize=2.0, alpha=0.5, label="measured")
            panel.plot(fit.time, fit.modelled, color=INK, linewidth=1.1, label="model")
            panel.set_title(f"{axis.quantity.replace('_', ' ')} [{axis.unit}]")
            below.plot(fit.time, fit.measured - fit.modelled, ".", color=ACTUAL, markersize=1.5)
            below.set_ylabel("left")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper right", ncols=3)
        panels[-1].set_xlabel("time [s]")
        return figure


if __name__ == "__main__":
    sys.exit(main())
