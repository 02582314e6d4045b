"""``vds-gz profile``: makes an informative command log for a vehicle."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from vds_gz.autoware.identify.pedal_profile import TURNING_ANGLE, TURNING_SPEED, pedal_limits, pedals, turns
from vds_gz.autoware.parameters.car_parameters import ActuationCmdParameters, ActuationCmdVgrParameters
from vds_gz.cli.shared_options import (
    add_vehicle_options,
    intervals_of,
    parameter_file_of,
    positive,
    vehicle_of,
    whole,
)
from vds_gz.core import files
from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.ros.program_shell import DONE, CommandLine, command
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.command import ACKERMANN
from vds_gz.core.vehicle.vehicle_model import AnyModel
from vds_gz.programs.commandlog.command_log import CommandLog, write_csv
from vds_gz.programs.commandlog.profiles import PROFILES, Limits, limits_of, make
from vds_gz.tools.study.progress import progress
from vds_gz.tools.study.report.text import text_table

if TYPE_CHECKING:
    from vds_gz.tools.study.identify.design import Design, Expectation

Car = TypeVar("Car", bound=ActuationCmdParameters)

#: Default length of a log [s].
DURATION = 60.0

#: Kinds of logs for cars with pedals, their default lengths [s], and their default model.
ACTUATION_KINDS, CAR = {"pedals": 300.0, "turns": 60.0}, "actuation_cmd_mechanical"

#: The kind that is found by a search.
OPTIMAL = "optimal"

DESCRIPTION = """
Make a command log for a vehicle, to be sent with `vds-gz drive`, `vds-gz run --log` or `vds-gz replay`.

KIND is one of
  steps     both axes jump, hold, and jump to and fro quickly: dead time, time constant, limits; for `identify`
  ramps     both axes go straight from one random value to the next: limits of rates, gains
  chirp     sines from 0.05 to 2 Hz: the response over frequency
  prbs      both axes jump between two values at random times: dead time in little space
  slalom    steady speed, steering to and fro
  figure8   a full circle to the left, a full circle to the right
  parking   to and fro with full lock, as into a parking space
  optimal   the most informative commands for the given vehicle, which minimize the widest relative interval; prints
            the intervals to expect from `identify`, beside those of `steps`
or, for a car with pedals (the models actuation_cmd*),
  pedals    accelerator and brake in all positions at all speeds, straight ahead; for `identify --model pedals`
  turns     the steering wheel turned far and little, slowly and quickly, to and fro; for `identify --model steering`

Limits are those of the vehicle, unless options set them. To find the limits of a real vehicle, command more than
it can do: --speed 3 for a vehicle of 2 m/s. `optimal` assumes that parameters are known to +-30 %, or to the
intervals in the parameter file, as `identify` writes them; it searches for half a minute. Speeds of `pedals` are what
the car's maps predict; if the maps are not known, leave room.
"""

EPILOG = """
examples:
  vds-gz profile steps --preset ackermann_car --duration 60 -o steps.csv
  vds-gz profile prbs --speed 0.8 --yaw-rate 1.2 --seed 7
  vds-gz profile optimal --params prior.yaml --speed 3 --duration 60 -o optimal.csv
  vds-gz profile optimal --preset deepracer --noise v_x=0.05,yaw_rate=0.02
  vds-gz profile pedals --params my_car.yaml --speed 15 --accel 0.8 --brake 0.6
  vds-gz profile turns --preset autoware_car --speed 3 --steering 0.4

exit code: 0 written, 2 wrong use
"""


@command("vds-gz profile")
def main(argv: list[str]) -> int:
    """Write a log."""
    options = _parser().parse_args(argv)
    for name in ("noise", "acceleration"):
        if options.kind != OPTIMAL and getattr(options, name) is not None:
            raise ArgumentError(f"--{name} is for optimal logs; leave it out for {options.kind}")
    parameters = vehicle_of(options) if options.preset or options.params else None
    duration = options.duration or ACTUATION_KINDS.get(options.kind, DURATION)
    chance = {"rate": options.rate, "seed": options.seed}
    if options.kind in ACTUATION_KINDS and options.kind_of_log is not None:
        raise ArgumentError(f"{options.kind} is a log of pedals; leave out --as {options.kind_of_log}")
    if options.kind == "pedals":
        model, car = _car(parameters, ActuationCmdParameters, "pedals; it must be an actuation_cmd")
        reach = pedal_limits(car, options.speed, options.accel, options.brake)
        log = pedals(model, car, reach, duration=duration, **chance)
        upto = f"{reach.speed:g} m/s, accelerator {reach.accel:g} and brake {reach.brake:g}"
    elif options.kind == "turns":
        model, turned = _car(
            parameters, ActuationCmdVgrParameters, f"steering wheel; it must be {CAR} or actuation_cmd_vgr"
        )
        speed, angle = options.speed or TURNING_SPEED, options.steering or TURNING_ANGLE
        log = turns(model, turned, speed=speed, angle=angle, duration=duration, **chance)
        upto = f"{angle:g} rad at the tyres, at {speed:g} m/s"
    else:
        ackermann = _is_ackermann(parameters, options.kind_of_log, steers=options.steering is not None)
        maxima = {name: getattr(options, name) for name in ("speed", "lateral", "yaw_rate", "steering")}
        limits = limits_of(parameters, **maxima)
        if options.kind == OPTIMAL:
            log = _optimal(options, parameters, limits, ackermann=ackermann, duration=duration)
        else:
            log = make(options.kind, limits, ackermann=ackermann, duration=duration, **chance)
        turning = f"{limits.steering:g} rad" if ackermann else f"{limits.yaw_rate:g} rad/s"
        upto = f"{limits.speed:g} m/s and {turning}"
    output = Path(options.output or f"{options.kind}.csv")
    write_csv(log, output)
    count = len(log.times) - (options.kind in ACTUATION_KINDS)
    print(f"{output}: {count} commands, {log.duration:.1f} s, up to {upto}")
    return DONE


def _optimal(
    options: argparse.Namespace,
    parameters: NodeParameters | None,
    limits: Limits,
    *,
    ackermann: bool,
    duration: float,
) -> CommandLog:
    """The most informative log for the given vehicle; prints its expected intervals."""
    if parameters is None:
        raise ArgumentError("optimal is for a vehicle; give what is known of it by --params FILE or --preset NAME")
    from vds_gz.tools.study.identify.design import NOISE, design  # with numba, which no other kind needs

    with progress("designing", 1.0) as advance:
        plan = design(
            parameters,
            limits,
            ackermann=ackermann,
            duration=duration,
            rate=options.rate,
            seed=options.seed,
            noise=NOISE if options.noise is None else options.noise,
            intervals=intervals_of(parameters, parameter_file_of(options)),
            acceleration=options.acceleration or math.inf,
            advance=advance,
        )
    print("\n".join(_expected(plan, options.rate, duration)))
    return plan.log


def _car(parameters: NodeParameters | None, kind: type[Car], needed: str) -> tuple[AnyModel, Car]:
    """The model and the parameters of a car with pedals: the given one, or :data:`CAR` with its defaults."""
    model = models()[parameters.model if parameters is not None else CAR]
    car = parameters.vehicle if parameters is not None else model.parameters()
    if not isinstance(car, kind):
        raise ArgumentError(f"the model '{model.name}' has no {needed}")
    return model, car


def noise_option(text: str) -> float | dict[str, float]:
    """The value of ``--noise``: a part of full scale, or QUANTITY=DEVIATION,..."""
    try:
        if "=" not in text:
            return files.number(text)
        return {name: files.number(value) for name, _, value in (pair.partition("=") for pair in text.split(","))}
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"'{text}' must be a number, such as 0.02, or deviations of quantities, such as v_x=0.05,yaw_rate=0.02"
        ) from None


def _is_ackermann(parameters: NodeParameters | None, kind: str | None, *, steers: bool) -> bool:
    """Whether the log has speeds and steering angles."""
    if parameters is None:
        return kind == "ackermann" or (kind is None and steers)
    takes = ACKERMANN in models()[parameters.model].accepts
    if kind == "ackermann" and not takes:
        raise ArgumentError(f"the model '{parameters.model}' takes no steering angles; leave out --as ackermann")
    return takes and kind != "twist"


#: Options of limits, including an old name, and the limited quantities.
_LIMITS = {
    "--speed": "speed [m/s]",
    "--steering": "steering angle [rad]",
    "--yaw-rate": "yaw rate [rad/s]",
    "--lateral --sideways": "lateral speed [m/s]",
    "--accel": "position of the accelerator pedal",
    "--brake": "position of the brake pedal",
}


def _parser() -> argparse.ArgumentParser:
    parser = CommandLine("vds-gz profile", description=DESCRIPTION, epilog=EPILOG)
    kinds = [*PROFILES, OPTIMAL, *ACTUATION_KINDS]
    parser.add_argument("kind", metavar="KIND", choices=kinds, help=", ".join(kinds))
    add_vehicle_options(parser, required=False)
    parser.add_argument("--as", dest="kind_of_log", choices=("twist", "ackermann"), help="type of the commands")
    for names, what in _LIMITS.items():
        parser.add_argument(*names.split(), type=positive, metavar="X", help=f"maximum {what}")
    parser.add_argument("--acceleration", type=positive, metavar="X", help="optimal: maximum change of speeds [m/s^2]")
    parser.add_argument(
        "--noise",
        type=noise_option,
        metavar="X",
        help="optimal: standard deviation of the measurements, as a part of full scale (0.02), or of each quantity: "
        "v_x=0.05,yaw_rate=0.02",
    )
    parser.add_argument("--duration", type=positive, metavar="S", help="length of the log [s] (60; pedals: 300)")
    parser.add_argument("--rate", type=positive, default=50.0, metavar="HZ", help="commands per second (50)")
    parser.add_argument("--seed", type=whole(0, 2**63 - 1), default=0, metavar="N", help="random seed (0)")
    parser.add_argument("-o", "--output", metavar="FILE", help="CSV file to write (KIND.csv)")
    return parser


#: Units of measured quantities.
UNITS = {"v_x": "m/s", "v_y": "m/s", "yaw_rate": "rad/s", "steering": "rad"}

UNDETERMINED = "not determined"


def _expected(plan: Design, rate: float, duration: float) -> Iterator[str]:
    """The expected intervals as a table, and the parameters that the log does not determine."""
    from vds_gz.tools.study.identify.estimates import TIME_RESOLUTION, WIDTH

    sensors = ", ".join(f"{name} {value:.3g} {UNITS[name]}" for name, value in plan.noise.items())
    yield f"expected from {duration:g} s, measured at {rate:g} Hz with noise of {sensors}:"
    rows = [
        (
            expectation.name,
            f"{expectation.value:.4g}",
            _interval(expectation, expectation.part),
            _interval(expectation, expectation.part_of_steps),
        )
        for expectation in plan.expectations
    ]
    yield text_table(("parameter", "prior", "95 % interval", "with `steps`"), rows)
    largest, of_steps = plan.largest
    if largest < math.inf:
        yield (
            f"largest due to noise: {largest:.2%}, with `steps` {of_steps:.2%} (dead times have a resolution of "
            f"+-{WIDTH * TIME_RESOLUTION:.2g} s)"
        )
    undetermined = [expectation.name for expectation in plan.expectations if expectation.part is None]
    if undetermined:
        names = ", ".join(undetermined)
        yield f"not determined within these limits: {names}; commands must exceed a limit to determine it"


def _interval(expectation: Expectation, part: float | None) -> str:
    half = expectation.half(part)
    return UNDETERMINED if half is None else f"+-{half:.2g} ({half / expectation.scale:.2%})"
