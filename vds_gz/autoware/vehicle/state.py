"""State, memory and reports of a model of Autoware's simulator.

The reference point is the middle of the rear axle. Both classes have the fields of a bicycle's wheels, so that wheels
and joints are those of :mod:`vds_gz.core.vehicle.bicycle`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from vds_gz.autoware.vehicle.delay import clear_line, is_reverse, limited
from vds_gz.autoware.vehicle.longitudinal import AutowareDriveCoefficients, AutowareDriveState, drive_at_rest
from vds_gz.autoware.vehicle.map_lookup import falling_inverse, locate, rising_inverse, value_in_row
from vds_gz.autoware.vehicle.mechanism import restart
from vds_gz.autoware.vehicle.steering import (
    MECHANISM,
    RATE_MAP,
    VARIABLE_RATIO,
    AutowareSteeringCoefficients,
    AutowareSteeringState,
    steering_at_rest,
    wheel_angle,
)


@dataclass(slots=True)
class AutowareCoefficients:
    """A model's parameters, prepared for a fixed step length."""

    dt: float  # length of a step [s]
    base_link_offset: float  # from the rear axle to base_link, along +x [m]
    physical: bool  # unphysical behaviour of Autoware's models is corrected
    signed_wheelbase: float  # wheel base [m]
    half_track_fixed: float  # half of the rear axle's track [m]
    half_track_steered: float  # half of the front axle's track [m]
    wheel_radius: float  # [m]
    parallel_steering: bool  # always false: both front wheels follow Ackermann's rule
    rule: int  # the rule of the gears
    turning_limit: float  # tyre angle beyond which the vehicle turns no faster [rad]
    speed_kept: float  # limit of the speed after a step [m/s]
    angle_kept: float  # limit of the tyre angle after a step [rad]
    acceleration_kept: float  # limit of the acceleration after a step [m/s^2]
    weight: float  # first factor of the sum of the derivatives
    weight_of_sum: float  # second factor; the product of both is dt / 6
    road_slope: float  # acceleration by the road's slope at the start [m/s^2]
    slopes: bool  # slopes act
    speed_gain: float  # gain of the loop from a speed reference to an acceleration [1/s]
    drive: AutowareDriveCoefficients
    steering: AutowareSteeringCoefficients


@dataclass(slots=True)
class AutowareState:
    """Drive and steering, the motion of the reference point, and each wheel's rolling speed [m/s] and angle [rad]."""

    drive: AutowareDriveState
    steering: AutowareSteeringState
    x: float = 0.0
    y: float = 0.0
    heading: float = 0.0
    v_x: float = 0.0
    v_y: float = 0.0
    yaw_rate: float = 0.0
    acceleration: float = 0.0  # the model's acceleration [m/s^2]; in most models it lags and is integrated to the speed
    # acceleration by the drive alone, if the model separates it from the slope's [m/s^2]
    drive_acceleration: float = 0.0
    road_slope: float = 0.0  # acceleration along +x by the road's slope [m/s^2]; set by the user
    speed_reference: float = 0.0  # commanded speed [m/s]
    angle_reference: float = 0.0  # commanded tyre angle [rad]
    turn: float = 0.0  # change of the heading in the last step [rad]
    advance_x: float = 0.0  # motion of the rear axle along the world's x axis in the last step [m]
    advance_y: float = 0.0  # the same along its y axis [m]
    speed_fixed_left: float = 0.0
    speed_fixed_right: float = 0.0
    speed_steered_left: float = 0.0
    speed_steered_right: float = 0.0
    roll_fixed_left: float = 0.0
    roll_fixed_right: float = 0.0
    roll_steered_left: float = 0.0
    roll_steered_right: float = 0.0


def at_rest(c: AutowareCoefficients) -> AutowareState:
    """A vehicle that stands at the origin."""
    return AutowareState(drive_at_rest(c.drive), steering_at_rest(c.steering), road_slope=c.road_slope)


def put(
    c: AutowareCoefficients,
    s: AutowareState,
    x: float,
    y: float,
    heading: float,
    speed: float = 0.0,
    angle: float = 0.0,
    acceleration: float = 0.0,
) -> None:
    """Place the vehicle at a pose with a motion, as an initial pose of Autoware does.

    Corrected (reset): delay lines and all memory are cleared; else old references still act.
    """
    s.x, s.y, s.heading = float(x), float(y), float(heading)
    s.v_x = float(speed)
    s.acceleration = float(acceleration)
    s.drive_acceleration = 0.0
    s.steering.angle = float(angle)
    s.steering.rate = 0.0
    s.yaw_rate = speed * math.tan(angle) / c.signed_wheelbase
    restart(c.steering.mechanism, s.steering.mechanism)
    if c.physical:
        for line in (s.drive.line, s.drive.brake_line, s.steering.line):
            clear_line(line)


class ActuationStatus(NamedTuple):
    """The content of ActuationStatusStamped: the pedals for the present acceleration, and the steering command."""

    accel: float
    brake: float
    steer: float


def steering_report(c: AutowareCoefficients, s: AutowareState) -> float:
    """The tyre angle that a sensor reads [rad]."""
    return s.steering.angle + c.steering.bias


def gear_report(s: AutowareState) -> int:
    """The engaged gear."""
    return int(s.drive.gear)


def has_actuation_status(c: AutowareCoefficients) -> bool:
    """Whether the model has a pedal map, from which an actuation status follows."""
    return c.drive.uses_map or c.drive.uses_brake_map


def actuation_status(c: AutowareCoefficients, s: AutowareState) -> ActuationStatus:
    """The pedal positions for the present acceleration, by the maps; 0 without a map.

    The accelerator is also 0 if the acceleration is below its map.

    Corrected (brake status): the brake is not mirrored, the slope does not count as a pedal, the acceleration in the
    gear's direction counts, and the steering command is reported; else a brake within the map is mirrored, the
    acceleration along +x counts in every gear, and the steering command is 0.
    """
    drive = c.drive
    a = limited(s.acceleration, drive.acceleration_limit)
    v = limited(s.v_x, drive.speed_limit)
    if c.physical:
        a -= s.drive.slope
        if is_reverse(s.drive.gear):
            a = -a
        v = abs(v)
    accel = brake = 0.0
    if drive.uses_map:
        column, fraction = locate(drive.map, v)
        if a >= value_in_row(drive.map, 0, column, fraction):
            accel = rising_inverse(drive.map, v, a)
    if drive.uses_brake_map:
        brake = falling_inverse(drive.brake_map, v, a, not c.physical)
    return ActuationStatus(accel, brake, steering_position(c, s) if c.physical else 0.0)


def steering_position(c: AutowareCoefficients, s: AutowareState) -> float:
    """Position of the steering, in the unit of its command; with a steering rate map, the command that acts."""
    steering = c.steering
    if steering.kind in (VARIABLE_RATIO, MECHANISM):
        return wheel_angle(steering, s.v_x, s.steering.angle)
    return s.steering.command if steering.kind == RATE_MAP else s.steering.angle
