"""Weighted normal equations of many points at once, and the damped steps that solve them within bounds.

Unknowns of one part alone are eliminated from its equations (Schur's complement), so that the equations to be solved
together are those of the shared unknowns: B. Triggs et al., Bundle Adjustment - A Modern Synthesis, 2000, 6.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from vds_gz.study.identify.solver.protocol import Array, Indices, Mask, Part, Space

#: An unknown is excited if the data know it to so many of its scales.
EXCITED = 1e3

#: What of an unknown's information must be left by the parts' own unknowns, so that it is not all rounding.
SEPARATE = 1e-13

#: Twice as many bounds as are met in a step are seldom met in two.
ROUNDS = 8


class Own(NamedTuple):
    """The equations of a part's own unknowns.

    Attributes:
        square: (S, q, q).
        cross: With the shared unknowns, (S, p, q).
        gradient: (S, q).
    """

    square: Array
    cross: Array
    gradient: Array


class Equations(NamedTuple):
    """Half the second and half the first derivatives of the deviance.

    Attributes:
        square: Of the shared unknowns, (S, p, p).
        gradient: (S, p).
        own: Of each part.
    """

    square: Array
    gradient: Array
    own: tuple[Own, ...]


class Step(NamedTuple):
    """A step, and by how much it would lower the deviance if the model were linear.

    Attributes:
        shared: (S, p).
        own: (S, q) of each part.
        predicted: (S,).
    """

    shared: Array
    own: tuple[Array, ...]
    predicted: Array


class Blocks:
    """Which samples of a part depend on which of its own unknowns."""

    def __init__(self, part: Part) -> None:
        self.own = len(part.own)
        self.blocks: list[tuple[Indices | slice, Indices]] = [(slice(None), np.arange(self.own))]
        if part.own_columns is not None:
            rows, block = np.unique(part.own_columns, axis=0, return_inverse=True)
            self.blocks = [(np.flatnonzero(block.ravel() == i), columns) for i, columns in enumerate(rows)]

    def products(self, shared: Array, own: Array | None, residuals: Array, weights: Array, pull: Array) -> Array:
        """The part's normal equations.

        Args:
            shared, own: Derivatives, (S, M, p) and (S, M, k).
            residuals, weights, pull: (S, M); the gradient is the sum of weight * pull * residual * derivative.

        Returns:
            Sums of products of [shared, own, residual], (S, p + q + 1, p + q + 1).
        """
        points, _, p = shared.shape
        size = p + self.own + 1
        found = np.zeros((points, size, size))
        roots = np.sqrt(weights)
        for s in range(points):
            for rows, columns in self.blocks:
                root = roots[s, rows, None]
                parts = [shared[s, rows], (residuals[s, rows] * pull[s, rows])[:, None]]
                if own is not None and len(columns):
                    parts.insert(1, own[s, rows])
                table = np.concatenate(parts, axis=1)
                table *= root
                where = np.concatenate((np.arange(p), p + columns, [size - 1]))
                found[s][np.ix_(where, where)] += table.T @ table
        return found


def chosen(equations: Equations, rows: Indices) -> Equations:
    """The equations of some points."""
    own = tuple(Own(*(array[rows] for array in one)) for one in equations.own)
    return Equations(equations.square[rows], equations.gradient[rows], own)


def curved(equations: Equations, factor: Array) -> Equations:
    """Equations with so many times the second derivatives, (S,)."""
    by = factor[:, None, None]
    own = tuple(Own(by * one.square, by * one.cross, one.gradient) for one in equations.own)
    return Equations(by * equations.square, equations.gradient, own)


def split(products: Array, p: int) -> tuple[Array, Array, Own]:
    """The square and gradient of the shared unknowns, and the own ones, of what :class:`Blocks` gives."""
    own = Own(products[:, p:-1, p:-1], products[:, :p, p:-1], products[:, p:-1, -1])
    return products[:, :p, :p], products[:, :p, -1], own


def with_priors(
    equations: Equations, points: Array, own: Sequence[Array], space: Space, spaces: Sequence[Space]
) -> Equations:
    """The equations with what is known beforehand."""
    parts = []
    for one, at, where in zip(equations.own, own, spaces, strict=True):
        square, gradient = _prior(one.square, one.gradient, at, where)
        parts.append(Own(square, one.cross, gradient))
    return Equations(*_prior(equations.square, equations.gradient, points, space), tuple(parts))


def prior_deviance(at: Array, space: Space) -> Array:
    """What is to be added to the deviance at points (S, n) for what is known beforehand, (S,)."""
    return np.asarray((((at - space.mean) / space.sigma) ** 2).sum(axis=1))


def step(
    equations: Equations,
    points: Array,
    own: Sequence[Array],
    space: Space,
    spaces: Sequence[Space],
    free: Mask,
    damping: Array,
) -> Step:
    """Levenberg's and Marquardt's step, within the bounds, and no longer than the scales of the shared unknowns.

    The parts' own unknowns go all the way to where the equations have them best beside the shared ones: however far off
    one begins, it holds up no one, and the step leads downwards whatever length is left of the shared one. An unknown
    that is at a bound and would leave it, or which nothing depends on, stays exactly where it is.

    Args:
        equations: With priors.
        points, own: Where they hold.
        space, spaces: Of the shared unknowns, and of each part's own.
        free: Shared unknowns that may change, (S, p).
        damping: Added to the diagonal, as a part of it, (S,).
    """
    reduced = _reduced(equations, own, spaces, damping)
    diagonal = np.einsum("sii->si", reduced.square)
    excited = diagonal * space.scale**2 > EXCITED**-2
    outward = (points <= space.lower) & (reduced.gradient >= 0.0) | (points >= space.upper) & (reduced.gradient <= 0.0)
    square = reduced.square + _diagonals(damping[:, None] * diagonal)
    shared = _bounded(square, reduced.gradient, free & excited & ~outward, space.lower - points, space.upper - points)
    shared /= np.max(np.abs(shared) / space.scale, axis=1, initial=1.0)[:, None]
    steps = []
    for one, at, where in zip(reduced.own, own, spaces, strict=True):
        change = -(one[:, :, 0] + np.einsum("sqp,sp->sq", one[:, :, 1:], shared))
        steps.append(np.clip(at + change, where.lower, where.upper) - at)
    return Step(shared, tuple(steps), _predicted(equations, shared, steps))


def information(equations: Equations, own: Sequence[Array], spaces: Sequence[Space], free: Mask) -> Array:
    """Information about the shared unknowns while the parts' own are unknown too.

    It is zero where one is not free, or where the parts' own unknowns do all that it does.
    """
    square = _reduced(equations, own, spaces, np.zeros(len(free))).square
    left, whole = (np.einsum("sii->si", one) for one in (square, equations.square))
    known = free & (left > SEPARATE * whole)
    return np.asarray(np.where(known[:, :, None] & known[:, None, :], square, 0.0))


class _Reduced(NamedTuple):
    """Equations without the own unknowns; of each part, its own step is -(own[..., 0] + own[..., 1:] @ shared)."""

    square: Array
    gradient: Array
    own: tuple[Array, ...]


def _reduced(equations: Equations, own: Sequence[Array], spaces: Sequence[Space], damping: Array) -> _Reduced:
    square, gradient, solutions = equations.square.copy(), equations.gradient.copy(), []
    for one, at, where in zip(equations.own, own, spaces, strict=True):
        diagonal = np.einsum("sii->si", one.square)
        outward = (at <= where.lower) & (one.gradient >= 0.0) | (at >= where.upper) & (one.gradient <= 0.0)
        free = (diagonal * where.scale**2 > EXCITED**-2) & ~outward
        left = np.where(free[:, :, None] & free[:, None, :], one.square, 0.0)
        left += _diagonals(np.where(free, (damping[:, None] + 1e-14) * diagonal, 1.0))
        cross = np.where(free[:, None, :], one.cross, 0.0)
        right = np.concatenate((np.where(free, one.gradient, 0.0)[:, :, None], cross.transpose(0, 2, 1)), axis=2)
        solution = np.linalg.solve(left, right)
        change = cross @ solution
        square -= change[:, :, 1:]
        gradient -= change[:, :, 0]
        solutions.append(solution)
    return _Reduced(square, gradient, tuple(solutions))


def _bounded(square: Array, gradient: Array, free: Mask, lowest: Array, highest: Array) -> Array:
    """The step that solves the equations; what would leave its bounds stops there, and the others are solved again."""
    stopped = np.zeros_like(gradient)
    for _ in range(ROUNDS):
        scale = np.where(free, 1.0 / np.sqrt(np.where(free, np.einsum("sii->si", square), 1.0)), 0.0)
        left = square * scale[:, :, None] * scale[:, None, :] + _diagonals((~free).astype(np.float64))
        right = -scale * (gradient + np.einsum("sij,sj->si", square, stopped))
        found = np.where(free, scale * np.linalg.solve(left, right[:, :, None])[:, :, 0], stopped)
        beyond = free & ((found < lowest) | (found > highest))
        if not beyond.any():
            return found
        stopped = np.where(beyond, np.clip(found, lowest, highest), stopped)
        free = free & ~beyond
    return np.clip(found, lowest, highest)


def _predicted(equations: Equations, shared: Array, own: Sequence[Array]) -> Array:
    change = 2.0 * equations.gradient + np.einsum("sij,sj->si", equations.square, shared)
    total = np.einsum("si,si->s", change, shared)
    for one, step_ in zip(equations.own, own, strict=True):
        change = 2.0 * (one.gradient + np.einsum("spq,sp->sq", one.cross, shared))
        change += np.einsum("sij,sj->si", one.square, step_)
        total += np.einsum("sq,sq->s", change, step_)
    return np.asarray(-total)


def _prior(square: Array, gradient: Array, at: Array, space: Space) -> tuple[Array, Array]:
    certainty = space.sigma**-2.0
    return square + np.diag(certainty), gradient + certainty * (at - space.mean)


def _diagonals(values: Array) -> Array:
    """Diagonal matrices (S, n, n)."""
    return np.asarray(values[:, :, None] * np.eye(values.shape[1]))
