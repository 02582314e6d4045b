"""From recordings to a fit: terms are selected in long steps, all data give the numbers and their intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from vds_gz.study.identify.build import coarse_segments, problem_of
from vds_gz.study.identify.candidates import candidates_of, second_stage
from vds_gz.study.identify.estimates import Array
from vds_gz.study.identify.fit import Problem, Solution, first_noise, noise_of, solve
from vds_gz.study.identify.intervals import Intervals, intervals_of
from vds_gz.study.identify.lag_order import lag_findings
from vds_gz.study.identify.problem.parameters import EFFECTIVE_TRACK, Kind
from vds_gz.study.identify.problem.segments import segments_of
from vds_gz.study.identify.problem.setup import Setup
from vds_gz.study.identify.problem.simulation import Mask
from vds_gz.study.identify.reach import Reach, reach_of
from vds_gz.study.identify.results import Prediction
from vds_gz.study.identify.selection import SIGNIFICANT, WORTHWHILE, select
from vds_gz.study.identify.variants import (
    BETTER,
    CENTRED,
    PLACES,
    compared,
    deviance,
    flags_to_try,
    is_exact,
    places,
    with_flags,
)
from vds_gz.study.signals import QUANTITIES, MeasuredChannel, Series, Signals

#: The noise is estimated again so often.
ROUNDS = 3

#: Steps of the last fit, relative: to the precision of the numbers where there is no noise.
EXACTLY, ROUGHLY = 1e-13, 1e-5

#: What is left is no noise if it is less than this many times the least that is assumed.
NEXT_TO_NOTHING = 5.0

#: Where more than this many times the least noise is left, of one channel or of all, long steps are exact enough.
EXACTLY_SIMULATED, NEARLY = 1000.0, 4000.0

#: A state that holds from step to step must lower the squares by this, in units of independent ones.
HOLDS = 10.0

#: Another variant than the given one is worth a finding if it explains so much more than it would have to.
FAR_BETTER = 5.0

#: And if it halves what is left: then the deviance falls by this for each independent sample.
HALVED = 2.0 * math.log(2.0)


@dataclass(frozen=True)
class Fit:
    """A fit of all data.

    Attributes:
        setup: What was looked for.
        problem: The data.
        solution: The numbers.
        intervals: Of all terms.
        reach: How far the vehicle went, by the names of limits.
    """

    setup: Setup
    problem: Problem
    solution: Solution
    intervals: Intervals
    reach: Mapping[str, Reach]


Advance = Callable[[str], object]


def fit_all(setup: Setup, advance: Advance = lambda words: None) -> Fit:
    """Select terms, and fit them to all data."""
    reach = reach_of(setup)
    setup, rough = variant(setup, reach, selected(setup, reach, advance), advance)
    advance("lags")
    lags = tuple(lag_findings(setup, reach, rough))
    advance("all data")
    setup, problem, solution = refined(setup, reach, rough)
    return Fit(
        replace(setup, variant=(*setup.variant, *lags)), problem, solution, intervals_of(problem, solution), reach
    )


def variant(setup: Setup, reach: Mapping[str, Reach], found: Solution, advance: Advance) -> tuple[Setup, Solution]:
    """The variant of the vehicle that explains most, with its terms; what was learned of it is said."""
    problem = problem_of(setup, coarse_segments(setup), reach)
    now = deviance(problem, found)
    for flags in flags_to_try(setup):
        if CENTRED in flags:
            better = compared(setup, flags, reach, found)
            if better > BETTER:
                setup = with_flags(setup, flags)
                found = selected(setup, reach)
            if abs(better) > BETTER:
                setup = replace(setup, centred=bool(getattr(setup.family.parameters, CENTRED)))
        elif not is_exact(problem, found):
            advance(" ".join(flags))
            other = with_flags(setup, flags)
            trial = selected(other, reach)
            changed = problem_of(other, coarse_segments(other), reach)
            if deviance(changed, trial) < now - BETTER:
                setup, problem, found, now = other, changed, trial, deviance(changed, trial)
    parameters = setup.family.parameters
    if all(hasattr(parameters, name) for name in PLACES):
        if not setup.given:
            words = ", ".join(f"{name}: {str(getattr(parameters, name)).lower()}" for name in PLACES)
            setup = replace(setup, variant=(f"of the variants of the bicycle, {words} explains most",))
        elif not is_exact(problem, found):
            gains = {tuple(flags.items()): compared(setup, flags, reach, found) for flags in places(setup)}
            best = max(gains, key=gains.__getitem__)
            independent = len(problem.measured) / float(np.max(found.noise.correlation))
            if gains[best] > max(FAR_BETTER * BETTER, HALVED * independent):
                words = ", ".join(f"{name}: {str(value).lower()}" for name, value in best)
                said = f"{words} would explain the recording far better than the vehicle that was given"
                setup = replace(setup, variant=(said,))
    return setup, found


def selected(setup: Setup, reach: Mapping[str, Reach], advance: Advance = lambda words: None) -> Solution:
    """The terms that predict, with a rough fit of them.

    Where nearly nothing is left, the long steps hide what else there is: selection goes on in the vehicle's own.
    """
    problem = problem_of(setup, coarse_segments(setup), reach)
    always = asked(setup)
    begin = np.where(always, setup.begin, neutral(setup))
    usual = candidates_of(setup, reach)
    solution = select(problem, usual, begin, always, advance=advance)
    candidates = [*(one for one in usual if not one.whole), *second_stage(setup, reach)]
    if nearly_exact(problem, solution):
        # What is left is no noise, so that chance proves nothing.
        every = (*usual, *second_stage(setup, reach))
        candidates = [replace(one, significant=SIGNIFICANT, worthwhile=WORTHWHILE) for one in every]
        segments = segments_of(setup.recordings, setup.channels, 1.0 / setup.step_rate)
        if len(segments) == len(problem.experiments):
            problem = problem_of(setup, segments, reach)
            solution = _iterated(problem, solution)
            if is_exact(problem, solution):
                candidates = []
    return select(problem, candidates, solution.point, always, begun=solution, advance=advance)


def nearly_exact(problem: Problem, solution: Solution) -> bool:
    """So little is left that long steps are seen in it."""
    left = noise_of(problem, solution.residuals).scale / np.maximum(problem.floors, 1e-300)
    return bool((left < EXACTLY_SIMULATED).any() or (left < NEARLY).all())


def asked(setup: Setup) -> Mask:
    """Terms that are looked for anyway: geometry that was named, and gains of wheels."""
    return np.array(
        [
            term.kind is Kind.WHEEL_GAIN or (term.kind is Kind.PARAMETER and term.name != EFFECTIVE_TRACK)
            for term in setup.family.terms
        ]
    )


def neutral(setup: Setup) -> Array:
    """The point at which all terms do nothing."""
    return np.array([term.coordinate(term.neutral) for term in setup.family.terms])


def refined(setup: Setup, reach: Mapping[str, Reach], rough: Solution) -> tuple[Setup, Problem, Solution]:
    """The fit of all data: in the steps of the vehicle where nearly nothing is left, else in long steps."""
    coarse = problem_of(setup, coarse_segments(setup), reach)
    if len(coarse.measured) == len(rough.residuals) and not nearly_exact(coarse, rough):
        problem = problem_of(setup, coarse_segments(setup, enough=math.inf), reach)
        return setup, problem, _iterated(problem, rough)
    segments = segments_of(setup.recordings, setup.channels, 1.0 / setup.step_rate)
    problem = problem_of(setup, segments, reach)
    solution = _iterated(problem, rough)
    positions = [segment.positions(channel.series.time) for segment in segments for _, channel in segment.channels]
    between = any((position != np.floor(position)).any() for position in positions)
    if between and all(segment.on_grid for segment in segments):
        held = replace(setup, family=replace(setup.family, hold=1.0 / setup.step_rate))
        other = problem_of(held, segments, reach)
        holding = solve(other, solution.point, solution.free, solution.noise, starts=solution.starts, tolerance=EXACTLY)
        if holding.cost < solution.cost - 0.5 * HOLDS:
            return held, other, _iterated(other, holding)
    return setup, problem, solution


def _iterated(problem: Problem, rough: Solution) -> Solution:
    noise, solution = rough.noise, rough
    starts = rough.starts if len(rough.starts) == len(problem.experiments) else None
    experiment, free = problem.experiments[0], rough.free
    for _ in range(ROUNDS):
        exact = bool((noise.scale < NEXT_TO_NOTHING * problem.floors).any())
        solution = solve(
            problem,
            solution.point,
            free,
            noise,
            starts=starts,
            tolerance=EXACTLY if exact else ROUGHLY,
            evaluations=30 if exact else 6,
        )
        # A latency that is shorter than a step was an error of the long steps in which terms are selected.
        short = [
            term.kind is Kind.LATENCY and x < 0.5 * experiment.segment.dt
            for term, x in zip(problem.terms, solution.point, strict=True)
        ]
        if (free & short).any():
            free = free & ~np.array(short)
            solution = replace(solution, point=np.where(short, 0.0, solution.point))
        starts, noise = solution.starts, noise_of(problem, solution.residuals)
    return replace(solution, noise=noise)


# ---------------------------------------------------------------------- prediction


def predictions(setup: Setup, part: float, advance: Advance = lambda words: None) -> tuple[Prediction, ...]:
    """How well a fit of the first part of each recording predicts the rest, beside simpler explanations."""
    borders = []
    for signals, every in zip(setup.recordings, setup.channels, strict=True):
        ends = [float(channel.series.time[-1]) for channel in every if len(channel.series.time)]
        first = float(signals.commands.time[0])
        last = max(ends, default=first)
        borders.append(last - part * (last - first))
    channels = tuple(
        tuple(_before(channel, border) for channel in every)
        for every, border in zip(setup.channels, borders, strict=True)
    )
    cut = replace(setup, channels=channels, recordings=tuple(map(_cut, setup.recordings, borders)))
    try:
        reach = reach_of(cut)
        known = problem_of(cut, coarse_segments(cut), reach)
    except ValueError:
        return ()
    advance("held out")
    whole = selected(cut, reach)
    lags = np.array([term.kind in (Kind.DEAD_TIME, Kind.TIME_CONSTANT) for term in setup.family.terms])
    begin = np.where(asked(setup), whole.point, neutral(setup))
    simple = solve(known, np.where(lags, whole.point, begin), lags | asked(setup), first_noise(known))
    problem = problem_of(setup, coarse_segments(setup), reach)
    starts = [one.start for one in problem.experiments]
    left = [_residuals(problem, point, starts) for point in (whole.point, simple.point, begin)]
    found = []
    for quantity in QUANTITIES:
        late, seconds = _late(problem, setup, quantity, borders)
        if late.any():
            rms, lag, command = (float(np.sqrt(np.mean(residuals[late] ** 2))) for residuals in left)
            found.append(Prediction(quantity, rms, lag, command, seconds))
    return tuple(found)


def _residuals(problem: Problem, point: Array, starts: list[Array]) -> Array:
    none = np.zeros(len(point), bool)
    return np.concatenate(
        [
            experiment.evaluate(point, start, none, free_start=False).values - experiment.measured
            for experiment, start in zip(problem.experiments, starts, strict=True)
        ]
    )


def _late(problem: Problem, setup: Setup, quantity: str, borders: list[float]) -> tuple[Mask, float]:
    """Samples of the first channel of a quantity behind the border, and how long that lasts [s]."""
    first: dict[int, int] = {}
    index = 0
    for recording, every in enumerate(setup.channels):
        for channel in every:
            if channel.quantity == quantity:
                first.setdefault(recording, index)
            index += 1
    masks, seconds = [], 0.0
    for experiment in problem.experiments:
        recording = experiment.segment.recording
        mask = (experiment.channel == first.get(recording, -1)) & (experiment.time > borders[recording])
        masks.append(mask)
        seconds += float(np.ptp(experiment.time[mask])) if mask.any() else 0.0
    return np.concatenate(masks), seconds


def _before(channel: MeasuredChannel, border: float) -> MeasuredChannel:
    kept = channel.series.time <= border
    series = Series(channel.series.time[kept], channel.series.value[kept])
    return replace(channel, series=series, half=None if channel.half is None else channel.half[kept])


def _cut(signals: Signals, border: float) -> Signals:
    commanded = {
        name: Series(one.time[one.time <= border], one.value[one.time <= border])
        for name, one in signals.commanded.items()
    }
    return replace(signals, commanded=commanded)
