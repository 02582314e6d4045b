"""How a vehicle stands on the ground of a scene."""

from __future__ import annotations

import math

from vds_gz.description.footprint import Footprint
from vds_gz.geometry.attitude import Attitude
from vds_gz.geometry.se2 import Pose
from vds_gz.geometry.so3 import Vector, into_world, quaternion, turned
from vds_gz.world.ground import Plane, heights_below, plane_through, room_on, surface_near
from vds_gz.world.ray_caster import RayCaster

LEVEL = Attitude()


class Standing:
    """The plane on which a vehicle's wheels stand, and how it changes while the vehicle moves.

    Attributes:
        plane: Through the contacts, by least squares where they are more than three.
        lost: Where the ground ended below the wheels, (x, y) [m]; none while there is ground. The vehicle goes on as
            on its last plane.
    """

    def __init__(self, ground: RayCaster, footprint: Footprint) -> None:
        self._ground = ground
        self._contacts = footprint.contacts
        self._step = footprint.step
        pairs = [math.dist(a, b) for a in footprint.contacts for b in footprint.contacts]
        # What lies deeper would tilt it by more than 45 degrees: it is no ground to stand on.
        self._reach = max(2.0 * footprint.step, *pairs)
        self.plane = Plane()
        self.lost: tuple[float, float] | None = None
        self._rates = LEVEL
        self._found = 0

    def attitude(self, pose: Pose, moves: bool) -> Attitude:
        """How it stands with base_link there; what stands still does not tilt."""
        at = self.plane.attitude(pose.x, pose.y, pose.heading)
        rates = self._rates if moves else LEVEL
        return Attitude(at.z, at.roll, at.pitch, rates.v_z, rates.roll_rate, rates.pitch_rate)

    def move(self, pose: Pose, time: int) -> bool:
        """Find the ground again where the vehicle has come to at a time [ns]; whether it is another plane."""
        touching = self._touching(pose, self.plane.attitude(pose.x, pose.y, pose.heading))
        points = [(x, y, self.plane.at(x, y) + self._step) for x, y, _ in touching]
        heights = heights_below(self._ground, points, self._step + self._reach)
        if not all(map(math.isfinite, heights)):
            self.lost = pose.x, pose.y
            self._rates = LEVEL
            return False
        self.lost = None
        plane = plane_through([(x, y, float(z)) for (x, y, _), z in zip(points, heights, strict=True)])
        if plane.near(self.plane):
            self._rates, self._found = LEVEL, time
            return False
        self._rates = _rates(self.plane, plane, pose, (time - self._found) * 1e-9)
        self.plane, self._found = plane, time
        return True

    def put(self, pose: Pose, height: float) -> None:
        """Put the vehicle on the ground that is nearest to a height there [m]."""
        self._rates, self.lost = LEVEL, None
        self.plane = Plane(height)
        found = surface_near(self._ground, (pose.x, pose.y, height + self._step))
        attitude = Attitude(found)
        if not math.isfinite(found):
            self.lost = pose.x, pose.y
            return
        for _ in range(3):  # the contacts move a little as it tilts
            touching = self._touching(pose, attitude)
            points = [(x, y, self._follow((pose.x, pose.y, found), (x, y))) for x, y, _ in touching]
            if not all(math.isfinite(z) for _, _, z in points):
                self.lost = pose.x, pose.y
                return
            self.plane = plane_through(points)
            attitude = self.plane.attitude(pose.x, pose.y, pose.heading)

    def room(self, pose: Pose) -> float:
        """How far the vehicle may go from there until it can come onto another plane [m]."""
        away = room_on(self._ground, self.plane, (pose.x, pose.y), -self._reach, self._step)
        return away - max(math.hypot(x, y) for x, y in self._contacts)

    def restore(self, plane: Plane) -> None:
        """Stand on a plane of before again."""
        self.plane, self._rates = plane, LEVEL

    def _follow(self, start: Vector, end: tuple[float, float]) -> float:
        """How high the ground is at the end of a way that begins on it, over steps that wheels climb [m]."""
        x, y, height = start
        count = max(1, math.ceil(math.dist((x, y), end) / self._step))
        for k in range(1, count + 1):
            at = (x + k / count * (end[0] - x), y + k / count * (end[1] - y), height + self._step)
            height = float(heights_below(self._ground, [at], self._step + self._reach)[0])
        return height

    def _touching(self, pose: Pose, attitude: Attitude) -> list[Vector]:
        """Where the contacts are in the map, and how high above base_link, as it stands [m]."""
        turn = quaternion(attitude.roll, attitude.pitch, pose.heading)
        points = (into_world(turn, (x, y, 0.0)) for x, y in self._contacts)
        return [(pose.x + x, pose.y + y, z) for x, y, z in points]


def _rates(before: Plane, after: Plane, pose: Pose, interval: float) -> Attitude:
    """How fast it rises and tilts, from one plane to another [m/s, rad/s]."""
    if interval <= 0.0:
        return LEVEL
    old, new = (plane.attitude(pose.x, pose.y, pose.heading) for plane in (before, after))
    turns = (quaternion(one.roll, one.pitch, pose.heading) for one in (old, new))
    roll, pitch, _ = (angle / interval for angle in turned(*turns))
    return Attitude(v_z=(new.z - old.z) / interval, roll_rate=roll, pitch_rate=pitch)
