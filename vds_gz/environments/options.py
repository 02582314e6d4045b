"""Options of environments, checked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from operator import attrgetter
from typing import Any, TypeGuard

import numpy as np
from gymnasium.vector import AutoresetMode

from vds_gz.environments.driving import Driving
from vds_gz.errors import ArgumentError
from vds_gz.fleet.layout import kinds_of


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a real number, Python's or NumPy's."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a value is a whole number, Python's or NumPy's."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def at_least_1(name: str, value: object) -> int:
    """A whole number, at least 1.

    Raises:
        ArgumentError: It is not.
    """
    if is_whole(value) and value >= 1:
        return int(value)
    raise ArgumentError(f"{name} is {value!r}; it must be a whole number, at least 1")


def at_least_0(name: str, value: object) -> float:
    """A finite number, at least 0.

    Raises:
        ArgumentError: It is not.
    """
    if is_number(value) and 0.0 <= value < math.inf:
        return float(value)
    raise ArgumentError(f"{name} is {value!r}; it must be a finite number, at least 0")


def positive(name: str, value: object, unit: str) -> float:
    """A finite number greater than 0.

    Raises:
        ArgumentError: It is not.
    """
    if is_number(value) and 0.0 < value < math.inf:
        return float(value)
    raise ArgumentError(f"{name} is {value!r}; it must be a finite number greater than 0 [{unit}]")


def steps_of(step_rate: float, rate: object) -> int:
    """Steps in a period, of so many steps and so many periods per second [Hz].

    Raises:
        ArgumentError: It is not a whole number of steps.
    """
    steps = step_rate / positive("rate", rate, "Hz")
    if round(steps) < 1 or abs(steps - round(steps)) > 1e-6 * steps:
        raise ArgumentError(
            f"rate is {rate!r}; the vehicle's {step_rate:g} steps per second must be a whole multiple of it [Hz]"
        )
    return round(steps)


def seeds_of(seed: object, count: int) -> list[int | None]:
    """One seed or None for each environment: as given, or consecutive from that of environment 0.

    Raises:
        ArgumentError: They are not valid.
    """
    seeds = range(seed, seed + count) if is_whole(seed) and seed >= 0 else seed
    if not isinstance(seeds, (Sequence, np.ndarray)) or not all(_is_seed(one) for one in seeds):
        raise ArgumentError(f"seed is {seed!r}; it must be a whole number, at least 0, or one or None per environment")
    if len(seeds) != count:
        raise ArgumentError(f"there are {len(seeds)} seeds; there must be one, or one for each of {count}")
    return [None if one is None else int(one) for one in seeds]


def _is_seed(seed: object) -> bool:
    return seed is None or (is_whole(seed) and seed >= 0)


def autoreset_mode_of(mode: AutoresetMode | str) -> AutoresetMode:
    """A mode, also given by its value.

    Raises:
        ArgumentError: There is no mode with this name.
    """
    try:
        return AutoresetMode(mode)
    except ValueError:
        raise ArgumentError(
            f"autoreset_mode is {mode!r}; it must be one of {', '.join(one.value for one in AutoresetMode)}"
        ) from None


def longest_dead_time(driving: Driving, vehicle: Any) -> int:
    """Dead times of all actuators of a vehicle [steps]."""
    coefficients = driving.model.coefficients(vehicle, 1.0 / driving.step_rate)
    paths = [path for path, kind in kinds_of(coefficients) if kind == "whole" and path.endswith("delay_steps")]
    return max((attrgetter(path)(coefficients) for path in paths), default=0)
