"""Which variant of a bicycle a vehicle is: where it is driven and steered, and whether it reverses.

Each flag is tried the other way; the criterion is that of the limits.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from vds_gz.parameters.declaration import ParameterGroup
from vds_gz.study.identify.estimates import Array
from vds_gz.study.identify.fitting.search import thinned
from vds_gz.study.identify.fitting.selection import is_limited
from vds_gz.study.identify.forward.pieces import Piece
from vds_gz.study.identify.forward.problems import problem_of
from vds_gz.study.identify.forward.setup import Setup
from vds_gz.study.identify.forward.unknowns import Kind, actuations, index_of
from vds_gz.study.identify.solver.explanation import with_correlation
from vds_gz.study.identify.solver.gauss_newton import solve
from vds_gz.study.identify.solver.protocol import Problem, Solution

#: Flags of a bicycle that its motion may tell: where it is driven and steered, and whether it reverses.
DRIVE, REVERSE = PLACES = ("drive_on_steered_wheel", "reverse")
REVERSES, CENTRED = "allow_reverse", "center_at_standstill"

#: Iterations of a trial.
ITERATIONS = 15

#: A variant must lower the deviance by this.
BETTER = 20.0

Flags = Mapping[str, bool]


def best_variant(setup: Setup, first: Solution, telling: Piece) -> tuple[Setup, Solution]:
    """The variant that explains a recording best, with its fit in long steps.

    Args:
        setup: What is looked for.
        first: The fit of the variant of the setup, of one start.
        telling: The piece that tells most.
    """
    parameters = setup.family.parameters
    now, solution = setup, first
    others = [] if setup.given else list(_backwards(setup))
    if hasattr(parameters, DRIVE) and not setup.given:
        others.append({DRIVE: not getattr(parameters, DRIVE)})
    others += list(_at_standstill(setup, telling))
    for flags in others:
        better = _better(now, telling, solution.points, [flags])
        if better:
            now = with_flags(now, flags)
            solution = _fitted(now, problem_of(now, [thinned(telling)]), solution.points)
        if CENTRED in flags and (better or _better(with_flags(now, flags), telling, solution.points, [_of(now)])):
            now = replace(now, centred=bool(getattr(now.family.parameters, CENTRED)))
    return now, solution


def _of(setup: Setup) -> Flags:
    return {CENTRED: bool(getattr(setup.family.parameters, CENTRED))}


def _at_standstill(setup: Setup, telling: Piece) -> Iterator[Flags]:
    """Whether the steering goes to the middle when the commanded speed is 0, if it is measured and was commanded so."""
    parameters = setup.family.parameters
    speeds = telling.commands["v_x"]
    measured = any(one.quantity == "steering" or one.hinge for _, one in telling.channels)
    if hasattr(parameters, CENTRED) and measured and (speeds == 0.0).any() and speeds.any():
        yield {CENTRED: not getattr(parameters, CENTRED)}


def better_place(setup: Setup, telling: Piece, point: Array) -> Flags | None:
    """Where else a bicycle would have to be driven and steered to explain a recording far better; None: nowhere.

    Args:
        setup: What is looked for.
        telling: The piece that tells most.
        point: What was found, (1, p).
    """
    return _better(setup, telling, point, list(_places(setup)))


def _better(setup: Setup, telling: Piece, point: Array, others: Sequence[Flags]) -> Flags | None:
    """The best of other variants, if it is better."""
    problem = problem_of(setup, [thinned(telling)])
    solution = solve(problem, point, free=is_limited(setup.family, point), iterations=ITERATIONS)
    correlation = with_correlation(problem, solution, 0).correlation
    now = _deviance(setup, telling, solution.points, correlation)
    deviances = [_deviance(with_flags(setup, one), telling, solution.points, correlation) for one in others]
    if not others or min(deviances) > now - BETTER:
        return None
    return others[int(np.argmin(deviances))]


def _places(setup: Setup) -> Iterator[Flags]:
    """The other places where a bicycle may be driven and steered."""
    parameters = setup.family.parameters
    if all(hasattr(parameters, name) for name in PLACES):
        drive, reverse = (bool(getattr(parameters, name)) for name in PLACES)
        for flags in ((not drive, reverse), (drive, not reverse), (not drive, not reverse)):
            yield dict(zip(PLACES, flags, strict=True))


def _backwards(setup: Setup) -> Iterator[Flags]:
    """Whether the vehicle reverses, if it was commanded to."""
    parameters = setup.family.parameters
    speeds = np.concatenate([one.commands.records["v_x"] for one in setup.recordings])
    if hasattr(parameters, REVERSES) and (speeds < 0.0).any():
        yield {REVERSES: not getattr(parameters, REVERSES)}


def _deviance(setup: Setup, telling: Piece, point: Array, correlation: Array) -> float:
    """Of a variant, from the fit of another one on."""
    problem = problem_of(setup, [thinned(telling)], correlation)
    return float(_fitted(setup, problem, point, ITERATIONS).deviance[0])


def _fitted(setup: Setup, problem: Problem, point: Array, iterations: int = 60) -> Solution:
    """The better of two fits: from a point (1, p), and from it with gains, offsets and geometry as no one fitted them.

    For a wrong variant bends these until they explain what another one does by itself.
    """
    plain = point.copy()
    kinds = Kind.GAIN, Kind.COMMAND_OFFSET, Kind.WHEEL_GAIN, Kind.OFFSET, Kind.PARAMETER
    bent = index_of(setup.family.unknowns, *kinds)
    plain[0, bent] = setup.begin[bent]
    points = np.concatenate([point, plain])
    found = solve(problem, points, free=is_limited(setup.family, points), iterations=iterations)
    return found.of([found.best])


def with_flags(setup: Setup, flags: Flags) -> Setup:
    """The same with other flags of the vehicle."""
    changed: dict[str, object] = dict(flags)
    parameters: ParameterGroup = dataclasses.replace(setup.family.parameters, **changed)  # type: ignore[type-var]
    actuators = actuations(parameters, wheels="wheels" in setup.actuators)
    refitted = {one.name: one for actuator in actuators.values() for one in actuator.unknowns()}
    unknowns = tuple(refitted.get(one.name, one) for one in setup.family.unknowns)
    return replace(setup, family=replace(setup.family, parameters=parameters, unknowns=unknowns), actuators=actuators)
