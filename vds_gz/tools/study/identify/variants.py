"""Variants of a vehicle: flags such as where it is driven, and whether it reverses.

A variant is first fitted with the present terms. If that is better, its terms are selected, and its fit must raise the
likelihood. The other behaviour of the steering at standstill is searched unless it doubles the residuals.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.core.parameters.declaration import ParameterError
from vds_gz.tools.study.identify.build import Problem, coarse_segments, problem_of
from vds_gz.tools.study.identify.observed_limits import Reaches
from vds_gz.tools.study.identify.problem.parameters import actuations, terms_of
from vds_gz.tools.study.identify.problem.problem_setup import HAND_WHEEL, Setup
from vds_gz.tools.study.identify.residual_noise import is_structured, noise_of
from vds_gz.tools.study.identify.supported_terms import Fitted, StageCallback, supported
from vds_gz.tools.study.identify.vehicle_fit import Solution, evaluate, solve

#: Flags that say where a vehicle is driven and steered.
PLACES = ("drive_on_steered_wheel", "reverse")

#: Flags that say whether it reverses, and what its steering does at standstill.
REVERSES, CENTRED = "allow_reverse", "center_at_standstill"

#: A variant must lower the deviance by this.
BETTER = 20.0

#: A variant other than the given one is worth a finding if it lowers the deviance by this multiple of BETTER and halves
#: the residuals, so that the deviance falls by HALVED for each independent sample.
FAR_BETTER, HALVED = 5.0, 2.0 * math.log(2.0)

#: Simulations in the fit of a variant with the present terms.
TRIAL_SIMULATIONS = 6

VariantFlags = Mapping[str, bool]


def best_variant(setup: Setup, reach: Reaches, fitted: Fitted, advance: StageCallback) -> tuple[Setup, Fitted]:
    """The variant with the best fit, and this fit; findings are in the setup."""
    variants = list(flags_to_try(setup))
    promise = [gain for gain, _ in gains_of(setup, variants, reach, fitted.solution)]
    for k in np.argsort(-np.array(promise), kind="stable"):
        flags = variants[k]
        if fitted.exact and CENTRED not in flags:
            continue
        [(gain, independent)] = gains_of(setup, [flags], reach, fitted.solution)
        # The present terms of a steering may stand in for its behaviour at standstill, and then do not fit the other.
        if gain > (-HALVED * independent if CENTRED in flags else 0.0):
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
    for name, steering in setup.actuators.items():
        if steering.steers and steering.unlimited.get("value") != HAND_WHEEL:
            actuators[name] = replace(steering, unlimited=actuations(parameters)[name].unlimited)
            renewed = {term.name: term for term in terms_of(actuators[name])}
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
