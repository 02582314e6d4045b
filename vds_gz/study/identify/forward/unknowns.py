"""What can be found of a vehicle model: which of its parameters are dead times, lags, limits or geometry, in which
bounds, and what else lies between a command and what a sensor reads."""

from __future__ import annotations

import copy
import dataclasses
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from vds_gz.parameters.actuators import MAX_DEAD_TIME
from vds_gz.parameters.autoware import MAX_STEER_LIM
from vds_gz.parameters.declaration import LARGEST, Description, ParameterGroup, describe
from vds_gz.study.identify.estimates import Array
from vds_gz.vehicle.autoware.models import SHORTEST_TIME_CONSTANT

#: A limit beyond this is none [m/s, m/s^2, rad/s, rad].
NO_LIMIT = 1e5

#: What stands for a limit where there is none.
UNLIMITED = 1e6

#: The least limit that is looked for.
LEAST_LIMIT = 1e-4

#: Maximum speed of every driven wheel, a parameter of vehicles with hub motors.
WHEEL_LIMIT = "max_wheel_velocity"

#: Dead times are rounded to steps; what comes to the same is up to so many steps shorter and longer.
UP, NEAREST = (1.0, 0.0), (0.5, 0.5)

#: Gains stay within these.
GAINS = 0.2, 5.0


class Kind(Enum):
    """What an unknown does, and so how its derivative is taken."""

    DEAD_TIME = "dead time"
    TIME_CONSTANT = "time constant"
    LIMIT = "limit"
    #: Another parameter of the vehicle.
    PARAMETER = "parameter"
    #: A factor of a commanded quantity, and what is added to the commanded steering [rad].
    GAIN = "gain"
    COMMAND_OFFSET = "command offset"
    #: How far the wheels of a side roll for each metre that they should.
    WHEEL_GAIN = "wheel gain"
    #: What a sensor reads too much, and how late it reads [s].
    OFFSET = "offset"
    LATENCY = "latency"


@dataclass(frozen=True, slots=True)
class Unknown:
    """A number that is looked for.

    Attributes:
        name: Below ``model_params.<model>.`` for parameters, else words.
        kind: What it does.
        lowest, highest: Bounds.
        unlimited: Of a limit: the parameter's value where it is not met.
        target: Of a gain or a command's offset, the field of :class:`~vds_gz.fleet.sampled.Calibrations`; of a wheel's
            gain, that of :class:`~vds_gz.study.identify.forward.measurements.Geometry`.
        channel: Of an offset, index of the sensor.
        channels: Of a latency, the indices of all that one source gives.
        scale: A change of the coordinate in which the model is nearly linear.
        rounding: Of a dead time: those up to so many steps shorter and longer come to the same number of steps.
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

    @property
    def is_parameter(self) -> bool:
        """It is one of the vehicle's parameters."""
        return self.kind in (Kind.DEAD_TIME, Kind.TIME_CONSTANT, Kind.LIMIT, Kind.PARAMETER)

    @property
    def moves_vehicle(self) -> bool:
        """The vehicle's motion depends on it, not only what a sensor reads."""
        return self.kind not in (Kind.OFFSET, Kind.LATENCY)

    def coordinate(self, value: float) -> float:
        """Where a value lies on the axis on which it is looked for: limits are by their logarithm."""
        if self.kind is Kind.LIMIT:
            return math.log(value if LEAST_LIMIT <= value < NO_LIMIT else UNLIMITED)
        return value

    def value(self, coordinate: float) -> float:
        """The value at a coordinate."""
        return math.exp(coordinate) if self.kind is Kind.LIMIT else coordinate

    def parameter(self, coordinate: float) -> float:
        """The value that a vehicle has as its parameter."""
        value = self.value(coordinate)
        beyond = value >= NO_LIMIT or 0.0 < self.unlimited < value
        return self.unlimited if self.kind is Kind.LIMIT and beyond else value

    @property
    def bounds(self) -> tuple[float, float]:
        """Of the coordinate."""
        if self.kind is Kind.LIMIT:
            return math.log(LEAST_LIMIT), math.log(2.0 * UNLIMITED)
        return self.lowest, self.highest


@dataclass(frozen=True, slots=True)
class Actuation:
    """The numbers of an actuator: names of parameters, empty where it has no such number.

    Attributes:
        dead_time, time_constant: [s].
        rise, fall: Limits of the rate of change away from and towards zero; one for both where ``fall`` is empty.
        value: Limit of the value.
        unlimited: Values that mean none: of ``rise``, ``fall`` and ``value``.
        shortest: No time constant acts that is shorter [s].
        rounding: Of dead times, to steps: up, or to the nearest.
    """

    dead_time: str = ""
    time_constant: str = ""
    rise: str = ""
    fall: str = ""
    value: str = ""
    unlimited: tuple[float, float, float] = (0.0, UNLIMITED, 0.0)
    shortest: float = 0.0
    rounding: tuple[float, float] = UP

    def unknowns(self) -> Iterator[Unknown]:
        """Its numbers."""
        if self.dead_time:
            yield Unknown(self.dead_time, Kind.DEAD_TIME, 0.0, MAX_DEAD_TIME, scale=0.05, rounding=self.rounding)
        if self.time_constant:
            yield Unknown(self.time_constant, Kind.TIME_CONSTANT, self.shortest, 60.0, scale=0.1)
        for name, unlimited in zip((self.rise, self.fall, self.value), self.unlimited, strict=True):
            if name:
                yield Unknown(name, Kind.LIMIT, unlimited=unlimited)

    def named(self) -> dict[str, str]:
        """The parameters by the names that the numbers of an axis have."""
        numbers = ("dead_time", "time_constant", "rise", "fall", "value")
        return {number: name for number in numbers if (name := getattr(self, number))}


def drive(group: str) -> Actuation:
    """A drive of a model of this package, by the name of its group."""
    return Actuation(
        f"{group}.dead_time",
        f"{group}.time_constant",
        f"{group}.max_acceleration",
        f"{group}.max_deceleration",
        f"{group}.max_velocity",
    )


def actuations(parameters: ParameterGroup, *, wheels: bool = False) -> dict[str, Actuation]:
    """The actuators of a model: ``drive``, and ``steering`` where it has one.

    Args:
        parameters: Of a vehicle.
        wheels: Its wheels have motors of their own, ``wheels``.
    """
    names = {field.name for field in dataclasses.fields(parameters)}  # type: ignore[arg-type]
    if "drive_actuators" in names:
        return {"drive": drive("drive_actuators")}
    if "drive_actuator" in names:
        group = "steering_actuator"
        # With the drive on the fixed axle the steering cannot turn by 90 degrees.
        stop = 0.0 if getattr(parameters, "drive_on_steered_wheel", False) else 1.57
        steering = Actuation(
            f"{group}.dead_time",
            f"{group}.time_constant",
            f"{group}.max_velocity",
            "",
            f"{group}.max_position",
            (0.0, 0.0, stop),
        )
        found = {"drive": drive("drive_actuator"), "steering": steering}
        if wheels:
            found["wheels"] = Actuation(value=WHEEL_LIMIT, unlimited=(0.0, 0.0, UNLIMITED))
        return found
    kind = next((one for one in ("vel", "acc", "accel") if f"{one}_time_delay" in names), "none")
    return {
        "drive": _autoware(names, f"{kind}_time_delay", f"{kind}_time_constant", "vel_rate_lim", "vel_lim", UNLIMITED),
        "steering": _autoware(
            names, "steer_time_delay", "steer_time_constant", "steer_rate_lim", "steer_lim", MAX_STEER_LIM
        ),
    }


def _autoware(
    names: Collection[str], dead_time: str, time_constant: str, rate: str, value: str, unlimited: float
) -> Actuation:
    """An actuator of Autoware's, as far as its numbers are among the names."""
    dead_time, time_constant, rate, value = (
        one if one in names else "" for one in (dead_time, time_constant, rate, value)
    )
    limits = (UNLIMITED, UNLIMITED, unlimited)
    return Actuation(dead_time, time_constant, rate, "", value, limits, SHORTEST_TIME_CONSTANT, NEAREST)


def other_parameters(parameters: ParameterGroup, taken: Sequence[str]) -> dict[str, Unknown]:
    """All other real parameters of a vehicle, by their names."""
    found = {}
    for one in describe(parameters):
        if one.type == "double" and one.name not in taken:
            low, high = _bounds(one)
            scale = 0.2 * max(abs(value_of(parameters, one.name)), 0.1)
            found[one.name] = Unknown(one.name, Kind.PARAMETER, low, high, scale=scale)
    return found


def _bounds(one: Description) -> tuple[float, float]:
    """Of a parameter; one that is greater than 0 stays clear of it."""
    low = max(one.minimum, 1e-3) if one.minimum > 0.0 else one.minimum
    # Bounds that every number has are no knowledge of this one.
    return (-math.inf if low <= -LARGEST else low), (math.inf if one.maximum >= LARGEST else one.maximum)


def with_numbers(parameters: ParameterGroup, numbers: Mapping[str, float]) -> ParameterGroup:
    """The same parameters with other numbers, by dotted names of at most two parts.

    The numbers are not checked, which would take longer than to simulate a vehicle: unknowns stay in bounds of their
    own.
    """
    changed = copy.copy(parameters)
    copied: set[str] = set()
    for name, value in numbers.items():
        group, dot, member = name.rpartition(".")
        if dot and group not in copied:
            object.__setattr__(changed, group, copy.copy(getattr(changed, group)))
            copied.add(group)
        object.__setattr__(getattr(changed, group) if dot else changed, member, float(value))
    return changed


def value_of(parameters: ParameterGroup, name: str) -> float:
    """A parameter by its dotted name."""
    return float(attrgetter(name)(parameters))


def coordinates(unknowns: Sequence[Unknown], values: Mapping[str, float]) -> Array:
    """A point, of values by name."""
    return np.array([one.coordinate(values[one.name]) for one in unknowns])


def index_of(unknowns: Sequence[Unknown], *kinds: Kind) -> NDArray[np.intp]:
    """Which unknowns are of some kinds."""
    return np.array([k for k, one in enumerate(unknowns) if one.kind in kinds], np.intp)
