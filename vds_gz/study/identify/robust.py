"""Robust least squares: noise scale, influence of residuals, and intervals by a sandwich estimator over blocks.

A robust fit ends with Cauchy's loss: quadratic for residuals within :data:`ROBUST` standard deviations, with weights
that vanish far beyond, so that outliers hardly count, even those that are all to one side.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, t

from vds_gz.study.identify.estimates import WIDTH, Array

#: Residuals of more than so many standard deviations count less: ``f_scale`` of ``least_squares``.
ROBUST = 3.0

#: Probability that an interval holds the true value.
CONFIDENCE = 0.95

#: Below this part of the largest eigenvalue of the scaled information, a combination of unknowns is not determined.
SINGULAR = 1e-11

#: An unknown belongs to such a combination if it has this part in it.
NULL_PART = 1e-4


def noise_scale(residuals: Array, floor: float) -> float:
    """Standard deviation of residuals without their outliers, by their median magnitude; at least the floor."""
    return max(1.4826 * float(np.median(np.abs(residuals))), floor)


def weights(residuals: Array) -> Array:
    """Weight of each residual, given in standard deviations, in iteratively reweighted least squares; 1 at 0."""
    return np.asarray(1.0 / (1.0 + (residuals / ROBUST) ** 2))


def influence(residuals: Array) -> Array:
    """Residuals with which least squares has the same solution and covariance as the robust fit.

    They are psi(r) / mean(psi'(r)) (P. Huber, Robust Statistics, 1981, 7.6), where psi(r) is weight times residual.

    Args:
        residuals: In standard deviations.
    """
    weight = weights(residuals)
    return np.asarray(residuals * weight / np.mean(weight * (2.0 * weight - 1.0)))


def half_widths(residuals: Array, jacobian: Array, blocks: NDArray[np.intp], known: Array) -> Array:
    """Half the widths of the intervals of a least squares estimate, (p,); infinite where nothing determines one.

    Args:
        residuals: In standard deviations, (N,).
        jacobian: Their derivatives, (N, p).
        blocks: Block of each residual, (N,).
        known: Information that is known besides, such as of priors, (p, p).
    """
    inverse, null = inverted(jacobian.T @ jacobian + known)
    variance = np.diag(inverse) * max(float(np.mean(residuals**2)), 1.0)
    half = sandwich(inverse, variance, jacobian * residuals[:, np.newaxis], blocks)
    return np.where((np.diag(inverse) > 0.0) & ~(np.abs(null) > NULL_PART).any(axis=0), half, np.inf)


def sandwich(inverse: Array, variance: Array, gradients: Array, blocks: NDArray[np.intp]) -> Array:
    """Half the widths of intervals, (p,).

    Where the sums of gradients over blocks of time vary by more than chance explains if the residuals were independent,
    they give the variance (P. Huber, The behavior of maximum likelihood estimates under nonstandard conditions, 1967;
    for clusters: R. Rogers, Regression standard errors in clustered samples, 1993).

    Args:
        inverse: Of the information matrix, (p, p).
        variance: Of the unknowns if the residuals were independent, (p,).
        gradients: Of the cost, by sample, (N, p).
        blocks: Block of each sample, (N,); blocks without samples do not count.
    """
    _, block = np.unique(blocks, return_inverse=True)
    scores = np.zeros((int(block.max()) + 1, len(inverse)))
    np.add.at(scores, block, gradients)
    freedom = max(len(scores) - 1, 1)
    by_blocks = np.sum((scores @ inverse) ** 2, axis=0) * len(scores) / freedom
    correlated = by_blocks > chi2.ppf(CONFIDENCE, freedom) / freedom * variance
    quantile = 0.5 + 0.5 * CONFIDENCE
    return np.where(correlated, t.ppf(quantile, freedom) * np.sqrt(by_blocks), WIDTH * np.sqrt(variance))


def inverted(information: Array, singular: float = SINGULAR) -> tuple[Array, Array]:
    """Pseudoinverse of an information matrix, and the scaled combinations of unknowns without information, (n, p).

    Args:
        information: (p, p).
        singular: A combination has none below this part of the largest eigenvalue of the scaled matrix.
    """
    size = np.sqrt(np.maximum(np.diag(information), 0.0))
    scale = np.where(size > 0.0, 1.0 / np.where(size > 0.0, size, 1.0), 0.0)
    values, vectors = np.linalg.eigh(information * scale[:, np.newaxis] * scale)
    regular = values > singular * values[-1]
    inverse = (vectors[:, regular] / values[regular]) @ vectors[:, regular].T * scale[:, np.newaxis] * scale
    return inverse, vectors[:, ~regular].T
