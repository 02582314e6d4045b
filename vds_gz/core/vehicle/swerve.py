"""Swerve drive: modules, wheels that each steer and drive. The reference point is the origin of their positions.

A command sets the direction and the speed of each module to those of its position on the body. The body then moves
with the velocity that fits the actual velocities of all wheels by least squares. The scrub is the root mean square of
the residual, the speed at which the wheels slip.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from vds_gz.core.parameters.vehicles import SwerveParameters
from vds_gz.core.vehicle import actuators, body_limits
from vds_gz.core.vehicle.actuators import travel
from vds_gz.core.vehicle.command import TWIST, Command, SteadyMotion
from vds_gz.core.vehicle.trailers import (
    HITCH_AT_LIMIT,
    TrailerCoefficients,
    TrailerState,
    pull,
    set_steady,
    stop_trailers,
    trailer_coefficients,
    trailer_joints,
    trailers_at_rest,
    with_trailers,
)
from vds_gz.core.vehicle.trigonometry import direction, integrate_pose, sine_cosine
from vds_gz.core.vehicle.vehicle_model import (
    Actuator,
    ActuatorState,
    Joint,
    JointStates,
    MeasuredMotion,
    Report,
    VehicleGeometry,
    VehicleModel,
    Wheel,
    stop_drives,
)

#: Below this speed a wheel has no direction [m/s].
STANDSTILL = 1e-12

TURN = 2.0 * math.pi


@dataclass(slots=True)
class ModuleCoefficients:
    """Position of a module from the reference point and from the middle of all modules [m], angle at standstill [rad].

    The middle is the mean of all positions.
    """

    x: float
    y: float
    arm_x: float
    arm_y: float
    standstill_angle: float


@dataclass(slots=True)
class ModuleState:
    """Actuators of a module, rotation of its wheel [rad], and its references: direction [rad] and speed [m/s]."""

    drive: actuators.DriveState
    steering: actuators.SteeringState
    roll: float = 0.0
    direction_reference: float = 0.0
    speed_reference: float = 0.0


@dataclass(slots=True)
class SwerveCoefficients:
    """Geometry, modules and their actuators, prepared for steps of ``dt`` seconds."""

    dt: float
    base_link_offset: float
    middle_x: float  # mean position of the modules [m]
    middle_y: float
    square_arms: float  # sum of the squares of the modules' distances from the middle [m^2]
    wheel_radius: float
    optimize: bool
    cosine_scaling: bool
    holds: bool  # modules keep their direction at standstill
    body: body_limits.BodyLimitCoefficients
    drive: actuators.DriveCoefficients
    steering: actuators.SteeringCoefficients
    modules: list[ModuleCoefficients]
    trailers: list[TrailerCoefficients]


@dataclass(slots=True)
class SwerveState:
    """Modules, motion of the reference point, references of the body."""

    modules: list[ModuleState]
    x: float = 0.0
    y: float = 0.0
    heading: float = 0.0
    v_x: float = 0.0
    v_y: float = 0.0
    yaw_rate: float = 0.0
    body: body_limits.BodyReferences = field(default_factory=body_limits.BodyReferences)
    trailers: list[TrailerState] = field(default_factory=list)


def coefficients(p: SwerveParameters, dt: float) -> SwerveCoefficients:
    """Coefficients for steps of ``dt`` seconds."""
    middle_x, middle_y = _middle(p)
    crosses = p.at_standstill == "cross"
    modules = []
    for x, y in _places(p):
        arm_x, arm_y = x - middle_x, y - middle_y
        modules.append(ModuleCoefficients(x, y, arm_x, arm_y, direction(arm_y, arm_x) if crosses else 0.0))
    return SwerveCoefficients(
        dt=dt,
        base_link_offset=p.base_link_offset,
        middle_x=middle_x,
        middle_y=middle_y,
        square_arms=sum(module.arm_x * module.arm_x + module.arm_y * module.arm_y for module in modules),
        wheel_radius=p.tire_diameter / 2.0,
        optimize=p.optimize,
        cosine_scaling=p.cosine_scaling,
        holds=p.at_standstill == "hold",
        body=body_limits.body_limit_coefficients(p, dt),
        drive=actuators.drive_coefficients(p.drive_actuators, dt),
        steering=actuators.steering_coefficients(p.steering_actuators, dt),
        modules=modules,
        trailers=trailer_coefficients(p),
    )


def at_rest(c: SwerveCoefficients) -> SwerveState:
    """A vehicle that stands at the origin."""
    return SwerveState(
        [ModuleState(actuators.drive_at_rest(c.drive), actuators.steering_at_rest(c.steering)) for _ in c.modules],
        trailers=trailers_at_rest(c),
    )


def at(c: SwerveCoefficients, motion: SteadyMotion) -> SwerveState:
    """A vehicle in steady state at the origin, with the angles that it takes from rest."""
    s = at_rest(c)
    s.body = body_limits.body_references_at(motion.v_x, motion.v_y, motion.yaw_rate)
    point_modules(c, s)
    requested = at_rest(c)  # a vehicle whose wheels do what the actuators are asked for
    for module, wheel in zip(s.modules, requested.modules, strict=True):
        angle, speed = references(c, module)
        module.drive = actuators.drive_at(c.drive, speed)
        module.steering = actuators.steering_at(c.steering, angle)
        module.speed_reference = wheel.drive.velocity = actuators.newest_reference(c.drive, module.drive)
        module.direction_reference = wheel.steering.angle = actuators.newest_reference(c.steering, module.steering)
    set_velocities(c, s, Command())
    set_steady(c, s)
    set_velocities(c, requested, Command())
    v_y = requested.v_y + c.base_link_offset * requested.yaw_rate
    s.body = body_limits.body_references_at(requested.v_x, v_y, requested.yaw_rate)
    return s


# ---------------------------------------------------------------------- from the command to the modules


def set_references(c: SwerveCoefficients, s: SwerveState, u: Command) -> None:
    """Set the body's goals, and the references of all modules if no acceleration of the body is limited."""
    body_limits.limit_velocity(c.body, s.body, u.v_x, u.v_y, u.yaw_rate)
    if not c.body.ramps:
        split(c, s)


def split(c: SwerveCoefficients, s: SwerveState) -> None:
    """Set the references of all modules from the body's.

    If a wheel would exceed the maximum velocity, all are scaled by one factor, which keeps the direction of the body.
    """
    fastest = point_modules(c, s)
    if fastest > c.drive.max_reference:
        scale = c.drive.max_reference / fastest
        for k in range(len(c.modules)):
            s.modules[k].speed_reference *= scale
    if fastest <= STANDSTILL and not c.holds:
        for k in range(len(c.modules)):
            s.modules[k].direction_reference = c.modules[k].standstill_angle


def point_modules(c: SwerveCoefficients, s: SwerveState) -> float:
    """Set direction and speed of all modules from the body's references, and return the highest speed [m/s].

    A module without a speed keeps its direction.
    """
    yaw_rate = s.body.yaw_rate
    v_x = s.body.v_x
    v_y = s.body.v_y - c.base_link_offset * yaw_rate
    fastest = 0.0
    for k in range(len(c.modules)):
        wheel_x = v_x - yaw_rate * c.modules[k].y
        wheel_y = v_y + yaw_rate * c.modules[k].x
        speed = math.sqrt(wheel_x * wheel_x + wheel_y * wheel_y)
        if speed > STANDSTILL:
            s.modules[k].direction_reference = direction(wheel_y, wheel_x)
        s.modules[k].speed_reference = speed
        fastest = max(fastest, speed)
    return fastest


def references(c: SwerveCoefficients, s: ModuleState) -> tuple[float, float]:
    """The references of a module's steering [rad] and drive [m/s], which depend on where the steering is now.

    Two angles, half a turn apart, give the direction; the second one needs the drive reversed. The angle within the
    stops, or less far beyond them, is the reference. If neither is better, the nearer one is, or the first without
    optimization.
    """
    position = s.steering.angle - s.steering.slack
    angle = s.direction_reference
    opposite = angle - math.pi if angle > 0.0 else angle + math.pi
    if not c.steering.turns_round:
        angle = between_stops(c.steering, angle, position)
        opposite = between_stops(c.steering, opposite, position)
    cost = max(0.0, abs(angle) - c.steering.max_position)
    opposite_cost = max(0.0, abs(opposite) - c.steering.max_position)
    if c.optimize and cost == opposite_cost:
        cost = travel(c.steering, position, angle)
        opposite_cost = travel(c.steering, position, opposite)
    speed = s.speed_reference
    if cost > opposite_cost:
        angle = opposite
        speed = -speed
    return angle, speed


def between_stops(c: actuators.SteeringCoefficients, angle: float, position: float) -> float:
    """The same direction, in the turn nearest to a position, or in the next one if it is less far beyond a stop."""
    angle += TURN * math.floor((position - angle) / TURN + 0.5)
    if abs(angle) > c.max_position:
        other = angle - TURN if angle > 0.0 else angle + TURN
        if abs(other) < abs(angle):
            return other
    return angle


# ---------------------------------------------------------------------- a step


def follow(c: SwerveCoefficients, s: SwerveState, u: Command) -> None:
    """Advance all modules by one step."""
    if c.body.ramps:
        body_limits.limit_acceleration(c.body, s.body)
        split(c, s)
    for k in range(len(c.modules)):
        follow_module(c, s.modules[k], u)


def follow_module(c: SwerveCoefficients, s: ModuleState, u: Command) -> None:
    """Advance the actuators of a module by one step; a drive may wait for its steering."""
    angle, speed = references(c, s)
    if c.cosine_scaling:
        speed *= sine_cosine(angle - s.steering.angle)[1]
    actuators.step_drive(c.drive, s.drive, speed, u.acceleration)
    actuators.step_steering(c.steering, s.steering, angle, u.steering_rate)


def set_velocities(c: SwerveCoefficients, s: SwerveState, u: Command) -> None:
    """Set the velocity of the reference point that fits all wheels by least squares.

    About the middle of the modules, the columns of the system are orthogonal, so each component is a projection.
    """
    sum_x = 0.0
    sum_y = 0.0
    moment = 0.0
    for k in range(len(c.modules)):
        sine, cosine = sine_cosine(s.modules[k].steering.angle)
        wheel_x = s.modules[k].drive.velocity * cosine
        wheel_y = s.modules[k].drive.velocity * sine
        sum_x += wheel_x
        sum_y += wheel_y
        moment += c.modules[k].arm_x * wheel_y - c.modules[k].arm_y * wheel_x
    s.yaw_rate = moment / c.square_arms
    s.v_x = sum_x / len(c.modules) + s.yaw_rate * c.middle_y
    s.v_y = sum_y / len(c.modules) - s.yaw_rate * c.middle_x


def move(c: SwerveCoefficients, s: SwerveState, u: Command) -> None:
    """Roll all wheels and move the reference point by one step, up to the limit of a hitch."""
    rest = pull(c, s, s.v_x, s.v_y, s.yaw_rate)
    roll_wheels(c, s, c.dt - rest)
    integrate_pose(s, c.dt - rest)
    if rest > 0.0:
        for k in range(len(c.modules)):
            s.modules[k].drive.velocity = 0.0
        s.v_x = s.v_y = s.yaw_rate = 0.0
        s.body.v_x = s.body.v_y = s.body.yaw_rate = 0.0


def roll_wheels(c: SwerveCoefficients, s: SwerveState, dt: float) -> None:
    """Roll all wheels for ``dt`` seconds at their present speed."""
    roll = dt / c.wheel_radius
    for k in range(len(c.modules)):
        s.modules[k].roll += s.modules[k].drive.velocity * roll


def stop(c: SwerveCoefficients, s: SwerveState, rest: float) -> None:
    """Stop all drives and wheels ``rest`` seconds before the end of a step; the steerings continue."""
    roll_wheels(c, s, -rest)
    stop_trailers(c, s, rest)
    stop_drives(c, s, rest)


def resize(c: SwerveCoefficients, s: SwerveState) -> None:
    """Fit the delay lines to new dead times."""
    for module in s.modules:
        actuators.fit_lines(module.drive, c.drive.delay_steps)
        actuators.fit_lines(module.steering, c.steering.delay_steps)


# ---------------------------------------------------------------------- what a vehicle shows


def module_names(p: SwerveParameters) -> tuple[str, ...]:
    """The names of the modules: their corners if each corner has one, else their numbers from 1.

    Corners are relative to the middle of the modules.
    """
    middle_x, middle_y = _middle(p)
    corners = tuple(
        f"{'front' if x > middle_x else 'rear'}_{'left' if y > middle_y else 'right'}" for x, y in _places(p)
    )
    if len(corners) == len(set(corners)) == 4:
        return corners
    return tuple(str(number) for number in range(1, len(corners) + 1))


def joints(p: SwerveParameters) -> tuple[Joint, ...]:
    """All steering hinges, then all wheels, then the joints of the trailers."""
    names = module_names(p)
    hinges, wheels = [], []
    for k, name in enumerate(names):
        module = f"modules[{k}]"
        hinges.append(Joint(f"steering_{name}", "steering", numbers=(f"{module}.steering.angle",)))
        wheels.append(Joint(f"wheel_{name}_joint", "wheel", numbers=(f"{module}.roll", f"{module}.drive.velocity")))
    return (*hinges, *wheels, *trailer_joints(p))


def joint_states(c: SwerveCoefficients, s: SwerveState) -> JointStates:
    """Positions and velocities of the joints."""
    positions = [module.steering.angle for module in s.modules] + [module.roll for module in s.modules]
    velocities = [module.steering.rate for module in s.modules]
    velocities += [module.drive.velocity / c.wheel_radius for module in s.modules]
    return with_trailers(c, s, JointStates(positions, velocities))


def actuators_of(p: SwerveParameters) -> tuple[Actuator, ...]:
    """All drives, then all steerings."""
    names = module_names(p)
    return (
        *(Actuator(f"drive_{name}", "drive", feedback=p.cosine_scaling) for name in names),
        *(Actuator(f"steering_{name}", "steering") for name in names),
    )


def actuator_states(c: SwerveCoefficients, s: SwerveState) -> tuple[ActuatorState, ...]:
    """References and responses of all drives and steerings."""
    return (
        *(actuators.drive_report(c.drive, module.drive) for module in s.modules),
        *(actuators.steering_report(c.steering, module.steering) for module in s.modules),
    )


def geometry(p: SwerveParameters) -> VehicleGeometry:
    """The wheels of all modules."""
    wheels = tuple(Wheel(x - p.base_link_offset, y, steered=True) for x, y in _places(p))
    yaw_arm = max(math.hypot(wheel.x, wheel.y) for wheel in wheels)
    return VehicleGeometry(wheels, p.tire_diameter, max(p.module_x) - min(p.module_x), yaw_arm, holonomic=True)


def scrub(c: SwerveCoefficients, s: SwerveState) -> float:
    """Root mean square of the speeds at which the wheels slip [m/s]; 0 if all wheels agree."""
    squares = 0.0
    for module, place in zip(s.modules, c.modules, strict=True):
        sine, cosine = sine_cosine(module.steering.angle)
        slip_x = module.drive.velocity * cosine - (s.v_x - s.yaw_rate * place.y)
        slip_y = module.drive.velocity * sine - (s.v_y + s.yaw_rate * place.x)
        squares += slip_x * slip_x + slip_y * slip_y
    return math.sqrt(squares / len(c.modules))


def _scrub(c: SwerveCoefficients, s: SwerveState, measured: MeasuredMotion) -> Sequence[float]:
    return (scrub(c, s),)


def _places(p: SwerveParameters) -> tuple[tuple[float, float], ...]:
    return tuple(zip(p.module_x, p.module_y, strict=True))


def _middle(p: SwerveParameters) -> tuple[float, float]:
    return math.fsum(p.module_x) / len(p.module_x), math.fsum(p.module_y) / len(p.module_y)


SWERVE = VehicleModel(
    name="swerve",
    parameters=SwerveParameters,
    accepts=frozenset((TWIST,)),
    coefficients=coefficients,
    at_rest=at_rest,
    at=at,
    actuating=(follow, set_velocities),
    moving=(move,),
    resize=resize,
    joints=joints,
    joint_states=joint_states,
    actuators=actuators_of,
    actuator_states=actuator_states,
    limits=body_limits.velocity_limits,
    geometry=geometry,
    set_references=set_references,
    stop=stop,
    lanes=True,
    reports=(Report("scrub", "std_msgs/msg/Float64", ("data",), _scrub, stamp=""), HITCH_AT_LIMIT),
)
