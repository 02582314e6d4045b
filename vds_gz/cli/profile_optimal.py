"""``vds-gz profile optimal``: the most informative log for a vehicle, and the intervals to expect from it."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Mapping

from vds_gz.cli.console_script import parameter_file_of
from vds_gz.commandlog.files import CommandLog
from vds_gz.commandlog.profiles import Limits
from vds_gz.configuration import NODE_NAME
from vds_gz.parameters.node import NodeParameters
from vds_gz.parameters.yaml_reader import Interval, read_intervals
from vds_gz.study.identify.design import NOISE, Design, Expectation, design
from vds_gz.study.identify.estimates import TIME_RESOLUTION, WIDTH
from vds_gz.study.progress import progress
from vds_gz.study.report.text import text_table

#: Units of sensors.
UNITS = {"v_x": "m/s", "v_y": "m/s", "yaw_rate": "rad/s", "steering": "rad"}

UNDETERMINED = "not determined"


def optimal_log(
    options: argparse.Namespace, prior: NodeParameters, limits: Limits, *, ackermann: bool, duration: float
) -> CommandLog:
    """The log. Its expected intervals are printed.

    Raises:
        ArgumentError: An option is out of range, or the vehicle has nothing to identify.
    """
    with progress("designing", 1.0) as advance:
        optimal = design(
            prior,
            limits,
            ackermann=ackermann,
            duration=duration,
            rate=options.rate,
            seed=options.seed,
            noise=NOISE if options.noise is None else options.noise,
            intervals=_known(parameter_file_of(options), prior),
            acceleration=options.acceleration or math.inf,
            advance=advance,
        )
    print("\n".join(_lines(optimal, options.rate, duration)))
    return optimal.log


def _known(file: str, prior: NodeParameters) -> Mapping[str, Interval]:
    """The intervals in a parameter file, by the names of parameters below those of the model."""
    group = f"model_params.{prior.model}."
    intervals = read_intervals(file, f"/{NODE_NAME}").items()
    return {name.removeprefix(group): interval for name, interval in intervals if name.startswith(group)}


def _lines(optimal: Design, rate: float, duration: float) -> Iterator[str]:
    """The expected intervals as a table, and the parameters that the log does not determine."""
    sensors = ", ".join(f"{name} {value:.3g} {UNITS[name]}" for name, value in optimal.noise.items())
    yield f"expected from {duration:g} s, measured at {rate:g} Hz with noise of {sensors}:"
    rows = [
        (number.name, f"{number.value:.4g}", _interval(number, number.part), _interval(number, number.part_of_steps))
        for number in optimal.expectations
    ]
    yield text_table(("parameter", "prior", "95 % interval", "with `steps`"), rows)
    own, of_steps = optimal.largest
    if own < math.inf:
        yield (
            f"largest due to noise: {own:.2%}, with `steps` {of_steps:.2%} (dead times have a resolution of "
            f"+-{WIDTH * TIME_RESOLUTION:.2g} s)"
        )
    undetermined = [number.name for number in optimal.expectations if number.part is None]
    if undetermined:
        names = ", ".join(undetermined)
        yield f"not determined within these limits: {names}; commands must exceed a limit to determine it"


def _interval(number: Expectation, part: float | None) -> str:
    half = number.half(part)
    return UNDETERMINED if half is None else f"+-{half:.2g} ({half / number.scale:.2%})"
