"""A vehicle whose steps a guard checks, which knows the world around it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

from vds_gz.geometry import Pose
from vds_gz.vehicle.command import Command
from vds_gz.vehicle.model import C, P, S
from vds_gz.vehicle.vehicle import Vehicle


class GuardedVehicle(Vehicle[P, C, S]):
    """A vehicle that calls a guard before it has moved farther than it certainly may; the guard corrects its last step.

    Steps are those of :class:`Vehicle` to the bit; a step that is free costs one comparison more.

    Attributes:
        guard: Called after a step with where the reference point was before it, and the end of the step [ns]. It may
            set the pose and the velocity.
        reach: The farthest part of the vehicle, from the reference point [m].
        reserve: How far any part may still move until the guard is called [m].
        drift: Maximum speed at which obstacles come nearer [m/s].
    """

    guard: Callable[[Pose, int], None] | None = None
    reach: float = 0.0
    reserve: float = math.inf
    drift: float = 0.0

    def _do(self, command: Command, steps: int) -> None:
        c, s, step = self.coefficients, self.state, self._step
        self.model.set_references(c, s, command)
        reach, drift = self.reach, self.drift * c.dt
        for done in range(1, steps + 1):
            x, y, heading = s.x, s.y, s.heading
            step(c, s, command)
            moved = abs(s.x - x) + abs(s.y - y) + reach * abs(s.heading - heading) + drift
            self.reserve -= moved
            if self.reserve < 0.0 < moved and self.guard is not None:
                self.guard(Pose(x, y, heading), self.time_of(self.steps + done))
                drift = self.drift * c.dt


#: One whose model was chosen by its name.
AnyGuardedVehicle: TypeAlias = GuardedVehicle[Any, Any, Any]
