"""Robust least squares: noise scale, influence of residuals, and intervals by a sandwich estimator over blocks.

A robust fit ends with Cauchy's loss: quadratic for residuals within :data:`ROBUST` standard deviations, with weights
that vanish far beyond, so that outliers hardly count, even those that are all to one side.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, norm, t

from vds_gz.study.identify.estimates import Array

#: Residuals of more than so many standard deviations count less: ``f_scale`` of ``least_squares``.
ROBUST = 3.0

#: Probability that an interval holds the true value.
CONFIDENCE = 0.95

#: Below this part of the largest eigenvalue of the scaled information, a combination of unknowns is not determined.
SINGULAR = 1e-11


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

    Where the sums of gradients over blocks of time vary by more than chance explains if the residuals were independent,
    they give the variance (R. Rogers, Regression standard errors in clustered samples, 1993).

    Args:
        residuals: In standard deviations, (N,).
        jacobian: Their derivatives, (N, p).
        blocks: Block of each residual, (N,), from 0 on.
        known: Information that is known besides, such as of priors, (p, p).
    """
    information = jacobian.T @ jacobian + known
    inverse, determined = _inverse(information)
    variance = np.diag(inverse) * max(float(np.mean(residuals**2)), 1.0)
    scores = np.zeros((int(blocks.max()) + 1, len(information)))
    np.add.at(scores, blocks, jacobian * residuals[:, np.newaxis])
    freedom = max(len(scores) - 1, 1)
    by_blocks = np.sum((scores @ inverse) ** 2, axis=0) * len(scores) / freedom
    correlated = by_blocks > chi2.ppf(CONFIDENCE, freedom) / freedom * variance
    quantile = 0.5 + 0.5 * CONFIDENCE
    half = np.where(correlated, t.ppf(quantile, freedom) * np.sqrt(by_blocks), norm.ppf(quantile) * np.sqrt(variance))
    return np.where(determined, half, np.inf)


def _inverse(information: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Pseudoinverse of an information matrix, and which unknowns it determines."""
    size = np.sqrt(np.diag(information))
    seen = size > 0.0
    scale = np.where(seen, 1.0 / np.where(seen, size, 1.0), 0.0)
    values, vectors = np.linalg.eigh(information * scale[:, np.newaxis] * scale)
    regular = values > SINGULAR * values[-1]
    inverse = (vectors[:, regular] / values[regular]) @ vectors[:, regular].T * scale[:, np.newaxis] * scale
    return inverse, seen & ~(np.abs(vectors[:, ~regular]) > 1e-4).any(axis=1)
