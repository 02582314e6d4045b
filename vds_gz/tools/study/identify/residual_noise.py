"""Noise of the residuals of a fit: its scale and its autocorrelation, by channel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.tools.study.identify.build import Problem
from vds_gz.tools.study.identify.robust import autocorrelation_time, noise_scale
from vds_gz.tools.study.signals import without_spikes

#: Residuals are clipped at this multiple of their scale by the median or of their rms without spikes, whichever is
#: larger. So transients count, and outliers hardly do.
CLIPPED = 4.0

#: Residuals with a larger correlation of successive samples are not white noise.
STRUCTURED = 0.4

#: Assumed noise before any fit, as a part of a channel's standard deviation.
FIRST_PART = 0.2


@dataclass(frozen=True)
class Noise:
    """Noise of each kind of channel after a fit.

    Attributes:
        scale: Standard deviation, in the channel's unit.
        own_correlation: Integrated autocorrelation time, in samples; at least 1.
        correlation: The shortest autocorrelation time of all channels, in samples of this one; at least 1. Weights and
            intervals use it, because model errors, which last long, must not set a channel's weight.
    """

    scale: Array
    own_correlation: Array
    correlation: Array

    @property
    def weights(self) -> Array:
        """Weights of the residuals of each kind of channel; autocorrelated ones count less."""
        weights: Array = 1.0 / (np.maximum(self.scale, 1e-300) * np.sqrt(self.correlation))
        return weights


def first_noise(problem: Problem) -> Noise:
    """The assumed noise before any fit."""
    ones = np.ones(len(problem.floors))
    return Noise(np.maximum(FIRST_PART * problem.spread, problem.floors), ones, ones)


def noise_of(problem: Problem, residuals: Array) -> Noise:
    """The noise estimated from residuals."""
    interval = problem.intervals
    scale, time = problem.floors.copy(), np.ones(len(problem.floors))
    by_experiment = np.split(
        residuals, np.cumsum([len(experiment.measured) for experiment in problem.experiments])[:-1]
    )
    for k, floor in enumerate(problem.floors):
        runs = [
            values[problem.kinds[experiment.channel] == k]
            for experiment, values in zip(problem.experiments, by_experiment, strict=True)
        ]
        values = np.concatenate(runs)
        if len(values):
            rms = float(np.sqrt(np.mean(without_spikes(values) ** 2)))
            limit = CLIPPED * max(noise_scale(values, floor), rms)
            scale[k] = max(float(np.sqrt(np.mean(np.clip(values, -limit, limit) ** 2))), floor)
            time[k] = autocorrelation_time([np.clip(run, -limit, limit) for run in runs], floor)
    time = np.maximum(time, 1.0)
    return Noise(scale, time, np.maximum(np.min(interval * time) / interval, 1.0))


def is_structured(problem: Problem, residuals: Array) -> bool:
    """Whether residuals of some channel are autocorrelated, so that a better model would explain part of them."""
    channels = np.concatenate([experiment.channel for experiment in problem.experiments])
    for channel in np.unique(channels):
        left = residuals[channels == channel]
        if left[1:] @ left[:-1] > STRUCTURED * (left @ left):
            return True
    return False
