"""A vehicle that turns in proportion to its speed although straight motion is commanded: unequal wheels.

Odometry by wheels of assumed equal diameters does not show it, poses of a localization or of motion capture do
(J. Borenstein and L. Feng, Measurement and correction of systematic odometry errors in mobile robots, 1996).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vds_gz.core.arrays import Array, Flags
from vds_gz.tools.study.recording import Recording, Series
from vds_gz.tools.study.signals import held, median_and_error

#: Straight motion counts from SETTLED after the last other command, in blocks of length BLOCK [s].
SETTLED, BLOCK = 2.0, 1.0

#: Minimum distance of a block [m], and minimum number of blocks.
SHORTEST, FEWEST = 0.05, 8

#: The curvature is reported above the first value [1/m], and above this many standard errors.
CURVATURE, CERTAIN = 0.02, 5.0

#: A heading that drifts at standstill, by more than this part of the drift in motion, shows a gyroscope's bias.
OF_SENSOR = 0.3


def turns_while_straight(recording: Recording) -> Iterator[str]:
    """A finding for each source of poses that shows a curvature at a commanded yaw rate of 0."""
    yaw_rate, v_x = recording.commanded.get("yaw_rate"), recording.commanded.get("v_x")
    if yaw_rate is None or v_x is None:
        return
    sources: dict[str, dict[str, Series]] = {}
    for channel in recording.further:
        sources.setdefault(channel.source, {})[channel.quantity] = channel.series
    for source, pose in sources.items():
        if {"x", "y", "heading"} <= pose.keys() and (drift := _curvature(yaw_rate, v_x, pose)) is not None:
            curvature, error = drift
            if abs(curvature) > max(CURVATURE, CERTAIN * error):
                side = "left" if curvature > 0.0 else "right"
                yield (
                    f"{source.strip('/')} heading: at a commanded yaw rate of 0 the vehicle turns to the {side} by "
                    f"{abs(curvature):.2g} rad per metre (+-{2.0 * error:.1g}), as with unequal wheels; add "
                    "--fit wheel_gains"
                )


def _curvature(yaw_rate: Series, v_x: Series, pose: dict[str, Series]) -> tuple[float, float] | None:
    """Heading per distance in straight motion [1/m], and its standard error by the scatter of blocks."""
    time, heading = pose["heading"].time, np.unwrap(pose["heading"].value)
    x, y = (np.interp(time, pose[name].time, pose[name].value) for name in ("x", "y"))
    begin = np.arange(time[0], time[-1] - BLOCK, BLOCK) if len(time) > 1 else np.empty(0)
    straight = _constant(yaw_rate, begin, 0.0)
    turned, ahead, left = (
        np.interp(begin + BLOCK, time, values) - np.interp(begin, time, values) for values in (heading, x, y)
    )
    middle_heading = np.interp(begin, time, heading) + 0.5 * turned
    moved = ahead * np.cos(middle_heading) + left * np.sin(middle_heading)  # negative backwards
    driven = straight & (np.abs(moved) > SHORTEST)
    if driven.sum() < FEWEST:
        return None
    curvatures = turned[driven] / moved[driven]
    middle, error = median_and_error(curvatures)
    standing = straight & _constant(v_x, begin, 0.0)
    still = float(np.median(turned[standing])) if standing.any() else 0.0
    if abs(still) > OF_SENSOR * abs(middle) * float(np.median(np.abs(moved[driven]))):
        return None
    return middle, error


def _constant(commands: Series, begin: Array, value: float) -> Flags:
    """Whether a command has a value in each block, and for :data:`SETTLED` before it."""
    others = commands.time[commands.value != value]
    first, last = np.searchsorted(others, begin - SETTLED), np.searchsorted(others, begin + BLOCK)
    return np.asarray((first == last) & (held(commands.time, commands.value, begin - SETTLED) == value))
