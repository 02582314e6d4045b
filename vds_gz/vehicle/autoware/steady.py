"""A car in steady state: its dead times are full of what holds its motion."""

from __future__ import annotations

from vds_gz.vehicle.autoware.drive import PEDAL_MAPS
from vds_gz.vehicle.autoware.inputs import acceleration_inputs, pedal_inputs
from vds_gz.vehicle.autoware.state import AutowareCoefficients, AutowareState, at_rest
from vds_gz.vehicle.autoware.step import set_wheel_speeds
from vds_gz.vehicle.command import ackermann
from vds_gz.vehicle.model import SteadyMotion


def at(c: AutowareCoefficients, motion: SteadyMotion) -> AutowareState:
    """A car in steady state at the origin, as a driver holds it there who commands its speed and tire angle."""
    s = at_rest(c)
    s.v_x = motion.v_x
    s.steering.angle = motion.steering_angle
    set_wheel_speeds(c, s)
    scale = c.steering.scale or 1.0  # with a scale of 0 no reference does anything
    u = ackermann(motion.v_x, (motion.steering_angle + c.steering.bias) / scale)
    brake = 0.0
    if c.drive.kind == PEDAL_MAPS:
        accel, brake, angle = pedal_inputs(c, s, u)
    else:
        accel, angle = acceleration_inputs(c, s, u)
    for line, value in ((s.drive.line, accel), (s.drive.brake_line, brake), (s.steering.line, angle)):
        line.values = [value] * len(line.values)
    return s
