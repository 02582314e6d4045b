"""Noise of a channel: Student's distribution, whose scale and degrees of freedom are those of maximum likelihood.

Samples far out weigh less instead of being thrown away (K. L. Lange, R. J. A. Little, J. M. G. Taylor, J. Am. Stat.
Assoc. 84, 1989). Residuals are r, u = r / scale.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from vds_gz.study.identify.solver.protocol import Array, Indices, Mask, Noise

#: Degrees of freedom that are tried; a normal distribution first.
DEGREES = (math.inf, 30.0, 10.0, 5.0, 3.0, 2.0)

#: Heavy tails must lower the deviance by this to be believed (Akaike's criterion: one more unknown).
PENALTY = 2.0

#: In the place of nu: Huber's loss, for the approach to the solution from far away. It is convex, so that samples which
#: are not explained yet pull all the same, and bounded, so that no outlier pulls without end.
APPROACH = 0.0

#: Up to so many scales Huber's loss is quadratic (P. J. Huber, Ann. Math. Stat. 35, 1964).
HUBER = 1.345

#: While approaching, the scale is not below this part of a channel's range.
APPROACH_PART = 0.01

#: Sizes of residuals are counted in bins of this ratio (its logarithm), from and to these multiples of the floor.
BIN, LEAST, MOST = 0.05, 0.03, 1e13


def deviance(residuals: Array, scale: Array, nu: Array) -> Array:
    """-2 log likelihood of a channel's residuals (S, N) at each point, (S,); of the approach, Huber's loss.

    Args:
        residuals: (S, N).
        scale, nu: Of the channel at each point, (S,).
    """
    found = np.empty(len(scale))
    count = residuals.shape[1]
    for rows, kind in _kinds(nu):
        squares = (residuals[rows] / scale[rows, None]) ** 2
        if kind == APPROACH:
            size = np.sqrt(squares)
            found[rows] = np.where(size <= HUBER, squares, HUBER * (2.0 * size - HUBER)).sum(axis=1)
        elif kind == math.inf:
            found[rows] = squares.sum(axis=1) + count * (math.log(2.0 * math.pi) + 2.0 * np.log(scale[rows]))
        else:
            found[rows] = (kind + 1.0) * np.log1p(squares / kind).sum(axis=1)
            found[rows] += count * (_constant(kind) + 2.0 * np.log(scale[rows]))
    return found


def weights(residuals: Array, scale: Array, nu: Array) -> tuple[Array, Array]:
    """How much each residual weighs, and by how much more its gradient does.

    The information of a sample is weight * derivative^2, on average that of Fisher, (nu + 1) / (nu + 3) / scale^2; half
    the gradient of the deviance is weight * factor * derivative * residual.

    Returns:
        Weights (S, N) in 1 / unit^2, factors (S, 1).
    """
    found = np.empty_like(residuals)
    factor = np.ones((len(scale), 1))
    for rows, kind in _kinds(nu):
        if kind == math.inf:
            found[rows] = scale[rows, None] ** -2.0
            continue
        u = residuals[rows] / scale[rows, None]
        if kind == APPROACH:
            relative = HUBER / np.maximum(np.abs(u), HUBER)
        else:
            factor[rows] = (kind + 3.0) / (kind + 1.0)
            relative = (kind + 1.0) / (kind + u**2) / factor[rows]
        found[rows] = relative / scale[rows, None] ** 2
    return found, factor


def relative_weights(residuals: Array, scale: Array, nu: Array) -> Array:
    """Weights as parts of that of a sample without any residual, (S, N): below 0.1, one would call it an outlier."""
    found, _ = weights(residuals, scale, nu)
    return found / weights(np.zeros_like(residuals[:, :1]), scale, nu)[0]


def most_curvature(noise: Noise) -> Array:
    """By how many times the deviance may be more curved than Fisher's information says, (S,): by the factors above."""
    return np.asarray(np.where(noise.nu == APPROACH, 1.0, 1.0 + 2.0 / (noise.nu + 1.0)).max(axis=1))


class Sizes:
    """How many residuals there are of each size: all that scale and nu depend on."""

    def __init__(self, points: int, floor: float) -> None:
        self.floor = floor
        self.counts = np.zeros((points, len(_sizes())))

    def add(self, residuals: Array) -> None:
        """Count residuals (S, N)."""
        points, bins = self.counts.shape
        ratio = np.clip(np.abs(residuals) * (1.0 / self.floor), LEAST, MOST)
        which = np.rint((np.log(ratio) - math.log(LEAST)) * (1.0 / BIN)).astype(np.intp)
        which += bins * np.arange(points)[:, None]
        self.counts += np.bincount(which.ravel(), minlength=points * bins).reshape(points, bins)

    def noise(self) -> tuple[Array, Array]:
        """Scale and nu of maximum likelihood, (S,) each; no scale is below the floor."""
        used = np.flatnonzero(self.counts.any(axis=0))
        first, last = (int(used[0]), int(used[-1])) if len(used) else (0, 0)
        scales, table = _table()
        # The scale is between the smallest and the largest residual, or the floor.
        lowest, highest = np.searchsorted(scales, _sizes()[[first, last]] * [1.0 - BIN, 1.0 + BIN]).clip(1)
        some = slice(lowest - 1, highest + 1)
        scales = scales[some]
        part = table[first : last + 1, :, some].reshape(last + 1 - first, -1)
        deviances = (self.counts[:, first : last + 1] @ part).reshape(len(self.counts), len(DEGREES), len(scales))
        deviances[:, 1:] += PENALTY
        kind, place = np.divmod(deviances.reshape(len(self.counts), -1).argmin(axis=1), len(scales))
        nu = np.array(DEGREES)[kind]
        return self.floor * _refined(
            scales[place], nu, self.counts[:, first : last + 1], _sizes()[first : last + 1]
        ), nu

    def approach(self, span: float) -> Array:
        """Scale of the approach, (S,): 9 of 10 residuals of a normal distribution would be below 1.645 of it.

        Args:
            span: What the channel ranges over.
        """
        total = self.counts.cumsum(axis=1)
        below = (total < 0.9 * total[:, -1:]).sum(axis=1)
        scale = self.floor * _sizes()[below.clip(max=total.shape[1] - 1)] / 1.645
        return np.asarray(np.maximum(scale, max(APPROACH_PART * span, self.floor)))


def _refined(scale: Array, nu: Array, counts: Array, sizes: Array) -> Array:
    """Newton's method in the logarithm of the scale (in floors), from next to the solution."""
    squares, count = sizes**2, counts.sum(axis=1)
    normal = np.isinf(nu)[:, None]
    degrees = np.where(normal, 1.0, nu[:, None])
    for _ in range(3):
        u2 = squares / scale[:, None] ** 2
        pull = np.where(normal, u2, (degrees + 1.0) * u2 / (degrees + u2))
        change = np.where(normal, u2, degrees * pull / (degrees + u2))
        slope = 2.0 * (counts * change).sum(axis=1)
        step = ((counts * pull).sum(axis=1) - count) / np.where(slope > 0.0, slope, np.inf)
        scale = np.maximum(scale * np.exp(np.clip(step, -0.2, 0.2)), 1.0)
    return np.asarray(scale)


def changed(before: Noise, after: Noise) -> Mask:
    """Points (S,) at which the noise of some channel is another one by more than 1e-3."""
    other = np.abs(np.log(after.scale / before.scale)) > 1e-3
    return np.asarray((other | (after.nu != before.nu)).any(axis=1))


def _kinds(nu: Array) -> list[tuple[Indices, float]]:
    """The points of each kind of distribution."""
    return [(np.flatnonzero(nu == kind), float(kind)) for kind in np.unique(nu)]


def _constant(nu: float) -> float:
    """What Student's -2 log density is at 0, with scale 1."""
    if nu == math.inf:
        return math.log(2.0 * math.pi)
    return 2.0 * (math.lgamma(0.5 * nu) - math.lgamma(0.5 * (nu + 1.0))) + math.log(nu * math.pi)


@cache
def _sizes() -> Array:
    """Residuals that stand for their bins, in floors."""
    return np.asarray(LEAST * np.exp(BIN * np.arange(round(math.log(MOST / LEAST) / BIN) + 1)))


@cache
def _table() -> tuple[Array, Array]:
    """Scales in floors, and the deviance of a sample of each size with each degree and scale.

    Scales are twice as far from each other as sizes; the table is (sizes, degrees, scales).
    """
    scales = np.exp(np.arange(0.0, math.log(MOST), 2.0 * BIN))
    u2 = (_sizes()[:, None] / scales) ** 2
    losses = [u2 if nu == math.inf else (nu + 1.0) * np.log1p(u2 / nu) for nu in DEGREES]
    columns = [loss + 2.0 * np.log(scales) + _constant(nu) for loss, nu in zip(losses, DEGREES, strict=True)]
    return scales, np.stack(columns, axis=1)
