"""Compares the wheels' speed with the measured one: a wrong tyre diameter shows as a constant ratio."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.tools.study.recording import Recording, Series
from vds_gz.tools.study.signals import median_and_error

#: The ratio is calculated in blocks [s], from samples with more than this part of the speed's 95th percentile.
BLOCK, DRIVING = 2.0, 0.2

#: Minimum number of blocks. The ratio is reported if it deviates from 1 by RATIO and by CERTAIN standard errors.
FEWEST, RATIO, CERTAIN = 5, 0.01, 5.0


def wheels_disagree(recording: Recording, wheel_radius: float) -> Iterator[str]:
    """A finding if the wheels' speeds contradict v_x.

    The mean over all wheels is compared, as the outer wheel rolls further in a curve.
    """
    wheels = [
        channel.series
        for channel in recording.further
        if channel.quantity == "joint_velocity" and "steer" not in channel.joint
    ]
    v_x = recording.measured.get("v_x")
    if v_x is None or not wheels or not all(len(channel.time) > 1 for channel in (*wheels, v_x)):
        return
    ratio = _ratio(v_x, wheels, wheel_radius)
    if ratio is None:
        return
    mean, error = ratio
    if abs(mean - 1.0) > max(RATIO, CERTAIN * error):
        yield (
            f"wheels report {abs(mean - 1.0):.1%} {'more' if mean > 1.0 else 'less'} than v_x (+-{2.0 * error:.1%}): "
            f"the wheel radius {wheel_radius:.4g} m is wrong, or v_x is not calibrated; add --fit tire_diameter"
        )


def _ratio(v_x: Series, wheels: list[Series], wheel_radius: float) -> tuple[float, float] | None:
    """Ratio of the wheels' speed to v_x, and its standard error by the scatter of blocks."""
    begin, end = (f([series.time[k] for series in (*wheels, v_x)]) for f, k in ((max, 0), (min, -1)))
    inside = (v_x.time >= begin) & (v_x.time <= end)
    time, speed = v_x.time[inside], v_x.value[inside]
    if not len(time):
        return None
    rolled: Array = wheel_radius * np.mean([np.interp(time, series.time, series.value) for series in wheels], axis=0)
    both = speed + rolled  # choosing samples by one of them would select by its noise
    driving = np.abs(both) > DRIVING * float(np.percentile(np.abs(both), 95.0))
    block = ((time - time[0]) // BLOCK).astype(int)
    ratios = []
    for number in np.unique(block[driving]):
        chosen = driving & (block == number)
        sign = np.sign(both[chosen])
        if (driven := float(np.sum(sign * speed[chosen]))) > 0.0 and chosen.sum() > 1:
            ratios.append(float(np.sum(sign * rolled[chosen])) / driven)
    return median_and_error(np.array(ratios)) if len(ratios) >= FEWEST else None
