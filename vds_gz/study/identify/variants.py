"""The variant of a vehicle that explains recordings best: flags such as where it is driven are tried both ways."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from vds_gz.parameters.declaration import ParameterError
from vds_gz.study.identify.build import Problem, coarse_segments, problem_of
from vds_gz.study.identify.estimates import Array
from vds_gz.study.identify.fit import Solution, evaluate, solve
from vds_gz.study.identify.noise import noise_of
from vds_gz.study.identify.problem.parameters import Kind, actuations
from vds_gz.study.identify.problem.segments import Segment
from vds_gz.study.identify.problem.setup import HAND_WHEEL, Setup
from vds_gz.study.identify.reach import Reach
from vds_gz.study.identify.support import Advance, Fitted, supported

#: Flags of where a vehicle is driven and steered.
PLACES = ("drive_on_steered_wheel", "reverse")

#: Flags of whether it reverses, and of what its steering does at standstill.
REVERSES, CENTRED = "allow_reverse", "center_at_standstill"

#: A variant must lower the deviance by this.
BETTER = 20.0

#: Another variant than the given one is worth a finding if it lowers the deviance by so many times as much, and halves
#: what is left: then the deviance falls by this for each independent sample.
FAR_BETTER, HALVED = 5.0, 2.0 * math.log(2.0)

#: Simulations in the fit of a variant with the terms of another one.
TRIAL_SIMULATIONS = 6

Flags = Mapping[str, bool]
Reaches = Mapping[str, Reach]


def best_variant(setup: Setup, reach: Reaches, fitted: Fitted, advance: Advance) -> tuple[Setup, Fitted]:
    """The variant that explains most, with its fit; the setup says what was learned of it."""
    for flags in _promising_first(setup, reach, fitted):
        if CENTRED in flags:
            gain = compared(setup, flags, reach, fitted.solution)
            if gain > BETTER:
                setup = with_flags(setup, flags)
                fitted = supported(setup, reach)
            if abs(gain) > BETTER:
                setup = replace(setup, centred=bool(getattr(setup.family.parameters, CENTRED)))
        elif not fitted.exact:
            advance(" ".join(flags))
            variant = with_flags(setup, flags)
            trial = supported(variant, reach)
            segments = [experiment.segment for experiment in fitted.problem.experiments]
            trial_deviance = _deviance_in(variant, segments, reach, trial.solution)
            if trial_deviance < deviance(fitted.problem, fitted.solution.residuals) - BETTER:
                setup, fitted = variant, trial
    return replace(setup, variant=tuple(_places_found(setup, reach, fitted))), fitted


def _promising_first(setup: Setup, reach: Reaches, fitted: Fitted) -> list[Flags]:
    """The variants to try; of places the one that explains most with the present terms first."""
    variants = list(flags_to_try(setup))
    gains = [compared(setup, flags, reach, fitted.solution) if PLACES[0] in flags else -np.inf for flags in variants]
    return [variants[k] for k in np.argsort(-np.array(gains), kind="stable")]


def _places_found(setup: Setup, reach: Reaches, fitted: Fitted) -> Iterator[str]:
    """Where the vehicle is driven and steered, in words; of a given vehicle, where another place explains far more."""
    parameters = setup.family.parameters
    if not all(hasattr(parameters, name) for name in PLACES):
        return
    if not setup.given:
        words = ", ".join(f"{name}: {str(getattr(parameters, name)).lower()}" for name in PLACES)
        yield f"of the variants of the bicycle, {words} explains most"
    elif not fitted.exact:
        gains = {tuple(flags.items()): compared(setup, flags, reach, fitted.solution) for flags in places(setup)}
        best = max(gains, key=gains.__getitem__)
        independent = len(fitted.problem.measured) / float(np.max(fitted.solution.noise.correlation))
        if gains[best] > max(FAR_BETTER * BETTER, HALVED * independent):
            words = ", ".join(f"{name}: {str(value).lower()}" for name, value in best)
            yield f"{words} would explain the recording far better than the vehicle that was given"


def flags_to_try(setup: Setup) -> Iterator[Flags]:
    """Variants that the vehicle may be where none was given, and what the steering does at standstill in any case."""
    parameters = setup.family.parameters
    speeds = np.concatenate([recording.commands.records["v_x"] for recording in setup.recordings])
    if not setup.given and all(hasattr(parameters, name) for name in PLACES):
        yield from places(setup)
    if not setup.given and hasattr(parameters, REVERSES) and (speeds < 0.0).any():
        yield {REVERSES: not getattr(parameters, REVERSES)}
    measured = any(channel.quantity == "steering" or channel.hinge for channel in setup.all_channels)
    if hasattr(parameters, CENTRED) and measured and (speeds == 0.0).any() and speeds.any():
        yield {CENTRED: not getattr(parameters, CENTRED)}


def places(setup: Setup) -> Iterator[Flags]:
    """The other places where a vehicle may be driven and steered."""
    parameters = setup.family.parameters
    drive, reverse = (bool(getattr(parameters, name)) for name in PLACES)
    for values in ((drive, not reverse), (not drive, reverse), (not drive, not reverse)):
        flags: dict[str, object] = dict(zip(PLACES, values, strict=True))
        with suppress(ParameterError):  # not every place is compatible with the other parameters
            dataclasses.replace(parameters, **flags)
            yield dict(zip(PLACES, values, strict=True))


def with_flags(setup: Setup, flags: Flags) -> Setup:
    """The same with other flags of the vehicle; of the actuators only the steering's stop depends on them."""
    changed: dict[str, object] = dict(flags)
    parameters = dataclasses.replace(setup.family.parameters, **changed)
    actuators, terms = dict(setup.actuators), setup.family.terms
    steering = actuators.get("steering")
    if steering is not None and steering.unlimited[2] != HAND_WHEEL:
        steering = replace(steering, unlimited=actuations(parameters)["steering"].unlimited)
        actuators["steering"] = steering
        renewed = {term.name: term for term in steering.terms()}
        terms = tuple(renewed.get(term.name, term) for term in terms)
    return replace(setup, family=replace(setup.family, parameters=parameters, terms=terms), actuators=actuators)


def deviance(problem: Problem, residuals: Array) -> float:
    """Minus twice the logarithm of the likelihood of residuals, of as many independent samples as there are."""
    noise = noise_of(problem, residuals)
    counts = np.bincount(problem.kind, minlength=len(noise.scale)) / noise.correlation
    return float(2.0 * np.sum(counts * np.log(noise.scale)))


def _deviance_in(setup: Setup, segments: Sequence[Segment], reach: Reaches, solution: Solution) -> float:
    """The deviance of a solution in other segments of the same recordings: only that of equal samples compares."""
    problem = problem_of(setup, segments, reach)
    return deviance(problem, evaluate(problem, solution.point, solution.starts, np.zeros_like(solution.free))[0])


def compared(setup: Setup, flags: Flags, reach: Reaches, solution: Solution) -> float:
    """By how much another variant lowers the deviance, from the fit of the present one on or from neutral gains."""
    deviances = []
    for variant in (setup, with_flags(setup, flags)):
        problem = problem_of(variant, coarse_segments(variant), reach)
        plain = solution.point.copy()
        for k, term in enumerate(variant.family.terms):
            if term.kind not in (Kind.DEAD_TIME, Kind.TIME_CONSTANT, Kind.LIMIT):
                plain[k] = setup.begin[k]
        trials = (
            solve(problem, begin, solution.free, solution.noise, starts=solution.starts, evaluations=TRIAL_SIMULATIONS)
            for begin in (solution.point, plain)
        )
        deviances.append(min(deviance(problem, trial.residuals) for trial in trials))
    return deviances[0] - deviances[1]
