"""Whether a sensor reads later than the others: each source is tried with its own latency.

A latency that all sensors share is part of the dead times; nothing that was recorded tells the two apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from vds_gz.study.identify.estimates import Array
from vds_gz.study.identify.fitting.selection import PENALTY, WHITE
from vds_gz.study.identify.forward.pieces import Piece
from vds_gz.study.identify.forward.problems import problem_of
from vds_gz.study.identify.forward.setup import Setup
from vds_gz.study.identify.forward.unknowns import Kind, Unknown
from vds_gz.study.identify.solver.explanation import with_correlation
from vds_gz.study.identify.solver.gauss_newton import solve
from vds_gz.study.identify.solver.protocol import Mask, Problem, Solution

#: A latency is looked for within this [s]; it is a straight line within so much [s].
LONGEST, SCALE = 1.0, 0.02

#: A fit with a latency is centred again so often at most, and until it moves by less than this [s].
CENTRED, STILL = 4, 1e-6


class Late(NamedTuple):
    """A fit with latencies: what is looked for, the data, the solution, and what was free."""

    setup: Setup
    problem: Problem
    solution: Solution
    free: Mask


def with_latencies(setup: Setup, pieces: Sequence[Piece], problem: Problem, point: Array, free: Mask) -> Late | None:
    """A better fit, in which a source reads later than the others; None if there is none.

    Args:
        setup: What is looked for.
        pieces: The data.
        problem: The same, with the serial correlation of the noise.
        point: What was found without, (1, p).
        free: What was free, (p,).
    """
    sources = _sources(setup)
    if len(sources) < 2 or float(np.max(problem.correlation)) < WHITE:
        return None
    now = solve(problem, point, free=free[np.newaxis], warm=True)
    samples = sum(len(part.measured) for part in problem.parts)
    found = [_fitted(setup, pieces, problem.correlation, point, free, one) for one in _latencies(sources)]
    best = min(found, key=lambda one: float(one.solution.deviance[0]))
    if float(best.solution.deviance[0]) > float(now.deviance[0]) - math.log(samples) - PENALTY:
        return None
    refit = with_correlation(best.problem, best.solution, 0)
    return best._replace(problem=refit)


def _sources(setup: Setup) -> dict[str, tuple[int, ...]]:
    """The channels of each source, by its name."""
    found: dict[str, tuple[int, ...]] = {}
    for k, one in enumerate(one for every in setup.channels for one in every):
        found[one.source] = (*found.get(one.source, ()), k)
    return found


def _latencies(sources: dict[str, tuple[int, ...]]) -> Iterator[Unknown]:
    for source, channels in sources.items():
        name = f"{source.lstrip('/')} latency"
        yield Unknown(name, Kind.LATENCY, -LONGEST, LONGEST, channels=channels, scale=SCALE)


def _fitted(
    setup: Setup, pieces: Sequence[Piece], correlation: Array, point: Array, free: Mask, latency: Unknown
) -> Late:
    """The fit with one latency."""
    free = np.append(free, True)
    point = np.append(point, [[0.0]], axis=1)
    about = 0.0
    for _ in range(CENTRED):
        family = replace(
            setup.family,
            unknowns=(*(one for one in setup.family.unknowns if one.kind is not Kind.LATENCY), latency),
            latencies=dict.fromkeys(latency.channels, about),
        )
        late = replace(setup, family=family, begin=np.append(setup.begin, 0.0))
        problem = problem_of(late, pieces, correlation)
        solution = solve(problem, point, free=free[np.newaxis], warm=True)
        point, before = solution.points, about
        about = float(point[0, -1])
        if abs(about - before) < STILL:
            break
    return Late(late, problem, solution, free)
