"""Delay margin: additional dead time that a controlled vehicle tolerates before its error exceeds a bound."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Wholes = NDArray[np.int64]
Flags = NDArray[np.bool_]

#: Lengths of the scan's steps.
STEPS = (64, 16, 4, 1)


def linear_delay_margin(k1: float, k2: float, speed: float) -> float:
    """The dead time [s] at which a linear path follower becomes unstable.

    It drives at a speed v [m/s], y' = v psi, psi' = v kappa(t - T), and steers by kappa = -(k1 y + k2 psi), with k1 in
    1/m^2 and k2 in 1/m. The loop's gain is 1 at w^2 = (k2^2 v^2 + sqrt(k2^4 v^4 + 4 k1^2 v^4)) / 2, where its phase
    margin is atan(k2 w / (k1 v)). Pure pursuit with a look-ahead distance L has k1 = 2 / L^2 and k2 = 2 / L on a
    straight path. Holding commands for a period adds half of it to the dead time.
    """
    square = k2**2 * speed**2
    w = math.sqrt(0.5 * (square + math.sqrt(square**2 + 4.0 * k1**2 * speed**4)))
    return math.atan(k2 * w / (k1 * speed)) / w


def last_before_leaving(stays: Callable[[Wholes, Wholes], Flags], count: int, most: int) -> Wholes:
    """For each candidate, the value of 0 ... ``most`` before the first one at which it leaves; -1 if that is 0.

    Bisection would be wrong: a candidate that leaves at a value may stay at some larger ones. All values are scanned in
    long steps, and then in shorter ones from one long step before the last value at which it stays. ``stays`` takes
    candidates and values, both of shape (n,), and returns whether each candidate stays at its value.
    """
    begin, leaves = np.zeros(count, np.int64), np.full(count, most + 1)
    last = begin
    for step in STEPS:
        probes = -((begin - leaves) // step)
        rows = np.repeat(np.arange(count), probes)
        values = begin[rows] + step * (np.arange(len(rows)) - np.repeat(np.cumsum(probes) - probes, probes))
        np.minimum.at(leaves, rows, np.where(stays(rows, values), most + 1, values))
        last = begin + (leaves - 1 - begin) // step * step
        begin = np.maximum(last - step, 0)
    return np.where(leaves > 0, last, -1)
