"""Options of environments, and vehicles with parameters drawn for each episode."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import TypeAlias, TypeGuard

import numpy as np
from gymnasium.vector import AutoresetMode

from vds_gz.core.arrays import Array
from vds_gz.core.configuration import NODE_NAME
from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.conversion import checked, proper_name, replaced
from vds_gz.core.parameters.declaration import Description, Override, ParameterGroup, describe
from vds_gz.core.parameters.yaml_reader import read_intervals
from vds_gz.environments.task import NominalVehicle
from vds_gz.tools.fleet.layout import fields_in, values_at


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a real number, Python's or NumPy's."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a value is a whole number, Python's or NumPy's."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def at_least_1(name: str, value: object) -> int:
    """A whole number, at least 1."""
    if is_whole(value) and value >= 1:
        return int(value)
    raise ArgumentError(f"{name} is {value!r}; it must be a whole number, at least 1")


def at_least_0(name: str, value: object) -> float:
    """A finite number, at least 0."""
    if is_number(value) and 0.0 <= value < math.inf:
        return float(value)
    raise ArgumentError(f"{name} is {value!r}; it must be a finite number, at least 0")


def positive(name: str, value: object, unit: str) -> float:
    """A finite number greater than 0."""
    if is_number(value) and 0.0 < value < math.inf:
        return float(value)
    raise ArgumentError(f"{name} is {value!r}; it must be a finite number greater than 0 [{unit}]")


def seeds_of(seed: object, count: int) -> list[int | None]:
    """A seed or None for each environment: as given, or consecutive from environment 0 on."""
    seeds = range(seed, seed + count) if is_whole(seed) and seed >= 0 else seed
    if not isinstance(seeds, (Sequence, np.ndarray)) or not all(
        value is None or (is_whole(value) and value >= 0) for value in seeds
    ):
        raise ArgumentError(f"seed is {seed!r}; it must be a whole number, at least 0, or one or None per environment")
    if len(seeds) != count:
        raise ArgumentError(f"there are {len(seeds)} seeds; give a whole number, or {count} seeds, one per environment")
    return [None if value is None else int(value) for value in seeds]


def autoreset_mode_of(mode: AutoresetMode | str) -> AutoresetMode:
    """A mode, which may be given as text."""
    try:
        return AutoresetMode(mode)
    except ValueError:
        raise ArgumentError(
            f"autoreset_mode is {mode!r}; it must be one of {', '.join(member.value for member in AutoresetMode)}"
        ) from None


def longest_dead_time(nominal: NominalVehicle, vehicle: ParameterGroup) -> int:
    """Longest dead time of a vehicle's actuators [steps]."""
    coefficients = nominal.model.coefficients(vehicle, 1.0 / nominal.step_rate)
    paths = [field.path for field in fields_in(coefficients) if field.path.endswith("delay_steps")]
    return max(values_at(*paths)(coefficients), default=0)


#: The variation: a part of every real parameter that is not 0 (0.2: +-20 %); intervals, or parts, by the parameters'
#: names; a file from ``vds-gz identify``, with its confidence intervals; or none.
Randomize: TypeAlias = "float | Mapping[str, float | Sequence[float]] | str | Path | None"


class Randomization:
    """The intervals of parameters, from which vehicles are drawn uniformly.

    Attributes:
        names: Of the parameters, within the vehicle's group, e.g. ``steering_actuator.dead_time``.
        low, high: Ends of their intervals.
        extremes: The vehicles with all parameters at the low and at the high ends.
    """

    def __init__(self, model: str, vehicle: ParameterGroup, randomize: Randomize) -> None:
        """Check the options."""
        known = {parameter.name: parameter for parameter in describe(vehicle)}
        intervals = _intervals(f"model_params.{model}.", known, randomize)
        self.names = tuple(intervals)
        self.low, self.high = (np.array([ends[k] for ends in intervals.values()]) for k in (0, 1))
        self.extremes = tuple(
            replaced(vehicle, dict(zip(self.names, ends.tolist(), strict=True))) for ends in (self.low, self.high)
        )
        self._template = _GroupTemplate(vehicle, self.names)

    def drawn(self, uniform: Array) -> Array:
        """Values of the parameters, from numbers within [0, 1) of the same shape, (vehicles, parameters)."""
        return np.asarray(self.low + uniform * (self.high - self.low))

    def vehicles(self, values: Array) -> list[ParameterGroup]:
        """Parameter groups with these values."""
        return [self._template.made(row) for row in values.tolist()]


class _GroupTemplate:
    """Makes parameter groups in which a few numbers differ; they are between checked ends and need no check."""

    def __init__(self, group: ParameterGroup, names: Sequence[str], prefix: str = "") -> None:
        """Take the nominal group and the full names of the numbers."""
        self._kind = type(group)
        self._fixed: list[tuple[str, object]] = []
        self._varied: list[tuple[str, int]] = []
        self._nested: list[tuple[str, _GroupTemplate]] = []
        for field in dataclasses.fields(group):
            path = prefix + field.name
            value = getattr(group, field.name)
            if path in names:
                self._varied.append((field.name, names.index(path)))
            elif any(name.startswith(f"{path}.") for name in names):
                self._nested.append((field.name, _GroupTemplate(value, names, f"{path}.")))
            else:
                self._fixed.append((field.name, value))

    def made(self, values: Sequence[float]) -> ParameterGroup:
        """A group with these values."""
        group = object.__new__(self._kind)
        set_field = object.__setattr__
        for name, value in self._fixed:
            set_field(group, name, value)
        for name, k in self._varied:
            set_field(group, name, values[k])
        for name, template in self._nested:
            set_field(group, name, template.made(values))
        return group


def _intervals(prefix: str, known: Mapping[str, Description], randomize: Randomize) -> dict[str, tuple[float, float]]:
    """Both ends of the interval of every parameter that varies."""
    if randomize is None:
        return {}
    if isinstance(randomize, (str, Path)):
        return _identified(prefix, known, randomize)
    if isinstance(randomize, Mapping):
        variations = _by_proper_name(prefix, known, randomize)
    elif is_number(randomize):
        variations = {
            name: randomize for name, parameter in known.items() if parameter.type == "double" and parameter.default
        }
    else:
        raise ArgumentError(
            f"randomize is {randomize!r}; it must be a part of every parameter, such as 0.2 for +-20 %, intervals or "
            "parts by the parameters' names, a file that 'vds-gz identify' wrote, or None"
        )
    intervals = {}
    for name, variation in variations.items():
        intervals[name] = _ends(known[name], variation)
        checked((Override(name, end, "randomize") for end in intervals[name]), known)
    return intervals


def _by_proper_name(
    prefix: str, known: Mapping[str, Description], randomize: Mapping[str, object]
) -> dict[str, object]:
    """The given variations, by the parameters' proper names."""
    variations: dict[str, object] = {}
    for key, variation in randomize.items():
        name = proper_name(str(key).removeprefix(prefix), known, "randomize")
        if name in variations:
            raise ArgumentError(f"randomize: parameter '{name}' is given twice, also as '{key}'; give it once")
        variations[name] = variation
    return variations


def _ends(parameter: Description, variation: object) -> tuple[float, float]:
    """An interval, given by its ends, or by a part of the nominal number to either side."""
    nominal = parameter.default
    ends = variation if isinstance(nominal, float) else None
    if is_number(variation) and isinstance(nominal, float):
        part = abs(nominal) * float(variation)
        ends = (nominal - part, nominal + part)
    if isinstance(ends, (Sequence, np.ndarray)) and len(ends) == 2 and all(map(is_number, ends)):
        low, high = map(float, ends)
        if low < high:
            return low, high
    raise ArgumentError(
        f"randomize: parameter '{parameter.name}' varies by {variation!r}; it must be an interval (low, high) whose "
        "ends are numbers, the first one below the second, or a part greater than 0 of a number, such as 0.2 for +-20 %"
        + (f"; this one is {nominal}" if not nominal or not isinstance(nominal, float) else "")
    )


def _identified(prefix: str, known: Mapping[str, Description], file: str | Path) -> dict[str, tuple[float, float]]:
    """The confidence intervals of a file, limited to the parameters' bounds."""
    intervals = {}
    for full_name, interval in read_intervals(file, f"/{NODE_NAME}").items():
        name = full_name.removeprefix(prefix)
        if name in known:
            low, high = max(interval.low, known[name].minimum), min(interval.high, known[name].maximum)
            if interval.low <= 0.0 < known[name].minimum:  # refused, not moved: the number must be positive
                low = interval.low
            intervals[name] = low, high
            checked((Override(name, end, f"an end of its interval in '{file}'") for end in intervals[name]), known)
    if not intervals:
        raise ArgumentError(
            f"randomize: file '{file}' has no confidence interval for '{prefix}*'; it must be one that "
            "'vds-gz identify' wrote for this model"
        )
    return intervals
