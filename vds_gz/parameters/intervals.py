"""The confidence intervals in parameter files that ``vds-gz identify`` wrote: remarks at the ends of their lines."""

from __future__ import annotations

import math
import re
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from pathlib import Path
from typing import NamedTuple

from vds_gz.errors import ArgumentError
from vds_gz.parameters.yaml_reader import read_parameter_file

#: What every interval is, for tables and parameter files.
INTERVAL = "95 % if the model holds"

_REMARK = re.compile(rf"#.*\b{re.escape(INTERVAL)}: (\S+) to (\S+)")


class Interval(NamedTuple):
    """A number that was identified, and the confidence interval around it."""

    value: float
    low: float
    high: float


def remark(low: float, high: float) -> str:
    """An interval as it stands in a parameter file."""
    return f"{INTERVAL}: {ends(low, high)}"


def ends(low: float, high: float) -> str:
    """An interval in words; its ends are rounded outwards, so that what was within stays within.

    >>> ends(0.269328, 0.269331)
    '0.2693 to 0.2694'
    """
    return f"{_rounded(low, ROUND_FLOOR)} to {_rounded(high, ROUND_CEILING)}"


def _rounded(value: float, direction: str) -> str:
    return f"{float(Context(4, direction).create_decimal(repr(float(value)))):.4g}"


def read_intervals(path: str | Path, full_name: str) -> dict[str, Interval]:
    """The numbers that have an interval, by their dotted names.

    Args:
        path: A parameter file that ``vds-gz identify`` wrote.
        full_name: The node with its namespace, e.g. ``/sim_node``.

    Raises:
        ArgumentError: It is no parameter file of this node, or an interval in it is none.
    """
    intervals: dict[str, Interval] = {}
    found = read_parameter_file(str(path), full_name)
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    for name, value, origin in found:
        line = lines[int(origin.rpartition(" ")[2]) - 1]
        if isinstance(value, float | int) and (match := _REMARK.search(line)):
            intervals[name] = Interval(float(value), *_ends(match, origin))
    return intervals


def _ends(match: re.Match[str], origin: str) -> tuple[float, float]:
    try:
        low, high = map(float, match.groups())
    except ValueError:
        low = high = math.nan
    if not low <= high:
        raise ArgumentError(
            f"{origin}: the interval is '{match[1]} to {match[2]}'; it must be two numbers, low to high"
        )
    return low, high
