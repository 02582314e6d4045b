"""The likelihood of the data at many points at once: residuals, noise that fits them best, normal equations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from vds_gz.study.identify.solver.noise import APPROACH, Sizes, changed, deviance, weights
from vds_gz.study.identify.solver.normal_equations import Blocks, Equations, Own, prior_deviance, split, with_priors
from vds_gz.study.identify.solver.protocol import Array, Indices, Mask, Noise, Problem

#: What is to be explained of a part from some starts instead of what was measured: of (index of the part, starts), the
#: samples (starts, M).
Observed = Callable[[int, Indices], Array]


@dataclass
class State:
    """Points (S, p), and all that is known there.

    Attributes:
        points: (S, p).
        own: (S, q) of each part.
        residuals: Predicted less measured, (S, M) of each part, as parts of the samples' sizes.
        noise: Of each channel.
        deviance: Of each channel with that noise, (S, C).
        prior: What the priors add to it, (S,).
        equations: With the noise that was known when the points were evaluated.
    """

    points: Array
    own: list[Array]
    residuals: list[Array]
    noise: Noise
    deviance: Array
    prior: Array
    equations: Equations

    @property
    def total(self) -> Array:
        """The deviance with the priors' terms; infinite where the model gave no number."""
        total = self.deviance.sum(axis=1) + self.prior
        return np.asarray(np.where(np.isfinite(total), total, np.inf))

    def put(self, rows: Indices, other: State, chosen: Mask) -> None:
        """Take the chosen points of another state for these ones."""
        for here, there in zip(self._arrays(), other._arrays(), strict=True):
            here[rows] = there[chosen]

    def _arrays(self) -> list[Array]:
        own = [array for one in self.equations.own for array in one]
        noise, equations = list(self.noise), [self.equations.square, self.equations.gradient]
        return [self.points, self.deviance, self.prior, *self.own, *self.residuals, *noise, *equations, *own]


class Likelihood:
    """Of the data of a problem.

    Args:
        problem: The data.
        known: The noise of each start where that is known, (starts, C).
        observed: What is to be explained instead of what was measured.
    """

    def __init__(self, problem: Problem, known: Noise | None = None, observed: Observed | None = None) -> None:
        self.problem, self.known, self.observed = problem, known, observed
        self.spaces = [part.own for part in problem.parts]
        self._blocks = [Blocks(part) for part in problem.parts]
        self._channels = range(len(problem.floors))
        self._samples = [[np.flatnonzero(part.channel == c) for c in self._channels] for part in problem.parts]
        self._ranges = [self._range(c) for c in self._channels]

    def first_noise(self, starts: Indices, points: Array, own: list[Array], *, approach: bool) -> Noise:
        """Noise of the residuals at points, before anything is known."""
        if self.known is not None:
            return Noise(self.known.scale[starts], self.known.nu[starts])
        residuals = []
        for k, part in enumerate(self.problem.parts):
            left = self._left(k, starts, part.evaluate(points, own[k], None).predicted)
            residuals.append(np.where(np.isfinite(left), left, 0.0))
        found = Noise(*(np.full((len(starts), len(self._channels)), APPROACH) for _ in range(2)))
        for c in self._channels:
            sizes = self._sizes(c, residuals)
            if approach:
                found.scale[:, c] = sizes.approach(self._ranges[c])
            else:
                found.scale[:, c], found.nu[:, c] = sizes.noise()
        return found

    def evaluated(self, starts: Indices, points: Array, own: list[Array], noise: Noise, wanted: Mask) -> State:
        """Residuals and normal equations at points, one for each of these starts."""
        p = points.shape[1]
        square, gradient = np.zeros((len(points), p, p)), np.zeros((len(points), p))
        deviances = np.zeros((len(points), len(self._channels)))
        parts: list[Own] = []
        residuals: list[Array] = []
        for k, part in enumerate(self.problem.parts):
            predicted, shared, own_columns = part.evaluate(points, own[k], wanted)
            assert shared is not None, "a part must give the derivatives that are wanted"
            left = self._left(k, starts, predicted)
            shared = self.problem.in_sizes(k, shared)
            own_columns = None if own_columns is None else self.problem.in_sizes(k, own_columns)
            left[~np.isfinite(left).all(axis=1)] = np.nan
            weight, pull = self._weights(k, left, noise)
            deviances += self._deviances(k, left, noise)
            products = self._blocks[k].products(shared, own_columns, left, weight, pull)
            bad = ~np.isfinite(products).all(axis=(1, 2))
            deviances[bad], products[bad], left[bad] = np.inf, 0.0, 0.0
            one = split(products, p)
            square += one[0]
            gradient += one[1]
            parts.append(one[2])
            residuals.append(left)
        equations = with_priors(Equations(square, gradient, tuple(parts)), points, own, self.problem.space, self.spaces)
        return State(points, own, residuals, noise, deviances, self._prior(points, own), equations)

    def find_noise(self, state: State, rows: Indices, stale: Mask) -> None:
        """Give points the noise of maximum likelihood, where that is better than what they have.

        Args:
            state: The points; their deviances follow.
            rows: Which of them.
            stale: Becomes True for those whose equations were made with another noise.
        """
        if self.known is not None or not len(rows):
            return
        residuals = [left[rows] for left in state.residuals]
        before = Noise(state.noise.scale[rows], state.noise.nu[rows])
        after = Noise(before.scale.copy(), before.nu.copy())
        for c in self._channels:
            scale, nu = self._sizes(c, residuals).noise()
            found = self._deviance(c, residuals, scale, nu)
            better = (found < state.deviance[rows, c]) | (before.nu[:, c] == APPROACH)
            after.scale[better, c], after.nu[better, c] = scale[better], nu[better]
            state.deviance[rows[better], c] = found[better]
        state.noise.scale[rows], state.noise.nu[rows] = after
        stale[rows] |= changed(before, after)

    def follow(self, state: State, rows: Indices) -> None:
        """Give points that approach the scale of the residuals that they have now."""
        if not len(rows):
            return
        residuals = [left[rows] for left in state.residuals]
        for c in self._channels:
            scale = self._sizes(c, residuals).approach(self._ranges[c])
            state.noise.scale[rows, c] = scale
            state.deviance[rows, c] = self._deviance(c, residuals, scale, state.noise.nu[rows, c])

    def _left(self, k: int, starts: Indices, predicted: Array) -> Array:
        observed = self.problem.parts[k].measured if self.observed is None else self.observed(k, starts)
        return self.problem.in_sizes(k, predicted - observed)

    def _weights(self, k: int, left: Array, noise: Noise) -> tuple[Array, Array]:
        weight, pull = np.empty_like(left), np.empty_like(left)
        for c, samples in enumerate(self._samples[k]):
            each, pull[:, samples] = weights(left[:, samples], noise.scale[:, c], noise.nu[:, c])
            weight[:, samples] = each / self.problem.correlation[c]
        return weight, pull

    def _deviances(self, k: int, left: Array, noise: Noise) -> Array:
        """Of a part's samples of each channel, (S, C)."""
        found = [
            deviance(left[:, samples], noise.scale[:, c], noise.nu[:, c]) for c, samples in enumerate(self._samples[k])
        ]
        return np.stack(found, axis=1) / self.problem.correlation

    def _deviance(self, c: int, residuals: list[Array], scale: Array, nu: Array) -> Array:
        """Of a channel's samples of all parts, (S,)."""
        parts = (deviance(left[:, self._samples[k][c]], scale, nu) for k, left in enumerate(residuals))
        return np.asarray(sum(parts, np.zeros(len(scale))) / self.problem.correlation[c])

    def _prior(self, points: Array, own: Sequence[Array]) -> Array:
        parts = (prior_deviance(at, space) for at, space in zip(own, self.spaces, strict=True))
        return sum(parts, prior_deviance(points, self.problem.space))

    def _sizes(self, c: int, residuals: list[Array]) -> Sizes:
        sizes = Sizes(len(residuals[0]), float(self.problem.floors[c]))
        for k, left in enumerate(residuals):
            sizes.add(left[:, self._samples[k][c]])
        return sizes

    def _range(self, c: int) -> float:
        """What a channel ranges over, without what sticks out."""
        values = np.concatenate([part.measured[part.channel == c] for part in self.problem.parts])
        return float(np.ptp(np.percentile(values, (0.5, 99.5)))) if len(values) else 0.0
