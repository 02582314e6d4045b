"""``vds-gz identify``: from a recording of a vehicle to a model that responds as it does."""

from __future__ import annotations

import argparse
from itertools import chain
from pathlib import Path

from vds_gz.bags.connection import may_be_bag
from vds_gz.cli.console_script import DONE, FAILED, RAW, add_vehicle_options, command, parameter_file_of, vehicle_of
from vds_gz.cli.identify_actuation import Task, identify_pedals, identify_steering
from vds_gz.errors import ArgumentError
from vds_gz.parameters.node import NodeParameters
from vds_gz.parameters.override import Override
from vds_gz.study.identify.signals import (
    ACTUATIONS,
    QUANTITIES,
    Signals,
    read_actuation_csv,
    read_bag,
    read_csv,
)
from vds_gz.study.identify.vehicle_fit import autoware, identify, model_of, nav2, overrides
from vds_gz.study.progress import progress
from vds_gz.study.report.identification import HEAD, axis_rows, write_report
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


@command("vds-gz identify")
def main(argv: list[str]) -> int:
    """Identify a vehicle.

    Returns:
        0 when something was found, 1 if nothing was excited, 2 if something is wrong with what was given.
    """
    options = _parser().parse_args(argv)
    given = (vehicle_of(options), Path(parameter_file_of(options))) if options.preset or options.params else None
    signals = _signals(options)
    folder = Path(options.output)
    folder.mkdir(parents=True, exist_ok=True)
    task = Task(options.log, signals, given, folder)
    if options.model == "pedals":
        identify_pedals(task)
    elif options.model == "steering":
        identify_steering(task, options.fit)
    else:
        return _identify_axes(task, options.wheel_base)
    return DONE


def _identify_axes(task: Task, wheel_base: float | None) -> int:
    """Find the numbers of every axis; write them and a report, and return the exit code.

    Args:
        task: What is to be identified.
        wheel_base: As given [m]; None: that of the vehicle.
    """
    signals, folder = task.signals, task.folder
    vehicle = task.given[0] if task.given else None
    with progress("identifying", None):
        axes = identify(signals, wheel_base=wheel_base or _wheel_base(vehicle))
    model = vehicle.model if vehicle is not None else model_of(signals, axes)
    found = list(overrides(model, axes))
    if vehicle is None and wheel_base and model == "bicycle":
        found.append(Override("model_params.bicycle.wheel_base", wheel_base, "--wheel-base"))
    task.write(model, found)
    write_report(folder, task.log, signals, axes)
    for note in signals.notes:
        print(f"note: {note}")
    print(f"\n{text_table(HEAD, list(axis_rows(axes)))}\n")
    print("\n".join((*nav2(axes, signals), "", *autoware(axes))))
    for advice in chain.from_iterable(axis.advice() for axis in axes):
        print(f"\npoorly determined: {advice}")
    print(f"\nparameters  {folder / 'parameters.yaml'}\nreport      {folder / 'report.html'}")
    return DONE if any(number for axis in axes for number in axis.fit.numbers.values()) else FAILED


def _wheel_base(vehicle: NodeParameters | None) -> float | None:
    """Distance between the axles [m]; None where the vehicle is not known, or has one axle."""
    return models()[vehicle.model].geometry(vehicle.vehicle).wheel_base or None if vehicle is not None else None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("vds-gz identify", description=DESCRIPTION, epilog=EPILOG, formatter_class=RAW)
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
    if may_be_bag(path):
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
