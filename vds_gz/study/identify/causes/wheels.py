"""What most likely went wrong with speeds of wheels: sides that are swapped, wheels that turn backwards, units."""

from __future__ import annotations

import math
from collections.abc import Iterator
from types import MappingProxyType

import numpy as np

from vds_gz.study.identify.causes.relations import AFTER_COMMAND, APART, NOT_TOGETHER, TOGETHER, Relation, relation
from vds_gz.study.recording import MeasuredChannel, Recording, Series

#: No wheel is smaller or larger [m].
SMALLEST, LARGEST = 0.015, 1.5

_UNITS = MappingProxyType({"revolutions per minute": 30.0 / math.pi, "degrees per second": 180.0 / math.pi})


def wrong_wheels(signals: Recording) -> dict[str, str]:
    """Names of channels of wheels that cannot be of this vehicle's motion, and why.

    The mean of a left and a right wheel follows the speed, and their difference the yaw rate.
    """
    wrong: dict[str, str] = {}
    for left, right in _pairs(signals):
        a, b = left.series, right.series
        others = np.interp(b.time, a.time, a.value)
        mean, difference = Series(b.time, 0.5 * (b.value + others)), Series(b.time, b.value - others)
        cause = _wrong_mean(signals, left, right, mean, difference) or _wrong_sides(signals, left, right, difference)
        if cause:
            wrong |= {left.name: cause, right.name: cause}
    return wrong


def _pairs(signals: Recording) -> Iterator[tuple[MeasuredChannel, MeasuredChannel]]:
    """Left and right wheels that belong together, by their names."""
    wheels = {(wheel.source, wheel.joint): wheel for wheel in signals.further if wheel.quantity == "joint_velocity"}
    for (source, joint), left in wheels.items():
        source_of_right = source.replace("left", "right")
        right = wheels.get((source_of_right, joint.replace("left", "right")))
        if "left" in joint and right is not None and min(len(left.series.time), len(right.series.time)) > 1:
            yield left, right


def _wrong_mean(
    signals: Recording, left: MeasuredChannel, right: MeasuredChannel, mean: Series, difference: Series
) -> str:
    match = _follows(signals, "v_x", mean)
    if match is None:
        return ""
    both = f"{left.name} and {right.name}"
    if match.correlation < -TOGETHER:
        return f"{both} turn backwards when the vehicle drives forward (correlation {match.correlation:.2f})"
    apart = _follows(signals, "v_x", difference)
    if apart is not None and abs(apart.correlation) > max(TOGETHER, abs(match.correlation)):
        backwards = left if apart.correlation > 0.0 else right
        return (
            f"{backwards.name} turns backwards when the vehicle drives forward (correlation of the speed with the "
            f"difference of both sides {abs(apart.correlation):.2f}): is its axis mirrored?"
        )
    if abs(match.correlation) < NOT_TOGETHER:
        return f"{both} contradict v_x (correlation {match.correlation:.2f}): are they of another vehicle?"
    radius = 1.0 / match.gain
    if match.correlation > TOGETHER and not SMALLEST <= radius <= LARGEST:
        likely = [unit for unit, factor in _UNITS.items() if SMALLEST <= radius * factor <= LARGEST]
        question = f": are they in {' or '.join(likely)}? They must be in rad/s" if likely else ""
        return f"by {both} the wheels' radius is {radius:.3g} m{question}"
    return ""


def _wrong_sides(signals: Recording, left: MeasuredChannel, right: MeasuredChannel, difference: Series) -> str:
    match = _follows(signals, "yaw_rate", difference)
    if match is None or match.correlation > -TOGETHER:
        return ""
    return (
        f"{right.name} is slower than {left.name} in left turns (correlation of their difference with the yaw rate "
        f"{match.correlation:.2f}): are left and right swapped?"
    )


def _follows(signals: Recording, quantity: str, series: Series) -> Relation | None:
    """How a series follows a velocity as it was measured; where it was not, as it was commanded."""
    if quantity in signals.measured:
        return relation(signals.measured[quantity], series, -APART, APART)
    if quantity in signals.commanded:
        return relation(signals.commanded[quantity], series, 0.0, AFTER_COMMAND, held=True)
    return None
