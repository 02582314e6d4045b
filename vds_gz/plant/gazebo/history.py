"""Recent poses and velocities of the vehicle."""

from __future__ import annotations

import math
from collections import deque

from vds_gz.geometry.attitude import Attitude
from vds_gz.geometry.so3 import Vector, angles, between, into_body, turned
from vds_gz.plant.gazebo.links.base import Placement
from vds_gz.vehicle.vehicle import Motion

#: Number of placements kept; outputs wait for a few at most.
KEPT = 400

#: Distance at which the vehicle has arrived where it was put [m].
ARRIVED = 0.05


class History:
    """The last placements. Velocities are differences of poses: half an interval old at most, on slopes too."""

    def __init__(self) -> None:
        """Start without placements."""
        self._placements: deque[Placement] = deque(maxlen=KEPT)
        self._expected: Vector | None = None

    def add(self, placement: Placement) -> None:
        """Add a placement; one that is not newer replaces all earlier ones."""
        if self._placements and placement.time <= self._placements[-1].time:
            self._placements.clear()
        if self._expected is not None and math.dist(placement.position[:2], self._expected[:2]) < ARRIVED:
            # It was put here, which is not a motion.
            self._placements.clear()
            self._expected = None
        self._placements.append(placement)

    def expect(self, position: Vector) -> None:
        """Expect that the vehicle is put at a position soon [m]."""
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
        """Whether there is a placement at this time [ns] or later."""
        return bool(self._placements) and self._placements[-1].time >= time

    @property
    def interval(self) -> int:
        """Time between the last two placements [ns]; 0 if there are none."""
        return self._placements[-1].time - self._placements[-2].time if len(self._placements) > 1 else 0

    def covers(self, time: int) -> bool:
        """Whether there is also a placement before this time [ns], so that the velocity is known."""
        return bool(self._placements) and self._placements[0].time < time

    def motion(self, time: int) -> Motion:
        """Pose seen from above and velocity at a time [ns], between the two placements around it."""
        return self._between(time)[0]

    def attitude(self, time: int) -> Attitude:
        """Height and tilt, and their rates, at a time [ns]."""
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
    """Pose and velocity of base_link at a time [ns] between two placements, or at the only one."""
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
