"""Robust least squares: noise scale, influence of residuals, and intervals by a jackknife over blocks.

A robust fit ends with Cauchy's loss: quadratic for residuals within :data:`ROBUST` standard deviations, with weights
that vanish far beyond, so that outliers hardly count, even those that are all to one side.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, t

from vds_gz.core.arrays import Array
from vds_gz.tools.study.identify.estimates import WIDTH

#: Residuals beyond this many standard deviations count less: ``f_scale`` of ``least_squares``.
ROBUST = 3.0

#: Probability that an interval holds the true value.
CONFIDENCE = 0.95

#: A smaller autocorrelation is noise of its estimate.
UNCORRELATED = 0.05

#: Minimum number of residuals for an autocorrelation time; their rms must also exceed half the resolution.
FEWEST_RESIDUALS = 8

#: Below this part of the largest eigenvalue of the scaled information, a combination of unknowns is not determined.
SINGULAR = 1e-11

#: Minimum part of an unknown in such a combination to belong to it.
NULL_PART = 1e-4


def noise_scale(residuals: Array, floor: float) -> float:
    """Standard deviation of residuals without their outliers, by their median magnitude; at least the floor."""
    return max(1.4826 * float(np.median(np.abs(residuals))), floor)


def autocorrelation_time(runs: Sequence[Array], floor: float = 0.0) -> float:
    """Integrated autocorrelation time of residuals around 0, in samples: so many count as one independent sample.

    The sum of the autocorrelation up to where it vanishes (A. Sokal, Monte Carlo methods in statistical mechanics,
    1997, section 3).
    """
    count = sum(map(len, runs))
    power = sum(float(run @ run) for run in runs)
    if count < FEWEST_RESIDUALS or power <= count * (0.5 * floor) ** 2:
        return 1.0
    longest = min(max(map(len, runs)) // 2, 2000)
    total = np.zeros(longest + 1)
    for run in runs:
        size = 1 << (2 * len(run) - 1).bit_length()
        spectrum = np.fft.rfft(run, size)
        lags = np.fft.irfft(np.abs(spectrum) ** 2, size)[: min(longest + 1, len(run))]
        total[: len(lags)] += lags
    correlation = total[1:] / total[0]
    vanishing = np.append(correlation < UNCORRELATED, True)
    return float(min(1.0 + 2.0 * np.sum(correlation[: int(np.argmax(vanishing))]), 0.25 * count))


def weights(residuals: Array) -> Array:
    """Weight of each residual, given in standard deviations, in iteratively reweighted least squares; 1 at 0."""
    return np.asarray(1.0 / (1.0 + (residuals / ROBUST) ** 2))


def influence(residuals: Array) -> Array:
    """Residuals with which least squares has the same solution and covariance as the robust fit.

    They are psi(r) / mean(psi'(r)) (P. Huber, Robust Statistics, 1981, 7.6), where psi(r) is weight times residual.
    """
    weight = weights(residuals)
    return np.asarray(residuals * weight / np.mean(weight * (2.0 * weight - 1.0)))


def half_widths(residuals: Array, jacobian: Array, blocks: NDArray[np.intp], known: Array) -> Array:
    """Half the widths of the intervals of a least squares estimate, (p,); infinite for undetermined ones.

    Residuals (N,) are in standard deviations, their derivatives (N, p); ``known`` is prior information, (p, p).
    """
    information = jacobian.T @ jacobian + known
    inverse, null = inverted(information)
    variance = np.diag(inverse) * max(float(np.mean(residuals**2)), 1.0)
    half = widths(residuals, jacobian, jacobian, information, inverse, variance, blocks, np.eye(len(inverse)))
    # If few blocks inform a number, they do not show how it repeats: the noise of all samples is a lower bound.
    time = autocorrelation_time([residuals[blocks == block] for block in np.unique(blocks)], 1.0)
    half = np.maximum(half, WIDTH * np.sqrt(time * variance))
    return np.where((np.diag(inverse) > 0.0) & ~(np.abs(null) > NULL_PART).any(axis=0), half, np.inf)


def without_blocks(
    residuals: Array, jacobian: Array, weighted: Array, information: Array, blocks: NDArray[np.intp]
) -> Array:
    """Differences of fits without a block from that of everything, by one Gauss-Newton step each, (blocks, p).

    Residuals (N,) and their derivatives (N, p) are in standard deviations; ``weighted`` is the derivatives times the
    slope of the robust loss, ``information`` that of everything, (p, p), and blocks count from 0.
    """
    changes = np.zeros((int(blocks.max()) + 1, len(information)))
    for block, change in enumerate(changes):
        rows = blocks == block
        part = weighted[rows].T
        change[:] = np.linalg.lstsq(information - part @ jacobian[rows], part @ residuals[rows], rcond=1e-12)[0]
    return changes


def widths(
    residuals: Array,
    jacobian: Array,
    weighted: Array,
    information: Array,
    inverse: Array,
    variance: Array,
    blocks: NDArray[np.intp],
    combinations: Array,
) -> Array:
    """Half the widths of intervals of combinations of unknowns, (m,).

    Residuals may be autocorrelated, and the vehicle may differ from its model.

    Gradients summed over blocks of time show by the sandwich estimator (P. Huber, The behavior of maximum likelihood
    estimates under nonstandard conditions, 1967) whether blocks differ by more than noise. If they do, the jackknife
    over blocks gives the variance (J. MacKinnon, M. Nielsen and M. Webb, Cluster-robust inference: a guide to empirical
    practice, 2023). Its excess over the variance of noise counts twice: model errors that vary from block to block also
    vary from one recording to the next.

    ``weighted`` is the jacobian times the slope of the robust loss, ``information`` and ``inverse`` are of everything,
    ``combinations``, (p, m), has a column for each interval; ``variance``, (m,), is that of the combinations for
    independent residuals.
    """
    blocks = np.unique(blocks, return_inverse=True)[1]
    scores = np.zeros((int(blocks.max()) + 1, len(inverse)))
    np.add.at(scores, blocks, weighted * residuals[:, np.newaxis])
    freedom = max(len(scores) - 1, 1)
    by_scores = np.sum((scores @ inverse @ combinations) ** 2, axis=0) * len(scores) / freedom
    differs = by_scores > chi2.ppf(CONFIDENCE, freedom) / freedom * variance
    changes = without_blocks(residuals, jacobian, weighted, information, blocks) @ combinations
    by_blocks = np.maximum(np.sum(changes**2, axis=0) * freedom / len(scores), variance)
    quantile = float(t.ppf(0.5 + 0.5 * CONFIDENCE, freedom))
    return np.where(differs, quantile * np.sqrt(2.0 * by_blocks - variance), WIDTH * np.sqrt(variance))


def inverted(information: Array, singular: float = SINGULAR) -> tuple[Array, Array]:
    """Pseudoinverse of an information matrix, and the scaled combinations of unknowns without information, (n, p).

    A combination has none below the part ``singular`` of the largest eigenvalue of the scaled matrix.
    """
    size = np.sqrt(np.maximum(np.diag(information), 0.0))
    scale = np.where(size > 0.0, 1.0 / np.where(size > 0.0, size, 1.0), 0.0)
    values, vectors = np.linalg.eigh(information * scale[:, np.newaxis] * scale)
    regular = values > singular * values[-1]
    inverse = (vectors[:, regular] / values[regular]) @ vectors[:, regular].T * scale[:, np.newaxis] * scale
    return inverse, vectors[:, ~regular].T
