"""Measured poses in windows of some seconds, each of which lies where it lies: only the motion within one tells.

So neither what a pose means, nor how odometry drifts, has to be known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vds_gz.study.identify.estimates import Array
from vds_gz.study.identify.forward.measurements import Geometry
from vds_gz.study.identify.signals import POSES, MeasuredChannel

#: Length of a window [s].
WINDOW = 5.0

#: How far off the pose of a window's middle may be guessed [m, m, rad].
SCALES = 0.5, 0.5, 0.2


def pose_groups(channels: Sequence[tuple[int, MeasuredChannel]]) -> list[list[tuple[int, MeasuredChannel]]]:
    """The channels x, y and heading, with their indices, of each source that has all three at the same times."""
    sources: dict[str, dict[str, tuple[int, MeasuredChannel]]] = {}
    for index, one in channels:
        if one.quantity in POSES:
            sources.setdefault(one.source, {})[one.quantity] = index, one
    groups = [[one[name] for name in POSES] for one in sources.values() if len(one) == len(POSES)]
    return [
        group for group in groups if all(np.array_equal(one.series.time, group[0][1].series.time) for _, one in group)
    ]


@dataclass(frozen=True)
class Windows:
    """Poses of base_link by one source.

    The own unknowns of a window are the pose of its middle sample, so that they can be guessed from the measurement.

    Attributes:
        samples: Where x, y and headings stand among the samples of the piece, one after the other.
        readings: Where x, y and heading of the reference point stand among the readings.
        measured: All x, all y, all headings.
        channel: Of each of these.
        window: Index of the window of each pose.
        middle: Index of the middle pose of each window.
        first: Index of the first own unknown.
        begin: Guesses of the own unknowns.
    """

    samples: slice
    readings: tuple[slice, ...]
    measured: Array
    channel: list[int]
    window: NDArray[np.intp]
    middle: NDArray[np.intp]
    first: int
    begin: Array

    @staticmethod
    def of(
        group: Sequence[tuple[int, MeasuredChannel]], readings: tuple[slice, ...], begin: int, first: int
    ) -> Windows:
        """Windows of the channels x, y and heading, which have the same times.

        Args:
            group: The channels with the indices of their noises.
            readings: Where they are read.
            begin: Index of their first sample in the piece.
            first: Index of their first own unknown.
        """
        time = group[0][1].series.time
        values = np.array([one.series.value for _, one in group])
        count = max(1, round(float(time[-1] - time[0]) / WINDOW))
        window = np.minimum(((time - time[0]) / max(float(np.ptp(time)), 1e-9) * count).astype(np.intp), count - 1)
        used, window = np.unique(window, return_inverse=True)
        ends = np.searchsorted(window, np.arange(len(used)), side="right")
        begins = np.searchsorted(window, np.arange(len(used)))
        middle = (begins + ends - 1) // 2
        around = values[
            :, np.clip(middle[:, np.newaxis] + np.arange(-2, 3), begins[:, np.newaxis], ends[:, np.newaxis] - 1)
        ]
        return Windows(
            slice(begin, begin + values.size),
            readings,
            values.ravel(),
            [index for index, _ in group for _ in time],
            window,
            middle,
            first,
            np.median(around, axis=2).T.ravel(),
        )

    @property
    def own(self) -> int:
        """How many own unknowns there are."""
        return 3 * len(self.middle)

    @property
    def scale(self) -> Array:
        """Of the own unknowns."""
        return np.tile(SCALES, len(self.middle))

    @property
    def columns(self) -> NDArray[np.intp]:
        """The own unknowns of each sample, (samples, 3)."""
        return np.tile(self.first + 3 * self.window[:, np.newaxis] + np.arange(3), (3, 1))

    def local(self, readings: Array, geometry: Geometry, vehicle: int | None = None) -> Array:
        """Poses of base_link seen from the middle one of the window, (3, poses, vehicles).

        Args:
            readings: Of the vehicles.
            geometry: Of all vehicles.
            vehicle: The one that the readings are of; None: all.
        """
        x, y, heading = (readings[rows] for rows in self.readings)
        offset = geometry.base_link_offset if vehicle is None else geometry.base_link_offset[vehicle]
        place = x + 1j * y + offset * np.exp(1j * heading)
        middle = self.middle[self.window]
        away = (place - place[middle]) * np.exp(-1j * heading[middle])
        return np.array([away.real, away.imag, heading - heading[middle]])

    def placed(self, local: Array, own: Array) -> Array:
        """What would have been measured, (samples, vehicles), of vehicles with own unknowns (vehicles, all own)."""
        place, turn = self._at(own.T)
        x, y, heading = local
        moved = place + (x + 1j * y) * np.exp(1j * turn)
        return np.concatenate([moved.real, moved.imag, heading + turn])

    def derivatives(self, local: Array, own: Array) -> Array:
        """Derivatives by the own unknowns of each sample's window, (samples, 3), of one vehicle."""
        _, turn = self._at(own[:, np.newaxis])
        x, y, _ = local[..., 0]
        turning = 1j * (x + 1j * y) * np.exp(1j * turn[:, 0])
        zero, one = np.zeros(len(x)), np.ones(len(x))
        rows = [(one, zero, turning.real), (zero, one, turning.imag), (zero, zero, one)]
        return np.concatenate([np.column_stack(row) for row in rows])

    def _at(self, own: Array) -> tuple[NDArray[np.complex128], Array]:
        """Place and heading of each pose's window, of own unknowns (all own, vehicles)."""
        mine = own[self.first : self.first + self.own].reshape(-1, 3, own.shape[1])[self.window]
        return mine[:, 0] + 1j * mine[:, 1], mine[:, 2]
