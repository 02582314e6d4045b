"""Steps of a vehicle and its trailers, as paths of boxes among obstacles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from vds_gz.core.description.footprint import TrailerBox
from vds_gz.core.geometry import Pose, Transform, Vector, into_world, quaternion
from vds_gz.core.vehicle.trailers import TrailerCoefficients, TrailerState
from vds_gz.core.world.obstacles import CollisionBox


class BodyPath(NamedTuple):
    """A step of the vehicle or of a trailer."""

    box: CollisionBox
    T_map_body: Transform  # its pose before the step
    way_map: Vector  # displacement of its origin in the world [m]
    turn: float  # [rad]

    def at_rest(self) -> BodyPath:
        """The same pose, without a motion."""
        return self._replace(way_map=(0.0, 0.0, 0.0), turn=0.0)


def trailer_paths(
    trailers: Sequence[TrailerBox], states: Sequence[TrailerState], T_map_base: Transform, step: Pose, dt: float
) -> list[BodyPath]:
    """The last step of all trailers, in the vehicle's plane.

    Args:
        trailers, states: The trailers, and their states after the step.
        T_map_base: Pose of base_link before the step.
        step: Motion of base_link in the plane.
        dt: Length of the step [s]; 0 for trailers where they are.
    """
    paths = []
    before, after = Pose(), step  # T_base_trailer before the step, and after it, both from base_link before it
    for trailer, state in zip(trailers, states, strict=True):
        x, y, _ = trailer.hitch
        before = before.then(Pose(x, y, state.angle - state.rate * dt))
        after = after.then(Pose(x, y, state.angle))
        T_base_trailer = Transform((before.x, before.y, 0.0), quaternion(0.0, 0.0, before.heading))
        way_map = into_world(T_map_base.orientation, (after.x - before.x, after.y - before.y, 0.0))
        paths.append(BodyPath(trailer.box, T_map_base.then(T_base_trailer), way_map, after.heading - before.heading))
    return paths


def lever(trailers: Sequence[TrailerBox], coefficients: Sequence[TrailerCoefficients], reach: float) -> float:
    """How much farther a part of a trailer moves than the farthest part of the vehicle, at most; 1 without trailers.

    A hitch with the speed ``v`` turns a trailer with its drawbar ``d`` at most at ``v / d``; at its limit, as fast as
    the body ahead turns. A point at the distance ``r`` from the hitch has at most ``v`` plus ``r`` times that.
    ``reach`` is the distance from the reference point to the farthest part of the vehicle or its hitch [m].
    """
    most, speed, turn = 1.0, 1.0, 1.0 / reach
    for trailer, c, following in zip(trailers, coefficients, (*trailers[1:], None), strict=True):
        turn = max(speed / c.drawbar, turn)
        most = max(most, speed + turn * trailer.box.reach)
        if following is not None:
            speed += turn * math.hypot(*following.hitch[:2])
    return most
