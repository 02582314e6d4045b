"""A dead time in whole steps."""

from __future__ import annotations

from dataclasses import dataclass

from vds_gz.vehicle.actuators import resized_line
from vds_gz.vehicle.autoware.arithmetic import whole


@dataclass(slots=True)
class DelayLine:
    """What has been entered and not yet come out: a ring, ``head`` being its oldest entry."""

    values: list[float]
    head: int = 0


def steps_of(delay: float, dt: float) -> int:
    """A dead time in steps, to the nearest (both in s)."""
    return whole(delay / dt)


def empty_line(steps: int) -> DelayLine:
    """A line into which nothing but zeros was entered."""
    return DelayLine([0.0] * (steps + 1))


def delayed(line: DelayLine, steps: int, value: float) -> float:
    """Enter a value, and return the one that was entered ``steps`` calls ago."""
    head = line.head
    line.values[head] = value
    head = head + 1 if head < steps else 0
    line.head = head
    return line.values[head]


def clear_line(line: DelayLine) -> None:
    """Forget everything that was entered."""
    line.head = 0
    for i in range(len(line.values)):
        line.values[i] = 0.0


def resize_line(line: DelayLine, steps: int) -> None:
    """Fit a line to another dead time; nothing jumps."""
    line.values = resized_line(line.values, line.head, steps)
    line.head = 0
