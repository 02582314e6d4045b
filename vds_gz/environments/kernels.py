"""Compiled functions for every vehicle of an environment in every period."""

from __future__ import annotations

from vds_gz.environments.task import Floats, Indices, Reals
from vds_gz.vehicle.exponential import exponential
from vds_gz.vehicle.trigonometry import sine_cosine


def place(
    x: Reals, y: Reals, heading: Reals, offsets: Reals, some: Indices, to_x: Reals, to_y: Reals, to_heading: Reals
) -> None:
    """Put the base_links of some vehicles at given poses."""
    for k in range(len(some)):
        i = some[k]
        sine, cosine = sine_cosine(heading[k])
        to_x[i] = x[k] - offsets[i] * cosine
        to_y[i] = y[k] - offsets[i] * sine
        to_heading[i] = heading[k]


def change(actions: Floats, last: Floats, changes: Reals) -> None:
    """Squares of the actions' changes."""
    for i in range(len(actions)):
        square = 0.0
        for k in range(actions.shape[1]):
            change = float(actions[i, k]) - float(last[i, k])
            square += change * change
        changes[i] = square


def observe(
    some: Indices,
    measured: Reals,
    past: Floats,
    newest: int,
    first: int,
    low: Floats,
    high: Floats,
    observations: Floats,
) -> None:
    """Fill the columns from the first one on with measurements and past actions, within bounds."""
    count, _, inputs = past.shape
    own = first + len(measured)
    for i in some:
        for k in range(len(measured)):
            observations[i, first + k] = measured[k, i]
        for k in range(own):
            observations[i, k] = min(max(observations[i, k], low[k]), high[k])
        for ago in range(count):
            slot = newest - ago if ago <= newest else newest - ago + count
            for k in range(inputs):
                observations[i, own + ago * inputs + k] = past[slot, i, k]


def reward(errors: Reals, changes: Reals, weight: float, rewards: Reals) -> None:
    """Rewards for squares of errors and of changes of the action."""
    for i in range(len(errors)):
        rewards[i] = exponential(-errors[i]) - weight * changes[i]
