"""A recording as arrays in SI units: the vehicle's motion, its actuators, and its commands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vds_gz.errors import VdsGzError
from vds_gz.vehicle.model import ActuatorKind

#: Contacts with the same thing within this time are one [s].
AGAIN = 0.5


@dataclass(frozen=True, slots=True)
class Touch:
    """A contact of a vehicle with a thing.

    Attributes:
        thing: The thing's name.
        begin, end: Times of the first and last sample of the contact [s].
        x, y: Position of the first contact on the map [m].
    """

    thing: str
    begin: float
    end: float
    x: float
    y: float

    def __str__(self) -> str:
        """For people."""
        place = f"touched {self.thing} at {self.begin:.2f} s, at ({self.x:.2f}, {self.y:.2f}) m"
        return f"{place}, for {self.end - self.begin:.2f} s" if self.end > self.begin else place


class TouchLog:
    """Collects all touches of a run, sample by sample."""

    def __init__(self) -> None:
        """Start without touches."""
        self._touches: list[Touch] = []
        self._last: dict[str, int] = {}

    def note(self, time: float, points: Iterable[tuple[str, float, float]]) -> None:
        """Take a sample.

        Args:
            time: Its time [s].
            points: For each contact the name of the thing, up to ``::``, and the position (x, y) [m].
        """
        for name, x, y in points:
            thing = name.partition("::")[0]
            i = self._last.get(thing)
            if i is not None and time - self._touches[i].end <= AGAIN:
                self._touches[i] = replace(self._touches[i], end=time)
            else:
                self._last[thing] = len(self._touches)
                self._touches.append(Touch(thing, time, time, x, y))

    @property
    def touches(self) -> tuple[Touch, ...]:
        """The touches in the order of their beginnings."""
        return tuple(self._touches)


Array = NDArray[np.float64]


class RecordingError(VdsGzError, ValueError):
    """A file is not a recording of a vehicle."""


@dataclass(frozen=True, slots=True)
class MotionSeries:
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
class ActuatorSeries:
    """Reference and response of an actuator: speeds [m/s] of a drive, angles [rad] of a steering actuator."""

    name: str
    kind: ActuatorKind
    time: Array
    reference: Array
    response: Array


@dataclass(frozen=True, slots=True)
class CommandSeries:
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

    motion: MotionSeries
    actuators: tuple[ActuatorSeries, ...]
    commands: CommandSeries
    counts: Counter[str]
    start: int = 0
    notes: tuple[str, ...] = ()
    command_topics: tuple[str, ...] = ()
    steering: tuple[Array, Array] | None = None
    touches: tuple[Touch, ...] = ()
