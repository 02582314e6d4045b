"""The measured speed: its noise, which may have outliers, and its means over short times."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.ndimage import median_filter

from vds_gz.study.identify.estimates import Array
from vds_gz.study.identify.solver.noise import APPROACH, Sizes, weights
from vds_gz.study.signals import Series

#: Speeds within this time are averaged to one [s].
BIN = 0.1

#: Noise is not taken for less than this part of what the speed ranges over.
RESOLUTION = 1e-3


class SpeedNoise(NamedTuple):
    """Student's distribution of the noise of one sample: scale [m/s], degrees of freedom; the floor of the scale."""

    scale: float
    nu: float
    floor: float

    def weights(self, residuals: Array) -> tuple[Array, float]:
        """Of each residual [s^2/m^2], and by how much more its gradient weighs."""
        found, factor = weights(residuals[np.newaxis], np.array([self.scale]), np.array([self.nu]))
        return found[0], float(factor[0, 0])


class Bins(NamedTuple):
    """Weighted means of times and values within short times, with the sums of the weights."""

    time: Array
    value: Array
    weight: Array


def noise_of(residuals: Array, span: float, *, approach: bool = False) -> SpeedNoise:
    """The noise of the greatest likelihood.

    Args:
        residuals: Measured less modelled, at each sample [m/s].
        span: What the speed ranges over [m/s].
        approach: They are not those of a solution yet.
    """
    floor = max(RESOLUTION * span, 1e-6)
    sizes = Sizes(1, floor)
    sizes.add(residuals[np.newaxis])
    if approach:
        return SpeedNoise(float(sizes.approach(span)[0]), APPROACH, floor)
    scale, nu = sizes.noise()
    return SpeedNoise(float(scale[0]), float(nu[0]), floor)


def median_speed(speed: Series, duration: float) -> Array:
    """Medians of the speeds around each sample, within a duration [s]: outliers do not move them."""
    samples = round(duration / max(float(np.median(np.diff(speed.time))), 1e-4))
    return np.asarray(median_filter(speed.value, max(3, samples | 1), mode="nearest"), dtype=float)


def binned(speed: Series, weight: Array) -> Bins:
    """The samples in bins."""
    place = np.floor((speed.time - speed.time[0]) / BIN).astype(int)
    some = np.bincount(place) > 0
    total, time, value = (np.bincount(place, w)[some] for w in (weight, weight * speed.time, weight * speed.value))
    return Bins(time / total, value / total, np.asarray(total, dtype=float))
