"""Pieces of recordings as a problem for the solver: bounds and priors of the unknowns, and how exact the data are."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from vds_gz.study.identify.estimates import WIDTH, Array
from vds_gz.study.identify.forward.part import VehiclePart
from vds_gz.study.identify.forward.pieces import Piece
from vds_gz.study.identify.forward.setup import Setup
from vds_gz.study.identify.forward.unknowns import Kind
from vds_gz.study.identify.signals import MeasuredChannel
from vds_gz.study.identify.solver.protocol import Problem, Space

#: Noise of what never changed, in its unit.
STILL = 1e-6

#: Values on fewer levels are those of a signal that rests there.
FEWEST_LEVELS = 20

#: Gains are about 1, with this standard deviation. It is so weak that it counts only where the data tell nothing: of a
#: drive that is always at its limits they do not tell by how much too much was commanded.
GAIN_SIGMA = 0.2

#: Nothing is measured more exactly than this part of the range.
EXACT = 1e-4


def problem_of(setup: Setup, pieces: Sequence[Piece], correlation: Array | None = None) -> Problem:
    """The problem that pieces of recordings pose.

    Args:
        setup: What is looked for.
        pieces: Parts of its recordings.
        correlation: Of each channel, how many of its samples tell as much as one; 1 where it is not known.
    """
    parts = [VehiclePart(setup.family, one) for one in pieces]
    floors = np.array([resolution(one) for every in setup.channels for one in every])
    return Problem(parts, space_of(setup), floors, np.ones(len(floors)) if correlation is None else correlation)


def space_of(setup: Setup) -> Space:
    """Bounds and priors of the unknowns."""
    unknowns = setup.family.unknowns
    lower, upper = np.array([one.bounds for one in unknowns]).T
    mean, sigma = np.zeros(len(unknowns)), np.full(len(unknowns), np.inf)
    for k, one in enumerate(unknowns):
        if one.kind is Kind.GAIN:
            mean[k], sigma[k] = 1.0, GAIN_SIGMA
        known = setup.priors.get(one.name)
        if known is not None and known.high > known.low and (known.low > 0.0 or one.kind is not Kind.LIMIT):
            low, mean[k], high = map(one.coordinate, (known.low, known.value, known.high))
            sigma[k] = (high - low) / (2.0 * WIDTH)
    return Space.of([one.scale for one in unknowns], lower, upper, mean, sigma)


def resolution(channel: MeasuredChannel) -> float:
    """The least noise that a channel may have: its values are in steps, and nothing is exact."""
    values = channel.series.value
    low, high = np.percentile(values, (0.5, 99.5))
    span = float(high - low) or float(np.ptp(values))
    return max(EXACT * span, _step(values) / math.sqrt(12.0), 1e-12 if span else STILL)


def _step(values: Array) -> float:
    """The step of values that come in steps, as a sensor's bits give them; 0 where they do not."""
    distinct = np.unique(values)
    if len(distinct) > 0.2 * len(values) or len(distinct) < FEWEST_LEVELS:
        return 0.0
    steps = np.diff(distinct)
    least = float(np.min(steps))
    return least if np.abs(steps / least - np.rint(steps / least)).max() < 0.01 else 0.0
