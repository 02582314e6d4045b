"""Parameters of the actuators. Every limit of 0 means unlimited; a time constant of 0 means no lag."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

from vds_gz.parameters.declaration import ParameterError, ParameterGroup, real, reals

#: Longest dead time that is accepted [s]. A delay line holds one value per step, so this bounds memory.
MAX_DEAD_TIME = 60.0

#: Largest dead band and offset of a drive [m/s]. Above any wheeled vehicle; it keeps sums finite.
MAX_SPEED = 1000.0

#: Largest limit of a body's acceleration [m/s^2, rad/s^2].
MAX_RATE = 1e6

#: Largest gain of an actuator, for references in other units such as a throttle.
MAX_GAIN = 1000.0


#: Most points of a static map.
MAP_POINTS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticMapParameters(ParameterGroup):
    """What an actuator does in steady state: a gain, and a static map between the reference and the gain."""

    gain: float = real(1.0, "-", "response per reference, in steady state", positive=True, maximum=MAX_GAIN, live=True)
    map_references: tuple[float, ...] = reals(
        (), "", "points of a static map before the gain: references, rising; empty: none", most=MAP_POINTS, live=True
    )
    map_responses: tuple[float, ...] = reals(
        (), "", "points of the static map: response to each of map_references", most=MAP_POINTS, live=True
    )

    def check_together(self) -> None:
        """Refuse points that are no map."""
        references, responses = self.map_references, self.map_responses
        if len(references) != len(responses) or len(references) == 1:
            raise ParameterError(
                f"parameters 'map_references' and 'map_responses' have {len(references)} and {len(responses)} numbers; "
                "they must have as many of both, at least 2, or none"
            )
        if any(after <= before for before, after in pairwise(references)):
            raise ParameterError(f"parameter 'map_references' is {list(references)}; it must rise from point to point")


@dataclass(frozen=True, slots=True)
class DriveParameters(StaticMapParameters):
    """A velocity-controlled drive: dead time, dead band, gain, offset, saturation, slow share, lag, rate limits."""

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
    dead_band: float = real(
        0.0, "m/s", "references below it do not move the drive", minimum=0.0, maximum=MAX_SPEED, live=True
    )
    offset: float = real(
        0.0, "m/s", "speed at reference 0, such as creep", minimum=-MAX_SPEED, maximum=MAX_SPEED, live=True
    )
    slow_share: float = real(
        0.0,
        "-",
        "share of a response that comes slowly, as from the integral part of a speed controller; 0: none",
        minimum=0.0,
        maximum=1.0,
        live=True,
    )
    slow_time_constant: float = real(5.0, "s", "time constant of the slow share", positive=True, live=True)


@dataclass(frozen=True, slots=True)
class SteeringParameters(StaticMapParameters):
    """A position-controlled steering: dead time, dead band, gain, offset, saturation, lag, rate limit, backlash."""

    dead_time: float = real(
        0.2, "s", "time until a new reference begins to act", minimum=0.0, maximum=MAX_DEAD_TIME, live=True
    )
    time_constant: float = real(0.05, "s", "time constant of the first-order lag; 0: no lag", minimum=0.0, live=True)
    max_velocity: float = real(2.0, "rad/s", "maximum steering rate; 0: unlimited", minimum=0.0, live=True)
    max_position: float = real(
        math.pi / 6, "rad", "maximum steering angle; 0: turns all the way round", minimum=0.0, live=True
    )
    dead_band: float = real(
        0.0, "rad", "references below it count as straight ahead", minimum=0.0, maximum=math.pi, live=True
    )
    offset: float = real(0.0, "rad", "angle at reference 0", minimum=-math.pi, maximum=math.pi, live=True)
    backlash: float = real(
        0.0, "rad", "play between the actuator and the wheel", minimum=0.0, maximum=math.pi, live=True
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyLimits(ParameterGroup):
    """Limits that the controller of a robot puts on its commands before it splits them into wheel speeds."""

    max_linear_velocity: float = real(
        0.0, "m/s", "maximum commanded speed; 0: unlimited", minimum=0.0, maximum=MAX_SPEED, live=True
    )
    max_linear_acceleration: float = real(
        0.0, "m/s^2", "maximum change of the commanded speed; 0: unlimited", minimum=0.0, maximum=MAX_RATE, live=True
    )
    max_angular_velocity: float = real(
        0.0, "rad/s", "maximum commanded yaw rate; 0: unlimited", minimum=0.0, maximum=MAX_SPEED, live=True
    )
    max_angular_acceleration: float = real(
        0.0,
        "rad/s^2",
        "maximum change of the commanded yaw rate; 0: unlimited",
        minimum=0.0,
        maximum=MAX_RATE,
        live=True,
    )
