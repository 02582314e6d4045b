"""From a command to what enters a model: its own inputs, or a driver that makes them of a speed and an angle.

The driver is what Autoware's raw_vehicle_cmd_converter is to a vehicle with pedals: a speed loop commands an
acceleration, the inverse of the maps finds the pedals for it, and the inverse of the steering's gear the command.
"""

from __future__ import annotations

import math

from vds_gz.vehicle.autoware.arithmetic import limited
from vds_gz.vehicle.autoware.delay import delayed
from vds_gz.vehicle.autoware.drive import (
    IDEAL_SPEED,
    LAGGING_SPEED,
    PEDAL_MAPS,
    ROLLING_ACCELERATION,
    DriveCoefficients,
)
from vds_gz.vehicle.autoware.gears import NO_RULE, is_reverse
from vds_gz.vehicle.autoware.maps import falling_inverse, locate, rising_inverse, value_in_row
from vds_gz.vehicle.autoware.state import AutowareCoefficients, AutowareState
from vds_gz.vehicle.autoware.steering import (
    MECHANISM,
    RATE_MAP,
    VARIABLE_RATIO,
    gear_ratio,
    geared_angle,
    wheel_angle,
)
from vds_gz.vehicle.command import CONTROL, DIRECT, DRIVE, NONE, PEDALS, REVERSE, STOP, TWIST, Command

#: Below this a speed gives a yaw rate no direction to steer to [m/s].
STANDSTILL = 1e-12

#: A commanded speed of 0 is held by the brake from here on [m/s], with so much [m/s^2].
NEARLY_STANDING = 0.1
HOLDING = 1.0


def take_command(c: AutowareCoefficients, s: AutowareState, u: Command) -> None:
    """Enter a command into the dead times, and take out of them what acts in this step."""
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
    """Accelerator, brake and steering command that a command means."""
    if u.kind == PEDALS:
        s.drive.gear = u.gear
        s.speed_reference = s.v_x
        s.angle_reference = commanded_angle(c, s, u.steering_command)
        return u.accel_pedal, u.brake_pedal, u.steering_command
    if u.kind == CONTROL:
        s.drive.gear = u.gear
        s.speed_reference = u.v_x
        wanted = u.target_acceleration
    else:
        wanted = driven_acceleration(c, s, u)
    accel, brake = pedals_for(c.drive, wanted, abs(s.v_x) if c.physical else s.v_x)
    return accel, brake, steering_command_for(c, s, wanted_angle(c, s, u))


def acceleration_inputs(c: AutowareCoefficients, s: AutowareState, u: Command) -> tuple[float, float]:
    """Speed or acceleration, and tire angle, that a command means."""
    angle = wanted_angle(c, s, u)
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
    wanted = driven_acceleration(c, s, u)
    if c.drive.kind == ROLLING_ACCELERATION:
        return wanted, angle
    return along_x(s, wanted), angle


def along_x(s: AutowareState, wanted: float) -> float:
    """An acceleration in the gear's direction and the slope's, as one along +x [m/s^2]; none without a gear.

    (As Autoware's node combines them for models that do not know the slope.)
    """
    if s.drive.gear == NONE:
        return 0.0
    return (-wanted if is_reverse(s.drive.gear) else wanted) + s.drive.slope


def commanded_speed(u: Command) -> float:
    """The speed reference of a command [m/s]; 0 for those that stop or have pedals only."""
    return 0.0 if u.kind in (STOP, PEDALS, DIRECT) else u.v_x


def driven_acceleration(c: AutowareCoefficients, s: AutowareState, u: Command) -> float:
    """Acceleration in the gear's direction with which a driver follows a speed, slope compensated [m/s^2].

    The driver brakes to a standstill before reversing, and holds the vehicle there.
    """
    speed = limited(commanded_speed(u), c.drive.speed_limit)
    s.speed_reference = speed
    most = u.acceleration if u.acceleration < c.drive.acceleration_limit else c.drive.acceleration_limit
    wanted = limited(c.speed_gain * (speed - s.v_x), most)
    if c.rule == NO_RULE:
        s.drive.gear = DRIVE
        return wanted - s.drive.slope
    backwards = s.v_x < 0.0 or (s.v_x == 0.0 and speed < 0.0)
    s.drive.gear = REVERSE if backwards else DRIVE
    if speed == 0.0 and abs(s.v_x) < NEARLY_STANDING:
        return -HOLDING - abs(s.drive.slope)
    return s.drive.slope - wanted if backwards else wanted - s.drive.slope


def pedals_for(c: DriveCoefficients, wanted: float, speed: float) -> tuple[float, float]:
    """Accelerator and brake that give an acceleration in the gear's direction [m/s^2] at a speed [m/s]."""
    if c.uses_map:
        column, fraction = locate(c.map, speed)
        if wanted > value_in_row(c.map, 0, column, fraction):
            return rising_inverse(c.map, speed, wanted), 0.0
    elif wanted >= 0.0 or not c.uses_brake_map:
        return wanted, 0.0
    if c.uses_brake_map:
        return 0.0, falling_inverse(c.brake_map, speed, wanted, False)
    return min(wanted, 0.0), 0.0


def wanted_angle(c: AutowareCoefficients, s: AutowareState, u: Command) -> float:
    """The tire angle reference of a command [rad]; who stops keeps the last one."""
    if u.kind == TWIST:
        s.angle_reference = math.atan(c.signed_wheelbase * u.yaw_rate / u.v_x) if abs(u.v_x) > STANDSTILL else 0.0
    elif u.kind != STOP and u.kind != PEDALS:
        s.angle_reference = u.steering_angle
    return s.angle_reference


def steering_command_for(c: AutowareCoefficients, s: AutowareState, angle: float) -> float:
    """What the steering takes for a tire angle [rad]."""
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
    """The tire angle reference of a steering command [rad]; the present angle where a command is a rate."""
    steering = c.steering
    if steering.kind in (VARIABLE_RATIO, MECHANISM):
        return geared_angle(steering, command, s.v_x, s.steering.angle)
    return s.steering.angle if steering.kind == RATE_MAP else command
