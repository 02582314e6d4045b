"""Trial values: from where the fit of a term, or of several together, starts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from vds_gz.core.arrays import Array

#: Values that replace coordinates of a point, by the indices of the terms.
Changes = Mapping[int, float]

#: Where fits start, from the point of the present fit.
Starts = Callable[[Array], Iterator[Changes]]

#: Largest value of a limit that is not met, in SI units, and its coordinate.
UNLIMITED = 1e6
UNLIMITED_AT = math.log(UNLIMITED)

#: Dead times that are tried, up to the largest that a term may have [s].
DEAD_TIMES = np.r_[np.arange(0.0, 0.4, 0.04), 0.4, 0.5, 0.7, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0]

#: Lags that are tried [s], dead times beside them [s], and parts of the lag by which a dead time is shortened.
LAGS, DELAYS, SHORTER = (0.03, 0.08, 0.2, 0.5, 1.2), (0.0, 0.05, 0.1, 0.2, 0.4), (0.5, 1.0)

#: Limits that are tried, as parts of the measured maxima; factors on the maximum where a whole actuator is tried.
LIMITS, FEW_LIMITS = (0.8, 0.92, 1.01, 1.1, 1.3, 1.7, 2.5, 3.5, 5.0), (1.25, 1.6)

#: Smallest measured maximum of a limit, in SI units.
LEAST_MAXIMUM = 1e-3

#: Factors by which a common limit is changed into a deceleration limit; the acceleration limit changes by the inverse.
SPLITS = 0.7, 0.85, 0.95, 1.05, 1.2, 1.4

#: Gains that are tried, and dead bands as parts of the commanded maximum.
TRIED_GAINS = 0.5, 0.7, 0.85, 0.95, 1.05, 1.2, 1.5
BANDS = 0.03, 0.08, 0.2, 0.4

#: Slow shares and their time constants that are tried [s].
SHARES, SLOW_TIMES = (0.1, 0.25), (1.5, 4.0, 10.0)

#: Understeer gradients that are tried, divided by the wheel base [s^2/m^2].
UNDERSTEERS = 0.003, 0.01, 0.03, 0.08


class TrialContext(NamedTuple):
    """A term among the unknowns, and what its trial values depend on.

    Attributes:
        k: Its index.
        scale: Its scale.
        highest: Its upper bound.
        tried: The observed maximum, where a limit would be if it was met; for a band, the largest command.
        beside: Indices of its actuator's terms by stage.
        gains: Indices of the gains that a limit may stand in for.
        wheel_base: Wheel base of the vehicle [m].
    """

    k: int
    scale: float
    highest: float
    tried: float
    beside: Mapping[str, int]
    gains: Sequence[int]
    wheel_base: float


#: Where fits start, for a term and the point of the present fit.
TrialValues = Callable[[TrialContext, Array], Iterator[Changes]]


@dataclass(frozen=True)
class Trials:
    """A way in which a term may enter a fit.

    Attributes:
        values: Where the fits start.
        together: Stages of its actuator that enter with it.
        beside: Stages on which the values depend. Without one of both groups, it does not enter in this way.
        name: Name of the candidate, with ``{}`` for the term's.
    """

    values: TrialValues
    together: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    name: str = "{}"


def unchanged(context: TrialContext, point: Array) -> Iterator[Changes]:
    """The present value."""
    yield {context.k: float(point[context.k])}


def listed(values: Callable[[TrialContext], Iterable[float]]) -> TrialValues:
    """Values one by one."""

    def starts(context: TrialContext, point: Array) -> Iterator[Changes]:
        for value in values(context):
            yield {context.k: float(value)}

    return starts


neutral = listed(lambda context: (0.0,))
gains = listed(lambda context: TRIED_GAINS)
dead_times = listed(lambda context: (time for time in DEAD_TIMES if time < context.highest))
bands = listed(lambda context: np.array(BANDS) * context.tried)
tracks = listed(lambda context: np.array(TRIED_GAINS) * (context.scale / 0.2))  # the scale is a fifth of the track
understeers = listed(lambda context: np.array(UNDERSTEERS) * context.wheel_base)


def lags(context: TrialContext, point: Array) -> Iterator[Changes]:
    """Lags, also in place of a part of the dead time."""
    dead = context.beside.get("dead_time")
    for value in LAGS:
        yield {context.k: value}
        if dead is not None and point[dead] > 0.0:
            for part in SHORTER:
                yield {context.k: value, dead: max(point[dead] - part * value, 0.0)}


def delays(context: TrialContext, point: Array) -> Iterator[Changes]:
    """Lags and dead times."""
    for value, delay in product(LAGS, DELAYS):
        yield {context.beside["time_constant"]: value, context.beside["dead_time"]: delay}


def limits(context: TrialContext, point: Array) -> Iterator[Changes]:
    """Limits, also in place of gains that may stand in for them."""
    for value in np.log(np.array(LIMITS) * max(context.tried, LEAST_MAXIMUM)):
        yield {context.k: float(value)}
        if any(point[gain] != 1.0 for gain in context.gains):
            yield {context.k: float(value)} | dict.fromkeys(context.gains, 1.0)


def fall_limits(context: TrialContext, point: Array) -> Iterator[Changes]:
    """Deceleration limits; where accelerations are limited too, also changes of both from the common limit."""
    yield from limits(context, point)
    rise = context.beside.get("rise")
    if rise is not None and point[rise] < UNLIMITED_AT:
        for part in SPLITS:
            yield {context.k: point[rise] + math.log(part), rise: point[rise] - math.log(part)}


def slow_shares(context: TrialContext, point: Array) -> Iterator[Changes]:
    """Slow shares with their time constants, also in place of a gain below 1, which may lack the slow share."""
    time_constant, gain = context.beside["slow_time_constant"], context.beside["gain"]
    for seconds, part in product(SLOW_TIMES, SHARES):
        yield {context.k: part, time_constant: seconds}
        if point[gain] < 1.0:
            yield {context.k: 1.0 - float(point[gain]), time_constant: seconds, gain: 1.0}


def gains_and_tracks(context: TrialContext, point: Array) -> Iterator[Changes]:
    """Effective tracks with gains of the drive."""
    for value, track in product(TRIED_GAINS, np.array(TRIED_GAINS) * (context.scale / 0.2)):
        yield {context.beside["gain"]: value, context.k: float(track)}


def few_limits(tried: float) -> list[float]:
    """Coordinates of a limit for trials of a whole actuator."""
    top = math.log(max(tried, LEAST_MAXIMUM))
    return [top, *(top + math.log(factor) for factor in FEW_LIMITS), UNLIMITED_AT]
