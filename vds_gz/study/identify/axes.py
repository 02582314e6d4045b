"""One quantity of a vehicle with what was found of it: numbers by names that hold for every axis, and samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

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

#: A number is known roughly if its interval is wider to either side than this part of it; a time, if also wider than
#: this [s].
ROUGHLY = {"dead_time": 0.05, "time_constant": 0.05, "rise": 0.02, "fall": 0.02, "value": 0.02}
ROUGH_TIME = 0.005

#: What tells more of a number.
_QUICK = "more steps to and fro in quick succession tell more (`vds-gz profile steps`), or a longer recording"
MORE = {
    "dead_time": _QUICK,
    "time_constant": _QUICK,
    "rise": "more great steps away from zero tell more",
    "fall": "more great steps towards zero tell more",
    "value": "commands beyond the limit, held until it is reached, tell more",
}


class Reached(NamedTuple):
    """Maximum rates away from zero and towards it, and maximum value, without the noise."""

    rise: float
    fall: float
    value: float


@dataclass(frozen=True, slots=True)
class AxisFit:
    """What was found of an axis.

    Attributes:
        numbers: By the names of :data:`NAMES`; ``rise`` and ``fall`` limit the change away from and towards zero.
        reached: What came up, for limits that were not met.
        residual: Standard deviation of what is left.
        left_out: Samples that fit nothing.
        time, commanded, measured, modelled: For pictures; commands as they stood at the times of the samples.
    """

    numbers: dict[str, Estimate | None]
    reached: Reached
    residual: float
    left_out: int
    time: Array
    commanded: Array
    measured: Array
    modelled: Array


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis with what was found of it.

    Attributes:
        quantity, unit: What it is, and the unit of its value.
        centred: Of a steering: it goes to 0 when the commanded speed is 0; None: the recording does not tell.
    """

    quantity: str
    unit: str
    fit: AxisFit
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

    def advice(self) -> Iterator[str]:
        """Of each number that the recording tells only roughly: how roughly, and what would tell more."""
        for name, number in self.fit.numbers.items():
            if number is None or name not in ROUGHLY or (self.quantity == "steering" and name == "fall"):
                continue
            half = 0.5 * (number.high - number.low)
            if half > max(ROUGHLY[name] * abs(number.value), ROUGH_TIME if name in TIMES else 0.0):
                yield (
                    f"{self.quantity} {self.label(name)} is known to +-{half:.2g} {self.unit_of(name)} "
                    f"({half / abs(number.value):.0%}) only; {MORE[name]}"
                )

    def label(self, name: str) -> str:
        """What one of its numbers is called."""
        return "rate limit" if self.quantity == "steering" and name == "rise" else LABELS[name]
