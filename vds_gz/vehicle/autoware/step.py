"""One step of any of the models: command, drive, steering, limits, gear, wheels."""

from __future__ import annotations

import math

from vds_gz.vehicle.autoware.arithmetic import limited
from vds_gz.vehicle.autoware.drive import (
    IDEAL_ACCELERATION,
    IDEAL_SPEED,
    LAGGING_SPEED,
    ROLLING_ACCELERATION,
    prepare_drive,
)
from vds_gz.vehicle.autoware.gears import NO_FALL, NO_RULE, ROLLING, SHORTEST_STEP, forbidden
from vds_gz.vehicle.autoware.inputs import take_command
from vds_gz.vehicle.autoware.integrators import integrate
from vds_gz.vehicle.autoware.mechanism import step_mechanism
from vds_gz.vehicle.autoware.state import AutowareCoefficients, AutowareState
from vds_gz.vehicle.autoware.steering import MECHANISM, geared_angle, prepare_steering
from vds_gz.vehicle.bicycle import roll_by, roll_wheels, steered_wheel_speed
from vds_gz.vehicle.command import NEUTRAL, Command


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
    roll_wheels(c, s, u)


def stop(c: AutowareCoefficients, s: AutowareState, rest: float) -> None:
    """Stop speed, acceleration and wheels ``rest`` seconds before the end of a step; the steering goes on."""
    roll_by(c, s, -rest)
    s.v_x = s.acceleration = s.drive_acceleration = 0.0
    set_wheel_speeds(c, s)


def stops(c: AutowareCoefficients, s: AutowareState, v_before: float) -> bool:
    """The rule ends the motion in this step, in which the speed changed from ``v_before`` to ``s.v_x``.

    Autoware ends every motion against the gear, be it ever so fast. Corrected (no velocity jump on a gear change): the
    drive brakes such a motion, and it ends when it comes to a standstill or turns round.
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

    Corrected (bounded acceleration): that is one of them. Corrected (end stops): for every model the tire angle is.
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
    """Yaw rate and wheel speeds that belong to the speed and the tire angle."""
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
