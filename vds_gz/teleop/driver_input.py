"""What a driver wants at one moment, whichever message it will travel in."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Drive:
    """Speed and direction. An Ackermann command takes ``v_x`` and the steering angle, a twist all but that angle.

    Attributes:
        v_x, v_y: Velocity forwards and to the left [m/s].
        yaw_rate: Positive to the left [rad/s].
        steering_angle: Positive to the left [rad].
    """

    v_x: float = 0.0
    v_y: float = 0.0
    yaw_rate: float = 0.0
    steering_angle: float = 0.0


STANDSTILL = Drive()

#: A standstill is said so many times; then there is silence, so that somebody else can drive.
STOPS = 5
