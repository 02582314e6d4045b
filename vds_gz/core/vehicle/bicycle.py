"""A fixed and a steered axle: cars, forklifts, tricycles; either axle driven, or both; one or two wheels on each.

The reference point is the middle of the fixed axle. The axles do not slip laterally, so the vehicle turns around a
centre on the line of the fixed axle. An understeer gradient reduces the curvature.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Protocol

from vds_gz.core.parameters.vehicles import BicycleParameters
from vds_gz.core.vehicle import actuators
from vds_gz.core.vehicle.actuators import travel
from vds_gz.core.vehicle.command import ACKERMANN, SPEED, STEERING, TWIST, Command, SteadyMotion
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
    VehicleGeometry,
    VehicleLimits,
    VehicleModel,
    Wheel,
    stop_drives,
)

#: Smaller longitudinal and lateral speeds define no steering direction [m/s].
STANDSTILL = 1e-12

#: A wheel at 90 degrees cannot move the reference point; this keeps its speed finite.
SMALLEST_COSINE = 1e-3


class Axles(Protocol):
    """Coefficients of any vehicle with a fixed and a steered axle; see :class:`BicycleCoefficients`."""

    dt: float
    signed_wheelbase: float
    half_track_fixed: float
    half_track_steered: float
    wheel_radius: float
    parallel_steering: bool


class Wheels(Protocol):
    """State of any vehicle with a fixed and a steered axle: rolling speeds [m/s] and angles [rad]."""

    speed_fixed_left: float
    speed_fixed_right: float
    speed_steered_left: float
    speed_steered_right: float
    roll_fixed_left: float
    roll_fixed_right: float
    roll_steered_left: float
    roll_steered_right: float


@dataclass(slots=True)
class BicycleCoefficients:
    """The vehicle's geometry and actuators, prepared for a fixed step length.

    ``signed_wheelbase`` is the position of the steered axle along +x from the fixed axle [m], negative if it is behind.
    ``max_wheel_velocity`` is the limit of each driven wheel [m/s], infinite without one. ``understeer`` is the gradient
    [rad s^2/m], with the sign of the wheelbase.
    """

    dt: float
    base_link_offset: float
    signed_wheelbase: float
    half_track_fixed: float
    half_track_steered: float
    wheel_radius: float
    drive_on_steered_wheel: bool
    four_wheel_drive: bool
    allow_reverse: bool
    center_at_standstill: bool
    parallel_steering: bool
    max_wheel_velocity: float
    limits_wheels: bool
    understeer: float
    drive: actuators.DriveCoefficients
    steering: actuators.SteeringCoefficients
    trailers: list[TrailerCoefficients]


@dataclass(slots=True)
class BicycleState:
    """Actuators, motion of the reference point, rolling speeds [m/s] and angles [rad] of the wheels, references."""

    drive: actuators.DriveState
    steering: actuators.SteeringState
    x: float = 0.0
    y: float = 0.0
    heading: float = 0.0
    v_x: float = 0.0
    v_y: float = 0.0
    yaw_rate: float = 0.0
    speed_fixed_left: float = 0.0
    speed_fixed_right: float = 0.0
    speed_steered_left: float = 0.0
    speed_steered_right: float = 0.0
    roll_fixed_left: float = 0.0
    roll_fixed_right: float = 0.0
    roll_steered_left: float = 0.0
    roll_steered_right: float = 0.0
    drive_reference: float = 0.0  # reference of the present command [m/s]
    steering_reference: float = 0.0  # reference of the present command [rad]
    # alternative steering angle, with a drive on the steered wheel reversed [rad]; else equal to steering_reference
    opposite_reference: float = 0.0
    trailers: list[TrailerState] = field(default_factory=list)


def coefficients(p: BicycleParameters, dt: float) -> BicycleCoefficients:
    """Coefficients for steps of ``dt`` seconds."""
    return BicycleCoefficients(
        dt=dt,
        base_link_offset=p.base_link_offset,
        signed_wheelbase=-p.wheel_base if p.reverse else p.wheel_base,
        half_track_fixed=p.track_fixed / 2.0,
        half_track_steered=p.track_steered / 2.0,
        wheel_radius=p.tire_diameter / 2.0,
        drive_on_steered_wheel=p.drive_on_steered_wheel,
        four_wheel_drive=p.four_wheel_drive,
        allow_reverse=p.allow_reverse,
        center_at_standstill=p.center_at_standstill,
        parallel_steering=p.parallel_steering,
        max_wheel_velocity=actuators.or_infinite(p.max_wheel_velocity),
        limits_wheels=p.max_wheel_velocity > 0.0,
        understeer=-p.understeer_gradient if p.reverse else p.understeer_gradient,
        drive=actuators.drive_coefficients(p.drive_actuator, dt),
        steering=actuators.steering_coefficients(p.steering_actuator, dt),
        trailers=trailer_coefficients(p),
    )


def at_rest(c: BicycleCoefficients) -> BicycleState:
    """A vehicle that stands at the origin."""
    drive, steering = actuators.drive_at_rest(c.drive), actuators.steering_at_rest(c.steering)
    return BicycleState(drive, steering, trailers=trailers_at_rest(c))


def at(c: BicycleCoefficients, motion: SteadyMotion) -> BicycleState:
    """A vehicle in steady state at the origin."""
    angle = motion.steering_angle
    cosine = away_from_zero(sine_cosine(angle)[1])
    speed = motion.v_x / cosine if c.drive_on_steered_wheel else motion.v_x
    drive, steering = actuators.drive_at(c.drive, speed), actuators.steering_at(c.steering, angle)
    s = BicycleState(drive, steering, trailers=trailers_at_rest(c))
    set_velocities(c, s, Command())
    set_steady(c, s)
    s.drive_reference = actuators.newest_reference(c.drive, s.drive)
    s.steering_reference = s.opposite_reference = actuators.newest_reference(c.steering, s.steering)
    return s


def set_references(c: BicycleCoefficients, s: BicycleState, u: Command) -> None:
    """Set the references of both actuators.

    Two steering angles, half a turn apart, give the direction of a twist; on a driven steered wheel, the second one
    needs the drive reversed. The angle within the stops, or less far beyond them, becomes the reference. If neither is
    better, the second one is the alternative.
    """
    speed = u.v_x
    if not c.allow_reverse and speed < 0.0:
        speed = 0.0
    drive = speed
    if u.kind == TWIST:
        lateral = c.signed_wheelbase * u.yaw_rate
        has_direction = abs(speed) > STANDSTILL or (c.drive_on_steered_wheel and abs(lateral) > STANDSTILL)
        angle = direction(lateral, speed) if has_direction else 0.0
        opposite = angle - math.pi if angle > 0.0 else angle + math.pi
        if c.drive_on_steered_wheel:
            drive = math.sqrt(speed * speed + lateral * lateral)
        excess = max(0.0, abs(angle) - c.steering.max_position)
        opposite_excess = max(0.0, abs(opposite) - c.steering.max_position)
        if excess > opposite_excess:
            angle = opposite
            drive = -drive if c.drive_on_steered_wheel else drive
        elif excess < opposite_excess:
            opposite = angle
    else:
        angle = opposite = u.steering_angle
        if c.drive_on_steered_wheel:
            clamped = max(-c.steering.max_position, min(angle, c.steering.max_position))
            drive = speed / away_from_zero(sine_cosine(clamped)[1])
    if c.center_at_standstill and drive == 0.0:
        angle = opposite = 0.0
    s.drive_reference = drive
    s.steering_reference = angle
    s.opposite_reference = opposite


def follow(c: BicycleCoefficients, s: BicycleState, u: Command) -> None:
    """Advance both actuators by one step; the steering goes to the nearer of its two references."""
    drive = s.drive_reference
    angle = s.steering_reference
    opposite = s.opposite_reference
    position = s.steering.angle - s.steering.slack
    if opposite != angle and travel(c.steering, position, opposite) < travel(c.steering, position, angle):
        angle = opposite
        drive = -drive if c.drive_on_steered_wheel else drive
    actuators.step_drive(c.drive, s.drive, drive, u.acceleration)
    actuators.step_steering(c.steering, s.steering, angle, u.steering_rate)


def away_from_zero(cosine: float) -> float:
    """The cosine, kept far enough from zero to divide by it."""
    if abs(cosine) >= SMALLEST_COSINE:
        return cosine
    return -SMALLEST_COSINE if cosine < 0.0 else SMALLEST_COSINE


def set_velocities(c: BicycleCoefficients, s: BicycleState, u: Command) -> None:
    """Set body velocity and wheel speeds from the actuators.

    A car that understeers turns as one with a longer wheelbase, which grows with the speed squared.
    Each wheel rolls with the speed of its own contact point. The drive's maximum velocity is that of the middle of the
    driven axle, as with a mechanical differential, so an outer wheel may be faster. Hub motors have one limit each: if
    a driven wheel would exceed it, all slow down by one factor, which keeps the curvature.
    """
    sine, cosine = sine_cosine(s.steering.angle)
    if c.drive_on_steered_wheel:
        v_x = s.drive.velocity * cosine
        yaw_rate = s.drive.velocity * sine / (c.signed_wheelbase + c.understeer * v_x * v_x)
    else:
        v_x = s.drive.velocity
        yaw_rate = v_x * sine / (cosine * (c.signed_wheelbase + c.understeer * v_x * v_x))

    left = steered_wheel_speed(c, v_x, yaw_rate, c.half_track_steered, cosine, sine)
    right = steered_wheel_speed(c, v_x, yaw_rate, -c.half_track_steered, cosine, sine)
    half_track_speed = yaw_rate * c.half_track_fixed

    if c.limits_wheels:
        fastest = 0.0
        if c.drive_on_steered_wheel or c.four_wheel_drive:
            fastest = max(abs(left), abs(right))
        if not c.drive_on_steered_wheel:
            fastest = max(fastest, abs(v_x) + abs(half_track_speed))
        if fastest > c.max_wheel_velocity:
            scale = c.max_wheel_velocity / fastest
            v_x *= scale
            yaw_rate *= scale
            half_track_speed *= scale
            left *= scale
            right *= scale

    s.v_x = v_x
    s.yaw_rate = yaw_rate
    s.speed_fixed_left = v_x - half_track_speed
    s.speed_fixed_right = v_x + half_track_speed
    s.speed_steered_left = left
    s.speed_steered_right = right


def steered_wheel_speed(c: Axles, v_x: float, yaw_rate: float, y: float, cosine: float, sine: float) -> float:
    """Rolling speed [m/s] of the steered wheel that stands ``y`` metres to the left of the middle."""
    return rolling_speed(c.parallel_steering, v_x - yaw_rate * y, yaw_rate * c.signed_wheelbase, cosine, sine)


def rolling_speed(parallel: bool, longitudinal: float, lateral: float, cosine: float, sine: float) -> float:
    """Rolling speed of a wheel that moves with a velocity [m/s], on an axle whose middle wheel has an angle.

    By Ackermann's rule the wheel points along its own path, so it rolls as fast as it moves. With parallel steering it
    points like the middle one and rolls with the part of its motion along that direction.
    """
    rolling = longitudinal * cosine + lateral * sine
    if parallel:
        return rolling
    return math.copysign(math.sqrt(longitudinal * longitudinal + lateral * lateral), rolling)


def move(c: BicycleCoefficients, s: BicycleState, u: Command) -> None:
    """Roll all wheels and move the reference point by one step, up to the limit of a hitch."""
    rest = pull(c, s, s.v_x, s.v_y, s.yaw_rate)
    roll_wheels(c, s, c.dt - rest)
    integrate_pose(s, c.dt - rest)
    if rest > 0.0:
        s.drive.velocity = 0.0
        set_velocities(c, s, u)


def stop(c: BicycleCoefficients, s: BicycleState, rest: float) -> None:
    """Stop drive and wheels ``rest`` seconds before the end of a step; the steering continues."""
    roll_wheels(c, s, -rest)
    stop_trailers(c, s, rest)
    stop_drives(c, s, rest)
    set_velocities(c, s, Command())


def roll_wheels(c: Axles, s: Wheels, dt: float) -> None:
    """Roll every wheel for ``dt`` seconds at its present speed."""
    roll = dt / c.wheel_radius
    s.roll_fixed_left += s.speed_fixed_left * roll
    s.roll_fixed_right += s.speed_fixed_right * roll
    s.roll_steered_left += s.speed_steered_left * roll
    s.roll_steered_right += s.speed_steered_right * roll


def steered_wheel_angle(c: Axles, angle: float, y: float) -> tuple[float, float]:
    """Angle [rad] of the steered wheel ``y`` metres to the left of the middle, and its derivative by the middle angle.

    Ackermann's rule, ``tan(wheel) = L tan(angle) / (L - y tan(angle))`` with ``L`` the signed wheelbase, on the branch
    nearest to ``angle``, written as a correction so that it holds at all angles.
    """
    if c.parallel_steering:
        return angle, 1.0
    sine, cosine = sine_cosine(angle)
    shift = y / c.signed_wheelbase
    longitudinal = 1.0 - shift * sine * cosine
    lateral = shift * sine * sine
    if longitudinal < 0.0:
        longitudinal, lateral = -longitudinal, -lateral
    return angle + direction(lateral, longitudinal), 1.0 / (longitudinal * longitudinal + lateral * lateral)


class TwoAxles(Protocol):
    """Parameters of any vehicle with a fixed and a steered axle [m]."""

    @property
    def base_link_offset(self) -> float: ...  # noqa: D102
    @property
    def wheel_base(self) -> float: ...  # noqa: D102
    @property
    def track_fixed(self) -> float: ...  # noqa: D102
    @property
    def track_steered(self) -> float: ...  # noqa: D102
    @property
    def tire_diameter(self) -> float: ...  # noqa: D102


def joints(p: BicycleParameters) -> tuple[Joint, ...]:
    """The joints of both axles and of the trailers."""
    return *axle_joints(p), *trailer_joints(p)


def axle_joints(p: TwoAxles) -> tuple[Joint, ...]:
    """Steering hinges, then fixed wheels, then steered wheels; left before right."""
    steered = _sides(p.track_steered)
    fixed = _sides(p.track_fixed)
    return (
        *(Joint(f"steering{side}", "steering") for side in steered),
        *(Joint(f"fixed_wheel{side}_joint", "wheel") for side in fixed),
        *(Joint(f"steered_wheel{side}_joint", "wheel") for side in steered),
    )


def joint_states(c: BicycleCoefficients, s: BicycleState) -> JointStates:
    """Positions and velocities of the joints."""
    return with_trailers(c, s, axle_joint_states(c, s, s.steering.angle, s.steering.rate))


def axle_joint_states(c: Axles, s: Wheels, middle: float, middle_rate: float) -> JointStates:
    """Positions and velocities of the axles' joints; the middle steered wheel has an angle and a rate [rad, rad/s]."""
    angles, rates = [], []
    for y in (c.half_track_steered, -c.half_track_steered) if c.half_track_steered > 0.0 else (0.0,):
        angle, slope = steered_wheel_angle(c, middle, y)
        angles.append(angle)
        rates.append(middle_rate * slope)
    fixed = 2 if c.half_track_fixed > 0.0 else 1
    steered = 2 if c.half_track_steered > 0.0 else 1
    speeds = [s.speed_fixed_left, s.speed_fixed_right][:fixed]
    speeds += [s.speed_steered_left, s.speed_steered_right][:steered]
    rolls = [s.roll_fixed_left, s.roll_fixed_right][:fixed]
    rolls += [s.roll_steered_left, s.roll_steered_right][:steered]
    return JointStates(angles + rolls, rates + [speed / c.wheel_radius for speed in speeds])


def actuator_states(c: BicycleCoefficients, s: BicycleState) -> tuple[ActuatorState, ...]:
    """References and responses of drive and steering."""
    return actuators.drive_report(c.drive, s.drive), actuators.steering_report(c.steering, s.steering)


def limits(p: BicycleParameters) -> VehicleLimits:
    """The limit of the drive or of its wheels, whichever is less, and that of the steering."""
    speed = min(actuators.or_infinite(p.drive_actuator.max_velocity), actuators.or_infinite(p.max_wheel_velocity))
    return VehicleLimits(speed if speed < math.inf else 0.0, p.steering_actuator.max_position)


def geometry(p: BicycleParameters) -> VehicleGeometry:
    """The wheels of both axles."""
    return axle_geometry(p, -p.wheel_base if p.reverse else p.wheel_base)


def axle_geometry(p: TwoAxles, signed_wheelbase: float) -> VehicleGeometry:
    """The wheels of a fixed axle and of a steered one at a distance ahead of it [m]."""
    offset = p.base_link_offset
    fixed = (Wheel(-offset, y) for y in _lateral_positions(p.track_fixed))
    steered = (Wheel(signed_wheelbase - offset, y, steered=True) for y in _lateral_positions(p.track_steered))
    return VehicleGeometry((*fixed, *steered), p.tire_diameter, p.wheel_base)


def resize(c: BicycleCoefficients, s: BicycleState) -> None:
    """Fit the delay lines to new dead times."""
    actuators.fit_lines(s.drive, c.drive.delay_steps)
    actuators.fit_lines(s.steering, c.steering.delay_steps)


def _lateral_positions(track: float) -> tuple[float, ...]:
    return (0.5 * track, -0.5 * track) if track > 0.0 else (0.0,)


def _sides(track: float) -> tuple[str, ...]:
    return ("_left", "_right") if track > 0.0 else ("",)


BICYCLE = VehicleModel(
    name="bicycle",
    parameters=BicycleParameters,
    accepts=frozenset((TWIST, ACKERMANN, SPEED, STEERING)),
    coefficients=coefficients,
    at_rest=at_rest,
    at=at,
    actuating=(follow, set_velocities),
    moving=(move,),
    resize=resize,
    joints=joints,
    joint_states=joint_states,
    actuators=(Actuator("drive", "drive"), Actuator("steering", "steering")),
    actuator_states=actuator_states,
    limits=limits,
    geometry=geometry,
    set_references=set_references,
    stop=stop,
    lanes=True,
    reports=(HITCH_AT_LIMIT,),
)
