"""Alternatives to the usual structure of a vehicle: flags such as where it is driven, static maps, a second lag.

Each fit starts from the present one. A flag must raise the likelihood, the others must improve the prediction.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np
from scipy.signal import lfilter

from vds_gz.core.arrays import Array
from vds_gz.core.parameters.actuator_parameters import MAP_POINTS
from vds_gz.core.parameters.declaration import ParameterError
from vds_gz.core.parameters.yaml_reader import Interval
from vds_gz.core.vehicle.command import FOUR_WHEEL, TWIST
from vds_gz.tools.study.identify.build import Problem, coarse_segments, problem_of
from vds_gz.tools.study.identify.cross_validation import better, blocks_of, left_out
from vds_gz.tools.study.identify.observed_limits import Reaches
from vds_gz.tools.study.identify.problem.observed import steers
from vds_gz.tools.study.identify.problem.parameters import actuations, terms_of
from vds_gz.tools.study.identify.problem.problem_setup import FIELDS, HAND_WHEEL, Setup
from vds_gz.tools.study.identify.problem.segments import Segment
from vds_gz.tools.study.identify.residual_noise import is_structured, noise_of
from vds_gz.tools.study.identify.selection import without_needless
from vds_gz.tools.study.identify.supported_terms import Fitted, StageCallback, asked, supported
from vds_gz.tools.study.identify.term_kind import LEAST_LIMIT
from vds_gz.tools.study.identify.terms import MAP
from vds_gz.tools.study.identify.trial_values import UNLIMITED_AT
from vds_gz.tools.study.identify.vehicle_fit import Solution, evaluate, solve
from vds_gz.tools.study.recording import COMMANDED

#: Flags that say where a vehicle is driven and steered.
PLACES = ("drive_on_steered_wheel", "reverse")

#: Flags that say whether it reverses, and what its steering does at standstill.
REVERSES, CENTRED = "allow_reverse", "center_at_standstill"

#: A variant must lower the deviance by this.
BETTER = 20.0

#: A variant other than the given one is worth a finding if it lowers the deviance by this multiple of BETTER and halves
#: the residuals, so that the deviance falls by HALVED for each independent sample.
FAR_BETTER, HALVED = 5.0, 2.0 * math.log(2.0)

#: Simulations in the fit of a variant with the present terms, of a map, and of a second lag.
TRIAL_SIMULATIONS, MAP_SIMULATIONS, LAG_SIMULATIONS = 6, 15, 5

#: Least number of points of a map, and the part of the time in which commands lie beyond either of its ends.
LEVELS, RARE = 5, 0.02

#: Points of a map between which the response falls are merged while at least this many are left.
FEWEST_LEVELS = 3

#: A command's weight is its duration, but at most this [s].
LONGEST = 1.0

#: A map must improve the prediction by this part of the residual squares.
MAP_WORTHWHILE = 0.1

#: Time constants of a second lag that are tried, as parts of the first one's; minimum length of a lag [s].
PARTS, SHORTEST_LAG = (0.3, 1.0), 0.01

#: The search continues with the best time constant divided and multiplied by this.
REFINEMENT = 1.35

#: Commands behind a lag change in steps of this [s].
GRID = 0.005

VariantFlags = Mapping[str, bool]


def best_variant(setup: Setup, reach: Reaches, fitted: Fitted, advance: StageCallback) -> tuple[Setup, Fitted]:
    """The variant with the best fit, and this fit; findings are in the setup."""
    variants = list(flags_to_try(setup))
    promise = [gain for gain, _ in gains_of(setup, variants, reach, fitted.solution)]
    for k in np.argsort(-np.array(promise), kind="stable"):
        flags = variants[k]
        if fitted.exact and CENTRED not in flags:
            continue
        [(gain, _)] = gains_of(setup, [flags], reach, fitted.solution)
        if gain > 0.0:  # a variant that is worse with the same terms is not searched
            advance(" ".join(flags))
            variant = with_flags(setup, flags)
            trial = supported(variant, reach)
            gain = reduction_by(variant, reach, fitted, trial)
            if gain > BETTER:
                setup, fitted = variant, trial
        if CENTRED in flags and abs(gain) > BETTER:
            setup = replace(setup, centred=bool(getattr(setup.family.parameters, CENTRED)))
    return replace(setup, variant=tuple(_places_found(setup, reach, fitted))), fitted


def reduction_by(variant: Setup, reach: Reaches, fitted: Fitted, trial: Fitted) -> float:
    """The reduction of the deviance by a variant's own fit, with the samples of the present one."""
    same = problem_of(variant, [experiment.segment for experiment in fitted.problem.experiments], reach)
    point, starts, free = trial.solution.point, trial.solution.starts, np.zeros_like(trial.solution.free)
    residuals = evaluate(same, point, starts, free)[0]
    return reduction(same, fitted.solution.residuals, residuals)[0]


def _places_found(setup: Setup, reach: Reaches, fitted: Fitted) -> Iterator[str]:
    """Where the vehicle is driven and steered, in words; for a given vehicle, only if another place fits far better."""
    parameters = setup.family.parameters
    if not all(hasattr(parameters, name) for name in PLACES):
        return
    if not setup.given:
        words = ", ".join(f"{name}: {str(getattr(parameters, name)).lower()}" for name in PLACES)
        yield f"of the variants of the bicycle, {words} explains most"
    elif not fitted.exact and is_structured(fitted.problem, fitted.solution.residuals):
        others = list(places(setup))
        gains = gains_of(setup, others, reach, fitted.solution)
        (gain, independent), best = max(zip(gains, others, strict=True), key=lambda entry: entry[0][0])
        if gain > max(FAR_BETTER * BETTER, HALVED * independent):
            words = ", ".join(f"{name}: {str(value).lower()}" for name, value in best.items())
            yield f"{words} would explain the recording far better than the vehicle that was given"


def flags_to_try(setup: Setup) -> Iterator[VariantFlags]:
    """Variants of the vehicle if none was given, and those of the steering at standstill in any case."""
    parameters = setup.family.parameters
    speeds = np.concatenate([recording.commands.records["v_x"] for recording in setup.recordings])
    if not setup.given and all(hasattr(parameters, name) for name in PLACES):
        yield from places(setup)
    if not setup.given and hasattr(parameters, REVERSES) and (speeds < 0.0).any():
        yield {REVERSES: not getattr(parameters, REVERSES)}
    if hasattr(parameters, CENTRED) and setup.steering_measured and (speeds == 0.0).any() and speeds.any():
        yield {CENTRED: not getattr(parameters, CENTRED)}


def places(setup: Setup) -> Iterator[VariantFlags]:
    """The other possible places of drive and steering."""
    parameters = setup.family.parameters
    drive, reverse = (bool(getattr(parameters, name)) for name in PLACES)
    for values in ((drive, not reverse), (not drive, reverse), (not drive, not reverse)):
        flags: dict[str, bool] = dict(zip(PLACES, values, strict=True))
        with suppress(ParameterError):  # not every place is compatible with the other parameters
            dataclasses.replace(parameters, **flags)
            yield flags


def with_flags(setup: Setup, flags: VariantFlags) -> Setup:
    """The setup with other flags of the vehicle; of the actuators, only the steering's stop depends on them."""
    parameters = dataclasses.replace(setup.family.parameters, **dict[str, object](flags))
    actuators, terms = dict(setup.actuators), setup.family.terms
    steering = actuators.get("steering")
    if steering is not None and steering.unlimited.get("value") != HAND_WHEEL:
        steering = replace(steering, unlimited=actuations(parameters)["steering"].unlimited)
        actuators["steering"] = steering
        renewed = {term.name: term for term in terms_of(steering)}
        terms = tuple(renewed.get(term.name, term) for term in terms)
    return replace(setup, family=replace(setup.family, parameters=parameters, terms=terms), actuators=actuators)


def reduction(problem: Problem, before: Array, after: Array) -> tuple[float, float]:
    """The reduction of the deviance from one fit to another of the same samples, and the number of independent ones.

    The deviance is minus twice the logarithm of the likelihood. The number is by the shorter autocorrelation of the
    two fits, because errors of a wrong variant are correlated.
    """
    noises = noise_of(problem, before), noise_of(problem, after)
    correlation = np.minimum(noises[0].correlation, noises[1].correlation)
    counts = np.bincount(problem.kind, minlength=len(correlation)) / correlation
    return float(2.0 * np.sum(counts * np.log(noises[0].scale / noises[1].scale))), float(np.sum(counts))


def gains_of(
    setup: Setup, variants: Sequence[VariantFlags], reach: Reaches, solution: Solution
) -> list[tuple[float, float]]:
    """The result of :func:`reduction` for each variant with the present terms."""
    if not variants:
        return []
    problem = problem_of(setup, coarse_segments(setup), reach)
    present = _fitted_again(setup, reach, solution)
    trials = [_fitted_again(with_flags(setup, flags), reach, solution) for flags in variants]
    return [reduction(problem, present, trial) for trial in trials]


def _fitted_again(setup: Setup, reach: Reaches, solution: Solution) -> Array:
    """The residuals of a variant in coarse steps with a solution's terms, fitted from there or from neutral gains."""
    problem = problem_of(setup, coarse_segments(setup), reach)
    plain = solution.point.copy()
    for k, term in enumerate(setup.family.terms):
        if not (term.kind.is_delay or term.kind.is_limit):
            plain[k] = setup.begin[k]
    trials = (
        solve(problem, begin, solution.free, solution.noise, starts=solution.starts, evaluations=TRIAL_SIMULATIONS)
        for begin in (solution.point, plain)
    )
    return min(trials, key=lambda trial: trial.cost).residuals


def with_static_maps(setup: Setup, reach: Reaches, fitted: Fitted) -> tuple[Setup, Fitted]:
    """The setup and its fit, with a static map for each actuator if that predicts clearly better."""
    for name, command in (("drive", "v_x"), ("steering", "steering")):
        actuation = setup.actuators.get(name)
        if fitted.fine or actuation is None or not (actuation["gain"] and actuation["dead_band"]):
            continue
        turns = any(np.any(signals.commands.records["yaw_rate"]) for signals in setup.recordings)
        if name == "drive" and turns and not steers(setup.family.model, setup.family.parameters):
            continue  # the drives' references are sums of commands
        static = [setup.family.index(actuation[stage]) for stage in ("gain", "dead_band")]
        references = map_references(setup, command)
        if len(references) < LEVELS or not fitted.solution.free[static].any():
            continue
        gain, band = fitted.solution.point[static]
        rising = _rising_map(setup, name, command, references, gain, band, reach, fitted)
        if rising is None:
            continue
        mapped, trial = rising
        noise, blocks = noise_of(fitted.problem, fitted.solution.residuals), blocks_of(fitted.problem)
        before, after = (left_out(fit.problem, fit.solution, blocks, noise) for fit in (fitted, trial))
        if better(before, after, worthwhile=MAP_WORTHWHILE) > 0.0:
            maps = [term.kind is MAP for term in mapped.family.terms]
            solution = without_needless(trial.problem, trial.solution, blocks, asked(mapped))
            fitted = Fitted(trial.problem, solution)
            setup = replace(mapped, begin=np.where(maps, solution.point, mapped.begin))
    return setup, fitted


def _rising_map(
    setup: Setup, name: str, command: str, references: Array, gain: float, band: float, reach: Reaches, fitted: Fitted
) -> tuple[Setup, Fitted] | None:
    """The fit with a map that does not fall, in which points between which it would fall are merged.

    None if too few points are left.
    """
    while len(references) >= FEWEST_LEVELS:
        mapped = with_map_terms(setup, name, command, references, np.where(references > band, gain * references, 0.0))
        trial = _with_map(mapped, setup.actuators[name]["value"], reach, fitted)
        steps = np.diff(trial.solution.point[-len(references) + 1 :], prepend=0.0)  # the points are the last terms
        deepest = int(np.argmin(steps))
        if steps[deepest] >= 0.0:
            return mapped, trial
        between = 0.5 * (references[deepest] + references[deepest + 1]) if deepest else 0.0
        references = np.unique(np.r_[references[:deepest], between, references[deepest + 2 :]])
    return None


def _with_map(mapped: Setup, limit: str, reach: Reaches, fitted: Fitted) -> Fitted:
    """The fit of a setup with a map, from the fit without one; the map saturates, so there is no limit."""
    terms = mapped.family.terms
    before = {term.name: k for k, term in enumerate(fitted.problem.terms)}
    point, free = mapped.begin.copy(), np.ones(len(terms), bool)
    for k, term in enumerate(terms):
        if term.name == limit:
            point[k], free[k] = UNLIMITED_AT, False
        elif term.name in before:
            point[k], free[k] = (values[before[term.name]] for values in (fitted.solution.point, fitted.solution.free))
    problem = problem_of(mapped, coarse_segments(mapped), reach)
    noise, starts = noise_of(fitted.problem, fitted.solution.residuals), fitted.solution.starts
    solution = solve(problem, point, free, noise, starts=starts, evaluations=MAP_SIMULATIONS)
    return Fitted(problem, replace(solution, noise=noise_of(problem, solution.residuals)))


def map_references(setup: Setup, command: str) -> Array:
    """The points of a map: 0, and quantiles of the commands, by time."""
    values, seconds = [], []
    for signals in setup.recordings:
        records, time = signals.commands.records, signals.commands.time
        values.append(np.abs(records[FIELDS[command]]))
        seconds.append(np.minimum(np.diff(time, append=time[-1]), LONGEST))
    value, weight = np.concatenate(values), np.concatenate(seconds)
    order = np.argsort(value[value > 0.0], kind="stable")
    value, weight = value[value > 0.0][order], weight[value > 0.0][order]
    if not np.sum(weight) > 0.0:
        return np.zeros(1)
    share = (np.cumsum(weight) - 0.5 * weight) / np.sum(weight)
    for count in (MAP_POINTS - 1, MAP_POINTS - 2):
        levels = value[np.searchsorted(share, np.linspace(RARE, 1.0 - RARE, count)).clip(0, len(value) - 1)]
        references = np.unique(np.append(0.0, np.round(levels, 4)))
        if len(references) < MAP_POINTS:  # room for the point that continues the map
            break
    return references


def with_map_terms(
    setup: Setup,
    name: str,
    command: str,
    references: Array,
    responses: Array,
    removed: Sequence[str] = ("gain", "dead_band", "offset"),
) -> Setup:
    """The setup with the points of a map as terms, in place of some parameters of an actuator."""
    actuation = setup.actuators[name]
    replaced = [actuation[stage] for stage in removed]
    group, _, _ = actuation["gain"].partition(".")
    actuator = getattr(setup.family.parameters, group)
    points = {"map_references": tuple(references.tolist()), "map_responses": tuple(responses.tolist())}
    changed: dict[str, object] = {group: dataclasses.replace(actuator, gain=1.0, dead_band=0.0, offset=0.0, **points)}
    parameters = dataclasses.replace(setup.family.parameters, **changed)
    top = max(float(np.max(np.abs(responses))), LEAST_LIMIT)
    kept = [(term, x) for term, x in zip(setup.family.terms, setup.begin, strict=True) if term.name not in replaced]
    names = [f"{group}.map_responses[{k}]" for k in range(len(references))]
    kept += [
        (MAP.term(names[k], scale=0.1 * top, neutral=float(references[k]), target=command), responses[k])
        for k in range(1, len(references))
    ]
    return replace(
        setup,
        family=replace(setup.family, parameters=parameters, terms=tuple(term for term, _ in kept)),
        priors={**setup.priors, **map_priors(names, responses)},
        actuators={**setup.actuators, name: actuation.without(replaced)},
        begin=np.array([x for _, x in kept]),
    )


def map_priors(names: Sequence[str], responses: Array) -> dict[str, Interval]:
    """Weak priors of the points of a map by name, for points without commands in a part of the data."""
    top = max(float(np.max(np.abs(responses))), LEAST_LIMIT)
    return {
        name: Interval(float(response), float(response) - top, float(response) + top)
        for name, response in zip(names, responses, strict=True)
    }


# A lag before an actuator is a lag of its commands. The model has one lag and a dead time, which share the effect of
# two lags.


def lag_findings(setup: Setup, reach: Reaches, fitted: Fitted) -> Iterator[str]:
    """Findings on the order of lags.

    A twist commands speed and steering of a car together, so neither can be delayed separately.
    """
    steerings = [name for name, actuator in setup.actuators.items() if actuator.steers]
    if setup.kind == TWIST and steerings:
        return
    single = []
    index = {term.name: k for k, term in enumerate(setup.family.terms)}
    solution = fitted.solution
    for name, actuation in setup.actuators.items():
        if name in steerings and len(steerings) > 1 and setup.kind != FOUR_WHEEL:
            continue  # one command for several steerings
        k = index.get(actuation["time_constant"])
        if k is None or not solution.free[k] or solution.point[k] < SHORTEST_LAG:
            continue
        lags = None if fitted.exact else _two_lags(setup, reach, solution, name, k)
        if lags is not None:
            longer, shorter = sorted(lags, reverse=True)
            if shorter < SHORTEST_LAG:
                continue
            yield (
                f"{name}: two lags of about {longer:.2g} and {shorter:.2g} s explain the recording better than one; "
                "the model has one, whose time constant and dead time take the effect of both"
            )
        else:
            single.append(name)
    if single:
        yield f"{' and '.join(single)}: a lag of first order is enough; a second lag does not improve the prediction"


def _two_lags(setup: Setup, reach: Reaches, solution: Solution, name: str, k: int) -> tuple[float, float] | None:
    """The time constants of two lags that predict better than one [s]; None if none do."""
    segments, point, free = coarse_segments(setup), solution.point, solution.free
    plain = problem_of(setup, segments, reach)
    now = solve(plain, point, free, solution.noise, starts=solution.starts, evaluations=LAG_SIMULATIONS)
    noise, blocks = noise_of(plain, now.residuals), blocks_of(plain)
    score = left_out(plain, now, blocks, noise)
    names = [COMMANDED[quantity] for quantity in setup.family.start_names]
    if setup.actuators[name].command:
        fields: tuple[str, ...] = (setup.actuators[name].command,)
    elif setup.actuators[name].steers:
        fields = ("steering_angle",)
    else:
        fields = ("v_x",) if steers(setup.family.model, setup.family.parameters) else ("v_x", "v_y", "yaw_rate")
    dead_time = setup.actuators[name]["dead_time"]
    dead = setup.family.index(dead_time) if dead_time else None

    def fit_with(second: float) -> tuple[Problem, Solution]:
        """The fit with a second lag, whose time is subtracted from the dead time, and otherwise from the first lag."""
        starts = ({**dict.fromkeys(fields, 0.0), **dict(zip(names, start, strict=True))} for start in now.starts)
        delayed = [
            lagged(segment, second, {field: start[field] for field in fields})
            for segment, start in zip(segments, starts, strict=True)
        ]
        problem = problem_of(setup, delayed, reach)
        begin = now.point.copy()
        part = min(second, max(begin[k] - problem.lower[k], 0.0) * 0.5)
        begin[k] -= part
        if dead is not None and now.free[dead]:
            begin[dead] = max(begin[dead] - (second - part), 0.0)
        return problem, solve(problem, begin, now.free, now.noise, starts=now.starts, evaluations=LAG_SIMULATIONS)

    gain, second, first = 0.0, 0.0, 0.0
    tried = [part * float(point[k]) for part in PARTS]
    for _ in range(2):
        for time_constant in tried:
            problem, trial = fit_with(time_constant)
            trial_gain = better(score, left_out(problem, trial, blocks, noise))
            if trial_gain > gain:
                gain, second, first = trial_gain, time_constant, float(trial.point[k])
        if gain == 0.0:
            return None
        tried = [second / REFINEMENT, second * REFINEMENT]
    return second, first


def lagged(segment: Segment, time_constant: float, starts: Mapping[str, float]) -> Segment:
    """A segment whose commands pass a first-order lag.

    They change in steps of about :data:`GRID`; each is the mean of the lag's output in its time.
    """
    steps = int(np.ceil(segment.duration / segment.dt)) + 1
    stride = max(1, round(GRID / segment.dt))
    begins = np.union1d(segment.begins[segment.begins < steps], np.arange(0, steps, stride))
    held = np.searchsorted(segment.begins, np.arange(steps), side="right") - 1
    commands = segment.commands[held[begins]].copy()
    counts = np.diff(begins, append=steps)
    for name, start in starts.items():
        means = _means(segment.commands[name][held], start, segment.dt / time_constant)
        commands[name] = np.add.reduceat(means, begins) / counts
    return replace(segment, commands=commands, begins=begins)


def _means(values: Array, start: float, step: float) -> Array:
    """Means of a lag's output in each step, with steps of this part of its time constant."""
    left = np.exp(-step)
    ends = lfilter([1.0 - left], [1.0, -left], values, zi=[left * start])[0]
    begins = np.concatenate([[start], ends[:-1]])
    means: Array = values + (begins - values) * (1.0 - left) / step
    return means
