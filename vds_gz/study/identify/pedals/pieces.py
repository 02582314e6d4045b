"""Drives cut into pieces, each from its own speed, so that slopes and drift do not add up."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from vds_gz.study.identify.estimates import Array
from vds_gz.study.identify.signals import SignalError
from vds_gz.study.identify.solver.protocol import Indices, Mask

#: The motion is integrated in steps of this length; what the pedals do within one is taken as its mean [s].
INTERVAL = 0.04

#: Slower than this the car may stand, and what holds it is not in the maps [m/s].
STANDING = 0.15

#: Maximum length of a piece [s], least one of a drive [s].
PIECE, DRIVE = 8.0, 1.0


class Pieces(NamedTuple):
    """The pieces on the even times.

    Attributes:
        number: Of the piece each time is in, -1 where the car stands, (times,).
        begin: The index of the time at which that piece, or standstill, begins, (times,).
        launched: That piece begins with a drive, when the acceleration is not known, (times,).
    """

    number: Indices
    begin: Indices
    launched: Mask

    def at(self, time: Array, times: Array) -> Indices:
        """The piece that both the even times around each of some times are in; -1 for none."""
        place = np.searchsorted(time, times) - 1
        inside = (place >= 0) & (place < len(time) - 1)
        place = np.clip(place, 0, len(time) - 2)
        return np.where(inside & (self.number[place] == self.number[place + 1]), self.number[place], -1)


def pieces_of(moving: Mask) -> Pieces:
    """Cut where the car moves.

    Raises:
        SignalError: It hardly does.
    """
    starts = np.flatnonzero(np.diff(moving.astype(int), prepend=0) == 1)
    ends = np.flatnonzero(np.diff(moving.astype(int), append=0) == -1) + 1
    number, launches, count = np.full(len(moving), -1), np.zeros(len(moving), bool), 0
    for start, end in zip(starts, ends, strict=True):
        duration = (end - start) * INTERVAL
        if duration < DRIVE:
            continue
        launches[start] = True
        for left, right in pairwise(np.linspace(start, end, math.ceil(duration / PIECE) + 1).astype(int)):
            number[left:right] = count
            count += 1
    if not count:
        raise SignalError(f"the car never drove faster than {STANDING} m/s for a second")
    begins = np.diff(number, prepend=-2) != 0
    begin = np.maximum.accumulate(np.where(begins, np.arange(len(number)), 0))
    return Pieces(number, begin, launches[begin])
