"""The parts of a vehicle model: parameters, the phases of a step, joints, actuators."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, partial
from pathlib import Path
from types import FunctionType
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

from vds_gz.core.errors import ArgumentError
from vds_gz.core.vehicle.command import Command, CommandKind, SteadyMotion


class StepCoefficients(Protocol):
    """The fields that the coefficients of every model have."""

    dt: float  # length of a step [s]
    base_link_offset: float  # from the reference point to base_link, along +x [m]


class MotionState(Protocol):
    """The fields that every state has besides its actuators: the motion of the reference point."""

    x: float  # x, y, heading: pose [m, m, rad]; the heading counts full turns
    y: float
    heading: float
    v_x: float  # v_x, v_y, yaw_rate: velocity in the vehicle's own axes [m/s, m/s, rad/s]
    v_y: float
    yaw_rate: float


P = TypeVar("P")
C = TypeVar("C", bound=StepCoefficients)
S = TypeVar("S", bound=MotionState)
K = TypeVar("K")


def no_references(c: object, s: object, u: Command) -> None:
    """Do nothing, for models that read their commands in every step."""


def stop_drives(c: object, s: Any, rest: float) -> None:
    """Stop the vehicle and every actuator in its state that has a method ``stop``, as drives have."""
    s.v_x = s.v_y = s.yaw_rate = 0.0
    _stop_actuators(s)


def _stop_actuators(s: Any) -> None:
    """Stop the actuators among the fields of a state, in its records and in its lists of records."""
    for field in fields(s):
        value = getattr(s, field.name)
        for record in value if isinstance(value, list) else [value]:
            if is_dataclass(record):
                getattr(record, "stop", partial(_stop_actuators, record))()


JointKind = Literal["steering", "wheel", "hitch"]


@dataclass(frozen=True, slots=True)
class Joint:
    """A joint of the vehicle, as on the graph and in Gazebo: a steering hinge, a rolling wheel or a trailer's hitch.

    Attributes:
        name: Its name.
        kind: What it is; all have angles [rad].
        passive: The body's motion turns it, so that no plant commands it, as a trailer's wheel. Hitches always are.
        numbers: Dotted names of the state's numbers that show it in recordings. Of a wheel: its rotation [rad] and the
            speed at which it rolls [m/s]. Of a hinge: its angle [rad]; by Ackermann's rule, the angles of the middle
            wheels of its own, of the front and of the rear axle. If empty, ``identify`` knows it by its name or not.
    """

    name: str
    kind: JointKind
    passive: bool = False
    numbers: tuple[str, ...] = ()

    @property
    def command(self) -> Literal["position", "velocity"] | None:
        """What a physics engine commands: the velocity of a wheel, the position of a steering hinge, or nothing."""
        if self.passive or self.kind == "hitch":
            return None
        return "position" if self.kind == "steering" else "velocity"


@dataclass(frozen=True, slots=True)
class JointStates:
    """Positions [rad] and velocities [rad/s] of all joints, in the model's order."""

    positions: Sequence[float]
    velocities: Sequence[float]

    def at_rest(self) -> JointStates:
        """The same positions, at rest."""
        return JointStates(self.positions, [0.0] * len(self.velocities))


ActuatorKind = Literal["drive", "steering"]


@dataclass(frozen=True, slots=True)
class Actuator:
    """An actuator of a model.

    Attributes:
        name: Its name.
        kind: A drive, whose reference is a velocity, or a steering, whose reference is an angle.
        feedback: The reference depends on the vehicle's state too, so it changes between commands.
    """

    name: str
    kind: ActuatorKind
    feedback: bool = False

    @property
    def unit(self) -> str:
        """Unit of its reference and its response."""
        return "rad" if self.kind == "steering" else "m/s"


class ActuatorState(NamedTuple):
    """The reference of an actuator, before its dead time, and its response. A tuple, because there are very many.

    A steering has positions [rad] and a velocity [rad/s], a drive velocities [m/s] and positions of 0.
    """

    reference_position: float
    reference_velocity: float
    position: float
    velocity: float

    def at_rest(self) -> ActuatorState:
        """The same positions, at rest."""
        return self._replace(reference_velocity=0.0, velocity=0.0)


@dataclass(frozen=True, slots=True)
class VehicleLimits:
    """Maximum speed [m/s] and steering angle [rad] of a vehicle; 0: unlimited, or not steered.

    ``rear_steering`` is that of the rear axle [rad] if both axles are steered; ``steering`` is then the front axle's.
    """

    speed: float
    steering: float = 0.0
    rear_steering: float = 0.0


@dataclass(frozen=True, slots=True)
class Wheel:
    """The position of a wheel in base_link [m], and whether the wheel is steered."""

    x: float
    y: float
    steered: bool = False


@dataclass(frozen=True, slots=True)
class VehicleGeometry:
    """The wheels of a vehicle.

    Attributes:
        wheels: All wheels.
        tire_diameter: Diameter of the wheels [m].
        wheel_base: Distance between the axles [m]; 0 with one axle.
        yaw_arm: Maximum wheel speed per yaw rate, of a vehicle that wheel speeds turn [m]; 0 if it steers.
        holonomic: The vehicle can move laterally.
        rear_ratio: Angle of the rear axle per angle of the front axle at an Ackermann command; 0 if one axle steers.
    """

    wheels: tuple[Wheel, ...]
    tire_diameter: float
    wheel_base: float = 0.0
    yaw_arm: float = 0.0
    holonomic: bool = False
    rear_ratio: float = 0.0

    @property
    def default_yaw_arm(self) -> float:
        """Speed per yaw rate of default commands [m]: the yaw arm, but at least half the wheel base; 0 if it steers.

        With rollers in an O the yaw arm may be small, so that slow wheels already turn the vehicle fast.
        """
        return max(self.yaw_arm, 0.5 * self.wheel_base) if self.yaw_arm else 0.0

    @property
    def signed_wheel_base(self) -> float:
        """Position of the steered axle from the fixed one, along +x [m]; 0 unless there are both."""
        steered, fixed = ([wheel.x for wheel in self.wheels if wheel.steered is turns] for turns in (True, False))
        return math.copysign(self.wheel_base, steered[0] - fixed[0]) if steered and fixed else 0.0


class MeasuredMotion(NamedTuple):
    """A motion as the vehicle's own sensors measure it: speed [m/s], steering angle [rad] and yaw rate [rad/s]."""

    speed: float
    steering_angle: float
    yaw_rate: float


def always(parameters: object) -> bool:
    """The vehicle publishes the report with any parameters."""
    return True


@dataclass(frozen=True, slots=True)
class Report:
    """A topic by which vehicles of a model report more than every vehicle does, at the rate of the other outputs.

    Attributes:
        topic: Its name, relative.
        type: The type of its messages, such as ``std_msgs/msg/Float64``.
        fields: The path of each number in a message, such as ``twist.linear.x``.
        numbers: (c, s, measured) -> these numbers, with a :class:`MeasuredMotion`.
        stamp: The path of a message's time; empty for messages without one.
        of_base: ``header.frame_id`` is the frame of base_link.
        depth: Messages that the topic keeps.
        variant: The value of ``actuation_messages`` that selects this one of several types of one topic, else empty.
        published: (parameters) -> whether the vehicle has the topic.
    """

    topic: str
    type: str
    fields: tuple[str, ...]
    numbers: Callable[[Any, Any, MeasuredMotion], Sequence[float]]
    stamp: str = "header.stamp"
    of_base: bool = False
    depth: int = 10
    variant: str = ""
    published: Callable[[Any], bool] = always


@dataclass(frozen=True)
class VehicleModel(Generic[P, C, S]):
    """A vehicle model of parameters ``P``, coefficients ``C`` and states ``S``: a description and pure functions.

    ``set_references`` runs for a new command, the functions of ``actuating`` and ``moving`` in every step. Every engine
    (interpreted, compiled, fleets in lanes or as structs) runs these functions. :func:`vds_gz.modelling.check` tests a
    model.

    Attributes:
        name: The name that ``model:`` selects.
        parameters: The parameter group under ``model_params.<name>``.
        accepts: The kinds of commands that the model understands.
        coefficients: (parameters, dt [s]) -> the object ``c`` of the other functions.
        at_rest: (c) -> a new state ``s``: standing still at the origin, no reference.
        at: (c, motion) -> a new state at the origin in a steady :class:`SteadyMotion`: all actuators have had the
            references of this motion for longer than their dead times.
        actuating: Functions (c, s, u), called one after the other. They advance the actuators by one step and set wheel
            speeds and body velocity, if ``wheels`` does not. They leave the pose as it is, because Gazebo may move the
            vehicle.
        moving: Functions (c, s, u), called after those. They turn the wheels and move the reference point by one step.
        wheels: Function (c, s, u), called after ``actuating`` if Gazebo moves the vehicle. It sets wheel speeds and
            body velocity in models in which ``moving`` sets them otherwise.
        resize: (c, s) fits the delay lines of a state to new coefficients.
        joints: (parameters) -> all joints.
        joint_states: (c, s) -> positions and velocities of the joints.
        actuators: All actuators, or a function (parameters) -> these; :meth:`actuators_of` gives them in both cases.
        actuator_states: (c, s) -> the reference and the response of each.
        limits: (parameters) -> maximum speed and steering angle.
        geometry: (parameters) -> the wheels.
        set_references: (c, s, u) sets in ``s`` the references, or goals, that follow from ``c`` and ``u`` alone.
            It is called at least once after a change of either, before the next step.
        lanes: The model can run in the lanes of a fleet (:mod:`vds_gz.tools.fleet`), where short loops are faster than
            a long one. Lists have equal lengths for all vehicles, except those that ``through_dead_time`` handles. Rate
            limits that pass a dead time must be the command's, infinite where the command's are. Other models run
            vehicle by vehicle. docs/extending.md has a table of what a step may not do.
        stop: (c, s, rest) stops the vehicle at an obstacle, ``rest`` seconds before the end of the last step. The
            drives stop too, and wheels turn back by what they rolled in this time.
        xacro: Drawing of the vehicle, for models of other packages.
        feels_slopes: The state has a field ``road_slope``, the acceleration by gravity along +x [m/s^2], which the user
            sets. It may have ``road_bank``, the same along +y, and ``road_friction``, the friction coefficient of the
            road.
        measured_steering: (c, s) -> the angle that the vehicle's own sensor of the steering measures [rad]. A vehicle
            with one has the noise of ``measurement_noise``.
        reports: The topics by which it reports more than every vehicle does.

    Raises:
        ArgumentError: A phase is not a plain function.
    """

    name: str
    parameters: type[P]
    accepts: frozenset[CommandKind]
    coefficients: Callable[[P, float], C]
    at_rest: Callable[[C], S]
    at: Callable[[C, SteadyMotion], S]
    actuating: tuple[Callable[[C, S, Command], None], ...]
    moving: tuple[Callable[[C, S, Command], None], ...]
    resize: Callable[[C, S], None]
    joints: Callable[[P], tuple[Joint, ...]]
    joint_states: Callable[[C, S], JointStates]
    actuators: tuple[Actuator, ...] | Callable[[P], tuple[Actuator, ...]]
    actuator_states: Callable[[C, S], tuple[ActuatorState, ...]]
    limits: Callable[[P], VehicleLimits]
    geometry: Callable[[P], VehicleGeometry]
    set_references: Callable[[C, S, Command], None] = no_references
    lanes: bool = False
    stop: Callable[[C, S, float], None] = stop_drives
    wheels: Callable[[C, S, Command], None] | None = None
    xacro: Path | None = None
    feels_slopes: bool = False
    measured_steering: Callable[[C, S], float] | None = None
    reports: tuple[Report, ...] = ()

    def __post_init__(self) -> None:
        for name, phases in (("actuating", self.actuating), ("moving", self.moving)):
            plain = isinstance(phases, tuple) and all(isinstance(phase, FunctionType) for phase in phases)
            if not (plain and phases):
                raise ArgumentError(
                    f"vehicle model '{self.name}': {name} is {phases!r}; it must be a tuple of at least one plain "
                    "function (c, s, u)"
                )

    def actuators_of(self, parameters: P) -> tuple[Actuator, ...]:
        """All actuators of a vehicle with these parameters."""
        return self.actuators(parameters) if callable(self.actuators) else self.actuators

    @property
    def phases(self) -> tuple[Callable[[C, S, Command], None], ...]:
        """``actuating`` and ``moving``."""
        return self.actuating + self.moving

    @property
    def step(self) -> Callable[[C, S, Command], None]:
        """(c, s, u): all phases, one after the other."""
        return in_turn(self.phases)

    @property
    def actuate(self) -> Callable[[C, S, Command], None]:
        """(c, s, u): the phases that do not move the vehicle, for when Gazebo does."""
        return in_turn(self.actuating if self.wheels is None else (*self.actuating, self.wheels))


def extended(parent: Any, kind: Callable[..., K], **more: object) -> K:
    """An object of a subclass of a dataclass, with the fields of an object of the parent class.

    Args:
        parent: An object of the parent class.
        kind: The subclass.
        more: The fields that the subclass adds.
    """
    return kind(**{field.name: getattr(parent, field.name) for field in fields(parent)}, **more)


@cache
def in_turn(phases: tuple[Callable[..., None], ...]) -> Callable[..., None]:
    """One function (c, s, u) that calls several one after the other.

    The phases are a variable of the enclosing function, so the loop compiles to one call after the other.
    """
    if len(phases) == 1:
        return phases[0]

    def step(c: object, s: object, u: Command) -> None:
        for phase in phases:
            phase(c, s, u)

    return step


#: A model that is chosen by name at run time, so type checkers do not know its classes.
AnyModel: TypeAlias = VehicleModel[Any, Any, Any]
