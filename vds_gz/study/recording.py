"""A recording as arrays in SI units: the vehicle's motion, its actuators, and its commands."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vds_gz.errors import VdsGzError
from vds_gz.study.touches import Touch
from vds_gz.vehicle.model import ActuatorKind

Array = NDArray[np.float64]


class RecordingError(VdsGzError, ValueError):
    """A file is not a recording of a vehicle."""


@dataclass(frozen=True, slots=True)
class Motion:
    """Pose and velocity of base_link at the times of the samples [s, m, m, rad, m/s, m/s, rad/s].

    Quantities that were not measured are NaN.
    """

    time: Array
    x: Array
    y: Array
    heading: Array
    v_x: Array
    v_y: Array
    yaw_rate: Array


@dataclass(frozen=True, slots=True)
class Actuator:
    """Reference and response of an actuator: speeds [m/s] of a drive, angles [rad] of a steering actuator."""

    name: str
    kind: ActuatorKind
    time: Array
    reference: Array
    response: Array


@dataclass(frozen=True, slots=True)
class Commands:
    """The received commands. Numbers that they leave open are NaN, such as a Twist's steering angle."""

    time: Array
    speed: Array
    v_y: Array
    yaw_rate: Array
    steering_angle: Array


@dataclass(frozen=True, slots=True)
class Recording:
    """A recorded run. All times are the vehicle's own [s], from its first sample.

    Attributes:
        counts: Messages by topic.
        start: The vehicle's time of its first sample [ns]; 0 for a table.
        notes: Notes of the reader, for people.
        command_topics: The topics of the commands.
        steering: Times and values of a measured steering angle [s, rad], if no actuator reports itself.
        touches: The vehicle's touches, from its topic ``contacts``.
    """

    motion: Motion
    actuators: tuple[Actuator, ...]
    commands: Commands
    counts: Counter[str]
    start: int = 0
    notes: tuple[str, ...] = ()
    command_topics: tuple[str, ...] = ()
    steering: tuple[Array, Array] | None = None
    touches: tuple[Touch, ...] = ()
