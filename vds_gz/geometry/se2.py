"""The plane: poses, and the transforms that they stand for (the group SE(2))."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pose:
    """A pose in the plane, or the transform that it stands for [m, m, rad]."""

    x: float = 0.0
    y: float = 0.0
    heading: float = 0.0

    def then(self, step: Pose) -> Pose:
        """This transform followed by another one in its frame."""
        cosine, sine = math.cos(self.heading), math.sin(self.heading)
        return Pose(
            self.x + cosine * step.x - sine * step.y,
            self.y + sine * step.x + cosine * step.y,
            self.heading + step.heading,
        )

    def inverse(self) -> Pose:
        """The transform that undoes this one."""
        cosine, sine = math.cos(self.heading), math.sin(self.heading)
        return Pose(-cosine * self.x - sine * self.y, sine * self.x - cosine * self.y, -self.heading)

    def seen_from(self, origin: Pose) -> Pose:
        """This pose in the frame of another one."""
        return origin.inverse().then(self)
