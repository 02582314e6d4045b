"""Dead time, gears and arithmetic that the models of Autoware's simulator share."""

from __future__ import annotations

import math
from dataclasses import dataclass

from vds_gz.core.vehicle.actuators import resized_line
from vds_gz.core.vehicle.command import DRIVE, LOW_2, PARK, REVERSE, REVERSE_2


def limited(value: float, limit: float) -> float:
    """The value, kept within +-limit."""
    if value > limit:
        return limit
    if value < -limit:
        return -limit
    return value


def outside(value: float, half_width: float) -> float:
    """The part of a value outside a dead band of +-half_width."""
    if value > half_width:
        return value - half_width
    if value < -half_width:
        return value + half_width
    return 0.0


def sign(value: float) -> float:
    """+1 from zero upwards, else -1."""
    return 1.0 if value >= 0.0 else -1.0


def whole(quotient: float) -> int:
    """The integer nearest to a quotient; halves round up."""
    below = math.floor(quotient)
    return below + 1 if quotient - below >= 0.5 else below


#: Rules of the gears: none; motion against the gear is stopped; the car may roll in either direction.
NO_RULE = 0
NO_FALL = 1
ROLLING = 2

#: Minimum step length for an acceleration from a change of speed [s].
SHORTEST_STEP = 1e-5


def is_reverse(gear: int) -> bool:
    """Whether the gear drives backwards."""
    return gear in (REVERSE, REVERSE_2)


def forbidden(gear: int, speed: float) -> bool:
    """Whether the gear forbids a speed [m/s]; gears that hold the car forbid every speed, even 0."""
    if is_reverse(gear):
        return speed > 0.0
    if DRIVE <= gear <= LOW_2 and gear != PARK:
        return speed < 0.0
    return True


def against_gear(gear: int, speed: float) -> bool:
    """Whether the vehicle moves in a way that its gear forbids."""
    return speed != 0.0 and forbidden(gear, speed)


@dataclass(slots=True)
class DelayLine:
    """The values within a dead time: a ring whose oldest entry is at ``head``."""

    values: list[float]
    head: int = 0


def steps_of(delay: float, dt: float) -> int:
    """A dead time as the nearest number of steps (both in s)."""
    return whole(delay / dt)


def empty_line(steps: int) -> DelayLine:
    """A line of zeros."""
    return DelayLine([0.0] * (steps + 1))


def delayed(line: DelayLine, steps: int, value: float) -> float:
    """Enter a value, and return the one that was entered ``steps`` calls ago."""
    head = line.head
    line.values[head] = value
    head = head + 1 if head < steps else 0
    line.head = head
    return line.values[head]


def clear_line(line: DelayLine) -> None:
    """Set all entries to zero."""
    line.head = 0
    for i in range(len(line.values)):
        line.values[i] = 0.0


def resize_line(line: DelayLine, steps: int) -> None:
    """Fit a line to another dead time, without a jump."""
    line.values = resized_line(line.values, line.head, steps)
    line.head = 0
