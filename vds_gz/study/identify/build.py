"""From what is looked for to a problem: experiments, bounds, what is known beforehand, and how exact the data are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from vds_gz.study.identify.estimates import WIDTH, Array
from vds_gz.study.identify.fit import Problem
from vds_gz.study.identify.problem.parameters import LEAST_LIMIT, Kind
from vds_gz.study.identify.problem.segments import Segment, segments_of
from vds_gz.study.identify.problem.setup import Setup
from vds_gz.study.identify.problem.simulation import Experiment
from vds_gz.study.identify.reach import Reach
from vds_gz.study.signals import MeasuredChannel

#: Noise of what never changed, in its unit.
STILL = 1e-6

#: Values on fewer levels are those of a signal that rests there.
FEWEST_LEVELS = 20

#: Nothing is measured more exactly than this part of the range.
EXACT = 5e-6

#: Steps in which terms are selected, and so many seconds and samples per second of a recording are enough for that.
COARSE, ENOUGH, OFTEN = 0.005, 400.0, 40.0


def problem_of(setup: Setup, segments: Sequence[Segment], reach: Mapping[str, Reach]) -> Problem:
    """The problem that segments of recordings pose.

    Args:
        setup: What may be looked for.
        segments: Parts of its recordings.
        reach: How far the vehicle went; no limit is below that.
    """
    terms = setup.family.terms
    lower, upper = np.array([term.bounds for term in terms]).T
    mean, sigma = np.zeros(len(terms)), np.full(len(terms), np.inf)
    for k, term in enumerate(terms):
        if term.kind is Kind.LIMIT and term.name in reach:
            lower[k] = math.log(max(reach[term.name].least, LEAST_LIMIT))
        if term.kind is Kind.GAIN and term.name in reach:
            lower[k] = max(lower[k], reach[term.name].least)
        known = setup.priors.get(term.name)
        if known is not None and known.high > known.low and (known.low > 0.0 or term.kind is not Kind.LIMIT):
            low, mean[k], high = map(term.coordinate, (known.low, known.value, known.high))
            sigma[k] = (high - low) / (2.0 * WIDTH)
    channels = [channel for every in setup.channels for channel in every]
    names = list(dict.fromkeys(channel.name for channel in channels))
    kinds = np.array([names.index(channel.name) for channel in channels])
    floors = np.zeros(len(names))
    np.maximum.at(floors, kinds, [resolution(channel) for channel in channels])
    experiments = tuple(Experiment(setup.family, segment) for segment in segments)
    fresh = tuple(one.segment.first for one in experiments)
    measured = {channel.name: channel.quantity for channel in channels}
    different = list(dict.fromkeys(measured.values()))
    quantities = np.array([different.index(measured[name]) for name in names])
    return Problem(experiments, floors, kinds, quantities, fresh, mean, sigma, lower, upper)


def coarse_segments(setup: Setup, enough: float = ENOUGH) -> list[Segment]:
    """Segments in which terms are selected: in long steps, with samples that are no more frequent than needed, and of a
    long recording the parts in which commands change most."""
    dt = max(1.0, math.floor(COARSE * setup.step_rate + 1e-9)) / setup.step_rate
    channels = tuple(tuple(thinned(channel) for channel in every) for every in setup.channels)
    segments = segments_of(setup.recordings, channels, dt)
    if sum(one.duration for one in segments) <= enough:
        return segments
    rates = [len(np.unique(one.begins)) / one.duration for one in segments]
    kept, total = [], 0.0
    for k in np.argsort(rates, kind="stable")[::-1]:
        if total < enough:
            kept.append(int(k))
            total += segments[k].duration
    return [segments[k] for k in sorted(kept)]


def thinned(channel: MeasuredChannel) -> MeasuredChannel:
    """The same with at most :data:`OFTEN` samples per second."""
    time = channel.series.time
    every = max(1, int(1.0 / (OFTEN * float(np.median(np.diff(time)))) + 1e-6)) if len(time) > 2 else 1
    if every == 1:
        return channel
    series = type(channel.series)(time[::every], channel.series.value[::every])
    return replace(channel, series=series, half=None if channel.half is None else channel.half[::every])


def resolution(channel: MeasuredChannel) -> float:
    """The least noise that a channel may have: its values are in steps, and nothing is exact."""
    values = channel.series.value
    if not len(values):
        return 0.0
    low, high = np.percentile(values, (0.5, 99.5))
    span = float(high - low) or float(np.ptp(values))
    return max(EXACT * span, _step(values) / math.sqrt(12.0), 1e-12 if span else STILL)


def _step(values: Array) -> float:
    """The step of values that come in steps, as a sensor's bits give them; 0 where they do not."""
    distinct = np.unique(values)
    if len(distinct) > 0.2 * len(values) or len(distinct) < FEWEST_LEVELS:
        return 0.0
    steps = np.diff(distinct)
    least = float(np.min(steps))
    return least if np.abs(steps / least - np.rint(steps / least)).max() < 0.01 else 0.0
