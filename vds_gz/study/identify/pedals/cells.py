"""The cells of the map for given times: one weighted linear least squares problem."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import lsq_linear

from vds_gz.study.identify.estimates import Array
from vds_gz.study.identify.pedals.grid import Grid
from vds_gz.study.identify.pedals.held import between
from vds_gz.study.identify.pedals.record import Record
from vds_gz.study.identify.pedals.speeds import Bins
from vds_gz.study.identify.solver.protocol import Indices

#: An acceleration is expected to be within this, which is next to nothing to know [m/s^2].
LIKELY = 20.0

#: More pedal must give so much more [m/s^2] from row to row, so that a controller can invert the map.
LEAST_RISE = 0.005


class Cells(NamedTuple):
    """The cells for some times.

    Attributes:
        values: Acceleration [m/s^2], (cells,).
        precision: Of the values.
        modelled: The speed, at the even times; where the car stands, the measured one.
        residuals: Modelled less measured of each bin that counts, in standard deviations of independent noise.
        weight: Of these bins [s^2/m^2].
        owner: The piece of each.
        presence: How much of each cell was acting, (times, cells).
    """

    values: Array
    precision: Array
    modelled: Array
    residuals: Array
    weight: Array
    owner: Indices
    presence: Array


def solve(record: Record, times: Array) -> Cells:
    """The cells for given times, with each piece's own begin projected out."""
    speeds, launch, presence = record.motions(times)
    piece = record.pieces.at(record.time, record.bins.time)
    at, value, weight = (one[piece >= 0] for one in record.bins)
    owner = piece[piece >= 0]
    root = np.sqrt(weight)[:, None]
    columns = root * np.column_stack((between(record.time, np.column_stack((speeds, launch)), at), value))
    # Speed and, in a drive's first piece, acceleration at the begin are not known: what they explain is left out.
    columns -= _explained(columns, root, owner)
    columns -= _explained(columns, columns[:, -2:-1].copy(), owner)
    design, measured = columns[:, :-2], columns[:, -1]
    prior = record.grid.curvature()
    precision = design.T @ design + prior.T @ prior + np.eye(design.shape[1]) / LIKELY**2
    values = np.linalg.solve(precision, design.T @ measured)
    modelled = _with_begins(record, speeds @ values, launch, Bins(at, value, weight), owner)
    return Cells(values, precision, modelled, design @ values - measured, weight, owner, presence)


def rising(cells: Cells, grid: Grid) -> tuple[Array, int]:
    """The cells nearest to the solution in which more pedal gives more, and how many moved by that."""
    rows, columns = grid.shape
    if (np.diff(cells.values.reshape(grid.shape), axis=0) >= LEAST_RISE).all():
        return cells.values, 0
    # Each column as its lowest value and what is added from row to row.
    sums = np.kron(np.tril(np.ones((rows, rows))), np.eye(columns))
    root = np.linalg.cholesky(cells.precision).T
    lowest = np.full(rows * columns, LEAST_RISE)
    lowest[:columns] = -np.inf
    found = lsq_linear(root @ sums, root @ cells.values, bounds=(lowest, np.inf), tol=1e-9)
    values = sums @ found.x
    return values, int(np.sum(np.abs(values - cells.values) > 0.01))


def _explained(columns: Array, direction: Array, owner: Indices) -> Array:
    """What a direction (samples, 1) explains of columns, in each piece by itself."""
    starts = np.flatnonzero(np.diff(owner, prepend=-1))
    products, power = (np.add.reduceat(one * direction, starts, axis=0) for one in (columns, direction))
    share = products / np.maximum(power, 1e-9)
    return np.asarray(direction * np.repeat(share, np.diff(starts, append=len(owner)), axis=0))


def _with_begins(record: Record, speeds: Array, launch: Array, bins: Bins, owner: Indices) -> Array:
    """The model's speeds with what every piece begins with; where the car stands, the measured ones."""

    def means(values: Array) -> Array:
        return np.bincount(owner, bins.weight * values, number.max() + 1) / total

    number = record.pieces.number
    total = np.maximum(np.bincount(owner, bins.weight, number.max() + 1), 1e-9)
    left = bins.value - np.interp(bins.time, record.time, speeds)
    first = np.interp(bins.time, record.time, launch)
    begin, middle = means(left), means(first)
    left, first = left - begin[owner], first - middle[owner]
    acceleration = means(left * first) / np.maximum(means(first**2), 1e-12)
    modelled = speeds + begin[number] + acceleration[number] * (launch - middle[number])
    known = (number >= 0) & (np.bincount(owner, minlength=number.max() + 1)[number] >= 3)
    return np.where(known, modelled, np.interp(record.time, record.bins.time, record.bins.value))
