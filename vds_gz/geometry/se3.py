"""Space: places and orientations together (the group SE(3))."""

from __future__ import annotations

from dataclasses import dataclass

from vds_gz.geometry.so3 import IDENTITY, Quaternion, Vector, into_world, inverse, product


@dataclass(frozen=True, slots=True)
class Transform:
    """A pose in space, or the transform that it stands for: position [m] and orientation."""

    position: Vector = (0.0, 0.0, 0.0)
    orientation: Quaternion = IDENTITY

    def then(self, step: Transform) -> Transform:
        """This transform followed by another one in its frame."""
        return Transform(self.apply(step.position), product(self.orientation, step.orientation))

    def inverse(self) -> Transform:
        """The transform that undoes this one."""
        back = inverse(self.orientation)
        x, y, z = into_world(back, self.position)
        return Transform((-x, -y, -z), back)

    def apply(self, point: Vector) -> Vector:
        """A point of this frame [m] in the frame that this one is given in."""
        (x, y, z), (dx, dy, dz) = self.position, into_world(self.orientation, point)
        return x + dx, y + dy, z + dz
