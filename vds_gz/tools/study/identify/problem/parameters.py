"""The unknowns of a vehicle model: its parameters with their kinds and bounds, and gains, offsets and latencies."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vds_gz.autoware.parameters.car_parameters import MAX_STEER_LIM
from vds_gz.autoware.vehicle.models import SHORTEST_TIME_CONSTANT
from vds_gz.core.arrays import Array
from vds_gz.core.parameters.actuator_parameters import BodyLimits, DriveParameters, SteeringParameters
from vds_gz.core.parameters.declaration import LARGEST, ParameterGroup, describe

#: Smallest limit, smallest value that means no limit, and the value that is used for no limit, in SI units.
LEAST_LIMIT, NO_LIMIT, UNLIMITED = 1e-4, 1e5, 1e6

#: Upper bounds of dead times and lags: a vehicle with longer ones cannot be controlled [s].
LONGEST_DEAD_TIME, LONGEST_LAG = 2.0, 5.0

#: Maximum speed of every driven wheel, a parameter of vehicles with hub motors.
WHEEL_LIMIT = "max_wheel_velocity"

#: Track with which wheels turn a vehicle; 0 means the geometric one. It is identified from commanded yaw rates.
EFFECTIVE_TRACK = "effective_track"

#: Steering angle beyond the geometric one per lateral acceleration, a parameter of cars.
UNDERSTEER = "understeer_gradient"

#: Parameters outside the actuators that enter if they improve the prediction; others are fitted on request.
SELECTED = EFFECTIVE_TRACK, UNDERSTEER

#: Bounds of the time constant of a slow share [s], and the largest share.
SLOW_TIMES, LARGEST_SHARE = (0.5, 60.0), 0.9

#: Dead times are rounded to steps, up or to the nearest: those up to this many steps shorter and longer are equal.
UP, NEAREST = (1.0, 0.0), (0.5, 0.5)

#: Bounds of gains.
GAINS = 0.1, 20.0

#: The possible parameters of an actuator, in this order.
NUMBERS: tuple[str, ...] = ("dead_time", "time_constant", "gain", "offset", "rise", "fall", "value")
NUMBERS += ("dead_band", "backlash", "slow_share", "slow_time_constant")


class Kind(Enum):
    """The effect of an unknown, which determines the computation of its derivative."""

    DEAD_TIME = "dead time"
    TIME_CONSTANT = "time constant"
    LIMIT = "limit"
    #: Another parameter of the vehicle.
    PARAMETER = "parameter"
    #: Factor, offset, dead band and backlash of an actuator's reference.
    GAIN = "gain"
    OFFSET = "offset"
    DEAD_BAND = "dead band"
    BACKLASH = "backlash"
    #: The slow share of a response, and its time constant.
    SLOW = "slow share"
    #: The response at one point of a static map.
    MAP = "static map"
    #: A factor of a commanded quantity.
    COMMAND_GAIN = "command gain"
    #: Distance that the wheels of a side roll per nominal metre.
    WHEEL_GAIN = "wheel gain"
    #: Offset of a sensor, and its latency [s].
    SENSOR_OFFSET = "sensor offset"
    LATENCY = "latency"


@dataclass(frozen=True, slots=True)
class Term:
    """An unknown. If it is a parameter, its name is that below ``model_params.<model>.``.

    Attributes:
        unlimited: For a limit: the parameter's value if it is not met.
        target: For a command's gain, the field of :class:`~vds_gz.tools.fleet.sampled.Calibrations`; for a wheel's
            gain, that of :class:`~vds_gz.tools.study.identify.problem.observed.Geometry`.
        channel, channels: For a sensor's offset, the index of its channel; for a latency, those of all channels of its
            source.
        scale: A change of the coordinate in which the model is nearly linear.
        rounding: For a dead time: times up to this many steps shorter and longer give the same number of steps.
        neutral: The value without effect.
        needs: Name of the term without which it has no effect.
        fallback: For a deceleration limit, the name of the acceleration limit, which holds for both without it.
    """

    name: str
    kind: Kind
    lowest: float = -math.inf
    highest: float = math.inf
    unlimited: float = 0.0
    target: str = ""
    channel: int = -1
    channels: tuple[int, ...] = ()
    scale: float = 0.3
    rounding: tuple[float, float] = (0.0, 0.0)
    neutral: float = 0.0
    needs: str = ""
    fallback: str = ""

    @property
    def is_parameter(self) -> bool:
        """Whether it is one of the vehicle's parameters."""
        return self.kind not in (Kind.COMMAND_GAIN, Kind.WHEEL_GAIN, Kind.SENSOR_OFFSET, Kind.LATENCY)

    @property
    def moves_vehicle(self) -> bool:
        """Whether the vehicle's motion depends on it, and not only a sensor's reading."""
        return self.kind not in (Kind.SENSOR_OFFSET, Kind.LATENCY)

    def coordinate(self, value: float) -> float:
        """The coordinate of a value in the search, which is the logarithm of a limit."""
        if self.kind is Kind.LIMIT:
            return math.log(value if LEAST_LIMIT <= value < NO_LIMIT else UNLIMITED)
        return value

    def value(self, coordinate: float) -> float:
        """The value at a coordinate."""
        return math.exp(min(coordinate, 700.0)) if self.kind is Kind.LIMIT else coordinate

    def parameter(self, coordinate: float) -> float:
        """The value of the vehicle's parameter; ``unlimited`` for a limit that is not met."""
        value = self.value(coordinate)
        beyond = value >= NO_LIMIT or 0.0 < self.unlimited < value
        return self.unlimited if self.kind is Kind.LIMIT and beyond else value

    @property
    def bounds(self) -> tuple[float, float]:
        """Bounds of the coordinate."""
        if self.kind is Kind.LIMIT:
            return math.log(LEAST_LIMIT), math.log(2.0 * UNLIMITED)
        return self.lowest, self.highest


@dataclass(frozen=True, slots=True)
class Actuation:
    """The parameters of an actuator: their names, empty without such a parameter.

    ``rise`` and ``fall`` limit the rate of change away from and towards zero, ``rise`` both if ``fall`` is empty;
    ``unlimited`` are the values of ``rise``, ``fall`` and ``value`` that mean no limit. Time constants shorter than
    ``shortest`` [s] have no effect; ``rounding`` is :data:`UP` or :data:`NEAREST`.
    """

    dead_time: str = ""
    time_constant: str = ""
    rise: str = ""
    fall: str = ""
    value: str = ""
    gain: str = ""
    offset: str = ""
    dead_band: str = ""
    backlash: str = ""
    slow_share: str = ""
    slow_time_constant: str = ""
    unlimited: tuple[float, float, float] = (0.0, 0.0, 0.0)
    shortest: float = 0.0
    rounding: tuple[float, float] = UP

    def terms(self) -> Iterator[Term]:
        """Its parameters as unknowns."""
        if self.dead_time:
            yield Term(self.dead_time, Kind.DEAD_TIME, 0.0, LONGEST_DEAD_TIME, scale=0.05, rounding=self.rounding)
        if self.time_constant:
            bounds = self.shortest, LONGEST_LAG
            yield Term(self.time_constant, Kind.TIME_CONSTANT, *bounds, scale=0.1, neutral=self.shortest)
        if self.gain:
            yield Term(self.gain, Kind.GAIN, *GAINS, scale=0.2, neutral=1.0)
        if self.offset:
            yield Term(self.offset, Kind.OFFSET, -1.0, 1.0, scale=0.05)
        if self.dead_band:
            yield Term(self.dead_band, Kind.DEAD_BAND, 0.0, 1.0, scale=0.05)
        if self.backlash:
            yield Term(self.backlash, Kind.BACKLASH, 0.0, 1.0, scale=0.05)
        if self.slow_share:
            yield Term(self.slow_share, Kind.SLOW, 0.0, LARGEST_SHARE, scale=0.1)
            slow = self.slow_time_constant
            yield Term(slow, Kind.SLOW, *SLOW_TIMES, scale=2.0, neutral=5.0, needs=self.slow_share)
        for name, unlimited in zip((self.rise, self.fall, self.value), self.unlimited, strict=True):
            if name:
                fallback = self.rise if name == self.fall else ""
                yield Term(name, Kind.LIMIT, unlimited=unlimited, neutral=math.inf, fallback=fallback)

    def named(self) -> dict[str, str]:
        """Its parameters, by their names in :data:`NUMBERS`."""
        return {number: name for number in NUMBERS if (name := getattr(self, number))}

    def without(self, names: Collection[str]) -> Actuation:
        """The same without these parameters."""
        removed: dict[str, Any] = dict.fromkeys(
            (number for number, name in dataclasses.asdict(self).items() if name in names), ""
        )
        return replace(self, **removed)


def actuations(parameters: ParameterGroup, *, wheels: bool = False) -> dict[str, Actuation]:
    """The actuators of a model: ``drive``, and ``steering`` if it has one; ``wheels`` with hub motors.

    The first group of each type is used, whatever its name. Limits of the whole body are those of ``body`` and
    ``turn``. A model without any of these groups has the parameters of Autoware's models.
    """
    actuators = {}
    if group := _group_of(parameters, DriveParameters):
        limits = {"rise": "max_acceleration", "fall": "max_deceleration", "value": "max_velocity"}
        actuators["drive"] = _in_group(group, "slow_share", "slow_time_constant", **limits)
    if group := _group_of(parameters, SteeringParameters):
        steering = _in_group(group, "backlash", rise="max_velocity", value="max_position")
        # With the drive on the fixed axle the steering cannot turn by 90 degrees.
        stop = 0.0 if getattr(parameters, "drive_on_steered_wheel", False) else 1.57
        actuators["steering"] = replace(steering, unlimited=(0.0, 0.0, stop))
    if isinstance(parameters, BodyLimits):
        actuators["body"] = Actuation(rise="max_linear_acceleration", value="max_linear_velocity")
        actuators["turn"] = Actuation(rise="max_angular_acceleration", value="max_angular_velocity")
    if actuators:
        if wheels:
            actuators["wheels"] = Actuation(value=WHEEL_LIMIT, unlimited=(0.0, 0.0, UNLIMITED))
        return actuators
    names = [field.name for field in dataclasses.fields(parameters)]
    prefix = next((prefix for prefix in ("vel", "acc", "accel") if f"{prefix}_time_delay" in names), "none")
    return {
        "drive": _autoware(names, prefix, "vel", UNLIMITED),
        "steering": _autoware(names, "steer", "steer", MAX_STEER_LIM),
    }


def _group_of(parameters: ParameterGroup, kind: type[ParameterGroup]) -> str:
    """The name of the first group of a kind; empty without one."""
    names = (field.name for field in dataclasses.fields(parameters))
    return next((name for name in names if isinstance(getattr(parameters, name), kind)), "")


def _autoware(names: Collection[str], lag: str, limit: str, unlimited: float) -> Actuation:
    """An actuator of Autoware's models, by the prefixes of its parameters; those not in ``names`` are left out."""
    numbers = f"{lag}_time_delay", f"{lag}_time_constant", f"{limit}_rate_lim", f"{limit}_lim"
    dead_time, time_constant, rise, value = (name if name in names else "" for name in numbers)
    limits = (UNLIMITED, UNLIMITED, unlimited)
    shortest = SHORTEST_TIME_CONSTANT
    return Actuation(dead_time, time_constant, rise, "", value, unlimited=limits, shortest=shortest, rounding=NEAREST)


def _in_group(group: str, *alike: str, **limits: str) -> Actuation:
    """An actuator of this package: its limits, and the parameters of its group."""
    alike = ("dead_time", "time_constant", "gain", "offset", "dead_band", *alike)
    names = {name: name for name in alike} | limits
    numbers: dict[str, Any] = {number: f"{group}.{name}" for number, name in names.items()}
    return Actuation(**numbers)


def other_parameters(parameters: ParameterGroup, taken: Sequence[str]) -> dict[str, Term]:
    """All other real parameters of a vehicle, by their names."""
    terms = {}
    for parameter in describe(parameters):
        if parameter.type == "double" and parameter.name not in (*taken, *SELECTED):
            # A bound of LARGEST is none. A positive parameter stays away from 0.
            low = max(parameter.minimum, 1e-3) if parameter.minimum > 0.0 else parameter.minimum
            low = -math.inf if low <= -LARGEST else low
            high = math.inf if parameter.maximum >= LARGEST else parameter.maximum
            value = value_of(parameters, parameter.name)
            scale = 0.2 * max(abs(value), 0.1)
            terms[parameter.name] = Term(parameter.name, Kind.PARAMETER, low, high, scale=scale, neutral=value)
    return terms


def with_numbers(parameters: ParameterGroup, numbers: Mapping[str, float]) -> ParameterGroup:
    """The same parameters with other numbers, by dotted names of at most two parts; ``name[k]`` is an entry of a list.

    The numbers are not checked, because that takes longer than the simulation of a vehicle.
    """
    changed = _copied(parameters)
    copied: set[str] = set()
    for name, value in numbers.items():
        group, dot, member = name.rpartition(".")
        if dot and group not in copied:
            object.__setattr__(changed, group, _copied(getattr(changed, group)))
            copied.add(group)
        owner = getattr(changed, group) if dot else changed
        member, point, index = member.removesuffix("]").partition("[")
        if point:
            values = list(getattr(owner, member))
            values[int(index)] = float(value)
            object.__setattr__(owner, member, tuple(values))
        else:
            object.__setattr__(owner, member, float(value))
    return changed


def _copied(group: ParameterGroup) -> ParameterGroup:
    """A copy with the same fields; ``copy.copy`` takes five times as long."""
    twin: ParameterGroup = object.__new__(type(group))
    for name in group.__dataclass_fields__:
        object.__setattr__(twin, name, getattr(group, name))
    return twin


def value_of(parameters: ParameterGroup, name: str) -> float:
    """A parameter by its dotted name."""
    return float(attrgetter(name)(parameters))


def coordinates(terms: Sequence[Term], values: Mapping[str, float]) -> Array:
    """The coordinates of all terms, from values by name."""
    return np.array([term.coordinate(values[term.name]) for term in terms])


def mask_of(terms: Sequence[Term], *kinds: Kind) -> NDArray[np.bool_]:
    """Whether each unknown is of one of these kinds."""
    return np.array([term.kind in kinds for term in terms], bool)


def index_of(terms: Sequence[Term], *kinds: Kind) -> NDArray[np.intp]:
    """Indices of the unknowns of these kinds."""
    return np.flatnonzero(mask_of(terms, *kinds))
