"""Bounds on differences, from a YAML file: quantity, measure, maximum."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from vds_gz.errors import VdsGzError
from vds_gz.parameters.yaml_entries import read_entries

Numbers = Mapping[str, Mapping[str, float | None]]

#: Older names of quantities.
ALIASES = {"sideways": "lateral"}


class ToleranceError(VdsGzError, ValueError):
    """A tolerance file cannot be used. The message says where, and what would be right."""


@dataclass(frozen=True, slots=True)
class Bound:
    """The maximum that a measure of a quantity may have."""

    quantity: str
    measure: str
    limit: float
    value: float | None

    @property
    def broken(self) -> bool:
        """Whether the value is greater than the bound, unknown or NaN."""
        return self.value is None or not self.value <= self.limit

    def __str__(self) -> str:
        value = "unknown" if self.value is None else f"{self.value:.6g}"
        return f"{self.quantity} {self.measure} is {value}; it must be at most {self.limit:g}"


def load(path: str | Path) -> dict[str, dict[str, float]]:
    """The bounds in a file, by quantity and measure."""
    quantities = read_entries(path, "tolerance file", ToleranceError).mapping(
        "quantities with bounds, e.g. 'speed: {rms: 0.05, delay: 0.01}'"
    )
    return {
        quantity: {
            measure: limit.number("a number of at least 0", lambda value: value >= 0.0)
            for measure, limit in measures.mapping("bounds, e.g. '{rms: 0.05}'").items()
        }
        for quantity, measures in quantities.items()
    }


def check(path: str | Path, numbers: Numbers) -> list[Bound]:
    """The bounds of a file with the values of a comparison."""
    bounds = []
    for name, measures in load(path).items():
        quantity = ALIASES.get(name, name)
        _known(path, "quantity", quantity, numbers)
        for measure, limit in measures.items():
            _known(path, f"measure of {quantity}", measure, numbers[quantity])
            bounds.append(Bound(quantity, measure, limit, numbers[quantity][measure]))
    return bounds


def _known(path: str | Path, what: str, name: str, names: Mapping[str, object]) -> None:
    if name not in names:
        nearest = difflib.get_close_matches(name, names, n=1, cutoff=0.0)[0]
        raise ToleranceError(f"{path}: unknown {what} '{name}'; there are {', '.join(names)}; nearest is '{nearest}'")
