"""What a vehicle says of itself, as Autoware's messages have it."""

from __future__ import annotations

from typing import NamedTuple

from vds_gz.vehicle.autoware.arithmetic import limited
from vds_gz.vehicle.autoware.gears import is_reverse
from vds_gz.vehicle.autoware.maps import falling_inverse, locate, rising_inverse, value_in_row
from vds_gz.vehicle.autoware.state import AutowareCoefficients, AutowareState
from vds_gz.vehicle.autoware.steering import MECHANISM, RATE_MAP, VARIABLE_RATIO, wheel_angle


class ActuationStatus(NamedTuple):
    """ActuationStatusStamped: the pedals that go with the present acceleration, and the steering command."""

    accel: float
    brake: float
    steer: float


def steering_report(c: AutowareCoefficients, s: AutowareState) -> float:
    """The tire angle that a sensor reads [rad]."""
    return s.steering.angle + c.steering.bias


def gear_report(s: AutowareState) -> int:
    """The gear that is in."""
    return int(s.drive.gear)


def has_actuation_status(c: AutowareCoefficients) -> bool:
    """There are pedals with maps to read an actuation status from."""
    return c.drive.uses_map or c.drive.uses_brake_map


def actuation_status(c: AutowareCoefficients, s: AutowareState) -> ActuationStatus:
    """The pedals that the maps give for the present acceleration; 0 where there is no map, or none for so little.

    Corrected (brake status): the brake map is read the right way round; else a response within the map is mirrored.
    Corrected (maps in reverse): what the slope does is no pedal's, and in reverse the maps are read for reverse; else
    the acceleration along +x counts in every gear. Corrected: the steering command is reported; else 0 is.
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
    """Where the steering stands, in the unit of its command; a command for a rate is reported as it acts."""
    steering = c.steering
    if steering.kind in (VARIABLE_RATIO, MECHANISM):
        return wheel_angle(steering, s.v_x, s.steering.angle)
    return s.steering.command if steering.kind == RATE_MAP else s.steering.angle
