"""Errors in time: what comes a little early or late is off by more the quicker the vehicle changes.

Commands jitter on their way, and no recorder sees when a vehicle took them. The variance of a sample is
sigma^2 + (slope * sigma_t)^2 then (W. A. Fuller, Measurement Error Models, 1987, 3.2). With one scale for all samples,
the many that rest would make those that tell times and rates look far more exact than they are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vds_gz.study.identify.estimates import Array
from vds_gz.study.identify.forward.part import VehiclePart
from vds_gz.study.identify.signals import POSES
from vds_gz.study.identify.solver.explanation import explain, with_correlation
from vds_gz.study.identify.solver.noise import Sizes, deviance
from vds_gz.study.identify.solver.protocol import Indices, Problem, Solution

#: Errors in time must lower the deviance by this to be believed.
BETTER = 10.0

#: What they add to the noise where the vehicle changes most, as multiples of the rest of the noise that are tried.
TRIED = np.geomspace(0.5, 500.0, 31)

#: About as long a vehicle follows one command [s].
BLOCK = 2.0


def with_time_errors(problem: Problem, solution: Solution) -> Problem:
    """The problem with the errors in time that a solution, of one start, leaves; as it was where it leaves none."""
    explained = explain(problem, solution, 0)
    slopes = [_slopes(part, one.predicted) for part, one in zip(problem.parts, explained, strict=True)]
    sizes = [np.ones_like(slope) for slope in slopes]
    for c, floor in enumerate(problem.floors):
        where = [part.channel == c for part in problem.parts]
        residuals = np.concatenate([one.residuals[here] for one, here in zip(explained, where, strict=True)])
        rates = np.concatenate([slope[here] for slope, here in zip(slopes, where, strict=True)])
        ratio = _ratio(residuals, rates, float(floor), float(problem.correlation[c]))
        for size, slope, here in zip(sizes, slopes, where, strict=True):
            size[here] = np.hypot(1.0, ratio * slope[here])
    if all((size == 1.0).all() for size in sizes):
        return problem
    return with_correlation(replace(problem, sizes=sizes), solution, 0)


def time_blocks(problem: Problem) -> list[Indices]:
    """Of each part the block of each sample: what follows one late command is late as a whole."""
    return [_blocks(part) for part in problem.parts]


def _blocks(part: object) -> Indices:
    assert isinstance(part, VehiclePart)
    return ((part.time - part.piece.origin) // BLOCK).astype(np.intp)


def _ratio(residuals: Array, slopes: Array, floor: float, correlation: float) -> float:
    """The error in time as a part of the rest of the noise [s / unit] that makes residuals likeliest; 0 for none."""
    steepest = float(np.max(slopes, initial=0.0))
    if steepest == 0.0:
        return 0.0
    ratios = [0.0, *(TRIED / steepest).tolist()]
    deviances = [_deviance(residuals, np.hypot(1.0, ratio * slopes), floor) for ratio in ratios]
    best = int(np.argmin(deviances))
    return ratios[best] if deviances[best] < deviances[0] - BETTER * correlation else 0.0


def _deviance(residuals: Array, sizes: Array, floor: float) -> float:
    """-2 log likelihood of residuals whose noise is so many times larger, with the scale that is likeliest then."""
    sized = (residuals / sizes)[np.newaxis]
    counted = Sizes(1, floor)
    counted.add(sized)
    return float(deviance(sized, *counted.noise())[0]) + 2.0 * float(np.log(sizes).sum())


def _slopes(part: object, predicted: Array) -> Array:
    """How quickly each sample changes by the model, to its quicker side; 0 for poses, whose windows lie anywhere."""
    assert isinstance(part, VehiclePart)
    slopes = np.zeros_like(predicted)
    for index, one in part.piece.channels:
        samples = np.flatnonzero(part.channel == index)
        if one.quantity in POSES or len(samples) < 2:
            continue
        rates = np.abs(np.diff(predicted[samples])) / np.maximum(np.diff(part.time[samples]), part.piece.dt)
        slopes[samples] = np.maximum(np.append(rates, 0.0), np.append(0.0, rates))
    return slopes
