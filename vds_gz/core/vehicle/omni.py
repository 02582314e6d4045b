"""Four mecanum wheels, each with its own drive. The reference point is the middle of the wheels.

The order of the wheels is front left, rear left, rear right, front right. A wheel with rollers at 45 degrees rolls at
``v_x + a v_y`` of its hub, where ``a`` is +1 or -1, by the direction of its rollers. The speed of its actuator is ``a``
times that.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from vds_gz.core.parameters.vehicles import OmniParameters
from vds_gz.core.vehicle import actuators, body_limits
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
from vds_gz.core.vehicle.trigonometry import integrate_pose
from vds_gz.core.vehicle.vehicle_model import (
    Actuator,
    ActuatorState,
    Joint,
    JointStates,
    VehicleGeometry,
    VehicleModel,
    Wheel,
    stop_drives,
)

WHEELS = ("front_left", "rear_left", "rear_right", "front_right")


@dataclass(slots=True)
class OmniCoefficients:
    """Geometry and drives, prepared for steps of ``dt`` seconds."""

    dt: float
    base_link_offset: float
    sign: float  # roller direction of the front left wheel, +1 (rollers in an O seen from above) or -1 (in an X)
    yaw_arm: float  # speed of the front left actuator per yaw rate [m]
    wheel_radius: float
    body: body_limits.BodyLimitCoefficients
    drive: actuators.DriveCoefficients
    trailers: list[TrailerCoefficients]


@dataclass(slots=True)
class OmniState:
    """Drives, motion of the reference point, rotation of each wheel [rad], references of the drives [m/s]."""

    front_left: actuators.DriveState
    rear_left: actuators.DriveState
    rear_right: actuators.DriveState
    front_right: actuators.DriveState
    x: float = 0.0
    y: float = 0.0
    heading: float = 0.0
    v_x: float = 0.0
    v_y: float = 0.0
    yaw_rate: float = 0.0
    roll_front_left: float = 0.0
    roll_rear_left: float = 0.0
    roll_rear_right: float = 0.0
    roll_front_right: float = 0.0
    body: body_limits.BodyReferences = field(default_factory=body_limits.BodyReferences)
    front_left_reference: float = 0.0
    rear_left_reference: float = 0.0
    rear_right_reference: float = 0.0
    front_right_reference: float = 0.0
    trailers: list[TrailerState] = field(default_factory=list)


def coefficients(p: OmniParameters, dt: float) -> OmniCoefficients:
    """Coefficients for steps of ``dt`` seconds."""
    return OmniCoefficients(
        dt,
        p.base_link_offset,
        _sign(p),
        _yaw_arm(p),
        p.tire_diameter / 2.0,
        body_limits.body_limit_coefficients(p, dt),
        actuators.drive_coefficients(p.drive_actuators, dt),
        trailer_coefficients(p),
    )


def at_rest(c: OmniCoefficients) -> OmniState:
    """A vehicle that stands at the origin."""
    at = actuators.drive_at_rest
    return OmniState(at(c.drive), at(c.drive), at(c.drive), at(c.drive), trailers=trailers_at_rest(c))


def at(c: OmniCoefficients, motion: SteadyMotion) -> OmniState:
    """A vehicle in steady state at the origin."""
    front_left, rear_left, rear_right, front_right = wheel_speeds(c, motion.v_x, motion.v_y, motion.yaw_rate)
    s = OmniState(
        actuators.drive_at(c.drive, front_left),
        actuators.drive_at(c.drive, rear_left),
        actuators.drive_at(c.drive, rear_right),
        actuators.drive_at(c.drive, front_right),
        trailers=trailers_at_rest(c),
    )
    set_velocities(c, s, Command())
    set_steady(c, s)
    references = tuple(actuators.newest_reference(c.drive, drive) for drive in _drives(s))
    s.front_left_reference, s.rear_left_reference, s.rear_right_reference, s.front_right_reference = references
    v_x, v_y, yaw_rate = velocity_of(c, *references)
    s.body = body_limits.body_references_at(v_x, v_y + c.base_link_offset * yaw_rate, yaw_rate)
    return s


def set_references(c: OmniCoefficients, s: OmniState, u: Command) -> None:
    """Set the body's goals, and the references of all drives if no acceleration of the body is limited."""
    body_limits.limit_velocity(c.body, s.body, u.v_x, u.v_y, u.yaw_rate)
    if not c.body.ramps:
        split(c, s)


def split(c: OmniCoefficients, s: OmniState) -> None:
    """Set the drives' references from the body's.

    If a wheel would exceed the maximum velocity, all are scaled by one factor, which keeps the direction.
    """
    front_left, rear_left, rear_right, front_right = wheel_speeds(c, s.body.v_x, s.body.v_y, s.body.yaw_rate)
    fastest = max(abs(front_left), abs(rear_left), abs(rear_right), abs(front_right))
    scale = c.drive.max_reference / fastest if fastest > c.drive.max_reference else 1.0
    s.front_left_reference = front_left * scale
    s.rear_left_reference = rear_left * scale
    s.rear_right_reference = rear_right * scale
    s.front_right_reference = front_right * scale


def wheel_speeds(c: OmniCoefficients, v_x: float, v_y: float, yaw_rate: float) -> tuple[float, float, float, float]:
    """The speeds of the drives [m/s] for a velocity of base_link [m/s, m/s, rad/s], in the order of the wheels."""
    longitudinal = c.sign * v_x
    lateral = v_y - c.base_link_offset * yaw_rate
    turn = c.yaw_arm * yaw_rate
    return (
        lateral + longitudinal + turn,
        lateral - longitudinal - turn,
        lateral + longitudinal - turn,
        lateral - longitudinal + turn,
    )


def velocity_of(
    c: OmniCoefficients, front_left: float, rear_left: float, rear_right: float, front_right: float
) -> tuple[float, float, float]:
    """The velocity of the reference point [m/s, m/s, rad/s] that fits the speeds of four drives [m/s] by least squares.

    The columns of the 4x3 system are orthogonal, so each component is a projection.
    """
    v_x = 0.25 * c.sign * (front_left - rear_left + rear_right - front_right)
    v_y = 0.25 * (front_left + rear_left + rear_right + front_right)
    return v_x, v_y, 0.25 * (front_left - rear_left - rear_right + front_right) / c.yaw_arm


def follow(c: OmniCoefficients, s: OmniState, u: Command) -> None:
    """Advance all drives by one step."""
    if c.body.ramps:
        body_limits.limit_acceleration(c.body, s.body)
        split(c, s)
    actuators.step_drive(c.drive, s.front_left, s.front_left_reference, u.acceleration)
    actuators.step_drive(c.drive, s.rear_left, s.rear_left_reference, u.acceleration)
    actuators.step_drive(c.drive, s.rear_right, s.rear_right_reference, u.acceleration)
    actuators.step_drive(c.drive, s.front_right, s.front_right_reference, u.acceleration)


def set_velocities(c: OmniCoefficients, s: OmniState, u: Command) -> None:
    """Set the velocity of the reference point."""
    s.v_x, s.v_y, s.yaw_rate = velocity_of(
        c, s.front_left.velocity, s.rear_left.velocity, s.rear_right.velocity, s.front_right.velocity
    )


def move(c: OmniCoefficients, s: OmniState, u: Command) -> None:
    """Roll all wheels and move the reference point by one step, up to the limit of a hitch."""
    rest = pull(c, s, s.v_x, s.v_y, s.yaw_rate)
    roll_wheels(c, s, c.dt - rest)
    integrate_pose(s, c.dt - rest)
    if rest > 0.0:
        s.front_left.velocity = s.rear_left.velocity = s.rear_right.velocity = s.front_right.velocity = 0.0
        s.v_x = s.v_y = s.yaw_rate = 0.0
        s.body.v_x = s.body.v_y = s.body.yaw_rate = 0.0


def roll_wheels(c: OmniCoefficients, s: OmniState, dt: float) -> None:
    """Roll all wheels for ``dt`` seconds at their present speed."""
    roll = c.sign * dt / c.wheel_radius
    s.roll_front_left += s.front_left.velocity * roll
    s.roll_rear_left -= s.rear_left.velocity * roll
    s.roll_rear_right += s.rear_right.velocity * roll
    s.roll_front_right -= s.front_right.velocity * roll


def stop(c: OmniCoefficients, s: OmniState, rest: float) -> None:
    """Stop all drives and wheels ``rest`` seconds before the end of a step."""
    roll_wheels(c, s, -rest)
    stop_trailers(c, s, rest)
    stop_drives(c, s, rest)


def joints(p: OmniParameters) -> tuple[Joint, ...]:
    """The four wheels, and the joints of the trailers."""
    return *(Joint(f"wheel_{wheel}_joint", "wheel") for wheel in WHEELS), *trailer_joints(p)


def joint_states(c: OmniCoefficients, s: OmniState) -> JointStates:
    """Positions and velocities of the joints."""
    signs = (c.sign, -c.sign, c.sign, -c.sign)
    positions = (s.roll_front_left, s.roll_rear_left, s.roll_rear_right, s.roll_front_right)
    velocities = tuple(sign * drive.velocity / c.wheel_radius for sign, drive in zip(signs, _drives(s), strict=True))
    return with_trailers(c, s, JointStates(positions, velocities))


def actuator_states(c: OmniCoefficients, s: OmniState) -> tuple[ActuatorState, ...]:
    """References and responses of the drives."""
    return tuple(actuators.drive_report(c.drive, drive) for drive in _drives(s))


def geometry(p: OmniParameters) -> VehicleGeometry:
    """The four wheels."""
    front, rear = 0.5 * p.wheel_base - p.base_link_offset, -0.5 * p.wheel_base - p.base_link_offset
    left, right = 0.5 * p.track, -0.5 * p.track
    wheels = (Wheel(front, left), Wheel(rear, left), Wheel(rear, right), Wheel(front, right))
    return VehicleGeometry(wheels, p.tire_diameter, p.wheel_base, abs(_yaw_arm(p)), holonomic=True)


def _sign(p: OmniParameters) -> float:
    """Roller direction of the front left wheel."""
    return 1.0 if p.roller_pattern == "o" else -1.0


def _yaw_arm(p: OmniParameters) -> float:
    """Speed of the front left actuator for each unit of yaw rate [m]."""
    return 0.5 * (p.wheel_base - _sign(p) * p.track)


def resize(c: OmniCoefficients, s: OmniState) -> None:
    """Fit the delay lines to a new dead time."""
    for drive in _drives(s):
        actuators.fit_lines(drive, c.drive.delay_steps)


def _drives(s: OmniState) -> tuple[actuators.DriveState, ...]:
    return s.front_left, s.rear_left, s.rear_right, s.front_right


OMNI = VehicleModel(
    name="omni",
    parameters=OmniParameters,
    accepts=frozenset((TWIST,)),
    coefficients=coefficients,
    at_rest=at_rest,
    at=at,
    actuating=(follow, set_velocities),
    moving=(move,),
    resize=resize,
    joints=joints,
    joint_states=joint_states,
    actuators=tuple(Actuator(f"drive_{wheel}", "drive") for wheel in WHEELS),
    actuator_states=actuator_states,
    limits=body_limits.velocity_limits,
    geometry=geometry,
    set_references=set_references,
    stop=stop,
    lanes=True,
    reports=(HITCH_AT_LIMIT,),
)
