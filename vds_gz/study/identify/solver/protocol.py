"""What the solver is given, and what it gives: pieces of data with a forward model, and points with their noise.

S counts starts (points that are worked on at once), p unknowns that all parts share, q unknowns of one part alone,
M samples of a part, C channels: all samples of a channel have the same noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Indices = NDArray[np.intp]


class Evaluation(NamedTuple):
    """What a forward model says.

    Attributes:
        predicted: What would have been measured, (S, M).
        shared: Derivatives with respect to the shared unknowns, (S, M, p); of columns that were not wanted, anything
            finite. None where none were wanted.
        own: Derivatives with respect to the part's own unknowns, (S, M, k): k = q, or as many as ``own_columns`` has.
    """

    predicted: Array
    shared: Array | None = None
    own: Array | None = None


@dataclass(frozen=True)
class Space:
    """Where some unknowns may be, and what is known of them beforehand; each (n,).

    Attributes:
        scale: A step that is small enough for the model to be nearly linear; no step of shared unknowns is longer. An
            unknown whose standard deviation would be far longer than this is not excited, and stays where it is.
        lower, upper: Bounds; infinite where there are none.
        mean, sigma: A Gaussian prior; an infinite sigma where there is none.
    """

    scale: Array
    lower: Array
    upper: Array
    mean: Array
    sigma: Array

    @staticmethod
    def of(
        scale: Sequence[float] | Array,
        lower: float | Sequence[float] | Array = -np.inf,
        upper: float | Sequence[float] | Array = np.inf,
        mean: float | Sequence[float] | Array = 0.0,
        sigma: float | Sequence[float] | Array = np.inf,
    ) -> Space:
        """A space whose bounds and priors may be given once for all unknowns."""
        n = len(scale)
        given = (np.asarray(one, np.float64) for one in (scale, lower, upper, mean, sigma))
        return Space(*(np.broadcast_to(one, n).copy() for one in given))

    def __len__(self) -> int:
        return len(self.scale)


class Part(Protocol):
    """A piece of data and its forward model. The solver works part by part, which bounds its memory."""

    @property
    def measured(self) -> Array:
        """What was measured, (M,), of each channel in the order of time; all finite."""

    @property
    def channel(self) -> Indices:
        """The channel of each sample, (M,)."""

    @property
    def own_begin(self) -> Array:
        """Where the part's own unknowns begin, (q,)."""

    @property
    def own(self) -> Space:
        """The space of the part's own unknowns."""

    @property
    def own_columns(self) -> Indices | None:
        """The own unknowns that each sample depends on, (M, k), as indices below q.

        None where all depend on all. It spares derivatives that are zero: poses in windows, each with an origin of its
        own, give k = 3 however many windows there are.
        """

    def evaluate(self, shared: Array, own: Array, wanted: Mask | None) -> Evaluation:
        """Predict what would have been measured, at many points at once.

        Args:
            shared: Points, (S, p).
            own: The part's own unknowns there, (S, q).
            wanted: The shared unknowns to derive with respect to, (S, p); the derivatives with respect to own ones are
                wanted too then. None: no derivatives.
        """


@dataclass(frozen=True)
class Problem:
    """Data, and the space in which an explanation is looked for.

    Attributes:
        parts: Pieces of data; all have the same shared unknowns and channels.
        space: Of the shared unknowns, (p,).
        floors: Minimum noise of each channel, (C,), in its units, greater than 0: its resolution.
        correlation: For each channel, how many of its samples hold as much information as one would if their noise
            were independent, (C,), at least 1. It divides the channel's logarithm of the likelihood.
        sizes: Of each part, by how many times the noise of each sample is larger than its channel's, (M,); empty where
            all samples of a channel have the same.
    """

    parts: Sequence[Part]
    space: Space
    floors: Array
    correlation: Array
    sizes: Sequence[Array] = ()

    def in_sizes(self, k: int, values: Array) -> Array:
        """Residuals (S, M) or derivatives (S, M, n) of a part as parts of the samples' sizes."""
        if not self.sizes:
            return values
        return values / self.sizes[k].reshape(1, -1, *[1] * (values.ndim - 2))


class Noise(NamedTuple):
    """Student's distribution of the noise of each channel at each point; a normal one if nu is infinite.

    Attributes:
        scale: (S, C), in the units of the channels; where nu is infinite, the standard deviation.
        nu: Degrees of freedom, (S, C).
    """

    scale: Array
    nu: Array


@dataclass(frozen=True)
class Solution:
    """What was found, from every start.

    Attributes:
        points: (S, p).
        own: The parts' own unknowns, (S, q) each.
        noise: Of the channels.
        channel_deviance: -2 log likelihood of each channel, (S, C), divided by its correlation. Infinite: the model
            gave no number there.
        deviance: The sum of these, and of the priors' terms, (S,). The least is the best.
        information: Inverse of the covariance of the shared unknowns that were free, (S, p, p), the parts' own
            unknowns being unknown too; rows and columns of those that were not free, or that nothing is known of, are
            zero.
        converged: No step would lower the deviance by more than the tolerance, (S,).
        iterations: (S,).
    """

    points: Array
    own: tuple[Array, ...]
    noise: Noise
    channel_deviance: Array
    deviance: Array
    information: Array
    converged: Mask
    iterations: Indices

    @property
    def best(self) -> int:
        """The start that led to the least deviance."""
        return int(np.argmin(self.deviance))

    def of(self, starts: Sequence[int] | Indices) -> Solution:
        """What was found from some of the starts."""
        chosen = np.asarray(starts, np.intp)
        return Solution(
            self.points[chosen],
            tuple(own[chosen] for own in self.own),
            Noise(self.noise.scale[chosen], self.noise.nu[chosen]),
            self.channel_deviance[chosen],
            self.deviance[chosen],
            self.information[chosen],
            self.converged[chosen],
            self.iterations[chosen],
        )

    def put(self, starts: Indices, other: Solution) -> None:
        """Take another solution's starts in the place of some of these."""
        for here, there in zip(self._arrays(), other._arrays(), strict=True):
            here[starts] = there

    def _arrays(self) -> list[NDArray[np.generic]]:
        rest = [getattr(self, one.name) for one in fields(self) if one.name not in ("own", "noise")]
        return [*self.own, *self.noise, *rest]
