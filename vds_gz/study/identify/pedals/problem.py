"""The cells of a map for given times: one weighted linear least squares problem."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import lsq_linear

from vds_gz.study.identify.estimates import Array
from vds_gz.study.identify.pedals.grid import Grid, interpolated
from vds_gz.study.identify.pedals.record import Record
from vds_gz.study.identify.robust import noise_scale, weights

#: More pedal must give so much more [m/s^2] from row to row, so that a controller can invert the map.
LEAST_RISE = 0.005

#: Speeds within this time are averaged to one [s].
BIN = 0.1

#: A piece with fewer bins does not tell how it begins.
FEWEST_BINS = 3


class System(NamedTuple):
    """The linear problem for some times, in standard deviations.

    Attributes:
        design, measured: Of each bin, less the initial speed and acceleration of its piece, (bins, cells) and (bins,).
        speeds, launch, presence: See :class:`~vds_gz.study.identify.pedals.record.Contributions`.
        initial: Initial speed and acceleration of each piece by column of cells, launch and measured speed.
    """

    design: Array
    measured: Array
    speeds: Array
    launch: Array
    presence: Array
    initial: tuple[Array, Array]


class Cells(NamedTuple):
    """The cells for some times.

    Attributes:
        values: Acceleration [m/s^2], (cells,).
        residuals, design: Modelled less measured of each bin in standard deviations, and derivatives by the values.
        information: Of the values, with the prior.
        modelled: The speed at the even times; where the car stands, the measured one.
        presence: Weight of each cell, (times, cells).
    """

    values: Array
    residuals: Array
    design: Array
    information: Array
    modelled: Array
    presence: Array


class Problem:
    """A recording with weights of its speeds.

    Attributes:
        record: The recording.
        owner, weight: Piece of each bin of speeds that counts, and its weight [s^2/m^2].
        widening: Factor by which the robust loss makes standard deviations larger than those of weighted least squares;
            see :func:`~vds_gz.study.identify.robust.influence`.
    """

    def __init__(self, record: Record, modelled: Array, least_noise: float) -> None:
        """Weigh the speeds by their residuals.

        Args:
            record: The recording.
            modelled: Speed of the model so far at the even times [m/s]; the maps are read at it.
            least_noise: Least standard deviation of the speeds that is believed [m/s].
        """
        self.record, self._at_speed = record, record.at_speed(modelled)
        time, value = record.speed.time, record.speed.value
        residuals = value - np.interp(time, record.time, modelled)
        noise = noise_scale(residuals[record.piece_at(time) >= 0], least_noise)
        weight = weights(residuals / noise)
        self.widening = float(np.mean(weight) / np.mean(weight * (2.0 * weight - 1.0)))
        place = np.floor((time - time[0]) / BIN).astype(int)
        total, times, values = (np.bincount(place, weight * factor) for factor in (np.ones_like(time), time, value))
        owner = record.piece_at(times / np.where(total > 0.0, total, 1.0))
        counts = (total > 0.0) & (owner >= 0)
        self.owner, self.weight = owner[counts], total[counts] / noise**2
        self._time, self._value = times[counts] / total[counts], values[counts] / total[counts]

    def system(self, times: Array) -> System:
        """The linear problem for dead times and time constants [s]."""
        speeds, launch, presence = self.record.contributions(times, self._at_speed)
        columns = interpolated(self.record.time, np.column_stack((speeds, launch)), self._time)
        root = np.sqrt(self.weight)[:, np.newaxis]
        columns = root * np.column_stack((columns, self._value))
        # Initial speed and, of a drive's first piece, acceleration are unknown: what they explain is left out.
        first = self._explained(columns, root)
        columns -= root * first[self.owner]
        direction = columns[:, -2:-1].copy()
        second = self._explained(columns, direction)
        columns -= direction * second[self.owner]
        return System(columns[:, :-2], columns[:, -1], speeds, launch, presence, (first, second))

    def solve(self, times: Array) -> Cells:
        """The cells for dead times and time constants [s]."""
        system, prior = self.system(times), self.record.grid.prior()
        information = system.design.T @ system.design + prior.T @ prior
        values = np.linalg.solve(information, system.design.T @ system.measured)
        residuals = system.design @ values - system.measured
        return Cells(values, residuals, system.design, information, self._modelled(system, values), system.presence)

    def _explained(self, columns: Array, direction: Array) -> Array:
        """Coefficients of a direction (bins, 1) in columns (bins, n), in each piece by itself, (pieces, n)."""
        coefficients = np.zeros((self.record.piece.max() + 1, columns.shape[1]))
        starts = np.flatnonzero(np.diff(self.owner, prepend=-1))
        products, power = (np.add.reduceat(rows * direction, starts, axis=0) for rows in (columns, direction))
        coefficients[self.owner[starts]] = products / np.maximum(power, 1e-9)
        return coefficients

    def _modelled(self, system: System, values: Array) -> Array:
        """The model's speeds at the even times; where the car stands, the measured ones."""
        piece = self.record.piece
        speed, acceleration = ((rows[:, -1] - rows[:, :-2] @ values)[piece] for rows in system.initial)
        launch = system.launch - system.initial[0][piece, -2]
        known = (piece >= 0) & (np.bincount(self.owner, minlength=piece.max() + 1)[piece] >= FEWEST_BINS)
        measured = np.interp(self.record.time, self.record.speed.time, self.record.median)
        return np.where(known, system.speeds @ values + speed + acceleration * launch, measured)


def rising(cells: Cells, grid: Grid) -> tuple[Array, int]:
    """The cells nearest to the solution in which more pedal gives more, and the number of cells that this moved."""
    rows, columns = grid.shape
    if (np.diff(cells.values.reshape(grid.shape), axis=0) >= LEAST_RISE).all():
        return cells.values, 0
    # Each column as its lowest value and the rise from row to row.
    sums = np.kron(np.tril(np.ones((rows, rows))), np.eye(columns))
    root = np.linalg.cholesky(cells.information).T
    lowest = np.full(rows * columns, LEAST_RISE)
    lowest[:columns] = -np.inf
    values = sums @ lsq_linear(root @ sums, root @ cells.values, bounds=(lowest, np.inf), tol=1e-9).x
    return values, int(np.sum(np.abs(values - cells.values) > 0.01))
