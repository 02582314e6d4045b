"""Where the vehicle was lately, and how it moved then."""

from __future__ import annotations

import math
from collections import deque

from vds_gz.plant.gazebo.link import Placement
from vds_gz.plant.gazebo.rotation import Vector, heading, into_body, turn_about_z
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

    def motion(self, time: int) -> Motion:
        """Pose and velocity at a time [ns], between the two placements around it."""
        if not self._placements:
            return Motion(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        after = self._placements[-1]
        for before in list(self._placements)[-2::-1]:
            if before.time < time:
                return _between(before, after, time)
            after = before
        return _between(after, after, time)


def _between(before: Placement, after: Placement, time: int) -> Motion:
    start = heading(before.orientation)
    x0, y0, _ = before.position
    interval = (after.time - before.time) * 1e-9
    if interval <= 0.0:
        return Motion(x0, y0, start, 0.0, 0.0, 0.0)
    part = min(max((time - before.time) * 1e-9 / interval, 0.0), 1.0)
    x1, y1, _ = after.position
    turn = turn_about_z(before.orientation, after.orientation)
    moved: Vector = tuple(b - a for a, b in zip(before.position, after.position, strict=True))  # type: ignore[assignment]
    v_x, v_y, _ = into_body(_middle(before, after), moved)
    return Motion(
        x0 + part * (x1 - x0),
        y0 + part * (y1 - y0),
        start + part * math.remainder(heading(after.orientation) - start, math.tau),
        v_x / interval,
        v_y / interval,
        turn / interval,
    )


def _middle(before: Placement, after: Placement) -> tuple[float, float, float, float]:
    """The orientation half-way between two that are a small turn apart."""
    sign = 1.0 if sum(a * b for a, b in zip(before.orientation, after.orientation, strict=True)) >= 0.0 else -1.0
    total = [a + sign * b for a, b in zip(before.orientation, after.orientation, strict=True)]
    norm = math.sqrt(sum(part * part for part in total)) or 1.0
    x, y, z, w = (part / norm for part in total)
    return x, y, z, w
