"""What a task gives to an environment: where episodes begin, what is observed of it, and how well it is done."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from vds_gz.fleet.base_link import BaseLinks

Reals = NDArray[np.float64]
Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]
Indices = NDArray[np.intp]

#: A kernel's numbers do not depend on the machine, and a division by zero is none of its ways out.
OPTIONS = {"inlined": True, "error_model": "numpy"}


class Observed(NamedTuple):
    """A number that is observed, and the bounds within which it is."""

    name: str
    low: float
    high: float


class Judged(NamedTuple):
    """How environments do, one entry each.

    Attributes:
        errors: Squares of the error, in units of the error at which the reward has fallen to 1/e.
        ended: The episode is over.
        successes: The task is done.
    """

    errors: Reals
    ended: Flags
    successes: Flags


class View(NamedTuple):
    """The part of the plane that a picture shows: its middle, and from there to its sides [m]."""

    x: float
    y: float
    half: float


class Task(Protocol):
    """A task, of many environments.

    Attributes:
        observed: What is observed of it.
        random_numbers: So many an episode needs.
        max_speed: What 1 means as an action's speed [m/s].
    """

    observed: tuple[Observed, ...]
    random_numbers: int
    max_speed: float

    def begin(self, some: Indices, random: Reals) -> tuple[Reals, Reals, Reals]:
        """Begin episodes of some environments.

        Args:
            some: Which ones.
            random: Numbers within [0, 1), of shape (some, random_numbers).

        Returns:
            Where base_link stands [m, m, rad].
        """

    def judge(self, some: Indices, motion: BaseLinks, observations: Floats) -> Judged:
        """How some environments do, of which the motion is that of all; what is observed fills the first columns."""

    def scenery(self) -> list[Reals]:
        """Lines of a picture, each of shape (points, 2) [m]."""

    def view(self, x: float, y: float) -> View:
        """What a picture shows of a vehicle that is there [m]."""
