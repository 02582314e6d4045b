"""Builds a problem from a setup: experiments, bounds, priors, and the resolution of each channel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.tools.study.identify.estimates import WIDTH
from vds_gz.tools.study.identify.observed_limits import Reaches
from vds_gz.tools.study.identify.problem.problem_setup import Setup
from vds_gz.tools.study.identify.problem.segment_model import Experiment
from vds_gz.tools.study.identify.problem.segments import Segment, chosen, segments_of
from vds_gz.tools.study.identify.problem.vehicle_family import VehicleFamily
from vds_gz.tools.study.identify.term_kind import LEAST_LIMIT, Term
from vds_gz.tools.study.recording import MeasuredChannel
from vds_gz.tools.study.signals import without_spikes

#: Accuracy of simulations and of their differences: as a part of a channel's range, and of a constant one in its unit.
ACCURACY, CONSTANT_ACCURACY = 5e-6, 1e-6

#: In a channel with a smaller range, effects of two actuators cancel but for rounding, as of both axles in the lateral
#: velocity. In differences of simulations they cancel to this accuracy.
ROUNDING, CANCELLED_ACCURACY = 1e-12, 1e-4

#: Values on fewer levels are a signal at rest, not steps of a sensor.
FEWEST_LEVELS = 20

#: Step length [s] and total time of recordings [s] for the selection of terms, which more data hardly change.
COARSE_STEP, ENOUGH_SECONDS = 0.005, 400.0

#: Number of samples of each channel in all recordings for the selection of terms, and bounds of their rate [Hz]. A fit
#: of all data in coarse steps uses the upper bound.
ENOUGH_SAMPLES, LEAST_RATE, FULL_RATE = 900.0, 20.0, 40.0


@dataclass(frozen=True)
class Problem:
    """The data and unknowns of a fit: segments with their forward model, priors and bounds of all terms.

    ``kinds`` numbers channels by name: those of one name have the same noise in all recordings. For each kind,
    ``floors`` is the resolution and the minimum noise, ``accuracies`` the accuracy of a simulation, which is at most
    the resolution, and ``quantities`` the number of its quantity. The start of a ``fresh`` experiment is fitted; others
    begin with a lead, after which the start hardly matters. An infinite ``sigma`` means no prior. In the robust loss,
    the noise of correlated residuals is at most ``largest_noise``, as a part of a channel's standard deviation.
    """

    experiments: tuple[Experiment, ...]
    floors: Array
    accuracies: Array
    kinds: np.ndarray
    quantities: np.ndarray
    fresh: tuple[bool, ...]
    mean: Array
    sigma: Array
    lower: Array
    upper: Array
    largest_noise: float = math.inf

    @property
    def family(self) -> VehicleFamily:
        """The vehicles."""
        return self.experiments[0].family

    @property
    def terms(self) -> tuple[Term, ...]:
        """All unknowns."""
        return self.family.terms

    @cached_property
    def measured(self) -> Array:
        """All samples."""
        return np.concatenate([run.measured for run in self.experiments])

    @cached_property
    def intervals(self) -> Array:
        """Median interval between samples of each kind of channel [s]; infinite without two samples."""
        intervals = np.full(len(self.floors), np.inf)
        for k in range(len(intervals)):
            steps = np.concatenate([np.diff(run.time[self.kinds[run.channel] == k]) for run in self.experiments])
            if len(steps):
                intervals[k] = float(np.median(steps))
        return intervals

    @cached_property
    def spread(self) -> Array:
        """Standard deviation of each kind of channel, without spikes and the extreme hundredth."""
        spread = np.ones(len(self.floors))
        for k in np.unique(self.kind):
            values = without_spikes(self.measured[self.kind == k])
            spread[k] = np.std(np.clip(values, *np.percentile(values, (0.5, 99.5))))
        return spread

    @cached_property
    def kind(self) -> np.ndarray:
        """The kind of channel of each sample."""
        kind: np.ndarray = self.kinds[np.concatenate([run.channel for run in self.experiments])]
        return kind


def problem_of(setup: Setup, segments: Sequence[Segment], reach: Reaches) -> Problem:
    """The problem for segments of recordings; no limit is below the value that the vehicle reached."""
    terms = setup.family.terms
    longest = max(end - begin for signals in setup.recordings for begin, end in signals.pieces)
    lower, upper = np.array([term.bounds for term in terms]).T
    mean, sigma = np.zeros(len(terms)), np.array([term.kind.prior * term.scale for term in terms])
    for k, term in enumerate(terms):
        if term.kind.reached == "least" and term.name in reach:
            lower[k] = max(lower[k], term.coordinate(max(reach[term.name].least, LEAST_LIMIT)))
        if term.kind.settles:
            upper[k] = np.clip(longest / term.kind.settles, 1.01 * lower[k], upper[k])
        known = setup.priors.get(term.name)
        if known is not None and known.high > known.low and (known.low > 0.0 or not term.kind.is_limit):
            low, mean[k], high = map(term.coordinate, (known.low, known.value, known.high))
            sigma[k] = (high - low) / (2.0 * WIDTH)
    channels = setup.all_channels
    names = list(dict.fromkeys(channel.name for channel in channels))
    kinds = np.array([names.index(channel.name) for channel in channels])
    accuracies, steps = np.zeros((2, len(names)))
    np.maximum.at(accuracies, kinds, [accuracy(channel) for channel in channels])
    np.maximum.at(steps, kinds, [_step(channel.series.value) for channel in channels])
    floors = np.maximum(accuracies, steps / math.sqrt(12.0))
    experiments = tuple(Experiment(setup.family, segment) for segment in segments)
    fresh = tuple(segment.first for segment in segments)
    measured = {channel.name: channel.quantity for channel in channels}
    different = list(dict.fromkeys(measured.values()))
    quantities = np.array([different.index(measured[name]) for name in names])
    return Problem(experiments, floors, accuracies, kinds, quantities, fresh, mean, sigma, lower, upper)


def coarse_segments(
    setup: Setup, enough: float = ENOUGH_SECONDS, rate: float = 0.0, step: float = COARSE_STEP
) -> list[Segment]:
    """Segments for the selection of terms: in coarse steps, and with thinned samples.

    If recordings are longer than ``enough`` [s], those segments are used in which commands change most. Of each channel
    ``rate`` samples per second suffice; 0: the rate for a selection of terms. A ``step`` of 0 is the vehicle's own.
    """
    dt = max(1.0, math.floor(step * setup.step_rate + 1e-9)) / setup.step_rate
    if not rate:
        duration = sum(float(np.ptp(signals.commands.time)) for signals in setup.recordings)
        rate = min(max(ENOUGH_SAMPLES / max(duration, 1.0), LEAST_RATE), FULL_RATE)
    channels = tuple(tuple(thinned(channel, rate) for channel in channels) for channels in setup.channels)
    segments = segments_of(setup.recordings, channels, dt)
    if sum(segment.duration for segment in segments) <= enough:
        return segments
    rates = [len(np.unique(segment.begins)) / segment.duration for segment in segments]
    kept, total = [], 0.0
    for k in np.argsort(rates, kind="stable")[::-1]:
        if total < enough:
            kept.append(int(k))
            total += segments[k].duration
    return [segments[k] for k in sorted(kept)]


def thinned(channel: MeasuredChannel, rate: float) -> MeasuredChannel:
    """Every n-th sample of a channel, for the largest n that leaves at least ``rate`` samples per second."""
    time = channel.series.time
    stride = max(1, int(1.0 / (rate * float(np.median(np.diff(time)))) + 1e-6)) if len(time) > 2 else 1
    return channel if stride == 1 else chosen(channel, slice(None, None, stride))


def accuracy(channel: MeasuredChannel) -> float:
    """The accuracy of simulated values of a channel, which are never exact."""
    values = channel.series.value
    if not len(values):
        return 0.0
    low, high = np.percentile(values, (0.5, 99.5))
    span = float(high - low) or float(np.ptp(values))
    if 0.0 < span < ROUNDING:
        return CANCELLED_ACCURACY
    return max(ACCURACY * span, 1e-12 if span else CONSTANT_ACCURACY)


def _step(values: Array) -> float:
    """The step of quantised values, as from a sensor's bits; 0 for others."""
    if not len(values):
        return 0.0
    distinct = np.unique(values)
    if len(distinct) > 0.2 * len(values) or len(distinct) < FEWEST_LEVELS:
        return 0.0
    steps = np.diff(distinct)
    least = float(np.min(steps))
    return least if np.abs(steps / least - np.rint(steps / least)).max() < 0.01 else 0.0
