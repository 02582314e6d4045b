"""Between messages and what they mean. Works on the message objects of either graph."""

from __future__ import annotations

import math
from typing import Any

from vds_gz.vehicle.command import SPEED, STEERING, Command, ackermann, twist
from vds_gz.vehicle.vehicle import NANOSECONDS

#: Diagonal of a covariance for what is known exactly; filters take a 0 for a singular matrix.
EXACT = 1e-9


def stamp_ns(stamp: Any) -> int:
    """Nanoseconds of a ``builtin_interfaces/Time``."""
    return int(stamp.sec) * NANOSECONDS + int(stamp.nanosec)


def set_stamp(stamp: Any, time: int) -> None:
    """Write nanoseconds into a ``builtin_interfaces/Time``."""
    stamp.sec, stamp.nanosec = divmod(time, NANOSECONDS)


def command_from_twist(message: Any) -> Command:
    """A ``Twist`` as a command."""
    return twist(message.linear.x, message.linear.y, message.angular.z)


def command_from_ackermann(message: Any) -> Command:
    """An ``AckermannDrive`` as a command."""
    return ackermann(message.speed, message.steering_angle, message.steering_angle_velocity, abs(message.acceleration))


def speed_command(message: Any) -> Command:
    """A ``Float64`` as the speed of a command."""
    return Command(SPEED, v_x=message.data)


def steering_command(message: Any) -> Command:
    """A ``Float64`` as the steering angle of a command."""
    return Command(STEERING, steering_angle=message.data)


def yaw_of(orientation: Any) -> float:
    """Heading [rad] of a ``Quaternion``; NaN if it is none."""
    x, y, z, w = orientation.x, orientation.y, orientation.z, orientation.w
    norm = x * x + y * y + z * z + w * w
    if not 1e-12 < norm < math.inf:
        return math.nan
    return math.atan2(2.0 * (w * z + x * y), norm - 2.0 * (y * y + z * z))


def exact_covariance(covariance: Any) -> None:
    """Write into a 6x6 covariance that everything is known."""
    for i in range(6):
        covariance[7 * i] = EXACT
