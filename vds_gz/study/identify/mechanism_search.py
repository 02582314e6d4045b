"""Which parameters of a mechanical steering a log tells of, and where about they are."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import differential_evolution

from vds_gz.parameters.autoware import ActuationCmdMechanicalParameters
from vds_gz.study.identify.estimates import CERTAIN, WIDTH
from vds_gz.study.identify.mechanism_log import MechanismLog, with_values
from vds_gz.study.progress import Advance

Array = NDArray[np.float64]

#: A parameter that is 0 begins here when it is looked for, as a part of a unit.
FIRST = 1e-3

#: Sets of parameters for each parameter, how often they are renewed, and within which factor of the first values, as a
#: logarithm, they lie.
POPULATION, GENERATIONS, WIDEST = 8, 30, 1.6

#: Residuals beyond so many times the noise count less.
OUTLIERS = 3.0


def first_values(vehicle: ActuationCmdMechanicalParameters, names: Sequence[str]) -> dict[str, float]:
    """Where the search for some parameters begins."""
    return {name: getattr(vehicle.mechanical_params, name) or FIRST for name in names}


def excited(log: MechanismLog, vehicle: ActuationCmdMechanicalParameters, names: Sequence[str]) -> list[str]:
    """Those of which a change shows, in more than single pieces where a steering that stuck slips instead."""
    middle = log.simulate(vehicle, 0.0, log.starts)
    found = []
    for name, value in first_values(vehicle, names).items():
        changed = log.simulate(with_values(vehicle, {name: value * math.e**0.5}), 0.0, log.starts)
        power = np.bincount(log.owner, ((changed - middle) / 0.5) ** 2)
        seen = math.sqrt(float(np.median(power)) * len(power))
        if seen > 0.0 and WIDTH * log.level / seen <= CERTAIN:
            found.append(name)
    return found


def search(
    log: MechanismLog, vehicle: ActuationCmdMechanicalParameters, names: Sequence[str], advance: Advance
) -> dict[str, float]:
    """The best of many values, by differential evolution: dry friction makes many local minima.

    (R. Storn, K. Price, J. Global Optimization 11, 1997.)
    """
    start = first_values(vehicle, names)
    if not start:
        return start

    def cost(x: Array) -> float:
        values = dict(zip(start, np.exp(x).tolist(), strict=True))
        left = (log.simulate(with_values(vehicle, values), 0.0, log.starts) - log.angle.value) / (OUTLIERS * log.level)
        return float(np.sum(np.log1p(np.where(np.isfinite(left), left, 1e3) ** 2)))

    middle = np.log(list(start.values()))
    found = differential_evolution(
        cost,
        list(zip(middle - WIDEST, middle + WIDEST, strict=True)),
        x0=middle,
        popsize=POPULATION,
        maxiter=GENERATIONS,
        polish=False,
        tol=1e-3,
        seed=0,
        callback=lambda *_, **__: advance(0.8 / GENERATIONS),
    )
    return dict(zip(start, np.exp(found.x).tolist(), strict=True))
