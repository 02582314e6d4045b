"""Parking in a slot."""

from __future__ import annotations

import math

import numpy as np

from vds_gz.core.arrays import Array, Flags, Floats, Indices
from vds_gz.core.compiling import compiled
from vds_gz.core.vehicle.trigonometry import sine_cosine
from vds_gz.environments.randomization import positive
from vds_gz.environments.single import VehicleEnv
from vds_gz.environments.task import OPTIONS, Judged, NominalVehicle, ObservedNumber, PictureArea
from vds_gz.environments.vector import VehicleVectorEnv
from vds_gz.tools.fleet.layout import BaseLinks

#: Episodes begin within this multiple of the vehicle's size from the slot, and end at twice this distance.
EXTENT = 4.0

#: A vehicle is parked if error and speed are below this part of the error's scale and of the maximum speed.
PARKED = 0.1

#: Maximum speed of a vehicle of 1 m [m/s]; it grows with the root of the size, for an equal Froude number.
SPEED = 1.0


class Parking:
    """Stand in a slot at the origin that points along +x.

    The error is the root of the sum of two squared distances: that of base_link from its goal, and that by which the
    heading error moves a point one vehicle size ahead.
    """

    random_numbers = 3

    def __init__(
        self,
        nominal: NominalVehicle,
        count: int,
        rate: float,
        speed: float | None = None,
        extent: float | None = None,
        error_scale: float | None = None,
    ) -> None:
        """A task for ``count`` vehicles; see :class:`ParkingVectorEnv` for the options."""
        self._size = nominal.size
        self._extent = positive("extent", EXTENT * self._size if extent is None else extent, "m")
        self._scale = positive("error_scale", self._size if error_scale is None else error_scale, "m")
        self.max_speed = nominal.speed_within(
            positive("speed", SPEED * math.sqrt(self._size) if speed is None else speed, "m/s")
        )
        far = 3.0 * self._extent
        self.observed: tuple[ObservedNumber, ...] = (
            ObservedNumber("slot_x", -far, far),
            ObservedNumber("slot_y", -far, far),
            ObservedNumber("slot_cosine", -1.0, 1.0),
            ObservedNumber("slot_sine", -1.0, 1.0),
        )

    def begin(self, indices: Indices, random: Array) -> tuple[Array, Array, Array]:
        """Place vehicles anywhere around the slot, in any direction."""
        x, y, turn = (2.0 * random - 1.0).T
        return self._extent * x, self._extent * y, math.pi * turn

    def judge(self, indices: Indices, motion: BaseLinks, observations: Floats) -> Judged:
        """A parked vehicle is a success, and the episode continues."""
        judged = Judged(np.empty(len(indices)), np.empty(len(indices), np.bool_), np.empty(len(indices), np.bool_))
        numbers = 2.0 * self._extent, self._size, self._scale, PARKED * self.max_speed
        pose = motion.x, motion.y, motion.heading, motion.v_x
        compiled(_judge, **OPTIONS)(*numbers, indices, *pose, observations, *judged)
        return judged

    def scenery(self) -> list[Array]:
        """The slot, around a vehicle with base_link on its rear axle."""
        back, front, side = -0.5 * self._size, 1.5 * self._size, 0.5 * self._size
        return [np.array([[front, side], [back, side], [back, -side], [front, -side], [front, side]])]

    def view(self, x: float, y: float) -> PictureArea:
        """The reachable area."""
        return PictureArea(0.0, 0.0, 2.0 * self._extent)


class ParkingVectorEnv(VehicleVectorEnv):
    """Parking; see :class:`~vds_gz.environments.vector.VehicleVectorEnv` for the options of all tasks.

    Further options:
        speed: Speed for an action of 1 [m/s].
        extent: Episodes begin at most this far from the slot, in x and in y, and end at twice this distance [m].
        error_scale: The error at which the reward is 1/e [m].
    """

    task = Parking


class ParkingEnv(VehicleEnv):
    """Park one vehicle; options as those of :class:`ParkingVectorEnv`."""

    vector = ParkingVectorEnv


def _judge(
    bound: float,
    size: float,
    error_scale: float,
    standstill: float,
    indices: Indices,
    x: Array,
    y: Array,
    heading: Array,
    v_x: Array,
    observations: Floats,
    errors: Array,
    ended: Flags,
    successes: Flags,
) -> None:
    """Fill the results, and the observations with the slot's pose in the vehicles' frames."""
    for k in range(len(indices)):
        i = indices[k]
        sine, cosine = sine_cosine(heading[i])
        observations[i, 0] = -x[i] * cosine - y[i] * sine
        observations[i, 1] = x[i] * sine - y[i] * cosine
        observations[i, 2] = cosine
        observations[i, 3] = -sine
        square = x[i] * x[i] + y[i] * y[i] + 2.0 * size * size * (1.0 - cosine)
        errors[k] = square / (error_scale * error_scale)
        successes[k] = errors[k] < PARKED * PARKED and abs(v_x[i]) < standstill
        ended[k] = not max(abs(x[i]), abs(y[i])) <= bound
