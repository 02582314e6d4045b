"""A car in steady state: its dead times are full of what holds its motion."""

from __future__ import annotations

from vds_gz.vehicle.autoware.drive import PEDAL_MAPS, ROLLING_ACCELERATION
from vds_gz.vehicle.autoware.inputs import acceleration_inputs, pedal_inputs
from vds_gz.vehicle.autoware.state import AutowareCoefficients, AutowareState, at_rest
from vds_gz.vehicle.autoware.steering import MECHANISM
from vds_gz.vehicle.autoware.step import set_wheel_speeds
from vds_gz.vehicle.command import ackermann
from vds_gz.vehicle.model import SteadyMotion


def at(c: AutowareCoefficients, motion: SteadyMotion) -> AutowareState:
    """A car in steady state at the origin, as a driver holds it there who commands its speed and tire angle."""
    s = at_rest(c)
    s.v_x = motion.v_x
    s.steering.angle = motion.steering_angle
    set_wheel_speeds(c, s)
    s.drive.slope = s.road_slope if c.slopes else 0.0
    steering_scale, drive_scale = c.steering.scale or 1.0, c.drive.scale or 1.0  # at 0 no reference does anything
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
