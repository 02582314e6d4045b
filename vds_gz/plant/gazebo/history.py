"""Where the vehicle was lately, and how it moved then."""

from __future__ import annotations

import math
from collections import deque

from vds_gz.geometry.attitude import Attitude
from vds_gz.geometry.so3 import Vector, angles, between, into_body, turned
from vds_gz.plant.gazebo.links.base import Placement
from vds_gz.vehicle.vehicle import Motion

#: Placements kept; outputs wait for a few at most.
KEPT = 400

#: The vehicle has arrived where it was put when it is this near [m].
ARRIVED = 0.05


class History:
    """The last placements. Velocities are differences of poses: half an interval old at most, on slopes too."""

    def __init__(self) -> None:
        """Nothing was seen yet."""
        self._placements: deque[Placement] = deque(maxlen=KEPT)
        self._expected: Vector | None = None

    def add(self, placement: Placement) -> None:
        """A new placement; one that is not newer replaces all that was seen before."""
        if self._placements and placement.time <= self._placements[-1].time:
            self._placements.clear()
        if self._expected is not None and math.dist(placement.position[:2], self._expected[:2]) < ARRIVED:
            # It was lifted and put here. That is no motion.
            self._placements.clear()
            self._expected = None
        self._placements.append(placement)

    def expect(self, position: Vector) -> None:
        """The vehicle will soon be lifted and put there [m]."""
        self._expected = position

    def clear(self) -> None:
        """Forget everything."""
        self._placements.clear()
        self._expected = None

    @property
    def last(self) -> Placement | None:
        """The newest placement."""
        return self._placements[-1] if self._placements else None

    def reaches(self, time: int) -> bool:
        """Whether the vehicle was seen at this time [ns] or later."""
        return bool(self._placements) and self._placements[-1].time >= time

    @property
    def interval(self) -> int:
        """Between the last two placements [ns]; 0 where there are none."""
        return self._placements[-1].time - self._placements[-2].time if len(self._placements) > 1 else 0

    def covers(self, time: int) -> bool:
        """Whether there is a placement before this time [ns] too, so that it is known how the vehicle moved."""
        return bool(self._placements) and self._placements[0].time < time

    def motion(self, time: int) -> Motion:
        """Pose seen from above and velocity at a time [ns], between the two placements around it."""
        return self._between(time)[0]

    def attitude(self, time: int) -> Attitude:
        """Height and tilt, and how they change, at a time [ns]."""
        return self._between(time)[1]

    def _between(self, time: int) -> tuple[Motion, Attitude]:
        if not self._placements:
            return Motion(0.0, 0.0, 0.0, 0.0, 0.0, 0.0), Attitude()
        after = self._placements[-1]
        for before in list(self._placements)[-2::-1]:
            if before.time < time:
                return _between(before, after, time)
            after = before
        return _between(after, after, time)


def _between(before: Placement, after: Placement, time: int) -> tuple[Motion, Attitude]:
    """How base_link stood and moved at a time [ns] between two placements, or at the one and only."""
    interval = (after.time - before.time) * 1e-9
    part = min(max((time - before.time) * 1e-9 / interval, 0.0), 1.0) if interval > 0.0 else 0.0
    x, y, z = (a + part * (b - a) for a, b in zip(before.position, after.position, strict=True))
    roll, pitch, heading = angles(between(before.orientation, after.orientation, part))
    if interval <= 0.0:
        return Motion(x, y, heading, 0.0, 0.0, 0.0), Attitude(z, roll, pitch)
    moved: Vector = tuple(b - a for a, b in zip(before.position, after.position, strict=True))  # type: ignore[assignment]
    middle = between(before.orientation, after.orientation, 0.5)
    v_x, v_y, v_z = (way / interval for way in into_body(middle, moved))
    roll_rate, pitch_rate, yaw_rate = (turn / interval for turn in turned(before.orientation, after.orientation))
    return Motion(x, y, heading, v_x, v_y, yaw_rate), Attitude(z, roll, pitch, v_z, roll_rate, pitch_rate)
