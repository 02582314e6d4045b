"""Which variant of a vehicle explains a recording: flags such as where it is driven and steered are tried both ways."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

import numpy as np

from vds_gz.parameters.declaration import ParameterError
from vds_gz.study.identify.build import coarse_segments, problem_of
from vds_gz.study.identify.fit import Problem, Solution, noise_of, solve
from vds_gz.study.identify.problem.parameters import Kind, actuations
from vds_gz.study.identify.problem.setup import Setup
from vds_gz.study.identify.reach import Reach

#: Flags that the motion may tell: where a vehicle is driven and steered, whether it reverses, and what its steering
#: does at standstill.
PLACES = ("drive_on_steered_wheel", "reverse")
REVERSES, CENTRED = "allow_reverse", "center_at_standstill"

#: A variant must lower the deviance by this.
BETTER = 20.0

#: Where what is left is less than this many times the least noise, no other variant is tried.
EXACT = 5.0

#: Simulations in the fit of a variant.
TRIAL = 6

Flags = Mapping[str, bool]


def flags_to_try(setup: Setup) -> Iterator[Flags]:
    """Variants that the vehicle may be where none was given, and what the steering does at standstill in any case."""
    parameters = setup.family.parameters
    speeds = np.concatenate([one.commands.records["v_x"] for one in setup.recordings])
    if not setup.given and all(hasattr(parameters, name) for name in PLACES):
        yield from places(setup)
    if not setup.given and hasattr(parameters, REVERSES) and (speeds < 0.0).any():
        yield {REVERSES: not getattr(parameters, REVERSES)}
    measured = any(one.quantity == "steering" or one.hinge for every in setup.channels for one in every)
    if hasattr(parameters, CENTRED) and measured and (speeds == 0.0).any() and speeds.any():
        yield {CENTRED: not getattr(parameters, CENTRED)}


def places(setup: Setup) -> Iterator[Flags]:
    """The other places where a vehicle may be driven and steered."""
    parameters = setup.family.parameters
    drive, reverse = (bool(getattr(parameters, name)) for name in PLACES)
    for flags in ((drive, not reverse), (not drive, reverse), (not drive, not reverse)):
        changed: dict[str, object] = dict(zip(PLACES, flags, strict=True))
        with suppress(ParameterError):  # not every place goes with the other parameters
            dataclasses.replace(parameters, **changed)  # type: ignore[type-var]
            yield dict(zip(PLACES, flags, strict=True))


def with_flags(setup: Setup, flags: Flags) -> Setup:
    """The same with other flags of the vehicle."""
    changed: dict[str, object] = dict(flags)
    parameters = dataclasses.replace(setup.family.parameters, **changed)  # type: ignore[type-var]
    actuators = actuations(parameters, wheels="wheels" in setup.actuators)
    renewed = {term.name: term for actuator in actuators.values() for term in actuator.terms()}
    terms = tuple(renewed.get(term.name, term) for term in setup.family.terms)
    return replace(setup, family=replace(setup.family, parameters=parameters, terms=terms), actuators=actuators)


def deviance(problem: Problem, solution: Solution) -> float:
    """Minus twice the logarithm of the likelihood of what is left, of as many independent samples as there are."""
    noise = noise_of(problem, solution.residuals)
    counts = np.bincount(problem.kind, minlength=len(noise.scale)) / noise.correlation
    return float(2.0 * np.sum(counts * np.log(noise.scale)))


def is_exact(problem: Problem, solution: Solution) -> bool:
    """Nothing is left to explain."""
    return bool((noise_of(problem, solution.residuals).scale < EXACT * problem.floors).all())


def compared(setup: Setup, flags: Flags, reach: Mapping[str, Reach], found: Solution) -> float:
    """By how much another variant lowers the deviance, from the fit of the present one on or from neutral gains."""
    deviances = []
    for one in (setup, with_flags(setup, flags)):
        problem = problem_of(one, coarse_segments(one), reach)
        plain = found.point.copy()
        for k, term in enumerate(one.family.terms):
            if term.kind not in (Kind.DEAD_TIME, Kind.TIME_CONSTANT, Kind.LIMIT):
                plain[k] = setup.begin[k]
        deviances.append(
            min(
                deviance(
                    problem, solve(problem, begin, found.free, found.noise, starts=found.starts, evaluations=TRIAL)
                )
                for begin in (found.point, plain)
            )
        )
    return deviances[0] - deviances[1]
