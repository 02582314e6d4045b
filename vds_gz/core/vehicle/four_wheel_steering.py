"""Two steered axles and one drive: cars with a steered rear axle, sweepers, field robots.

The reference point is the middle of the rear axle, as in four_wheel_steering_msgs. The drive sets the longitudinal
speed, which all points of the vehicle's centre line have, as in ros_controllers' four_wheel_steering_controller. No
axle slips laterally, so with the angles ``f`` and ``r`` of the middle wheels and the wheel base ``L``::

    v_y = v_x tan(r)        yaw_rate = v_x (tan(f) - tan(r)) / L

This is the kinematic bicycle with two steering angles of R. Rajamani, Vehicle Dynamics and Control (2012), section
2.2: its speed V along the path and its slip angle b at the centre of gravity give v_x = V cos(b). With equal angles
the vehicle does not turn (crab).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from vds_gz.core.parameters.vehicles import FourWheelSteeringParameters
from vds_gz.core.vehicle import actuators
from vds_gz.core.vehicle.bicycle import STANDSTILL, rolling_speed
from vds_gz.core.vehicle.command import ACKERMANN, FOUR_WHEEL, SPEED, STEERING, TWIST, Command, SteadyMotion
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


@dataclass(slots=True)
class FourWheelSteeringCoefficients:
    """Geometry [m] and actuators, prepared for steps of ``dt`` seconds.

    ``rear_ratio`` is the rear angle per front angle of an Ackermann command, negative in counter phase.
    ``max_wheel_velocity`` is the limit of each wheel [m/s], infinite without one.
    """

    dt: float
    base_link_offset: float
    wheel_base: float
    half_track_front: float
    half_track_rear: float
    wheel_radius: float
    rear_ratio: float
    allow_reverse: bool
    center_at_standstill: bool
    parallel_steering: bool
    max_wheel_velocity: float
    drive: actuators.DriveCoefficients
    steering_front: actuators.SteeringCoefficients
    steering_rear: actuators.SteeringCoefficients
    trailers: list[TrailerCoefficients]


@dataclass(slots=True)
class FourWheelSteeringState:
    """Actuators, motion of the reference point, rolling speeds [m/s] and angles [rad] of the wheels, references."""

    drive: actuators.DriveState
    steering_front: actuators.SteeringState
    steering_rear: actuators.SteeringState
    x: float = 0.0
    y: float = 0.0
    heading: float = 0.0
    v_x: float = 0.0
    v_y: float = 0.0
    yaw_rate: float = 0.0
    speed_front_left: float = 0.0
    speed_front_right: float = 0.0
    speed_rear_left: float = 0.0
    speed_rear_right: float = 0.0
    roll_front_left: float = 0.0
    roll_front_right: float = 0.0
    roll_rear_left: float = 0.0
    roll_rear_right: float = 0.0
    drive_reference: float = 0.0  # references of the present command [m/s, rad, rad]
    front_reference: float = 0.0
    rear_reference: float = 0.0
    trailers: list[TrailerState] = field(default_factory=list)


def coefficients(p: FourWheelSteeringParameters, dt: float) -> FourWheelSteeringCoefficients:
    """Coefficients for steps of ``dt`` seconds."""
    return FourWheelSteeringCoefficients(
        dt=dt,
        base_link_offset=p.base_link_offset,
        wheel_base=p.wheel_base,
        half_track_front=p.track_front / 2.0,
        half_track_rear=p.track_rear / 2.0,
        wheel_radius=p.tire_diameter / 2.0,
        rear_ratio=rear_ratio(p),
        allow_reverse=p.allow_reverse,
        center_at_standstill=p.center_at_standstill,
        parallel_steering=p.parallel_steering,
        max_wheel_velocity=actuators.or_infinite(p.max_wheel_velocity),
        drive=actuators.drive_coefficients(p.drive_actuator, dt),
        steering_front=actuators.steering_coefficients(p.front_steering_actuator, dt),
        steering_rear=actuators.steering_coefficients(p.rear_steering_actuator, dt),
        trailers=trailer_coefficients(p),
    )


def rear_ratio(p: FourWheelSteeringParameters) -> float:
    """The rear angle per front angle of an Ackermann command, negative in counter phase."""
    return {"counter_phase": -1.0, "crab": 1.0, "fixed": 0.0}[p.rear_steering] * p.rear_ratio


def at_rest(c: FourWheelSteeringCoefficients) -> FourWheelSteeringState:
    """A vehicle that stands at the origin."""
    return FourWheelSteeringState(
        actuators.drive_at_rest(c.drive),
        actuators.steering_at_rest(c.steering_front),
        actuators.steering_at_rest(c.steering_rear),
        trailers=trailers_at_rest(c),
    )


def at(c: FourWheelSteeringCoefficients, motion: SteadyMotion) -> FourWheelSteeringState:
    """A vehicle in steady state at the origin."""
    s = FourWheelSteeringState(
        actuators.drive_at(c.drive, motion.v_x),
        actuators.steering_at(c.steering_front, motion.steering_angle),
        actuators.steering_at(c.steering_rear, motion.rear_steering_angle),
        trailers=trailers_at_rest(c),
    )
    set_velocities(c, s, Command())
    set_steady(c, s)
    s.drive_reference = actuators.newest_reference(c.drive, s.drive)
    s.front_reference = actuators.newest_reference(c.steering_front, s.steering_front)
    s.rear_reference = actuators.newest_reference(c.steering_rear, s.steering_rear)
    return s


def set_references(c: FourWheelSteeringCoefficients, s: FourWheelSteeringState, u: Command) -> None:
    """Set the references of the actuators.

    With a twist each axle points along the velocity of its middle; a vehicle that only moves laterally does not drive.
    With an Ackermann command the rear angle is proportional to the front angle, limited by the front axle's stop.
    """
    speed = u.v_x
    if not c.allow_reverse and speed < 0.0:
        speed = 0.0
    front = rear = 0.0
    if u.kind == TWIST:
        if abs(speed) > STANDSTILL:
            way = 1.0 if speed > 0.0 else -1.0
            lateral = u.v_y - c.base_link_offset * u.yaw_rate
            rear = direction(way * lateral, abs(speed))
            front = direction(way * (lateral + c.wheel_base * u.yaw_rate), abs(speed))
    elif u.kind == FOUR_WHEEL:
        front = u.steering_angle
        rear = u.rear_steering_angle
    else:
        front = u.steering_angle
        rear = c.rear_ratio * max(-c.steering_front.max_position, min(front, c.steering_front.max_position))
    if c.center_at_standstill and speed == 0.0:
        front = rear = 0.0
    s.drive_reference = speed
    s.front_reference = front
    s.rear_reference = rear


def follow(c: FourWheelSteeringCoefficients, s: FourWheelSteeringState, u: Command) -> None:
    """Advance all actuators by one step; the rate limit of an Ackermann command holds for both axles."""
    actuators.step_drive(c.drive, s.drive, s.drive_reference, u.acceleration)
    actuators.step_steering(c.steering_front, s.steering_front, s.front_reference, u.steering_rate)
    rear_rate = u.rear_steering_rate if u.kind == FOUR_WHEEL else u.steering_rate
    actuators.step_steering(c.steering_rear, s.steering_rear, s.rear_reference, rear_rate)


def set_velocities(c: FourWheelSteeringCoefficients, s: FourWheelSteeringState, u: Command) -> None:
    """Set body velocity and wheel speeds from the actuators.

    Each wheel rolls with the speed of its own contact point. If one would exceed its limit, all slow down by one
    factor, which keeps the path.
    """
    front_sine, front_cosine = sine_cosine(s.steering_front.angle)
    rear_sine, rear_cosine = sine_cosine(s.steering_rear.angle)
    v_x = s.drive.velocity
    v_y = v_x * rear_sine / rear_cosine
    turn = front_sine * rear_cosine - front_cosine * rear_sine
    yaw_rate = v_x * turn / (front_cosine * rear_cosine * c.wheel_base)
    front_v_y = v_y + yaw_rate * c.wheel_base

    front_change = yaw_rate * c.half_track_front
    front_left = rolling_speed(c.parallel_steering, v_x - front_change, front_v_y, front_cosine, front_sine)
    front_right = rolling_speed(c.parallel_steering, v_x + front_change, front_v_y, front_cosine, front_sine)
    rear_change = yaw_rate * c.half_track_rear
    rear_left = rolling_speed(c.parallel_steering, v_x - rear_change, v_y, rear_cosine, rear_sine)
    rear_right = rolling_speed(c.parallel_steering, v_x + rear_change, v_y, rear_cosine, rear_sine)

    fastest = max(max(abs(front_left), abs(front_right)), max(abs(rear_left), abs(rear_right)))
    scale = c.max_wheel_velocity / fastest if fastest > c.max_wheel_velocity else 1.0
    s.v_x = v_x * scale
    s.v_y = v_y * scale
    s.yaw_rate = yaw_rate * scale
    s.speed_front_left = front_left * scale
    s.speed_front_right = front_right * scale
    s.speed_rear_left = rear_left * scale
    s.speed_rear_right = rear_right * scale


def move(c: FourWheelSteeringCoefficients, s: FourWheelSteeringState, u: Command) -> None:
    """Roll all wheels and move the reference point by one step, up to the limit of a hitch."""
    rest = pull(c, s, s.v_x, s.v_y, s.yaw_rate)
    roll_wheels(c, s, c.dt - rest)
    integrate_pose(s, c.dt - rest)
    if rest > 0.0:
        s.drive.velocity = 0.0
        set_velocities(c, s, u)


def stop(c: FourWheelSteeringCoefficients, s: FourWheelSteeringState, rest: float) -> None:
    """Stop drive and wheels ``rest`` seconds before the end of a step; the steering continues."""
    roll_wheels(c, s, -rest)
    stop_trailers(c, s, rest)
    stop_drives(c, s, rest)
    set_velocities(c, s, Command())


def roll_wheels(c: FourWheelSteeringCoefficients, s: FourWheelSteeringState, dt: float) -> None:
    """Roll every wheel for ``dt`` seconds at its present speed."""
    roll = dt / c.wheel_radius
    s.roll_front_left += s.speed_front_left * roll
    s.roll_front_right += s.speed_front_right * roll
    s.roll_rear_left += s.speed_rear_left * roll
    s.roll_rear_right += s.speed_rear_right * roll


def joints(p: FourWheelSteeringParameters) -> tuple[Joint, ...]:
    """Steering hinges, then wheels; front before rear, left before right; then the joints of the trailers."""
    angles = {axle: f"steering_{axle}.angle" for axle in ("front", "rear")}
    hinges, wheels = [], []
    for name in _wheel_names(p.track_front > 0.0, p.track_rear > 0.0):
        axle, _, side = name.partition("_")
        others = angles.values() if side and not p.parallel_steering else ()
        hinges.append(Joint(f"steering_{name}", "steering", numbers=(angles[axle], *others)))
        rolling = name if side else f"{name}_left"
        wheels.append(Joint(f"wheel_{name}_joint", "wheel", numbers=(f"roll_{rolling}", f"speed_{rolling}")))
    return (*hinges, *wheels, *trailer_joints(p))


def joint_states(c: FourWheelSteeringCoefficients, s: FourWheelSteeringState) -> JointStates:
    """Positions and velocities of the joints."""
    front, rear = s.steering_front, s.steering_rear
    curvature = (math.tan(front.angle) - math.tan(rear.angle)) / c.wheel_base
    change = (front.rate / math.cos(front.angle) ** 2 - rear.rate / math.cos(rear.angle) ** 2) / c.wheel_base
    if c.parallel_steering:
        curvature = change = 0.0
    hinges = [
        wheel_angle(axle.angle, axle.rate, y, curvature, change)
        for axle, half_track in ((front, c.half_track_front), (rear, c.half_track_rear))
        for y in _lateral_positions(half_track)
    ]
    names = _wheel_names(c.half_track_front > 0.0, c.half_track_rear > 0.0)
    sides = [name if name.endswith(("left", "right")) else f"{name}_left" for name in names]
    positions = [angle for angle, _ in hinges] + [getattr(s, f"roll_{side}") for side in sides]
    velocities = [rate for _, rate in hinges] + [getattr(s, f"speed_{side}") / c.wheel_radius for side in sides]
    return with_trailers(c, s, JointStates(positions, velocities))


def wheel_angle(middle: float, middle_rate: float, y: float, curvature: float, change: float) -> tuple[float, float]:
    """Angle [rad] and rate [rad/s] of the wheel ``y`` metres to the left of the middle wheel of an axle.

    Ackermann's rule for any axle: ``tan(wheel) = tan(middle) / (1 - y curvature)``, on the branch nearest to
    ``middle``, with the yaw rate per longitudinal speed as ``curvature`` [1/m] and its derivative ``change``.
    """
    sine, cosine = math.sin(middle), math.cos(middle)
    stretch = 1.0 - y * curvature
    along, across = sine * sine + stretch * cosine * cosine, y * curvature * sine * cosine
    if along < 0.0:
        along, across = -along, -across
    square = sine * sine + (stretch * cosine) ** 2
    rate = (stretch * middle_rate + y * sine * cosine * change) / square if square > 0.0 else 0.0
    return middle + math.atan2(across, along), rate


def actuator_states(c: FourWheelSteeringCoefficients, s: FourWheelSteeringState) -> tuple[ActuatorState, ...]:
    """References and responses of the drive and both steerings."""
    return (
        actuators.drive_report(c.drive, s.drive),
        actuators.steering_report(c.steering_front, s.steering_front),
        actuators.steering_report(c.steering_rear, s.steering_rear),
    )


def limits(p: FourWheelSteeringParameters) -> VehicleLimits:
    """The lower of the limits of drive and wheels, and the limits of both axles."""
    return VehicleLimits(
        min(filter(None, (p.drive_actuator.max_velocity, p.max_wheel_velocity)), default=0.0),
        p.front_steering_actuator.max_position,
        p.rear_steering_actuator.max_position,
    )


def geometry(p: FourWheelSteeringParameters) -> VehicleGeometry:
    """The wheels of both axles."""
    wheels = [
        Wheel(x - p.base_link_offset, y, steered=True)
        for x, track in ((p.wheel_base, p.track_front), (0.0, p.track_rear))
        for y in _lateral_positions(track / 2.0)
    ]
    return VehicleGeometry(tuple(wheels), p.tire_diameter, p.wheel_base, holonomic=True, rear_ratio=rear_ratio(p))


def resize(c: FourWheelSteeringCoefficients, s: FourWheelSteeringState) -> None:
    """Fit the delay lines to new dead times."""
    actuators.fit_lines(s.drive, c.drive.delay_steps)
    actuators.fit_lines(s.steering_front, c.steering_front.delay_steps)
    actuators.fit_lines(s.steering_rear, c.steering_rear.delay_steps)


def _lateral_positions(half_track: float) -> tuple[float, ...]:
    return (half_track, -half_track) if half_track > 0.0 else (0.0,)


def _wheel_names(*two_wheels: bool) -> list[str]:
    """Names of the wheels, by whether the front and the rear axle have two."""
    return [
        axle + side
        for axle, two in zip(("front", "rear"), two_wheels, strict=True)
        for side in (("_left", "_right") if two else ("",))
    ]


FOUR_WHEEL_STEERING = VehicleModel(
    name="four_wheel_steering",
    parameters=FourWheelSteeringParameters,
    accepts=frozenset((TWIST, ACKERMANN, SPEED, STEERING, FOUR_WHEEL)),
    coefficients=coefficients,
    at_rest=at_rest,
    at=at,
    actuating=(follow, set_velocities),
    moving=(move,),
    resize=resize,
    joints=joints,
    joint_states=joint_states,
    actuators=(
        Actuator("drive", "drive"),
        Actuator("steering_front", "steering"),
        Actuator("steering_rear", "steering"),
    ),
    actuator_states=actuator_states,
    limits=limits,
    geometry=geometry,
    set_references=set_references,
    stop=stop,
    lanes=True,
    reports=(HITCH_AT_LIMIT,),
)
