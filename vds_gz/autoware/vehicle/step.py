"""A step of the models of Autoware's simulator: from a command to the inputs, and through the integrators to the state.

A driver converts other commands to a model's inputs, as Autoware's raw_vehicle_cmd_converter does for pedals. A speed
loop gives an acceleration, the inverse maps give the pedals for it, and the inverse gear ratio the steering command.
"""

from __future__ import annotations

import math

from vds_gz.autoware.vehicle.command_kinds import CONTROL, DIRECT, PEDALS
from vds_gz.autoware.vehicle.delay import (
    NO_FALL,
    NO_RULE,
    ROLLING,
    SHORTEST_STEP,
    delayed,
    forbidden,
    is_reverse,
    limited,
)
from vds_gz.autoware.vehicle.longitudinal import (
    IDEAL_ACCELERATION,
    IDEAL_SPEED,
    LAGGING_SPEED,
    PEDAL_MAPS,
    ROLLING_ACCELERATION,
    AutowareDriveCoefficients,
    drive_derivative,
    prepare_drive,
)
from vds_gz.autoware.vehicle.map_lookup import falling_inverse, locate, rising_inverse, value_in_row
from vds_gz.autoware.vehicle.mechanism import step_mechanism
from vds_gz.autoware.vehicle.state import AutowareCoefficients, AutowareState, at_rest
from vds_gz.autoware.vehicle.steering import (
    MECHANISM,
    RATE_MAP,
    VARIABLE_RATIO,
    gear_ratio,
    geared_angle,
    prepare_steering,
    steering_derivative,
    wheel_angle,
)
from vds_gz.core.vehicle.bicycle import roll_wheels, steered_wheel_speed
from vds_gz.core.vehicle.command import DRIVE, NEUTRAL, NONE, REVERSE, STOP, TWIST, Command, SteadyMotion, ackermann

#: At smaller speeds, a yaw rate defines no steering angle [m/s].
STANDSTILL = 1e-12

#: For a commanded speed of 0, the brake holds the car below this speed [m/s], with this deceleration [m/s^2].
NEARLY_STANDING = 0.1
HOLDING = 1.0


def take_command(c: AutowareCoefficients, s: AutowareState, u: Command) -> None:
    """Enter a command into the dead times, and get the inputs that act in this step."""
    drive, steering = c.drive, c.steering
    s.drive.slope = u.slope + s.road_slope if c.slopes else 0.0
    brake = 0.0
    if drive.kind == PEDAL_MAPS:
        accel, brake, angle = pedal_inputs(c, s, u)
    else:
        accel, angle = acceleration_inputs(c, s, u)
    s.drive.input = delayed(s.drive.line, drive.delay_steps, accel)
    s.drive.brake = delayed(s.drive.brake_line, drive.brake_delay_steps, brake)
    s.steering.command = delayed(s.steering.line, steering.delay_steps, angle)


def pedal_inputs(c: AutowareCoefficients, s: AutowareState, u: Command) -> tuple[float, float, float]:
    """Accelerator, brake and steering command for a command."""
    if u.kind == PEDALS:
        s.drive.gear = u.gear
        s.speed_reference = s.v_x
        s.angle_reference = commanded_angle(c, s, u.steering_command)
        return u.accel_pedal, u.brake_pedal, u.steering_command
    if u.kind == CONTROL:
        s.drive.gear = u.gear
        s.speed_reference = u.v_x
        acceleration = u.target_acceleration
    else:
        acceleration = driven_acceleration(c, s, u)
    accel, brake = pedals_for(c.drive, acceleration, abs(s.v_x) if c.physical else s.v_x)
    return accel, brake, steering_command_for(c, s, angle_reference(c, s, u))


def acceleration_inputs(c: AutowareCoefficients, s: AutowareState, u: Command) -> tuple[float, float]:
    """Speed or acceleration, and tyre angle, for a command."""
    angle = angle_reference(c, s, u)
    takes_speed = c.drive.kind in (IDEAL_SPEED, LAGGING_SPEED)
    if u.kind in (CONTROL, DIRECT):
        s.drive.gear = u.gear
        s.speed_reference = u.v_x
        if takes_speed:
            return u.v_x, angle
        if u.kind == DIRECT or c.drive.kind == ROLLING_ACCELERATION:
            return u.target_acceleration, angle
        return along_x(s, u.target_acceleration), angle
    if takes_speed:
        s.speed_reference = commanded_speed(u)
        return s.speed_reference, angle
    acceleration = driven_acceleration(c, s, u)
    if c.drive.kind == ROLLING_ACCELERATION:
        return acceleration, angle
    return along_x(s, acceleration), angle


def along_x(s: AutowareState, acceleration: float) -> float:
    """Sum of an acceleration in the gear's direction and the slope's, along +x [m/s^2]; 0 without a gear.

    Autoware's node adds them for models without a slope of their own.
    """
    if s.drive.gear == NONE:
        return 0.0
    return (-acceleration if is_reverse(s.drive.gear) else acceleration) + s.drive.slope


def commanded_speed(u: Command) -> float:
    """The speed reference of a command [m/s]; 0 for a stop, pedals and a model's own inputs."""
    return 0.0 if u.kind in (STOP, PEDALS, DIRECT) else u.v_x


def driven_acceleration(c: AutowareCoefficients, s: AutowareState, u: Command) -> float:
    """Acceleration in the gear's direction with which a driver follows a speed and compensates the slope [m/s^2].

    The driver shifts gears, brakes to a standstill before reversing, and holds a vehicle that is to stand.
    """
    speed = limited(commanded_speed(u), c.drive.speed_limit)
    s.speed_reference = speed
    most = u.acceleration if u.acceleration < c.drive.acceleration_limit else c.drive.acceleration_limit
    acceleration = limited(c.speed_gain * (speed - s.v_x), most)
    if c.rule == NO_RULE:
        s.drive.gear = DRIVE
        return acceleration - s.drive.slope
    backwards = s.v_x < 0.0 or (s.v_x == 0.0 and speed < 0.0)
    s.drive.gear = REVERSE if backwards else DRIVE
    if speed == 0.0 and abs(s.v_x) < NEARLY_STANDING:
        return -HOLDING - abs(s.drive.slope)
    return s.drive.slope - acceleration if backwards else acceleration - s.drive.slope


def pedals_for(c: AutowareDriveCoefficients, acceleration: float, speed: float) -> tuple[float, float]:
    """Accelerator and brake that give an acceleration in the gear's direction [m/s^2] at a speed [m/s]."""
    if c.uses_map:
        column, fraction = locate(c.map, speed)
        if acceleration > value_in_row(c.map, 0, column, fraction):
            return rising_inverse(c.map, speed, acceleration), 0.0
    elif acceleration >= 0.0 or not c.uses_brake_map:
        return acceleration, 0.0
    if c.uses_brake_map:
        return 0.0, falling_inverse(c.brake_map, speed, acceleration, False)
    return min(acceleration, 0.0), 0.0


def angle_reference(c: AutowareCoefficients, s: AutowareState, u: Command) -> float:
    """The tyre angle reference of a command [rad]; stops and pedals keep the last one."""
    if u.kind == TWIST:
        s.angle_reference = math.atan(c.signed_wheelbase * u.yaw_rate / u.v_x) if abs(u.v_x) > STANDSTILL else 0.0
    elif u.kind != STOP and u.kind != PEDALS:
        s.angle_reference = u.steering_angle
    return s.angle_reference


def steering_command_for(c: AutowareCoefficients, s: AutowareState, angle: float) -> float:
    """The steering command for a tyre angle [rad]."""
    steering = c.steering
    if steering.kind in (VARIABLE_RATIO, MECHANISM):
        return angle * gear_ratio(steering, s.v_x, wheel_angle(steering, s.v_x, s.steering.angle))
    if steering.kind == RATE_MAP:
        rate = steering.gain * (angle - (s.steering.angle + steering.bias))
        rate = limited(rate, steering.rate_limit)
        if c.physical:
            return rising_inverse(steering.map, s.steering.angle, rate)
        return rising_inverse(steering.map, s.v_x, rate * steering.time_constant)
    return angle


def commanded_angle(c: AutowareCoefficients, s: AutowareState, command: float) -> float:
    """The tyre angle reference of a steering command [rad]; the present angle if the command is a rate."""
    steering = c.steering
    if steering.kind in (VARIABLE_RATIO, MECHANISM):
        return geared_angle(steering, command, s.v_x, s.steering.angle)
    return s.steering.angle if steering.kind == RATE_MAP else command


#: Heading, speed, tyre angle, lagging acceleration, x and y of the rear axle. Sums have Autoware's order, so that the
#: last digits agree.
StateVector = tuple[float, float, float, float, float, float]


def derivative(
    c: AutowareCoefficients, s: AutowareState, heading: float, speed: float, angle: float, lagging: float
) -> StateVector:
    """Derivative of the state vector; references are held over the step."""
    v = limited(speed, c.drive.speed_limit)
    speeding, pushing = drive_derivative(c.drive, s.drive, v, lagging)
    steering = steering_derivative(c.steering, s.steering, speed, angle)
    turning = (v * math.tan(limited(angle, c.turning_limit))) / c.signed_wheelbase
    return turning, speeding, steering, pushing, v * math.cos(heading), v * math.sin(heading)


def runge_kutta(c: AutowareCoefficients, s: AutowareState) -> None:
    """The classical fourth-order Runge-Kutta method. The derivative does not depend on the position."""
    heading, v, angle, a = s.heading, s.v_x, s.steering.angle, s.acceleration
    dt = c.dt
    k1 = derivative(c, s, heading, v, angle, a)
    k2 = derivative(
        c,
        s,
        heading + (k1[0] * 0.5) * dt,
        v + (k1[1] * 0.5) * dt,
        angle + (k1[2] * 0.5) * dt,
        a + (k1[3] * 0.5) * dt,
    )
    k3 = derivative(
        c,
        s,
        heading + (k2[0] * 0.5) * dt,
        v + (k2[1] * 0.5) * dt,
        angle + (k2[2] * 0.5) * dt,
        a + (k2[3] * 0.5) * dt,
    )
    k4 = derivative(c, s, heading + k3[0] * dt, v + k3[1] * dt, angle + k3[2] * dt, a + k3[3] * dt)
    s.turn = change(c, k1[0], k2[0], k3[0], k4[0])
    s.v_x = v + change(c, k1[1], k2[1], k3[1], k4[1])
    s.steering.angle = angle + change(c, k1[2], k2[2], k3[2], k4[2])
    s.acceleration = a + change(c, k1[3], k2[3], k3[3], k4[3])
    s.advance_x = change(c, k1[4], k2[4], k3[4], k4[4])
    s.advance_y = change(c, k1[5], k2[5], k3[5], k4[5])


def change(c: AutowareCoefficients, k1: float, k2: float, k3: float, k4: float) -> float:
    """The increment of the four stages of the Runge-Kutta method."""
    return (c.weight * (((k1 + 2.0 * k2) + 2.0 * k3) + k4)) * c.weight_of_sum


def euler(c: AutowareCoefficients, s: AutowareState) -> None:
    """The explicit Euler method."""
    k = derivative(c, s, s.heading, s.v_x, s.steering.angle, s.drive_acceleration)
    s.turn = k[0] * c.dt
    s.v_x += k[1] * c.dt
    s.steering.angle += k[2] * c.dt
    s.drive_acceleration += k[3] * c.dt
    s.advance_x = k[4] * c.dt
    s.advance_y = k[5] * c.dt


def integrate(c: AutowareCoefficients, s: AutowareState) -> None:
    """Advance speed, tyre angle and acceleration by one step, and set how far the vehicle turns and moves in it."""
    if c.drive.kind == ROLLING_ACCELERATION:
        euler(c, s)
    else:
        runge_kutta(c, s)


def actuate(c: AutowareCoefficients, s: AutowareState, u: Command) -> None:
    """Advance drive and steering by one step, and set velocity and wheel speeds; the vehicle stays where it is."""
    v, angle = s.v_x, s.steering.angle
    take_command(c, s, u)
    prepare_drive(c.drive, s.drive, v)
    prepare_steering(c.steering, s.steering)
    if c.drive.kind == IDEAL_SPEED:
        s.v_x = s.drive.input
    integrate(c, s)
    if c.steering.kind == MECHANISM:
        target = geared_angle(c.steering, s.steering.command, s.v_x, angle)
        s.steering.angle = step_mechanism(c.steering.mechanism, s.steering.mechanism, target, s.v_x, angle, c.dt)
    keep_limits(c, s)
    if c.rule == NO_FALL:
        if stops(c, s, v):
            s.turn = s.advance_x = s.advance_y = s.v_x = 0.0
            s.acceleration = 0.0 if c.physical else (0.0 - v) / max(c.dt, SHORTEST_STEP)
    elif c.rule == ROLLING and v * s.v_x <= 0.0 and -s.drive_acceleration >= abs(s.drive.slope):
        s.v_x = 0.0
    report_acceleration(c, s, v)
    s.steering.rate = (s.steering.angle - angle) / c.dt
    set_wheel_speeds(c, s)


def move(c: AutowareCoefficients, s: AutowareState, u: Command) -> None:
    """Turn the wheels and move the vehicle by one step."""
    s.x += s.advance_x
    s.y += s.advance_y
    s.heading += s.turn
    roll_wheels(c, s, c.dt)


def stop(c: AutowareCoefficients, s: AutowareState, rest: float) -> None:
    """Stop speed, acceleration and wheels ``rest`` seconds before the end of a step; the steering continues."""
    roll_wheels(c, s, -rest)
    s.v_x = s.acceleration = s.drive_acceleration = 0.0
    set_wheel_speeds(c, s)


def stops(c: AutowareCoefficients, s: AutowareState, v_before: float) -> bool:
    """Whether the rule ends the motion in this step, in which the speed changed from ``v_before`` to ``s.v_x``.

    Corrected (gear change): a motion against the gear ends at standstill or at its reversal; else at any speed.
    """
    if not c.physical:
        return forbidden(s.drive.gear, s.v_x)
    if v_before * s.v_x > 0.0:
        return False
    if c.drive.free_in_neutral and s.drive.gear == NEUTRAL:
        return s.drive.braking and abs(s.drive.brake_force) >= abs(s.drive.slope)
    return forbidden(s.drive.gear, v_before) or forbidden(s.drive.gear, s.v_x)


def keep_limits(c: AutowareCoefficients, s: AutowareState) -> None:
    """Keep the state within its limits.

    Corrected (bounded acceleration): the acceleration is limited; else it is not. Corrected (end stops): the tyre angle
    of every lagging model is limited; else that of pedal models only.
    """
    s.v_x = limited(s.v_x, c.speed_kept)
    s.steering.angle = limited(s.steering.angle, c.angle_kept)
    s.acceleration = limited(s.acceleration, c.acceleration_kept)
    s.drive_acceleration = limited(s.drive_acceleration, c.acceleration_kept)


def report_acceleration(c: AutowareCoefficients, s: AutowareState, v_before: float) -> None:
    """Set the acceleration of models that do not have it in their state."""
    kind = c.drive.kind
    if kind == IDEAL_ACCELERATION:
        s.acceleration = s.drive.input
        if c.rule != NO_RULE:
            s.acceleration = (s.v_x - v_before) / max(c.dt, SHORTEST_STEP)
    elif kind in (IDEAL_SPEED, LAGGING_SPEED, ROLLING_ACCELERATION):
        s.acceleration = (s.v_x - v_before) / c.dt


def set_wheel_speeds(c: AutowareCoefficients, s: AutowareState) -> None:
    """Set the yaw rate and the wheel speeds from the speed and the tyre angle."""
    v_x = s.v_x
    angle = s.steering.angle
    yaw_rate = (v_x * math.tan(angle)) / c.signed_wheelbase
    cosine = math.cos(angle)
    sine = math.sin(angle)
    half_track_speed = yaw_rate * c.half_track_fixed
    s.yaw_rate = yaw_rate
    s.speed_fixed_left = v_x - half_track_speed
    s.speed_fixed_right = v_x + half_track_speed
    s.speed_steered_left = steered_wheel_speed(c, v_x, yaw_rate, c.half_track_steered, cosine, sine)
    s.speed_steered_right = steered_wheel_speed(c, v_x, yaw_rate, -c.half_track_steered, cosine, sine)


def at(c: AutowareCoefficients, motion: SteadyMotion) -> AutowareState:
    """A car at the origin in a steady motion, kept by a driver who commands its speed and tyre angle."""
    s = at_rest(c)
    s.v_x = motion.v_x
    s.steering.angle = motion.steering_angle
    set_wheel_speeds(c, s)
    s.drive.slope = s.road_slope if c.slopes else 0.0
    steering_scale, drive_scale = c.steering.scale or 1.0, c.drive.scale or 1.0  # at 0 a reference has no effect
    bias = 0.0 if c.steering.kind == MECHANISM else c.steering.bias
    speed, angle = motion.v_x, (motion.steering_angle + bias) / steering_scale
    if c.drive.kind == ROLLING_ACCELERATION:
        speed += s.drive.slope * (1.0 - 1.0 / drive_scale) / c.speed_gain
    u = ackermann(speed, angle)
    brake = 0.0
    if c.drive.kind == PEDAL_MAPS:
        accel, brake, steering = pedal_inputs(c, s, u)
    else:
        accel, steering = acceleration_inputs(c, s, u)
    if c.drive.kind == ROLLING_ACCELERATION:
        s.drive_acceleration = accel * drive_scale
    for line, value in ((s.drive.line, accel), (s.drive.brake_line, brake), (s.steering.line, steering)):
        line.values = [value] * len(line.values)
    return s
