"""``vds-gz profile optimal``: the most informative log of a vehicle, and how well its numbers will be known then."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Mapping

from vds_gz.cli.console_script import parameter_file_of
from vds_gz.commandlog.log import CommandLog
from vds_gz.commandlog.profiles import Limits
from vds_gz.configuration import NODE_NAME
from vds_gz.parameters.intervals import Interval, read_intervals
from vds_gz.parameters.node import NodeParameters
from vds_gz.study.identify.design.design import NOISE, Design, Expectation, design
from vds_gz.study.identify.estimates import TIME_RESOLUTION, WIDTH
from vds_gz.study.progress import progress
from vds_gz.study.report.text import text_table

#: Units of sensors.
UNITS = {"v_x": "m/s", "v_y": "m/s", "yaw_rate": "rad/s", "steering": "rad"}

UNDETERMINED = "not determined"


def optimal_log(
    options: argparse.Namespace, prior: NodeParameters, limits: Limits, *, ackermann: bool, duration: float
) -> CommandLog:
    """The log, after its table was printed.

    Raises:
        ArgumentError: There is nothing that could be found, or an option is wrong.
    """
    with progress("designing", 1.0) as advance:
        found = design(
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
    print("\n".join(_lines(found, options.rate, duration)))
    return found.log


def _known(file: str, prior: NodeParameters) -> Mapping[str, Interval]:
    """The intervals in a parameter file, by their names below those of the model."""
    group = f"model_params.{prior.model}."
    found = read_intervals(file, f"/{NODE_NAME}").items()
    return {name.removeprefix(group): one for name, one in found if name.startswith(group)}


def _lines(found: Design, rate: float, duration: float) -> Iterator[str]:
    """What to expect."""
    sensors = ", ".join(f"{name} {value:.3g} {UNITS[name]}" for name, value in found.noise.items())
    yield f"to expect of {duration:g} s, measured at {rate:g} Hz with noise of {sensors}:"
    rows = [
        (one.name, f"{one.value:.4g}", _interval(one, one.part), _interval(one, one.part_of_steps))
        for one in found.expectations
    ]
    yield text_table(("number", "prior", "95 % interval", "by `steps`"), rows)
    own, of_steps = found.largest
    if own < math.inf:
        yield (
            f"largest by the noise: {own:.2%}, by `steps` {of_steps:.2%} (times are known no better than to "
            f"+-{WIDTH * TIME_RESOLUTION:.2g} s)"
        )
    undetermined = [one.name for one in found.expectations if one.part is None]
    if undetermined:
        names = ", ".join(undetermined)
        yield f"not determined within these limits: {names}; a limit is found where commands exceed it"


def _interval(one: Expectation, part: float | None) -> str:
    half = one.half(part)
    return UNDETERMINED if half is None else f"+-{half:.2g} ({half / one.scale:.2%})"
