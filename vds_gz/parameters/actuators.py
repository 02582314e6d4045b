"""Parameters of the actuators. Every limit of 0 means unlimited; a time constant of 0 means no lag."""

from __future__ import annotations

import math
from dataclasses import dataclass

from vds_gz.parameters.declaration import ParameterGroup, real

#: Longest dead time that is accepted [s]. A delay line holds one value per step, so this bounds memory.
MAX_DEAD_TIME = 60.0


@dataclass(frozen=True, slots=True)
class DriveParameters(ParameterGroup):
    """A velocity-controlled drive: dead time, saturation, first-order lag, acceleration limits."""

    dead_time: float = real(
        0.2, "s", "time until a new reference begins to act", minimum=0.0, maximum=MAX_DEAD_TIME, live=True
    )
    time_constant: float = real(0.4, "s", "time constant of the first-order lag; 0: no lag", minimum=0.0, live=True)
    max_velocity: float = real(2.0, "m/s", "maximum speed of the drive; 0: unlimited", minimum=0.0, live=True)
    max_acceleration: float = real(
        2.0, "m/s^2", "maximum change of speed away from standstill; 0: unlimited", minimum=0.0, live=True
    )
    max_deceleration: float = real(
        0.0, "m/s^2", "maximum change of speed towards standstill; 0: as max_acceleration", minimum=0.0, live=True
    )


@dataclass(frozen=True, slots=True)
class SteeringParameters(ParameterGroup):
    """A position-controlled steering: dead time, saturation, first-order lag, rate limit."""

    dead_time: float = real(
        0.2, "s", "time until a new reference begins to act", minimum=0.0, maximum=MAX_DEAD_TIME, live=True
    )
    time_constant: float = real(0.05, "s", "time constant of the first-order lag; 0: no lag", minimum=0.0, live=True)
    max_velocity: float = real(2.0, "rad/s", "maximum steering rate; 0: unlimited", minimum=0.0, live=True)
    max_position: float = real(
        math.pi / 6, "rad", "maximum steering angle; 0: turns all the way round", minimum=0.0, live=True
    )
