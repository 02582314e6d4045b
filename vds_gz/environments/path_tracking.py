"""Follow a path at its speed."""

from __future__ import annotations

import math
from pathlib import Path as File

import numpy as np

from vds_gz.core.arrays import Array, Flags, Floats, Indices
from vds_gz.core.compiling import compiled
from vds_gz.core.errors import ArgumentError
from vds_gz.core.vehicle.actuators import wrap
from vds_gz.core.vehicle.trigonometry import sine_cosine
from vds_gz.environments.randomization import positive
from vds_gz.environments.single import VehicleEnv
from vds_gz.environments.task import OPTIONS, Judged, NominalVehicle, ObservedNumber, PictureArea
from vds_gz.environments.vector import VehicleVectorEnv
from vds_gz.tools.fleet.layout import BaseLinks
from vds_gz.tools.fleet.path import Path, read_path
from vds_gz.tools.fleet.tracking import CURVATURE, HEADING, point_at, project, speed_at, value_at

#: Distances ahead at which curvature is observed, in time at the path's speed [s].
AHEAD = (0.0, 0.25, 0.5, 1.0)

#: Radius of the default path's tightest turn, as a multiple of the vehicle's size.
RADIUS = 4.0

#: Lateral acceleration in that turn at the default speed [m/s^2].
LATERAL_ACCELERATION = 2.0

#: Distance between a path's points, as a part of the vehicle's size.
SPACING = 0.125

#: The speed for an action of 1, as a multiple of the path's speed.
SPEED_MARGIN = 1.5

#: Maximum heading error [rad] and lateral error (as a part of the bound) at the beginning of episodes.
HEADING_SPREAD, LATERAL_SPREAD = 0.3, 0.25


class PathTracking:
    """Follow a path: the error combines the distance from it and the difference from its speed."""

    random_numbers = 3

    def __init__(
        self,
        nominal: NominalVehicle,
        count: int,
        rate: float,
        path: Path | str | File | None = None,
        speed: float | None = None,
        bound: float | None = None,
        error_scale: float | None = None,
    ) -> None:
        """A task for ``count`` vehicles; see :class:`PathTrackingVectorEnv` for the options."""
        size = nominal.size
        if path is None:
            path = eight(RADIUS * size, size * SPACING)
        elif not isinstance(path, Path):
            if not isinstance(path, (str, File)):
                raise ArgumentError(f"path is {path!r}; it must be a vds_gz.Path, or a CSV file of x and y")
            path = read_path(path, spacing=size * SPACING)
        self._path = path
        path_speed = path.speed.max()
        if speed is None:
            limit = math.sqrt(LATERAL_ACCELERATION / max(np.abs(path.curvature).max(), 1e-3))
            speed = float(path_speed) if math.isfinite(path_speed) else nominal.speed_within(limit) / SPEED_MARGIN
        self._speed = positive("speed", speed, "m/s")
        self._bound = positive("bound", size if bound is None else bound, "m")
        self._scale = positive("error_scale", 0.25 * self._bound if error_scale is None else error_scale, "m")
        self.max_speed = nominal.speed_within(SPEED_MARGIN * self._speed)
        self._follows_speeds = math.isfinite(path_speed)
        self._reach = math.ceil(2.0 * self.max_speed / rate / path.spacing)
        self._ahead = np.array(AHEAD) * self._speed / path.spacing
        self._positions = np.zeros(count)
        curvature = float(np.abs(path.curvature).max()) + 1e-6
        self.observed: tuple[ObservedNumber, ...] = (
            ObservedNumber("lateral_error", -2.0 * self._bound, 2.0 * self._bound),
            ObservedNumber("heading_error", -math.pi, math.pi),
            ObservedNumber("speed_error", -3.0 * self.max_speed, 3.0 * self.max_speed),
            *(ObservedNumber(f"curvature_{time:g}_s_ahead", -curvature, curvature) for time in AHEAD),
        )

    def begin(self, indices: Indices, random: Array) -> tuple[Array, Array, Array]:
        """Anywhere on a closed path, or in the first half of an open one."""
        path = self._path
        within = path.length / path.spacing * (1.0 if path.closed else 0.5)
        poses = np.empty((3, len(indices)))
        begin = compiled(_begin, **OPTIONS)
        begin(path.points, path.closed, within, LATERAL_SPREAD * self._bound, indices, random, self._positions, poses)
        x, y, heading = poses
        return x, y, heading

    def judge(self, indices: Indices, motion: BaseLinks, observations: Floats) -> Judged:
        """The end of an open path is a success."""
        judged = Judged(np.empty(len(indices)), np.empty(len(indices), np.bool_), np.empty(len(indices), np.bool_))
        speed = math.inf if self._follows_speeds else self._speed
        numbers = self._reach, speed, self._bound, self._scale, 0.5 * self._speed
        path = self._path.points, self._path.closed
        pose = motion.x, motion.y, motion.heading, motion.v_x
        compiled(_judge, **OPTIONS)(
            *path, *numbers, self._ahead, indices, *pose, self._positions, observations, *judged
        )
        return judged

    def scenery(self) -> list[Array]:
        """The path."""
        return [self._path.points[:, :2]]

    def view(self, x: float, y: float) -> PictureArea:
        """The area around the vehicle."""
        return PictureArea(x, y, 6.0 * self._bound)


class PathTrackingVectorEnv(VehicleVectorEnv):
    """Follow a path; see :class:`~vds_gz.environments.vector.VehicleVectorEnv` for the options of all tasks.

    Further options:
        path: A :class:`~vds_gz.tools.fleet.path.Path`, or a CSV file of one; None: an eight that fits the vehicle.
        speed: Speed if the path has none [m/s]; None: one that fits the curves.
        bound: An episode ends at this distance from the path [m].
        error_scale: The distance from the path at which the reward has fallen to 1/e [m].
    """

    task = PathTracking


class PathTrackingEnv(VehicleEnv):
    """Follow a path, with one vehicle; options as those of :class:`PathTrackingVectorEnv`."""

    vector = PathTrackingVectorEnv


def eight(radius: float, spacing: float) -> Path:
    """A closed path like an eight, Bernoulli's lemniscate; ``radius`` is that of its tightest turns [m]."""
    half = 3.0 * radius
    points = []
    for k in range(128):
        sine, cosine = sine_cosine(2.0 * math.pi * k / 128)
        square = 1.0 + sine * sine
        points.append((half * cosine / square, half * sine * cosine / square))
    return Path.from_points(points, spacing=spacing, closed=True)


def _begin(
    points: Array,
    closed: bool,
    within: float,
    lateral: float,
    indices: Indices,
    random: Array,
    positions: Array,
    poses: Array,
) -> None:
    """Poses at random positions of a path."""
    for k in range(len(indices)):
        position = random[k, 0] * within
        positions[indices[k]] = position
        x, y = point_at(points, closed, position)
        heading = value_at(points, closed, position, HEADING)
        sine, cosine = sine_cosine(heading)
        beside = lateral * (2.0 * random[k, 1] - 1.0)
        poses[0, k] = x - beside * sine
        poses[1, k] = y + beside * cosine
        poses[2, k] = wrap(heading) + HEADING_SPREAD * (2.0 * random[k, 2] - 1.0)


def _judge(
    points: Array,
    closed: bool,
    reach: int,
    speed: float,
    bound: float,
    error_scale: float,
    speed_scale: float,
    ahead: Array,
    indices: Indices,
    x: Array,
    y: Array,
    heading: Array,
    v_x: Array,
    positions: Array,
    observations: Floats,
    errors: Array,
    ended: Flags,
    successes: Flags,
) -> None:
    """Fill the observations and the results of environments; ``speed`` limits the path's own speed."""
    end = points.shape[0] - 1
    for k in range(len(indices)):
        i = indices[k]
        position, lateral = project(points, closed, reach, x[i], y[i], positions[i])
        positions[i] = position
        difference = v_x[i] - min(speed, speed_at(points, closed, position))
        observations[i, 0] = lateral
        observations[i, 1] = wrap(heading[i] - value_at(points, closed, position, HEADING))
        observations[i, 2] = difference
        for n in range(len(ahead)):
            observations[i, 3 + n] = value_at(points, closed, position + ahead[n], CURVATURE)
        lateral /= error_scale
        difference /= speed_scale
        errors[k] = lateral * lateral + difference * difference
        successes[k] = not closed and position >= end
        ended[k] = not abs(lateral * error_scale) <= bound or successes[k]
