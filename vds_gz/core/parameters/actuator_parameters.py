"""Parameters of the actuators, and limits of the body."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from types import MappingProxyType

from vds_gz.core.parameters.declaration import LARGEST, ParameterError, ParameterGroup, real, reals

#: Maximum dead time [s]. A delay line holds one value per step, so this bounds memory.
MAX_DEAD_TIME = 60.0

#: Maximum dead band and offset of a drive [m/s], and maximum limit of a body [m/s, rad/s]: above any wheeled vehicle.
MAX_SPEED = 1000.0

#: Maximum gain of an actuator; references may be in other units, such as a throttle.
MAX_GAIN = 1000.0

#: Maximum number of points of a static map.
MAP_POINTS = 8


def _live(default: float, unit: str, doc: str, maximum: float = LARGEST, *, minimum: float = 0.0) -> float:
    """A number, by default at least 0, that may change while the node runs."""
    return real(default, unit, doc, minimum=minimum, maximum=maximum, live=True)


#: Commanded quantities that move a steering; a twist moves it by its yaw rate.
STEERED_BY = ("steering", "yaw_rate")


@dataclass(frozen=True)
class ActuatorStages:
    """The parameters of an actuator by stage, for identification.

    A parameter group whose actuators are not groups of :class:`DriveParameters` and :class:`SteeringParameters` returns
    them from a method ``identified_actuators()``, by names that reports show. Several steerings have the names of the
    model's actuators.

    Attributes:
        names: Dotted names of parameters by stage: ``dead_time``, ``time_constant``, ``gain``, ``offset``, ``rise``,
            ``fall``, ``value`` ... ``rise`` and ``fall`` limit the rate of change away from and towards zero, ``rise``
            both without ``fall``.
        unlimited: Values of limits that mean no limit, by stage; 0 of others.
        shortest: Shorter time constants act as this one [s].
        nearest: Dead times are rounded to the nearest step, not up.
        follows: The commanded quantities that move it. Those of a steering include ``steering``. A limit of the body
            follows one velocity.
        each_wheel: It limits the speed of every wheel, as hub motors do. It is identified where it is asked for, or
            the vehicle has such a limit.
        command: The field of commands that it follows; empty: the speed, or the steering angle.
        group: The group of :class:`DriveParameters` or :class:`SteeringParameters` with its parameters, in place of
            ``names`` and ``unlimited``.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    unlimited: Mapping[str, float] = field(default_factory=dict)
    shortest: float = 0.0
    nearest: bool = False
    follows: tuple[str, ...] = ("v_x", "v_y", "yaw_rate")
    each_wheel: bool = False
    command: str = ""
    group: str = ""

    def __getitem__(self, stage: str) -> str:
        """The parameter of a stage; empty without one."""
        return self.names.get(stage, "")

    @property
    def steers(self) -> bool:
        """Whether its value is the angle of a steering."""
        return "steering" in self.follows

    @property
    def limited_velocity(self) -> str:
        """The commanded velocity of the body that it limits; empty if it is no limit of the body."""
        return self.follows[0] if len(self.follows) == 1 and not self.steers else ""

    @property
    def drives(self) -> bool:
        """Whether it is a drive: its value is a speed that moves the vehicle."""
        return not (self.steers or self.limited_velocity or self.each_wheel)

    def without(self, parameters: Collection[str]) -> ActuatorStages:
        """The same without some parameters."""
        return replace(self, names={stage: name for stage, name in self.names.items() if name not in parameters})


#: A limit of wheels that no vehicle meets [m/s]. With 0 a model may leave out their speeds, and others keep them.
NO_WHEEL_LIMIT = 1e6

#: The limit of wheels with hub motors.
HUB_MOTORS = ActuatorStages({"value": "max_wheel_velocity"}, {"value": NO_WHEEL_LIMIT}, each_wheel=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticMapParameters(ParameterGroup):
    """The response of an actuator in steady state: a static map of the reference, then a gain."""

    gain: float = real(1.0, "-", "response per reference, in steady state", positive=True, maximum=MAX_GAIN, live=True)
    map_references: tuple[float, ...] = reals(
        (), "", "points of a static map before the gain: rising references; empty: no map", most=MAP_POINTS, live=True
    )
    map_responses: tuple[float, ...] = reals(
        (), "", "points of the static map: response to each of map_references", most=MAP_POINTS, live=True
    )

    def check_together(self) -> None:
        """Refuse points that do not form a map."""
        references, responses = self.map_references, self.map_responses
        if len(references) != len(responses) or len(references) == 1:
            raise ParameterError(
                f"parameters 'map_references' and 'map_responses' have {len(references)} and {len(responses)} numbers; "
                "they must have equally many, at least 2, or none"
            )
        if any(after <= before for before, after in pairwise(references)):
            raise ParameterError(f"parameter 'map_references' is {list(references)}; it must rise from point to point")


@dataclass(frozen=True, slots=True)
class DriveParameters(StaticMapParameters):
    """A velocity-controlled drive."""

    #: Parameters that do not have the name of their stage.
    STAGES = MappingProxyType({"rise": "max_acceleration", "fall": "max_deceleration", "value": "max_velocity"})

    dead_time: float = _live(0.2, "s", "time until a new reference begins to act", MAX_DEAD_TIME)
    time_constant: float = _live(0.4, "s", "time constant of the first-order lag; 0: no lag")
    max_velocity: float = _live(2.0, "m/s", "maximum speed of the drive; 0: unlimited")
    max_acceleration: float = _live(2.0, "m/s^2", "maximum change of speed away from standstill; 0: unlimited")
    max_deceleration: float = _live(0.0, "m/s^2", "maximum change of speed towards standstill; 0: as max_acceleration")
    dead_band: float = _live(0.0, "m/s", "references of smaller magnitude count as 0", MAX_SPEED)
    offset: float = _live(0.0, "m/s", "speed at reference 0, such as creep", MAX_SPEED, minimum=-MAX_SPEED)
    slow_share: float = _live(
        0.0, "-", "fraction of the response that arrives slowly, as from a controller's integral term; 0: none", 1.0
    )
    slow_time_constant: float = real(5.0, "s", "time constant of the slow fraction", positive=True, live=True)


@dataclass(frozen=True, slots=True)
class SteeringParameters(StaticMapParameters):
    """A position-controlled steering."""

    STAGES = MappingProxyType({"rise": "max_velocity", "value": "max_position"})

    dead_time: float = _live(0.2, "s", "time until a new reference begins to act", MAX_DEAD_TIME)
    time_constant: float = _live(0.05, "s", "time constant of the first-order lag; 0: no lag")
    max_velocity: float = _live(2.0, "rad/s", "maximum steering rate; 0: unlimited")
    max_position: float = _live(math.pi / 6, "rad", "maximum steering angle; 0: turns all the way round")
    dead_band: float = _live(0.0, "rad", "references of smaller magnitude count as 0", math.pi)
    offset: float = _live(0.0, "rad", "angle at reference 0", math.pi, minimum=-math.pi)
    backlash: float = _live(0.0, "rad", "play between the actuator and the wheel", math.pi)


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyLimits(ParameterGroup):
    """Limits that a robot's controller applies to commands before it splits them into wheel speeds."""

    max_linear_velocity: float = _live(0.0, "m/s", "maximum commanded speed; 0: unlimited", MAX_SPEED)
    max_linear_acceleration: float = _live(0.0, "m/s^2", "maximum change of the commanded speed; 0: unlimited")
    max_angular_velocity: float = _live(0.0, "rad/s", "maximum commanded yaw rate; 0: unlimited", MAX_SPEED)
    max_angular_acceleration: float = _live(0.0, "rad/s^2", "maximum change of the commanded yaw rate; 0: unlimited")

    def identified_actuators(self) -> Mapping[str, ActuatorStages]:
        """The limits as actuators."""
        return {
            "body": ActuatorStages(
                {"rise": "max_linear_acceleration", "value": "max_linear_velocity"}, follows=("v_x",)
            ),
            "turn": ActuatorStages(
                {"rise": "max_angular_acceleration", "value": "max_angular_velocity"}, follows=("yaw_rate",)
            ),
        }
