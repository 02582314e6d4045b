"""Prediction of contiguous blocks of recordings by fits without them, and whether one fit predicts better than another.

The prediction of a block by a fit without it follows from the fit of everything by one Gauss-Newton step (D. Allen, The
relationship between variable selection and data augmentation and a method for prediction, 1974; for dependent data by
blocks: P. Burman, E. Chow and D. Nolan, A cross-validatory method for dependent data, 1994).
"""

from __future__ import annotations

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.tools.study.identify.build import Problem
from vds_gz.tools.study.identify.residual_noise import Noise
from vds_gz.tools.study.identify.robust import without_blocks
from vds_gz.tools.study.identify.term_kind import SIGNIFICANT, WORTHWHILE
from vds_gz.tools.study.identify.vehicle_fit import Solution, linearised, residual_limits, robust

#: Length of a block [s], and minimum and maximum number of blocks.
BLOCK, FEWEST_BLOCKS, MOST_BLOCKS = 6.0, 5, 6

#: Minimum gain in units of independent squares.
LEAST = 1.0

#: Residuals beyond this multiple of the limit of the robust loss are of wild samples, which no model explains. They are
#: clipped there, so that they do not hide what terms explain of other samples.
WILD = 10.0

#: A step without a block moves no term by more than this many standard deviations of its prior.
LARGEST_STEP = 3.0


def blocks_of(problem: Problem, length: float = BLOCK, most: int = MOST_BLOCKS) -> np.ndarray:
    """The block of each sample: recordings if there are enough, else contiguous parts of about the same length [s]."""
    recordings = [experiment.segment.recording for experiment in problem.experiments]
    if len(set(recordings)) >= FEWEST_BLOCKS:
        names = {recording: k for k, recording in enumerate(dict.fromkeys(recordings))}
        count = min(len(names), most)
        return np.concatenate(
            [
                np.full(len(experiment.measured), names[experiment.segment.recording] % count)
                for experiment in problem.experiments
            ]
        )
    durations = [float(np.ptp(experiment.time)) for experiment in problem.experiments]
    count = int(np.clip(sum(durations) / max(length, 0.1), FEWEST_BLOCKS, most))
    begins = np.cumsum([0.0, *durations])
    times = [experiment.time for experiment in problem.experiments]
    elapsed = [begin + time - np.min(time) for begin, time in zip(begins, times, strict=False)]
    blocks: np.ndarray = np.minimum((np.concatenate(elapsed) / max(begins[-1], 1e-9) * count).astype(int), count - 1)
    return blocks


def left_out(problem: Problem, solution: Solution, blocks: np.ndarray, noise: Noise) -> Array:
    """The robust squared errors of blocks predicted by fits without them, (blocks, quantities)."""
    residuals, jacobian, weighted = linearised(problem, solution, noise)
    vague = [5.0 * term.scale if term.kind.vague is None else term.kind.vague for term in problem.terms]
    ridge = 1.0 / np.minimum(vague, problem.sigma)[solution.free] ** 2
    information = jacobian.T @ weighted + np.diag(ridge)
    limit = LARGEST_STEP / np.sqrt(ridge)
    changes = np.clip(without_blocks(residuals, jacobian, weighted, information, blocks), -limit, limit)
    predicted = residuals + np.sum(jacobian * changes[blocks], axis=1)
    return summed(problem, predicted, noise, blocks)


def summed(problem: Problem, residuals: Array, noise: Noise, blocks: np.ndarray) -> Array:
    """Sums of the robust squares of samples, (blocks, quantities); residuals are in standard deviations."""
    limits = residual_limits(problem, noise)[problem.kind]
    squares = robust(np.minimum(residuals**2, (WILD * limits) ** 2), limits)[0]
    sums = np.zeros((int(blocks.max()) + 1, int(problem.quantities.max()) + 1))
    np.add.at(sums, (blocks, problem.quantities[problem.kind]), squares)
    return sums


def better(before: Array, after: Array, significant: float = SIGNIFICANT, worthwhile: float = WORTHWHILE) -> float:
    """The improvement of the prediction of blocks beyond that required of a term; positive if the term may enter.

    The quantity with the largest gain decides, since a term of the steering need not explain the speed. Losses of the
    others are subtracted, as far as they exceed their standard error: shared terms move a little with every new one.
    """
    gain = before - after
    sums = np.sum(gain, axis=0)
    error = np.sqrt(np.sum(gain**2, axis=0))
    losses = np.minimum(sums + error, 0.0)
    lost = np.sum(losses) - losses
    required = np.maximum(np.maximum(significant * error, worthwhile * np.sum(before, axis=0)), LEAST)
    return float(np.max(sums + lost - required))
