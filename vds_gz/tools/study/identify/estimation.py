"""The fit of recordings: terms are selected in coarse steps, then fitted to all data, with intervals."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from vds_gz.core.arrays import Flags
from vds_gz.core.parameters.declaration import describe
from vds_gz.tools.study.identify.build import FULL_RATE, Problem, coarse_segments, problem_of
from vds_gz.tools.study.identify.dead_bands import with_central_bands
from vds_gz.tools.study.identify.estimates import USEFUL, WIDTH
from vds_gz.tools.study.identify.intervals import Intervals, intervals_of
from vds_gz.tools.study.identify.observed_limits import Reaches, reach_of
from vds_gz.tools.study.identify.problem.parameters import value_of, with_numbers
from vds_gz.tools.study.identify.problem.problem_setup import Setup
from vds_gz.tools.study.identify.problem.segments import Segment, segments_of
from vds_gz.tools.study.identify.residual_noise import is_structured
from vds_gz.tools.study.identify.second_lag import lag_findings
from vds_gz.tools.study.identify.static_maps import with_static_maps
from vds_gz.tools.study.identify.supported_terms import PRECISE, Fitted, StageCallback, asked, converged, supported
from vds_gz.tools.study.identify.term_kind import Effect, mask_of, neutral_point
from vds_gz.tools.study.identify.variants import BETTER, best_variant, reduction_by
from vds_gz.tools.study.identify.vehicle_fit import Solution, evaluate, linearised, solve

#: Measured states that hold from step to step must lower the robust squares by this, in units of independent squares.
HOLDS = 10.0

#: Coarse steps matter if they shift a term by more than this part of its standard error. Recordings longer than this
#: stay in coarse steps anyway [s].
NOTICEABLE, LONGEST_FINE = 0.3, 400.0

#: Correlated residuals beyond this part of a channel's standard deviation are transients, which must not decide the
#: numbers.
LARGEST_NOISE = 0.2

#: Standard deviation of the prior around 0 of dead times and lags whose standard error is larger than this [s].
DELAY_SIGMA = 0.5

#: The search for a dead time or a lag that was not selected begins here [s].
SHORT_DELAY = 0.02

#: Further searches for requested parameters begin at these multiples of the given values.
OTHER_BEGINS = 0.5, 2.0

#: A term is at a bound if its distance is at most this part of the scale of a parameter outside the actuators, or of
#: the bound of others.
NEXT_TO_BOUND = 0.01

#: A parameter that ends beyond this multiple of its given value is not determined either. The search has no such bound,
#: because far bounds make the steps of ``least_squares`` too long.
FARTHEST = 100.0

#: A limit is not seen if its interval ends above this multiple of it.
UNKNOWN = 3.0


@dataclass(frozen=True)
class Fit:
    """A fit of all data.

    Attributes:
        setup: The setup.
        problem: The problem.
        solution: The solution.
        intervals: Intervals of all terms.
        reach: The observed maxima, by the names of limits.
        left_out: Parameters that ran to a bound and are no terms of the fit.
    """

    setup: Setup
    problem: Problem
    solution: Solution
    intervals: Intervals
    reach: Reaches
    left_out: tuple[str, ...] = ()


def fit_all(setup: Setup, advance: StageCallback = lambda words: None, *, at_once: bool = False) -> Fit:
    """Select terms, and fit them to all data; parameters that run to a bound are left out.

    With ``at_once``, only whole actuators enter: dead time, lag, limits, gain and offset together. Variants, static
    maps and second lags are not tried.
    """
    fit = _fit(setup, advance, at_once)
    left_out: list[str] = []
    while (stuck := _at_bounds(fit)).any():
        names = [fit.problem.terms[k].name for k in np.flatnonzero(stuck)]
        kept = _without(setup, names)
        left_out += [term.name for term in setup.family.terms if term not in kept.family.terms]
        setup = kept
        fit = _fit(setup, advance, at_once)
    fit = _fixed(fit, _vague_gains(fit))
    return replace(_with_prior(fit), left_out=tuple(left_out))


def _fit(setup: Setup, advance: StageCallback, at_once: bool) -> Fit:
    reach = reach_of(setup)
    if at_once:
        rough = supported(setup, reach, advance, at_once=True)
    else:
        setup, rough = best_variant(setup, reach, _from_several(setup, reach, advance), advance)
        setup, rough = with_static_maps(setup, reach, rough)
        advance("lags")
        setup = replace(setup, variant=(*setup.variant, *lag_findings(setup, reach, rough)))
    advance("all data")
    setup, fitted = refined(setup, reach, _with_whole_delay(setup, rough))
    fitted = fitted._replace(solution=with_central_bands(fitted.problem, fitted.solution))
    intervals = intervals_of(fitted.problem, fitted.solution, _delays(setup))
    fit = Fit(setup, fitted.problem, fitted.solution, intervals, reach)
    return _fixed(fit, _unseen_limits(fitted, intervals))


def _from_several(setup: Setup, reach: Reaches, advance: StageCallback) -> Fitted:
    """The selected terms; if requested parameters leave structured residuals, the best of several searches.

    The further searches begin at multiples of the given values, because sliding tyres have local minima.
    """
    fitted = supported(setup, reach, advance)
    parameters = mask_of(setup.family.terms, lambda kind: kind.of_vehicle) & asked(setup)
    if parameters.sum() > 1 and not fitted.exact and is_structured(fitted.problem, fitted.solution.residuals):
        for factor in OTHER_BEGINS:
            advance(f"{factor:g} times the given values")
            begin = np.where(parameters, factor * setup.begin, setup.begin)
            trial = supported(replace(setup, begin=begin), reach)
            if reduction_by(setup, reach, fitted, trial) > BETTER:
                fitted = trial
    return fitted


def _delays(setup: Setup) -> list[tuple[int, int]]:
    """The dead time and the lag of each actuator that has both."""
    named = [[setup.actuators[name][stage] for stage in ("dead_time", "time_constant")] for name in setup.excited]
    return [(setup.family.index(dead_time), setup.family.index(lag)) for dead_time, lag in named if dead_time and lag]


def _unseen_limits(fitted: Fitted, intervals: Intervals) -> Flags:
    """Limits that the data do not distinguish from a longer dead time, such as those that act between two samples only.

    They are confounded with a dead time or, in data with hardly any noise, known to no better than :data:`UNKNOWN`.
    """
    dead_times = mask_of(fitted.problem.terms, lambda kind: kind.effect is Effect.DEAD_TIME)
    limits = mask_of(fitted.problem.terms, lambda kind: kind.is_limit)
    wide = intervals.high - fitted.solution.point > math.log(UNKNOWN)
    unseen = limits & fitted.solution.free & wide & fitted.nearly_exact
    for group in intervals.confounded:
        if dead_times[[*group]].any():
            unseen[[*group]] |= limits[[*group]]
    return unseen


def _fixed(fit: Fit, terms: Flags) -> Fit:
    """The fit with some terms at their neutral values."""
    if not terms.any():
        return fit
    point = np.where(terms, neutral_point(fit.problem.terms), fit.solution.point)
    solution = converged(fit.problem, replace(fit.solution, point=point, free=fit.solution.free & ~terms))
    return replace(fit, solution=solution, intervals=intervals_of(fit.problem, solution, _delays(fit.setup)))


def _vague_gains(fit: Fit) -> Flags:
    """Gains of actuators whose intervals are too wide for a value and contain the neutral one.

    Confounded gains have no interval; a finding names them.
    """
    point, low, high = fit.solution.point, fit.intervals.low, fit.intervals.high
    gains = mask_of(fit.problem.terms, lambda kind: kind.when_vague)
    half = np.maximum(point - low, high - point)
    wide = np.isfinite(half) & (half > USEFUL * np.abs(point))
    neutral = neutral_point(fit.problem.terms)
    return gains & fit.solution.free & wide & (low < neutral) & (neutral < high)


def _with_prior(fit: Fit) -> Fit:
    """The fit with a prior of those dead times and lags that the data hardly show; they have no interval.

    The intervals of sums are those of the fit without the prior, unless the fit with it contradicts them.
    """
    delays = mask_of(fit.problem.terms, lambda kind: kind.is_delay)
    vague = fit.solution.free & delays & (fit.intervals.high - fit.solution.point > WIDTH * DELAY_SIGMA)
    vague &= np.isinf(fit.problem.sigma)
    if not vague.any():
        return fit
    problem = replace(fit.problem, sigma=np.where(vague, DELAY_SIGMA, fit.problem.sigma))
    solution = converged(problem, fit.solution)
    intervals = intervals_of(problem, solution)
    low, high = np.where(vague, -np.inf, intervals.low), np.where(vague, np.inf, intervals.high)
    sums = {
        pair: (lowest, highest)
        for pair, (lowest, highest) in fit.intervals.sums.items()
        if lowest <= np.sum(solution.point[[*pair]]) <= highest
    }
    return replace(
        fit, problem=problem, solution=solution, intervals=replace(fit.intervals, low=low, high=high, sums=sums)
    )


def _at_bounds(fit: Fit) -> Flags:
    """Terms that run to a bound, so the data give no value."""
    problem, solution = fit.problem, fit.solution
    parameters = mask_of(problem.terms, lambda kind: kind.of_vehicle)
    both = mask_of(problem.terms, lambda kind: kind.ends == "both")
    scale = np.where(parameters, [term.scale for term in problem.terms], problem.upper)
    lower_scale = np.where(parameters, scale, problem.lower)
    near = both & (solution.point - problem.lower <= NEXT_TO_BOUND * lower_scale)
    near |= problem.upper - solution.point <= NEXT_TO_BOUND * scale
    values = np.array([term.neutral for term in problem.terms])  # the given ones of parameters
    near |= parameters & (values > 0.0) & (solution.point > FARTHEST * values)
    return np.asarray(solution.free & near & mask_of(problem.terms, lambda kind: bool(kind.ends)))


def _without(setup: Setup, names: Collection[str]) -> Setup:
    """The setup without some parameters among its unknowns; a finding names each."""
    removed = {*names, *(term.needs for term in setup.family.terms if term.name in names)} - {""}
    removed |= {term.name for term in setup.family.terms if term.needs in removed}
    kept = [k for k, term in enumerate(setup.family.terms) if term.name not in removed]
    neutral_values = {
        term.name: term.neutral for term in setup.family.terms if term.name in removed and not term.kind.of_vehicle
    }
    parameters = with_numbers(setup.family.parameters, neutral_values)
    meanings = {parameter.name: parameter.doc for parameter in describe(parameters)}
    findings = {}
    for term in setup.family.terms:
        if term.name in names:
            name, values = term.name, "value in its range"
            if term.needs:
                name, values = term.needs, "slow time constant in its range, at most a third of the recording,"
            used = f"{value_of(parameters, name):g}"
            if used == "0" and (meaning := meanings.get(name, "").partition("; 0: ")[2]):
                used = f"0 ({meaning})"
            findings[name] = f"{name}: no {values} explains the recording best; {used} is used"
    return replace(
        setup,
        actuators={name: actuation.without(removed) for name, actuation in setup.actuators.items()},
        family=replace(setup.family, parameters=parameters, terms=tuple(setup.family.terms[k] for k in kept)),
        begin=setup.begin[kept],
        findings=(*setup.findings, *sorted(findings.values())),
    )


def without_latencies(setup: Setup) -> Setup:
    """The setup without latencies of sensors."""
    kept = [k for k, term in enumerate(setup.family.terms) if term.kind.effect is not Effect.LATENCY]
    family = replace(setup.family, terms=tuple(setup.family.terms[k] for k in kept))
    return replace(setup, family=family, begin=setup.begin[kept])


def _with_whole_delay(setup: Setup, rough: Fitted) -> Fitted:
    """A fit to continue, with both dead time and lag of each actuator for which one of them was selected.

    Each can stand in for the other, so a recording that supports only one does not determine which.
    """
    if rough.fine or rough.nearly_exact:
        return rough
    free = rough.solution.free.copy()
    for pair in _delays(setup):
        free[[*pair]] = free[[*pair]].any()
    point = np.where(free & ~rough.solution.free, np.maximum(rough.solution.point, SHORT_DELAY), rough.solution.point)
    return rough._replace(solution=replace(rough.solution, point=point, free=free))


def refined(setup: Setup, reach: Reaches, rough: Fitted) -> tuple[Setup, Fitted]:
    """The fit of all data: in the vehicle's steps if the residual is nearly zero or coarse steps shift a number."""
    if not rough.fine and not rough.nearly_exact:
        problem = problem_of(setup, coarse_segments(setup, enough=math.inf, rate=FULL_RATE), reach)
        problem = replace(problem, largest_noise=LARGEST_NOISE)
        return setup, _without_shift(setup, reach, Fitted(problem, converged(problem, rough.solution)))
    segments = segments_of(setup.recordings, setup.channels, 1.0 / setup.step_rate)
    problem = problem_of(setup, segments, reach)
    solution = converged(problem, rough.solution)
    if _between_steps(segments) and all(segment.on_grid for segment in segments):
        held = replace(setup, family=replace(setup.family, hold=1.0 / setup.step_rate))
        holding_problem = problem_of(held, segments, reach)
        begin, free, starts = solution.point, solution.free, solution.starts
        holding = solve(holding_problem, begin, free, solution.noise, starts=starts, tolerance=PRECISE[0])
        if holding.cost < solution.cost - 0.5 * HOLDS:
            return held, Fitted(holding_problem, converged(holding_problem, holding))
    return setup, Fitted(problem, solution)


def _without_shift(setup: Setup, reach: Reaches, coarse: Fitted) -> Fitted:
    """The coarse fit, or one in the vehicle's steps if coarse ones shift a number, as in models with Euler steps."""
    if sum(experiment.segment.duration for experiment in coarse.problem.experiments) > LONGEST_FINE:
        return coarse
    problem = problem_of(setup, coarse_segments(setup, enough=math.inf, rate=FULL_RATE, step=0.0), reach)
    problem = replace(problem, largest_noise=coarse.problem.largest_noise)
    solution, free = coarse.solution, coarse.solution.free
    if [len(run.measured) for run in problem.experiments] != [len(run.measured) for run in coarse.problem.experiments]:
        return coarse
    residuals = evaluate(problem, solution.point, solution.starts, np.zeros_like(free))[0]
    _, jacobian, weighted = linearised(problem, solution, solution.noise)
    covariance = np.linalg.pinv(jacobian.T @ weighted, rcond=1e-12)
    shift = covariance @ (weighted.T @ ((residuals - solution.residuals) * solution.noise.weights[problem.kind]))
    if (np.abs(shift) <= NOTICEABLE * np.sqrt(np.maximum(np.diag(covariance), 0.0))).all():
        return coarse
    return Fitted(problem, converged(problem, solution))


def _between_steps(segments: list[Segment]) -> bool:
    """Whether some samples are between the steps of the vehicle."""
    positions = [segment.positions(channel.series.time) for segment in segments for _, channel in segment.channels]
    return any((position != np.floor(position)).any() for position in positions)
