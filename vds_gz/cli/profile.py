"""``vds-gz profile``: makes an informative command log for a vehicle."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING

from vds_gz.cli.cli_extensions import ProfileKind
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
from vds_gz.core.share import additions
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.command import ACKERMANN, FOUR_WHEEL
from vds_gz.programs.commandlog.command_log import CommandLog, write_csv
from vds_gz.programs.commandlog.profiles import PROFILES, Limits, limits_of, make
from vds_gz.programs.interface.commands import Gear
from vds_gz.tools.study.progress import progress
from vds_gz.tools.study.report.text import text_table

if TYPE_CHECKING:
    from vds_gz.tools.study.identify.design import Design, Expectation

#: Default length of a log [s].
DURATION = 60.0

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
{added}
Limits are those of the vehicle, unless options set them. To find the limits of a real vehicle, command more than
it can do: --speed 3 for a vehicle of 2 m/s. `optimal` assumes that parameters are known to +-30 %, or to the
intervals in the parameter file, as `identify` writes them; it searches for half a minute.
"""

EPILOG = """
examples:
  vds-gz profile steps --preset ackermann_car --duration 60 -o steps.csv
  vds-gz profile prbs --speed 0.8 --yaw-rate 1.2 --seed 7
  vds-gz profile optimal --params prior.yaml --speed 3 --duration 60 -o optimal.csv
  vds-gz profile optimal --preset deepracer --noise v_x=0.05,yaw_rate=0.02

exit code: 0 written, 2 wrong use
"""


@command("vds-gz profile")
def main(argv: list[str]) -> int:
    """Write a log."""
    further = additions(ProfileKind, ProfileKind.GROUP, (*PROFILES, OPTIMAL))
    options = _parser(further).parse_args(argv)
    for name in ("noise", "acceleration"):
        if options.kind != OPTIMAL and getattr(options, name) is not None:
            raise ArgumentError(f"--{name} is for optimal logs; leave it out for {options.kind}")
    parameters = vehicle_of(options) if options.preset or options.params else None
    kind = further.get(options.kind)
    duration = options.duration or (kind.duration if kind is not None else DURATION)
    if kind is not None:
        if options.kind_of_log is not None:
            raise ArgumentError(f"{options.kind} has commands of its own; leave out --as {options.kind_of_log}")
        log, upto = kind.make(parameters, vars(options), duration, options.rate, options.seed)
    else:
        ackermann = _is_ackermann(parameters, options.kind_of_log, steers=options.steering is not None)
        maxima = {name: getattr(options, name) for name in ("speed", "lateral", "yaw_rate", "steering")}
        limits = limits_of(parameters, **maxima)
        if options.kind_of_log == BOTH_AXLES and options.kind == OPTIMAL:
            raise ArgumentError(f"{OPTIMAL} logs have twists or Ackermann commands; leave out --as {BOTH_AXLES}")
        if options.kind == OPTIMAL:
            log = _optimal(options, parameters, limits, ackermann=ackermann, duration=duration)
        else:
            log = make(
                options.kind,
                limits,
                ackermann=ackermann,
                duration=duration,
                rate=options.rate,
                seed=options.seed,
                both_axles=options.kind_of_log == BOTH_AXLES,
            )
        turning = f"{limits.steering:g} rad" if ackermann else f"{limits.yaw_rate:g} rad/s"
        upto = f"{limits.speed:g} m/s and {turning}"
    output = Path(options.output or f"{options.kind}.csv")
    write_csv(log, output)
    count = sum(not isinstance(command, Gear) for command in log.commands)
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
        return kind in ("ackermann", BOTH_AXLES) or (kind is None and steers)
    accepts = models()[parameters.model].accepts
    needed = {"ackermann": ACKERMANN, BOTH_AXLES: FOUR_WHEEL}.get(kind or "")
    if needed is not None and needed not in accepts:
        angles = "no steering angles of both axles" if kind == BOTH_AXLES else "no steering angles"
        raise ArgumentError(f"the model '{parameters.model}' takes {angles}; leave out --as {kind}")
    return ACKERMANN in accepts and kind != "twist"


#: Type of the commands with the steering angles of both axles.
BOTH_AXLES = FOUR_WHEEL.name

#: Options of limits, including an old name, and the limited quantities.
_LIMITS = {
    "--speed": "speed [m/s]",
    "--steering": "steering angle [rad]",
    "--yaw-rate": "yaw rate [rad/s]",
    "--lateral --sideways": "lateral speed [m/s]",
}


def _parser(further: Mapping[str, ProfileKind]) -> argparse.ArgumentParser:
    lines = "".join(f"  {name:9} {indent(kind.help, ' ' * 12).lstrip()}\n" for name, kind in further.items())
    parser = CommandLine("vds-gz profile", description=DESCRIPTION.format(added=lines), epilog=EPILOG)
    kinds = [*PROFILES, OPTIMAL, *further]
    limits = _LIMITS | {name: what for kind in further.values() for name, what in kind.options.items()}
    parser.add_argument("kind", metavar="KIND", choices=kinds, help=", ".join(kinds))
    add_vehicle_options(parser, required=False)
    parser.add_argument(
        "--as", dest="kind_of_log", choices=("twist", "ackermann", BOTH_AXLES), help="type of the commands"
    )
    for names, what in limits.items():
        parser.add_argument(*names.split(), type=positive, metavar="X", help=f"maximum {what}")
    parser.add_argument("--acceleration", type=positive, metavar="X", help="optimal: maximum change of speeds [m/s^2]")
    parser.add_argument(
        "--noise",
        type=noise_option,
        metavar="X",
        help="optimal: standard deviation of the measurements, as a part of full scale (0.02), or of each quantity: "
        "v_x=0.05,yaw_rate=0.02",
    )
    parser.add_argument("--duration", type=positive, metavar="S", help=f"length of the log [s] ({_durations(further)})")
    parser.add_argument("--rate", type=positive, default=50.0, metavar="HZ", help="commands per second (50)")
    parser.add_argument("--seed", type=whole(0, 2**63 - 1), default=0, metavar="N", help="random seed (0)")
    parser.add_argument("-o", "--output", metavar="FILE", help="CSV file to write (KIND.csv)")
    return parser


def _durations(further: Mapping[str, ProfileKind]) -> str:
    others = (f"; {name}: {kind.duration:g}" for name, kind in further.items() if kind.duration != DURATION)
    return f"{DURATION:g}{''.join(others)}"


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
