"""One quantity of a vehicle with its numbers, by names that hold for every axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from vds_gz.study.identify.estimates import Array, Estimate

#: What is found.
NAMES = ("dead_time", "time_constant", "gain", "offset", "rise", "fall", "value")
TIMES, LIMITS = NAMES[:2], NAMES[4:]

#: Words and units of the numbers, for a drive [m/s] and for an angle [rad].
LABELS = {
    "dead_time": "dead time",
    "time_constant": "time constant",
    "gain": "gain",
    "offset": "offset",
    "rise": "acceleration limit",
    "fall": "deceleration limit",
    "value": "limit",
}


class Reached(NamedTuple):
    """Maximum rates away from zero and towards it, and maximum value, without the noise."""

    rise: float
    fall: float
    value: float


def steepest(before: Array, after: Array, duration: float | Array) -> tuple[float, float]:
    """Maximum rates away from zero and towards it, from values to those a duration [s] later; crossings are neither."""
    rates = np.abs(after - before) / duration
    same_side = after * before >= 0.0
    away = np.abs(after) >= np.abs(before)
    return float(np.max(rates[same_side & away], initial=0.0)), float(np.max(rates[same_side & ~away], initial=0.0))


@dataclass(frozen=True, slots=True)
class Axis:
    """One commanded quantity with what was found of it.

    Attributes:
        quantity, unit: What it is, and the unit of its value.
        numbers: By the names of :data:`NAMES`; ``rise`` and ``fall`` limit the change away from and towards zero.
        reached: The maxima of the recording, for limits that were not met.
        residual: Standard deviation of the measurement from the model, without outliers.
        outliers: Number of samples that hardly count.
        centred: Of a steering: it goes to 0 when the commanded speed is 0; None: the recording does not show it.
    """

    quantity: str
    unit: str
    numbers: dict[str, Estimate | None]
    reached: Reached
    residual: float = 0.0
    outliers: int = 0
    centred: bool | None = None

    def unit_of(self, name: str) -> str:
        """Unit of one of its numbers."""
        if name in TIMES:
            return "s"
        if name == "gain":
            return ""
        if name in ("rise", "fall"):
            return f"{self.unit}²" if self.unit == "m/s" else "rad/s²" if self.unit == "rad/s" else "rad/s"
        return self.unit

    def label(self, name: str) -> str:
        """What one of its numbers is called."""
        return "rate limit" if self.quantity == "steering" and name == "rise" else LABELS[name]
