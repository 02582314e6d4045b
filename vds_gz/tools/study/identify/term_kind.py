"""A term, which is an unknown of a fit, and its kind: all that is particular to such terms."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal, NamedTuple

import numpy as np

from vds_gz.core.arrays import Array, Flags, Indices
from vds_gz.tools.study.identify.trial_values import UNLIMITED, Trials

#: Smallest limit, and smallest value that means no limit, in SI units.
LEAST_LIMIT, NO_LIMIT = 1e-4, 1e5

#: Required gain in prediction: in its standard errors, and as a part of the residual squares. Of a term that enters,
#: and of one that stays.
Required = tuple[float, float]
SIGNIFICANT, WORTHWHILE = 0.95, 0.01
TO_STAY = 0.5, 0.003


class Effect(Enum):
    """What a term changes in a simulated vehicle."""

    PARAMETER = "a parameter"
    #: Simulated between whole numbers of steps by interpolation.
    DEAD_TIME = "a parameter that is rounded to steps"
    COMMAND = "a factor of a commanded quantity"
    WHEEL = "the distance that the wheels of a side roll per nominal metre"
    OFFSET = "an offset of a sensor"
    LATENCY = "the latency of a sensor"


class Excitation(NamedTuple):
    """What the recordings show of an actuator.

    Attributes:
        near_zero: Commands come near 0 or change their sign, so an offset is no extrapolation.
        slows_down: Some commands ask for less than those before.
        moves: Some change of its commands shows in a measurement.
        scale: Its gain does not have the effect of other gains.
        slow: Nothing else has the effect of a slow share over the whole recording, as the gain of a wheel has.
        stands: The vehicle was seen to stand at a command of zero, so it has no offset there.
    """

    near_zero: bool = True
    slows_down: bool = True
    moves: bool = True
    scale: bool = True
    slow: bool = True
    stands: bool = False

    def shows(self, kind: TermKind) -> bool:
        """Whether a kind of term may be found."""
        return kind.excited(self)


@dataclass(frozen=True, eq=False)
class TermKind:
    """A kind of term.

    Attributes:
        name: The stage of an actuator, or the last words of a calibration's name.
        effect: What it changes in a simulated vehicle.
        is_delay, is_limit, is_gain: A dead time or lag; a limit, whose coordinate is its logarithm; a gain that limits
            may stand in for.
        of_vehicle: A parameter of the vehicle outside its actuators.
        of_steering: Stages of the steering may enter with such a parameter, otherwise those of the drive.
        always: It is always fitted; others enter if they improve the prediction.
        lowest, highest, scale, neutral, rounding: As in :class:`Term`.
        needs, fallback: Stages of the same actuator, as in :class:`Term`.
        reached: ``least``: what the vehicle reached is a lower bound; ``command``: trial values are parts of the
            largest command.
        settles: For a time constant: the longest recording must last this many of it; 0: any number.
        prior: Standard deviation of its prior around 0, in scales.
        vague: Standard deviation without prior knowledge; None: 5 scales.
        ends: The bounds at which the data do not determine it. A lower bound may be a value without effect.
        smooth: Derivatives predict its effect.
        difference: Step of a difference quotient, in scales.
        short: Step of the difference quotient up to twice this distance from the lower bound; 0: the usual one.
        unset: At 0 the vehicle's geometry replaces it.
        excited: Whether recordings may show it.
        trials: How it may enter a fit.
        whole: Coordinates for trials of a whole actuator, from the observed maximum.
        to_enter, to_stay: Required gain in prediction.
        resolution: Of a time, the standard deviation of its rounding [s]; None of others.
        useful: A value is also given if its interval extends at most this many scales to either side.
        harmless: Distances from the neutral value. If the term is not needed, its interval ends at the largest one that
            the data allow.
        when_vague: The neutral value replaces a value with too wide an interval.
        label, angle_label: Its label, and that of a steering; empty: its name.
        unit: Its unit, by that of the actuator's value.
        of_axis: Every commanded quantity has it in the results.
        to_record: What to record if it is poorly determined.
        roughly: The finding on a value without an interval; empty: none.
        far: The finding on a value far from its prior; empty: none.
        smoother: Parameters of Nav2's velocity smoother, with their signs.
    """

    name: str
    effect: Effect = Effect.PARAMETER
    is_delay: bool = False
    is_limit: bool = False
    is_gain: bool = False
    of_vehicle: bool = False
    of_steering: bool = False
    always: bool = False
    lowest: float = -math.inf
    highest: float = math.inf
    scale: float = 0.3
    neutral: float = 0.0
    rounding: tuple[float, float] = (0.0, 0.0)
    needs: str = ""
    fallback: str = ""
    reached: Literal["", "least", "command"] = ""
    settles: float = 0.0
    prior: float = math.inf
    vague: float | None = None
    ends: Literal["", "upper", "both"] = ""
    smooth: bool = True
    difference: float = 1e-5
    short: float = 0.0
    unset: bool = False
    excited: Callable[[Excitation], bool] = lambda excitation: True
    trials: tuple[Trials, ...] = ()
    whole: Callable[[float], Sequence[float]] | None = None
    to_enter: Required = (SIGNIFICANT, WORTHWHILE)
    to_stay: Required = TO_STAY
    resolution: float | None = None
    useful: float = 0.0
    harmless: tuple[float, ...] = ()
    when_vague: bool = False
    label: str = ""
    angle_label: str = ""
    unit: Callable[[str], str] = lambda unit: unit
    of_axis: bool = False
    to_record: str = ""
    roughly: str = ""
    far: str = "check the given value"
    smoother: tuple[tuple[str, float], ...] = ()

    def term(self, name: str, **changes: Any) -> Term:
        """A term of this kind. Changes are fields of :class:`Term` that depend on the vehicle."""
        numbers = {"lowest": self.lowest, "highest": self.highest, "scale": self.scale, "neutral": self.neutral}
        return Term(name, self, **{**numbers, "rounding": self.rounding, **changes})

    def label_of(self, *, angle: bool) -> str:
        """The label of the stage of an actuator or of a commanded quantity; ``angle``: of a steering."""
        return (self.angle_label if angle else "") or self.label or self.name.replace("_", " ")


@dataclass(frozen=True, slots=True)
class Term:
    """An unknown. If it is a parameter, its name is that below ``model_params.<model>.``.

    Attributes:
        unlimited: For a limit: the parameter's value if it is not met.
        target: For a command's gain, the field of :class:`~vds_gz.tools.fleet.sampled.Calibrations`; for a wheel's
            gain, that of :class:`~vds_gz.tools.study.identify.problem.observed.Geometry`; for a point of a map, the
            commanded quantity.
        channel, channels: For a sensor's offset, the index of its channel; for a latency, those of all channels of its
            source.
        scale: A change of the coordinate in which the model is nearly linear.
        rounding: For a dead time: times up to this many steps shorter and longer give the same number of steps.
        neutral: The value without effect.
        needs: Name of the term without which it has no effect.
        fallback: For a deceleration limit, the name of the acceleration limit, which holds for both without it.
    """

    name: str
    kind: TermKind
    lowest: float
    highest: float
    scale: float
    neutral: float
    rounding: tuple[float, float]
    unlimited: float = 0.0
    target: str = ""
    channel: int = -1
    channels: tuple[int, ...] = ()
    needs: str = ""
    fallback: str = ""

    @property
    def is_parameter(self) -> bool:
        """Whether it is one of the vehicle's parameters."""
        return self.kind.effect in (Effect.PARAMETER, Effect.DEAD_TIME)

    @property
    def moves_vehicle(self) -> bool:
        """Whether the vehicle's motion depends on it, and not only a sensor's reading."""
        return self.kind.effect not in (Effect.OFFSET, Effect.LATENCY)

    def coordinate(self, value: float) -> float:
        """The coordinate of a value in the search, which is the logarithm of a limit."""
        if self.kind.is_limit:
            return math.log(value if LEAST_LIMIT <= value < NO_LIMIT else UNLIMITED)
        return value

    def value(self, coordinate: float) -> float:
        """The value at a coordinate."""
        return math.exp(min(coordinate, 700.0)) if self.kind.is_limit else coordinate

    def parameter(self, coordinate: float) -> float:
        """The value of the vehicle's parameter; ``unlimited`` for a limit that is not met."""
        value = self.value(coordinate)
        beyond = value >= NO_LIMIT or 0.0 < self.unlimited < value
        return self.unlimited if self.kind.is_limit and beyond else value

    def has_slope(self, coordinate: float) -> bool:
        """Whether it has a derivative: not a limit that is not met, or a track of 0, which is the vehicle's."""
        unmet = self.kind.is_limit and self.value(coordinate) >= NO_LIMIT
        return not (unmet or (self.kind.unset and coordinate == 0.0))

    def difference(self, coordinate: float) -> float:
        """The step of a difference quotient, to the side with room."""
        step = self.kind.difference * self.scale
        if self.kind.short and coordinate - self.lowest < 2.0 * self.kind.short:
            step = self.kind.short
        return step if coordinate + step <= self.bounds[1] else -step

    @property
    def bounds(self) -> tuple[float, float]:
        """Bounds of the coordinate."""
        if self.kind.is_limit:
            return math.log(LEAST_LIMIT), math.log(2.0 * UNLIMITED)
        return self.lowest, self.highest


def mask_of(terms: Sequence[Term], has: Callable[[TermKind], bool]) -> Flags:
    """Whether the kind of each unknown has a property."""
    return np.array([has(term.kind) for term in terms], bool)


def acting_as(terms: Sequence[Term], effect: Effect) -> Indices:
    """Indices of the unknowns with an effect."""
    return np.flatnonzero(mask_of(terms, lambda kind: kind.effect is effect))


def neutral_point(terms: Sequence[Term]) -> Array:
    """The point at which no term has an effect."""
    return np.array([term.coordinate(term.neutral) for term in terms])
