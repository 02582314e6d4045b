"""A left and a right drive on one axle. The reference point is the middle of that axle."""

from __future__ import annotations

from dataclasses import dataclass, field

from vds_gz.core.parameters.vehicles import DifferentialParameters
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


@dataclass(slots=True)
class DifferentialCoefficients:
    """Geometry [m], limits of the body, and drives, prepared for steps of ``dt`` seconds."""

    dt: float
    base_link_offset: float
    track: float  # track that splits a command into wheel speeds
    turning_track: float  # track with which the wheels turn the vehicle
    wheel_radius: float
    body: body_limits.BodyLimitCoefficients
    drive: actuators.DriveCoefficients
    trailers: list[TrailerCoefficients]


@dataclass(slots=True)
class DifferentialState:
    """Drives, motion of the reference point, rotation of each wheel [rad], references of the drives [m/s]."""

    left: actuators.DriveState
    right: actuators.DriveState
    x: float = 0.0
    y: float = 0.0
    heading: float = 0.0
    v_x: float = 0.0
    v_y: float = 0.0
    yaw_rate: float = 0.0
    roll_left: float = 0.0
    roll_right: float = 0.0
    body: body_limits.BodyReferences = field(default_factory=body_limits.BodyReferences)
    left_reference: float = 0.0
    right_reference: float = 0.0
    trailers: list[TrailerState] = field(default_factory=list)


def coefficients(p: DifferentialParameters, dt: float) -> DifferentialCoefficients:
    """Coefficients for steps of ``dt`` seconds."""
    return DifferentialCoefficients(
        dt,
        p.base_link_offset,
        p.track,
        p.effective_track or p.track,
        p.tire_diameter / 2.0,
        body_limits.body_limit_coefficients(p, dt),
        actuators.drive_coefficients(p.drive_actuators, dt),
        trailer_coefficients(p),
    )


def at_rest(c: DifferentialCoefficients) -> DifferentialState:
    """A vehicle that stands at the origin."""
    left, right = actuators.drive_at_rest(c.drive), actuators.drive_at_rest(c.drive)
    return DifferentialState(left, right, trailers=trailers_at_rest(c))


def at(c: DifferentialCoefficients, motion: SteadyMotion) -> DifferentialState:
    """A vehicle in steady state at the origin."""
    half = 0.5 * c.turning_track * motion.yaw_rate
    left, right = (actuators.drive_at(c.drive, speed) for speed in (motion.v_x - half, motion.v_x + half))
    s = DifferentialState(left, right, trailers=trailers_at_rest(c))
    s.v_x, s.yaw_rate = motion.v_x, motion.yaw_rate
    set_steady(c, s)
    s.left_reference = actuators.newest_reference(c.drive, s.left)
    s.right_reference = actuators.newest_reference(c.drive, s.right)
    turn = (s.right_reference - s.left_reference) / c.track
    s.body = body_limits.body_references_at(0.5 * (s.left_reference + s.right_reference), 0.0, turn)
    return s


def set_references(c: DifferentialCoefficients, s: DifferentialState, u: Command) -> None:
    """Set the body's goals, and the references of both drives if no acceleration of the body is limited."""
    body_limits.limit_velocity(c.body, s.body, u.v_x, 0.0, u.yaw_rate)
    if not c.body.ramps:
        split(c, s)


def split(c: DifferentialCoefficients, s: DifferentialState) -> None:
    """Set the drives' references from the body's.

    If a wheel would exceed the maximum velocity, both are scaled by one factor, which keeps the curvature.
    """
    half = 0.5 * c.track * s.body.yaw_rate
    left = s.body.v_x - half
    right = s.body.v_x + half
    fastest = max(abs(left), abs(right))
    if fastest > c.drive.max_reference:
        scale = c.drive.max_reference / fastest
        left *= scale
        right *= scale
    s.left_reference = left
    s.right_reference = right


def actuate(c: DifferentialCoefficients, s: DifferentialState, u: Command) -> None:
    """Advance both drives by one step and set the velocity of the reference point."""
    if c.body.ramps:
        body_limits.limit_acceleration(c.body, s.body)
        split(c, s)
    actuators.step_drive(c.drive, s.left, s.left_reference, u.acceleration)
    actuators.step_drive(c.drive, s.right, s.right_reference, u.acceleration)
    s.v_x = 0.5 * (s.left.velocity + s.right.velocity)
    s.yaw_rate = (s.right.velocity - s.left.velocity) / c.turning_track


def move(c: DifferentialCoefficients, s: DifferentialState, u: Command) -> None:
    """Roll both wheels and move the reference point by one step, up to the limit of a hitch."""
    rest = pull(c, s, s.v_x, s.v_y, s.yaw_rate)
    roll_wheels(c, s, c.dt - rest)
    integrate_pose(s, c.dt - rest)
    if rest > 0.0:
        s.left.velocity = s.right.velocity = 0.0
        s.v_x = s.yaw_rate = 0.0
        s.body.v_x = s.body.yaw_rate = 0.0


def roll_wheels(c: DifferentialCoefficients, s: DifferentialState, dt: float) -> None:
    """Roll both wheels for ``dt`` seconds at their present speed."""
    roll = dt / c.wheel_radius
    s.roll_left += s.left.velocity * roll
    s.roll_right += s.right.velocity * roll


def stop(c: DifferentialCoefficients, s: DifferentialState, rest: float) -> None:
    """Stop both drives and wheels ``rest`` seconds before the end of a step."""
    roll_wheels(c, s, -rest)
    stop_trailers(c, s, rest)
    stop_drives(c, s, rest)


def joints(p: DifferentialParameters) -> tuple[Joint, ...]:
    """The left and the right wheel, and those of the trailers."""
    return Joint("wheel_left_joint", "wheel"), Joint("wheel_right_joint", "wheel"), *trailer_joints(p)


def joint_states(c: DifferentialCoefficients, s: DifferentialState) -> JointStates:
    """Positions and velocities of the joints."""
    velocities = s.left.velocity / c.wheel_radius, s.right.velocity / c.wheel_radius
    return with_trailers(c, s, JointStates((s.roll_left, s.roll_right), velocities))


def actuator_states(c: DifferentialCoefficients, s: DifferentialState) -> tuple[ActuatorState, ...]:
    """References and responses of the drives."""
    return actuators.drive_report(c.drive, s.left), actuators.drive_report(c.drive, s.right)


def geometry(p: DifferentialParameters) -> VehicleGeometry:
    """The left and the right wheel."""
    wheels = tuple(Wheel(-p.base_link_offset, y) for y in (0.5 * p.track, -0.5 * p.track))
    return VehicleGeometry(wheels, p.tire_diameter, yaw_arm=0.5 * p.track)


def resize(c: DifferentialCoefficients, s: DifferentialState) -> None:
    """Fit the delay lines to a new dead time."""
    actuators.fit_lines(s.left, c.drive.delay_steps)
    actuators.fit_lines(s.right, c.drive.delay_steps)


DIFFERENTIAL = VehicleModel(
    name="differential",
    parameters=DifferentialParameters,
    accepts=frozenset((TWIST,)),
    coefficients=coefficients,
    at_rest=at_rest,
    at=at,
    actuating=(actuate,),
    moving=(move,),
    resize=resize,
    joints=joints,
    joint_states=joint_states,
    actuators=(Actuator("drive_left", "drive"), Actuator("drive_right", "drive")),
    actuator_states=actuator_states,
    limits=body_limits.velocity_limits,
    geometry=geometry,
    set_references=set_references,
    stop=stop,
    lanes=True,
    reports=(HITCH_AT_LIMIT,),
)
