"""Intervals of a mechanical steering's parameters: by derivatives, and where there is friction by its profile."""

from __future__ import annotations

import math

import numpy as np

from vds_gz.parameters.autoware import ActuationCmdMechanicalParameters
from vds_gz.study.identify.estimates import WIDTH, Estimate
from vds_gz.study.identify.mechanism_log import MechanismLog, with_values
from vds_gz.study.identify.mechanism_squares import SquaresFit, fit_squares

FRICTION = "friction"

#: The squares are followed over the friction by such factors, so many to either side at most.
STEP, STEPS = 1.4, 3


def linear(fit: SquaresFit) -> dict[str, Estimate]:
    """The parameters with intervals by the derivatives."""
    factors = np.exp(WIDTH * fit.deviations()[:-1]).tolist()
    rows = zip(fit.values().items(), factors, strict=True)
    return {name: Estimate(value, value / factor, value * factor) for (name, value), factor in rows}


def profile(log: MechanismLog, vehicle: ActuationCmdMechanicalParameters, best: SquaresFit) -> dict[str, Estimate]:
    """The parameters with intervals by what is left when the friction is held at other values.

    Friction that changes lets the steering stick at other times: the squares have kinks, which derivatives do not see,
    and damping stands in for friction. So a parabola is laid through the squares; the interval is where it has risen by
    what chance would, and by how they scatter about it (profile likelihood: D. J. Venzon, S. H. Moolgavkar, J. R. Stat.
    Soc. C 37, 1988).
    """
    friction = best.values()[FRICTION]
    rises = (WIDTH * best.noisy) ** 2
    fits = _held(log, vehicle, best, best.squares + 3.0 * rises)
    ratios, found = list(fits), list(fits.values())
    squares = np.array([fit.squares for fit in found])
    bend, slope, level = (float(one) for one in np.polyfit(ratios, squares, 2))
    if bend <= 0.0:
        return linear(best)
    scatter = float(np.std(squares - np.polyval((bend, slope, level), ratios)))
    middle = min(max(-0.5 * slope / bend, min(ratios)), max(ratios))
    half = math.sqrt((rises + 2.0 * scatter) / bend)
    estimates = linear(best)
    for name, one in estimates.items():
        if name == FRICTION:
            low, high = max(middle - half, 0.0), middle + half
            estimates[name] = Estimate(friction * middle, friction * low, friction * high)
        else:
            # What the others do while the friction changes, and what is uncertain of them besides.
            logarithms = [math.log(fit.values()[name]) for fit in found]
            tilt, at = (float(one) for one in np.polyfit(ratios, logarithms, 1))
            width = math.hypot(math.log(one.high / one.value), tilt * half)
            values = (math.exp(at + tilt * middle + side * width) for side in (0.0, -1.0, 1.0))
            estimates[name] = Estimate(*values)
    return estimates


def _held(
    log: MechanismLog, vehicle: ActuationCmdMechanicalParameters, best: SquaresFit, enough: float
) -> dict[float, SquaresFit]:
    """Fits with the friction held, by its ratio to the best one, to either side until the squares are enough."""
    friction = best.values()[FRICTION]
    fits = {1.0: best}
    for factor in (STEP, 1.0 / STEP):
        fit = best
        for count in range(1, STEPS + 1):
            ratio = factor**count
            others = {name: value for name, value in fit.values().items() if name != FRICTION}
            fit = fits[ratio] = fit_squares(log, with_values(vehicle, {FRICTION: friction * ratio}), others, fit)
            if fit.squares > enough:
                break
    return fits
