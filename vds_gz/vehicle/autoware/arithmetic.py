"""Small functions that the models have in common."""

from __future__ import annotations

import math


def limited(value: float, limit: float) -> float:
    """The value, kept within +-limit."""
    if value > limit:
        return limit
    if value < -limit:
        return -limit
    return value


def outside(value: float, half_width: float) -> float:
    """What of a value lies outside a dead band of +-half_width."""
    if value > half_width:
        return value - half_width
    if value < -half_width:
        return value + half_width
    return 0.0


def sign(value: float) -> float:
    """+1 from zero upwards, else -1."""
    return 1.0 if value >= 0.0 else -1.0


def whole(quotient: float) -> int:
    """The nearest whole number of a quotient that is not negative; halves go up."""
    below = math.floor(quotient)
    return below + 1 if quotient - below >= 0.5 else below
