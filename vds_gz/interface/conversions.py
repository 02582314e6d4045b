"""Conversions of messages, for the message objects of both kinds of graph."""

from __future__ import annotations

import math
from collections.abc import MutableSequence

from vds_gz.ros.graph import Message
from vds_gz.ros.messages.fields import seconds_and_nanoseconds, within_stamps
from vds_gz.vehicle.vehicle import NANOSECONDS

#: Diagonal of a covariance of exact values; a 0 would make the matrix singular.
EXACT = 1e-9


def stamp_ns(stamp: Message) -> int:
    """Nanoseconds of a ``builtin_interfaces/Time``, whose field ``nanosec`` may exceed a second."""
    return within_stamps(int(stamp.sec) * NANOSECONDS + int(stamp.nanosec))


def set_stamp(stamp: Message, time: int) -> None:
    """Write nanoseconds into a ``builtin_interfaces/Time``."""
    stamp.sec, stamp.nanosec = seconds_and_nanoseconds(time)


def yaw_of(orientation: Message) -> float:
    """Heading [rad] of a ``Quaternion``; NaN if it is not a rotation."""
    x, y, z, w = orientation.x, orientation.y, orientation.z, orientation.w
    norm = x * x + y * y + z * z + w * w
    if not 1e-12 < norm < math.inf:
        return math.nan
    return math.atan2(2.0 * (w * z + x * y), norm - 2.0 * (y * y + z * z))


def exact_covariance(covariance: MutableSequence[float]) -> None:
    """Fill a 6x6 covariance of exact values."""
    for i in range(6):
        covariance[7 * i] = EXACT
