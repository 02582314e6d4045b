"""The plane: poses, and the transforms that they stand for (the group SE(2))."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: A coordinate [m], or those of many points.
Coordinate = TypeVar("Coordinate", float, "NDArray[np.float64]")


@dataclass(frozen=True, slots=True)
class Pose:
    """A pose in the plane, or the transform that it stands for [m, m, rad]."""

    x: float = 0.0
    y: float = 0.0
    heading: float = 0.0

    def apply(self, x: Coordinate, y: Coordinate) -> tuple[Coordinate, Coordinate]:
        """Points of this frame [m] in the frame that this one is given in."""
        cosine, sine = math.cos(self.heading), math.sin(self.heading)
        return self.x + cosine * x - sine * y, self.y + sine * x + cosine * y

    def then(self, step: Pose) -> Pose:
        """This transform followed by another one in its frame."""
        return Pose(*self.apply(step.x, step.y), self.heading + step.heading)

    def inverse(self) -> Pose:
        """The transform that undoes this one."""
        cosine, sine = math.cos(self.heading), math.sin(self.heading)
        return Pose(-cosine * self.x - sine * self.y, sine * self.x - cosine * self.y, -self.heading)

    def seen_from(self, origin: Pose) -> Pose:
        """This pose in the frame of another one."""
        return origin.inverse().then(self)
