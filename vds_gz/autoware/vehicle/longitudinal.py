"""Drives, each given by the derivatives of the speed and of a lagging acceleration."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from vds_gz.autoware.vehicle.delay import DelayLine, against_gear, empty_line, is_reverse, limited, sign
from vds_gz.autoware.vehicle.map_lookup import Map, interpolate
from vds_gz.core.vehicle.command import DRIVE, NEUTRAL, NONE, PARK

#: Speed or acceleration follows its reference at once.
IDEAL_SPEED = 0
IDEAL_ACCELERATION = 1
#: Speed or acceleration follows its reference with a first-order lag.
LAGGING_SPEED = 2
LAGGING_ACCELERATION = 3
#: The same for an acceleration, with a map of the vehicle's response before the lag.
MAPPED_ACCELERATION = 4
#: The drive's acceleration lags, the slope acts at once, and brakes act against the motion.
ROLLING_ACCELERATION = 5
#: Two pedals, each with a map, a dead time and a time constant.
PEDAL_MAPS = 6


@dataclass(slots=True)
class AutowareDriveCoefficients:
    """A drive's parameters, prepared for a fixed step length."""

    kind: int  # one of the drives above
    physical: bool  # unphysical behaviour of Autoware's models is corrected
    speed_limit: float = math.inf  # saturation of the speed [m/s]
    acceleration_limit: float = math.inf  # saturation of the acceleration [m/s^2]
    delay_steps: int = 0  # dead time of speed, acceleration or accelerator, in steps
    brake_delay_steps: int = 0  # dead time of the brake, in steps
    time_constant: float = 0.0  # time constant of the lag [s]
    brake_time_constant: float = 0.0  # the same for the brake [s]
    scale: float = 1.0  # factor of a commanded acceleration
    uses_map: bool = False  # the accelerator goes through its map; else it is an acceleration [m/s^2]
    uses_brake_map: bool = False  # the brake goes through its map; else it has no effect
    # acceleration [m/s^2] by accelerator or commanded acceleration, and speed [m/s]
    map: Map = field(default_factory=Map)
    brake_map: Map = field(default_factory=Map)  # acceleration [m/s^2] by brake pedal and speed
    free_in_neutral: bool = False  # in neutral the vehicle rolls; else neutral holds it
    resists: bool = False  # a gear that does not allow the motion brakes it


@dataclass(slots=True)
class AutowareDriveState:
    """Inputs that act on the drive now, and inputs in the dead times."""

    line: DelayLine  # dead time of speed, acceleration or accelerator
    brake_line: DelayLine  # dead time of the brake
    input: float = 0.0  # output of line: a speed [m/s], an acceleration [m/s^2] or an accelerator
    brake: float = 0.0  # output of brake_line: a brake pedal
    gear: int = DRIVE  # code of the gear
    slope: float = 0.0  # acceleration by the road's slope [m/s^2], uphill negative
    resisted: float = 0.0  # direction of the motion, +1 or -1, while the gear forbids and brakes it; else 0
    braking: bool = False  # the brake is pressed
    brake_force: float = 0.0  # acceleration by the brake in neutral [m/s^2], at most 0
    target: float = 0.0  # target of a lagging acceleration [m/s^2]
    lag: float = 0.0  # present time constant [s]


def drive_at_rest(c: AutowareDriveCoefficients) -> AutowareDriveState:
    """A drive that never got a reference."""
    return AutowareDriveState(empty_line(c.delay_steps), empty_line(c.brake_delay_steps))


def prepare_drive(c: AutowareDriveCoefficients, s: AutowareDriveState, speed: float) -> None:
    """Set what is constant during a step that begins at a speed [m/s].

    Corrected (gear change): a gear that does not allow the motion brakes it, as hard as the acceleration limit allows;
    else the rule of the gears stops it at once.
    """
    rolls = c.free_in_neutral and s.gear == NEUTRAL
    s.resisted = sign(speed) if c.resists and not rolls and against_gear(s.gear, speed) else 0.0
    s.braking = s.input < 0.0 or (c.uses_brake_map and s.brake > 0.0)
    s.brake_force = brake_force(c, s, speed) if rolls else 0.0
    s.lag = pedal_lag(c, s) if c.kind == PEDAL_MAPS else c.time_constant
    s.target = within_reach(c, limited(s.input, c.acceleration_limit) * c.scale)
    if s.resisted != 0.0:
        s.target = -s.resisted * c.acceleration_limit


def brake_force(c: AutowareDriveCoefficients, s: AutowareDriveState, speed: float) -> float:
    """Acceleration by the brake against a motion [m/s^2], at most 0."""
    if not s.braking:
        return 0.0
    return min(0.0, interpolate(c.brake_map, s.brake, abs(speed)) if c.uses_brake_map else s.input)


def pedal_lag(c: AutowareDriveCoefficients, s: AutowareDriveState) -> float:
    """The present time constant [s].

    With the accelerator pressed, its own applies. Corrected (time constants): otherwise the brake's applies while the
    brake or a gear brakes; else always.
    """
    if s.input > 0.0:
        return c.time_constant
    if c.physical and not s.braking and s.resisted == 0.0:
        return c.time_constant
    return c.brake_time_constant


def within_reach(c: AutowareDriveCoefficients, acceleration: float) -> float:
    """The lag's input [m/s^2]. Corrected (bounded acceleration): it is limited, so the acceleration stays bounded."""
    return limited(acceleration, c.acceleration_limit) if c.physical else acceleration


def drive_derivative(
    c: AutowareDriveCoefficients, s: AutowareDriveState, v: float, lagging: float
) -> tuple[float, float]:
    """Derivatives of the speed and of the lagging acceleration."""
    if c.kind == IDEAL_SPEED:
        return 0.0, 0.0
    if c.kind == IDEAL_ACCELERATION:
        return s.input, 0.0
    if c.kind == LAGGING_SPEED:
        return limited(-(v - limited(s.input, c.speed_limit)) / s.lag, c.acceleration_limit), 0.0
    a = limited(lagging, c.acceleration_limit)
    if c.kind == ROLLING_ACCELERATION:
        return rolling(s, v, a), -(a - s.target) / s.lag
    target = s.target
    if s.resisted == 0.0:
        if c.kind == PEDAL_MAPS:
            target = geared(c, s, v, pedal_acceleration(c, s, v))
        elif c.kind == MAPPED_ACCELERATION:
            target = within_reach(c, mapped_acceleration(c, s, v))
    return a, -(a - target) / s.lag


def mapped_acceleration(c: AutowareDriveCoefficients, s: AutowareDriveState, v: float) -> float:
    """The vehicle's response to the commanded acceleration [m/s^2].

    Corrected (maps in reverse): in reverse, the signs of speed and acceleration are reversed; else the map is read at
    standstill.
    """
    reference = limited(s.input, c.acceleration_limit)
    if c.physical and is_reverse(s.gear):
        return -interpolate(c.map, -reference, -v)
    return interpolate(c.map, reference, v)


def pedal_acceleration(c: AutowareDriveCoefficients, s: AutowareDriveState, v: float) -> float:
    """Acceleration by the pedals in the gear's direction [m/s^2].

    Corrected (maps in reverse): the maps are read at the speed in either direction; else, in reverse, at standstill.
    Corrected (coasting): with no pedal pressed, the accelerator's map gives creep and engine drag; else 0 acts.
    """
    speed = abs(v) if c.physical else v
    if c.uses_map and s.input > 0.0:
        acceleration = interpolate(c.map, s.input, speed)
    elif c.uses_brake_map and s.brake > 0.0:
        acceleration = interpolate(c.brake_map, s.brake, speed)
    elif c.uses_map and c.physical and s.input == 0.0:
        acceleration = interpolate(c.map, 0.0, speed)
    else:
        acceleration = s.input
    return limited(acceleration, c.acceleration_limit)


def geared(c: AutowareDriveCoefficients, s: AutowareDriveState, v: float, acceleration: float) -> float:
    """Acceleration along +x by drive, gear and slope together [m/s^2].

    Corrected (neutral): in neutral the engine does not act and the car rolls; else the engine acts as in drive, and the
    rule of the gears stops the car.
    """
    if c.free_in_neutral and s.gear == NEUTRAL:
        return within_reach(c, rolling(s, v, s.brake_force))
    if s.gear in (NONE, PARK):
        return 0.0
    return within_reach(c, (-acceleration if is_reverse(s.gear) else acceleration) + s.slope)


def rolling(s: AutowareDriveState, v: float, p: float) -> float:
    """Acceleration along +x of a vehicle whose brakes act against its motion and hold it at rest [m/s^2]."""
    if p >= 0.0:
        if s.gear in (NONE, PARK):
            return 0.0
        if s.gear == NEUTRAL:
            return s.slope
        return (-p if is_reverse(s.gear) else p) + s.slope
    if v > 0.0:
        return p + s.slope
    if v < 0.0:
        return -p + s.slope
    return 0.0 if -p >= abs(s.slope) else s.slope
