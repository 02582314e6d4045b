"""Estimates the lag of joints behind their commands, while both run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from vds_gz.parameters.declaration import describe

#: Time constant of the weight of past samples [s].
MEMORY = 5.0

#: A lag below this is never worth a warning [s]: sampling at usual rates causes it.
SMALLEST = 0.010

#: A lag below this part of the configured delay is small.
SMALL = 0.1

_DYNAMICS = ("dead_time", "time_constant", "time_delay", "delay_time")


class LagEstimator:
    """The lag of some joints: dead time or time constant.

    A joint that follows ``w`` with a lag of the first order has ``T x' = w - x``; one that is late by ``T`` has the
    same to first order. So ``T`` is the slope of ``w - x`` over ``x'``, here by least squares over the recent past.
    """

    def __init__(self, excitation: float) -> None:
        """Start without samples.

        Args:
            excitation: Minimum of the integral of ``x'`` squared over the memory, for a lag.
        """
        self._excitation = excitation
        self.forget()

    def forget(self) -> None:
        """Restart, as after a jump; the last estimate is kept."""
        self._last: tuple[Sequence[float], Sequence[float]] | None = None
        self._errors = 0.0
        self._squares = 0.0

    def add(self, interval: float, wanted: Sequence[float], got: Sequence[float]) -> None:
        """Take commands and positions of all joints, an interval [s] after the last call."""
        if self._last is not None and interval > 0.0:
            keep = math.exp(-interval / MEMORY)
            self._errors *= keep
            self._squares *= keep
            for w0, x0, w1, x1 in zip(*self._last, wanted, got, strict=True):
                rate = (x1 - x0) / interval
                self._errors += 0.5 * ((w0 - x0) + (w1 - x1)) * rate * interval
                self._squares += rate * rate * interval
        self._last = (wanted, got)

    def lag(self) -> float | None:
        """The lag [s], negative if the joints lead; None while they have not moved enough."""
        return self._errors / self._squares if self._squares > self._excitation else None


def configured(parameters: object, steering: bool) -> float:
    """Sum of dead time and time constant in a vehicle's parameters, of its steering or its drive [s]."""
    by_group: dict[str, float] = {}
    for one in describe(parameters):
        if one.name.endswith(_DYNAMICS) and ("steer" in one.name) == steering and "torque" not in one.name:
            group = one.name.rpartition(".")[0] or one.name.partition("_")[0]
            by_group[group] = by_group.get(group, 0.0) + float(one.default)  # type: ignore[arg-type]
    return min(by_group.values(), default=0.0)


def allowed(dynamics: float) -> float:
    """The lag that is small compared with the sum of dead time and time constant [s]."""
    return max(SMALL * dynamics, SMALLEST)


def summary(lags: Iterable[tuple[str, float | None]]) -> tuple[tuple[str, str], ...]:
    """Names and values for a report."""
    return tuple(
        (f"lag of the {name} joints [s]", "not known yet" if lag is None else f"{lag:.4f}") for name, lag in lags
    )
