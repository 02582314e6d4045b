"""Terms that may enter a fit, with their trial values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import product

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.tools.study.identify.cross_validation import FEWEST_BLOCKS
from vds_gz.tools.study.identify.observed_limits import Reach
from vds_gz.tools.study.identify.problem.parameters import (
    EFFECTIVE_TRACK,
    UNDERSTEER,
    UNLIMITED,
    Actuation,
    Kind,
    Term,
    value_of,
)
from vds_gz.tools.study.identify.problem.problem_setup import Setup
from vds_gz.tools.study.identify.trials import Candidate, Starts

#: Dead times that are tried, up to the largest that a term may have [s].
DEAD_TIMES = np.r_[np.arange(0.0, 0.4, 0.04), 0.4, 0.5, 0.7, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0]

#: Lags that are tried [s], and parts of the lag by which the dead time is shortened.
LAGS, SHORTER = (0.03, 0.08, 0.2, 0.5, 1.2), (0.5, 1.0)

#: Limits that are tried, as parts of the measured maxima.
LIMITS = 0.8, 0.92, 1.01, 1.1, 1.3, 1.7, 2.5, 3.5, 5.0

#: Factors by which a common limit is changed into a deceleration limit; the acceleration limit changes by the inverse.
SPLITS = 0.7, 0.85, 0.95, 1.05, 1.2, 1.4

#: Gains that are tried, and dead bands as parts of the commanded maximum.
TRIED_GAINS = 0.5, 0.7, 0.85, 0.95, 1.05, 1.2, 1.5
BANDS = 0.03, 0.08, 0.2, 0.4

#: Time constants of slow shares that are tried [s], and understeer gradients, divided by the wheel base [s^2/m^2].
SLOW_TIMES = 1.5, 4.0, 10.0
UNDERSTEERS = 0.003, 0.01, 0.03, 0.08

#: Limits must improve the prediction by this many standard errors, and by this part of the residual, because lags have
#: a similar effect.
PROOF_OF_LIMIT = 1.0, 0.03

#: The same for terms that few vehicles need.
PROOF_OF_RARE = 2.0, 0.02

#: The same for slow shares, for which few blocks are long enough.
PROOF_OF_SLOW_SHARE = 1.5, 0.02

#: Coordinate of a limit that is not met.
UNLIMITED_AT = math.log(UNLIMITED)


def candidates_of(setup: Setup, reach: Mapping[str, Reach]) -> list[Candidate]:
    """The candidates of a vehicle; ``reach`` has the observed maxima by the names of limits."""
    index = {term.name: k for k, term in enumerate(setup.family.terms)}
    gains = [k for k, term in enumerate(setup.family.terms) if term.kind in (Kind.GAIN, Kind.COMMAND_GAIN)]
    candidates: list[Candidate] = []
    for name, actuation in setup.actuators.items():
        if name not in setup.excited:
            continue
        candidates += _of_actuator(actuation, setup.family.terms, reach, gains)
        hubs = setup.actuators["wheels"].value if name == "drive" and "wheels" in setup.actuators else ""
        limits = actuation.value, actuation.rise, actuation.fall, hubs
        parts = [part for part in (actuation.dead_time, actuation.time_constant, *limits) if part]
        static = [part for part in (actuation.gain, actuation.offset) if part]
        if len(parts) > 2:
            starts = partial(_whole, actuation, hubs, index, reach)
            candidates.append(Candidate(f"{name} as a whole", tuple(index[part] for part in parts), starts, whole=True))
            if static:
                terms = tuple(index[part] for part in (*parts, *static))
                candidates.append(Candidate(f"{name} as a whole with its gain", terms, starts, whole=True))
        linear = [actuation.dead_time, actuation.time_constant, actuation.gain]
        if all(linear):
            dead, lag = index[actuation.dead_time], index[actuation.time_constant]
            # A steering is seldom mounted without a bias; a drive seldom creeps.
            for biased in (False, True) if name == "steering" and actuation.offset else (False,):
                terms = tuple(index[part] for part in (*linear, *([actuation.offset] if biased else [])))
                words = f"linear response of {name}{' with its offset' if biased else ''}"
                candidates.append(Candidate(words, terms, partial(_delays, dead, lag)))
    gain = next((index[actuator.gain] for actuator in setup.actuators.values() if actuator.gain), None)
    both: list[Candidate] = []
    for k, term in enumerate(setup.family.terms):
        if term.kind is Kind.COMMAND_GAIN:
            candidates.append(Candidate(term.name, (k,), partial(_values, k, TRIED_GAINS)))
        if term.name == EFFECTIVE_TRACK:
            tracks = np.array(TRIED_GAINS) * (term.scale / 0.2)
            candidates.append(Candidate(term.name, (k,), partial(_values, k, tracks)))
            if gain is not None:
                both.append(Candidate("gain and effective_track", (gain, k), partial(_gains, gain, k, tracks)))
        if term.name == UNDERSTEER:
            gradients = np.array(UNDERSTEERS) * value_of(setup.family.parameters, "wheel_base")
            candidates.append(Candidate(term.name, (k,), partial(_values, k, gradients)))
            steering = setup.actuators["steering"]
            if steering.gain in index:
                terms = k, index[steering.gain]
                candidates.append(Candidate("gain of steering and understeer", terms, partial(_values, k, gradients)))
    return [*candidates, *both]


def second_stage(setup: Setup, reach: Mapping[str, Reach]) -> list[Candidate]:
    """Candidates after the usual terms: dead bands, backlash, offsets and latencies of sensors."""
    candidates = []
    idle = {
        number
        for name, actuation in setup.actuators.items()
        if name not in setup.excited
        for number in actuation.named().values()
    }
    for k, term in enumerate(setup.family.terms):
        if term.name in idle:
            continue
        if term.kind is Kind.LATENCY or (term.kind is Kind.SENSOR_OFFSET and len(setup.recordings) < FEWEST_BLOCKS):
            candidates.append(Candidate(term.name, (k,), partial(_present, k), *PROOF_OF_RARE))
        elif term.kind is Kind.OFFSET:
            candidates.append(Candidate(term.name, (k,), partial(_values, k, (0.0,)), *PROOF_OF_RARE))
        elif term.kind in (Kind.DEAD_BAND, Kind.BACKLASH):
            candidates.append(
                Candidate(
                    term.name, (k,), partial(_values, k, np.array(BANDS) * reach[term.name].tried), *PROOF_OF_RARE
                )
            )
    return candidates


def _of_actuator(
    actuation: Actuation, terms: Sequence[Term], reach: Mapping[str, Reach], gains: Sequence[int]
) -> Iterator[Candidate]:
    index = {term.name: k for k, term in enumerate(terms)}
    dead, lag = (index.get(name) for name in (actuation.dead_time, actuation.time_constant))
    if dead is not None:
        times = [time for time in DEAD_TIMES if time < terms[dead].highest]
        yield Candidate(actuation.dead_time, (dead,), partial(_values, dead, times))
    if lag is not None:
        yield Candidate(actuation.time_constant, (lag,), partial(_lags, lag, dead))
        if dead is not None:
            yield Candidate(f"{actuation.time_constant} and dead time", (dead, lag), partial(_delays, dead, lag))
    for name in (actuation.value, actuation.rise, actuation.fall):
        if name:
            values = np.log(np.array(LIMITS) * max(reach[name].tried, 1e-3))
            starts = partial(_limits, index[name], values, gains)
            if name == actuation.fall and actuation.rise:
                starts = partial(_splits, index[actuation.rise], index[name], starts)
            yield Candidate(name, (index[name],), starts, *PROOF_OF_LIMIT)
    if actuation.gain:
        yield Candidate(actuation.gain, (index[actuation.gain],), partial(_values, index[actuation.gain], TRIED_GAINS))
    if actuation.slow_share and actuation.gain:
        slow = index[actuation.slow_share], index[actuation.slow_time_constant]
        starts = partial(_slowly, *slow, index[actuation.gain])
        yield Candidate(actuation.slow_share, slow, starts, *PROOF_OF_SLOW_SHARE)


def _whole(
    actuation: Actuation, hubs: str, index: Mapping[str, int], reach: Mapping[str, Reach], point: Array
) -> Iterator[Mapping[int, float]]:
    """All terms of an actuator's response, from distant starts, because limits hide the lag and the dead time."""
    axes: list[list[tuple[int, float]]] = []
    if actuation.dead_time:
        axes.append([(index[actuation.dead_time], value) for value in (0.0, 0.08, 0.2, 0.4)])
    if actuation.time_constant:
        axes.append([(index[actuation.time_constant], value) for value in (0.05, 0.2, 0.6)])
    for name in (actuation.value, actuation.rise, hubs):
        if name:
            top = math.log(max(reach[name].tried, 1e-3))
            places = [top, top + math.log(1.25), top + math.log(1.6), UNLIMITED_AT]
            axes.append([(index[name], place) for place in places])
    for chosen in product(*axes):
        changes = dict(chosen)
        if actuation.fall:
            changes[index[actuation.fall]] = changes[index[actuation.rise]]
        yield changes
        plain = {index[part]: value for part, value in ((actuation.gain, 1.0), (actuation.offset, 0.0)) if part}
        if any(point[k] != value for k, value in plain.items()):
            yield changes | plain


def _values(k: int, values: Sequence[float] | Array, point: Array) -> Iterator[Mapping[int, float]]:
    for value in values:
        yield {k: float(value)}


def _limits(k: int, values: Array, gains: Sequence[int], point: Array) -> Iterator[Mapping[int, float]]:
    """Limits, also in place of gains that may stand in for them."""
    for value in values:
        yield {k: float(value)}
        if any(point[gain] != 1.0 for gain in gains):
            yield {k: float(value)} | dict.fromkeys(gains, 1.0)


def _splits(rise: int, fall: int, limits: Starts, point: Array) -> Iterator[Mapping[int, float]]:
    """Deceleration limits; where accelerations are limited too, also changes of both from the common limit."""
    yield from limits(point)
    if point[rise] < UNLIMITED_AT:
        for part in SPLITS:
            yield {fall: point[rise] + math.log(part), rise: point[rise] - math.log(part)}


def _lags(lag: int, dead: int | None, point: Array) -> Iterator[Mapping[int, float]]:
    for value in LAGS:
        yield {lag: value}
        if dead is not None and point[dead] > 0.0:
            for part in SHORTER:
                yield {lag: value, dead: max(point[dead] - part * value, 0.0)}


def _delays(dead: int, lag: int, point: Array) -> Iterator[Mapping[int, float]]:
    for value in LAGS:
        for delay in (0.0, 0.05, 0.1, 0.2, 0.4):
            yield {lag: value, dead: delay}


def _gains(gain: int, turning: int, tracks: Array, point: Array) -> Iterator[Mapping[int, float]]:
    for value, track in product(TRIED_GAINS, tracks):
        yield {gain: value, turning: float(track)}


def _present(k: int, point: Array) -> Iterator[Mapping[int, float]]:
    yield {k: float(point[k])}


def _slowly(share: int, time_constant: int, gain: int, point: Array) -> Iterator[Mapping[int, float]]:
    for seconds in SLOW_TIMES:
        for part in (0.1, 0.25):
            yield {share: part, time_constant: seconds}
            if point[gain] < 1.0:  # the gain may lack the slow share
                yield {share: 1.0 - float(point[gain]), time_constant: seconds, gain: 1.0}
