"""Maps of pedals from recordings: the acceleration at each position of a pedal and each speed.

The car follows the model of :mod:`vds_gz.autoware.vehicle`: each pedal has a dead time, a map gives the
acceleration at the present speed, and the acceleration follows with a first-order lag. Accelerator and brake are two
ends of one axis, the pedal, from -1 (brake) over 0 (no pedal) to 1 (accelerator); between its grid points a map is
linear.

For given dead times and time constants, the speed is linear in the cells of the map:

    v(t) = v(t0) + sum over cells of value * integral of lag(weight of the cell)

so the cells are a linear least squares problem, with measured speeds and not their noisy derivatives, and the four
times are found by a search around it (variable projection: G. Golub, V. Pereyra, SIAM J. Numer. Anal. 10, 1973).
Samples are reweighted by their residuals, so that outliers hardly count. A weak prior on the curvature of the map fills
cells without data from their neighbours; such cells are marked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.optimize import least_squares, lsq_linear

from vds_gz.autoware.identify.pedal_recording import (
    INTERVAL,
    STANDING,
    Grid,
    Record,
    covering,
    interpolated,
    median_speed,
)
from vds_gz.autoware.parameters.map_files import ActuationMap
from vds_gz.core.arrays import Array, Flags
from vds_gz.tools.study.identify.estimates import CERTAIN, CERTAIN_TIME, TIME_RESOLUTION, WIDTH, Estimate
from vds_gz.tools.study.identify.robust import half_widths, noise_scale, weights
from vds_gz.tools.study.progress import Advance, ignore
from vds_gz.tools.study.recording import Series, SignalError

#: A cell with fewer seconds of data is filled from its neighbours [s].
LEAST_SECONDS = 0.2

#: Minimum increase from row to row [m/s^2], so that a controller can invert the map.
LEAST_RISE = 0.005

#: Averaging time of speeds [s]; minimum number of averages of a piece to determine its start.
BIN, FEWEST_BINS = 0.1, 3

#: Names of the dead times and time constants, in the order of the vectors.
TIMES = ("accel_time_delay", "accel_time_constant", "brake_time_delay", "brake_time_constant")

#: The shortest and longest times of the search [s]. No model has a shorter time constant.
SHORTEST_TIMES, LONGEST_TIMES = (0.0, 0.03, 0.0, 0.03), (1.5, 3.0, 1.5, 3.0)

#: Dead times [s] and time constants [s] that are tried, the same for both pedals.
DELAYS, LAGS = (0.0, 0.1, 0.2, 0.35, 0.5, 0.8), (0.03, 0.1, 0.25, 0.5)

#: The search ends when no time changes by more than this from round to round [s], or after this number of rounds.
SETTLED, ROUNDS = 5e-4, 6

#: Minimum noise, as a part of the range of the speed; assumed noise before any model.
RESOLUTION, ROUGH = 1e-3, 1e-2

#: A time from this part of the longest one on is not determined.
AT_END = 0.99

#: Step of derivatives by the times [s].
DIFFERENCE = 0.01


@dataclass(frozen=True, slots=True)
class PedalFit:
    """Maps and times of a car.

    For each cell, in rows and columns of the grid: the acceleration and half the width of its 95 % interval [m/s^2],
    and the time that the recording spent around it [s]. ``moved`` is the number of cells that were changed so that more
    pedal gives more. ``numbers`` are by the names of :data:`TIMES`. The residual is that of speeds averaged over 0.1 s
    [m/s], in which outliers have little weight. Modelled speeds are NaN while the car stands.
    """

    grid: Grid
    values: Array
    half: Array
    seconds: Array
    moved: int
    numbers: dict[str, Estimate | None]
    residual: float
    time: Array
    measured: Array
    modelled: Array

    @property
    def filled(self) -> Flags:
        """Whether a cell has hardly any data and follows from its neighbours."""
        return self.seconds < LEAST_SECONDS

    def maps(self) -> dict[str, ActuationMap]:
        """The maps of the two pedals, ``accel`` and ``brake``."""
        pedals, speeds = self.grid.pedals, tuple(self.grid.speeds.tolist())
        maps = {}
        for name, rows, sign in (("accel", pedals >= 0.0, 1), ("brake", pedals <= 0.0, -1)):
            values = tuple(tuple(round(float(value), 4) for value in row) for row in self.values[rows][::sign])
            keys = tuple((sign * pedals[rows][::sign] + 0.0).tolist())
            maps[name] = ActuationMap(f"{name} / speed [m/s] -> acceleration [m/s^2]", speeds, keys, values)
        return maps


def csv_text(table: ActuationMap) -> str:
    """A map in the format of the node."""
    rows = [[table.label, *(f"{key:g}" for key in table.states)]]
    for key, values in zip(table.actuations, table.values, strict=True):
        rows.append([f"{key:g}", *(f"{value:.4f}" for value in values)])
    return "\n".join(",".join(row) for row in rows) + "\n"


def fit_pedals(
    accel: Series,
    brake: Series,
    speed: Series,
    *,
    speeds: Sequence[float],
    accels: Sequence[float],
    brakes: Sequence[float],
    coasts: bool = True,
    advance: Advance = ignore,
) -> PedalFit:
    """Estimate the maps from positions of the pedals as commanded, each held until the next, and speeds [m/s].

    The grid has speeds and pedal positions from 0 on; those beyond the first above the maximum are left out. With
    ``coasts``, row 0 applies to a car without a pressed pedal; else it keeps its speed, as in Autoware's simulator.
    """
    if len(speed.time) < 100 or np.sum(speed.value > STANDING) < 50:
        raise SignalError(
            f"{int(np.sum(speed.value > STANDING))} of {len(speed.time)} speeds exceed {STANDING} m/s; for maps of "
            "pedals the car must drive forwards, ideally for some minutes"
        )
    for series, name in ((accel, "accelerator"), (brake, "brake")):
        low, high = float(np.min(series.value)), float(np.max(series.value))
        if low < 0.0:
            raise SignalError(f"the {name} goes down to {low:g}; positions must be 0 or more. Is it another column?")
        if name == "accelerator" and high <= 0.0:
            raise SignalError("the accelerator was never pressed; there is nothing to identify")
    driven = float(np.percentile(median_speed(speed), 99.9))
    rows = covering(brakes, float(np.max(brake.value))), covering(accels, float(np.max(accel.value)))
    grid = Grid(covering(speeds, driven), np.concatenate((-rows[0][:0:-1], rows[1])))
    record = Record(accel, brake, speed, grid, coasts=coasts)
    problem, times = _search(record, advance)
    cells = problem.solve(times)
    half = _half_widths(problem, times, cells)
    driving = record.piece >= 0
    values, moved = _rising(cells, grid)
    return PedalFit(
        grid,
        values.reshape(grid.shape),
        half[len(times) :].reshape(grid.shape),
        INTERVAL * cells.system.presence[driving].sum(axis=0).reshape(grid.shape),
        moved,
        estimates(times, half),
        math.sqrt(float(np.mean(cells.residuals**2) / np.mean(problem.weight))),
        speed.time,
        speed.value,
        np.interp(speed.time, record.time, np.where(driving, problem.modelled(cells), math.nan)),
    )


def estimates(times: Array, half: Array) -> dict[str, Estimate | None]:
    """Estimates of times [s] from half the widths of their intervals; None for those that are not determined."""
    numbers: dict[str, Estimate | None] = {}
    for name, value, width, end in zip(TIMES, times.tolist(), half.tolist(), LONGEST_TIMES, strict=False):
        width = math.hypot(width, WIDTH * TIME_RESOLUTION)
        sure = width <= max(CERTAIN * value, CERTAIN_TIME) and value < AT_END * end
        numbers[name] = Estimate(value, max(value - width, 0.0), value + width) if sure else None
    return numbers


class System(NamedTuple):
    """The linear problem of the cells for some times, in standard deviations.

    What the initial speed and acceleration of each piece explain is removed from the design (bins, cells) and the
    measurements (bins,). ``initial`` has their coefficients, by column of cells, launch and measured speed. The other
    fields are the record's contributions.
    """

    design: Array
    measured: Array
    speeds: Array
    launch: Array
    presence: Array
    initial: tuple[Array, Array]


class Cells(NamedTuple):
    """The accelerations of the cells [m/s^2] for some times, with their residuals and their information."""

    system: System
    values: Array
    residuals: Array
    information: Array


class PedalProblem:
    """A recording with weights of its speeds, by their residuals from the model so far.

    Each bin of speeds that counts has an ``owner``, which is its piece, and a weight [s^2/m^2]. ``widening`` is the
    factor by which the robust loss makes standard deviations larger than those of weighted least squares, as in
    :func:`~vds_gz.tools.study.identify.robust.influence`.
    """

    def __init__(self, record: Record, modelled: Array, least_noise: float) -> None:
        """The maps are read at the modelled speeds; the noise [m/s] is the assumed minimum."""
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
        # The initial speed is unknown, as is the initial acceleration of a drive: what they explain is removed.
        first = self._explained(columns, root)
        columns -= root * first[self.owner]
        direction = columns[:, -2:-1].copy()
        second = self._explained(columns, direction)
        columns -= direction * second[self.owner]
        return System(columns[:, :-2], columns[:, -1], speeds, launch, presence, (first, second))

    def solve(self, times: Array) -> Cells:
        """The cells for dead times and time constants [s]."""
        system, prior = self.system(times), self.record.prior
        information = system.design.T @ system.design + prior.T @ prior
        values = np.linalg.solve(information, system.design.T @ system.measured)
        return Cells(system, values, system.design @ values - system.measured, information)

    def modelled(self, cells: Cells) -> Array:
        """The model's speeds at the even times; where the car stands, the measured ones."""
        piece, system = self.record.piece, cells.system
        speed, acceleration = ((rows[:, -1] - rows[:, :-2] @ cells.values)[piece] for rows in system.initial)
        launch = system.launch - system.initial[0][piece, -2]
        known = (piece >= 0) & (np.bincount(self.owner, minlength=piece.max() + 1)[piece] >= FEWEST_BINS)
        measured = np.interp(self.record.time, self.record.speed.time, self.record.median)
        return np.where(known, system.speeds @ cells.values + speed + acceleration * launch, measured)

    def _explained(self, columns: Array, direction: Array) -> Array:
        """Coefficients of a direction (bins, 1) in columns (bins, n), separately in each piece, (pieces, n)."""
        coefficients = np.zeros((self.record.piece.max() + 1, columns.shape[1]))
        starts = np.flatnonzero(np.diff(self.owner, prepend=-1))
        products, power = (np.add.reduceat(rows * direction, starts, axis=0) for rows in (columns, direction))
        coefficients[self.owner[starts]] = products / np.maximum(power, 1e-9)
        return coefficients


def _search(record: Record, advance: Advance) -> tuple[PedalProblem, Array]:
    """The times, from a coarse grid and then by iteratively reweighted least squares, with the last problem."""
    span = float(np.ptp(record.median))
    problem = PedalProblem(record, np.interp(record.time, record.speed.time, record.median), ROUGH * span)
    trials = [np.array([delay, lag, delay, lag]) for delay, lag in product(DELAYS, LAGS)]
    squares = []
    for trial in trials:
        squares.append(float(np.sum(problem.solve(trial).residuals ** 2)))
        advance(0.4 / len(trials))
    times = _least_squares(problem, trials[int(np.argmin(squares))])
    advance(0.4)
    for _ in range(ROUNDS):
        before = times
        problem = PedalProblem(record, problem.modelled(problem.solve(times)), RESOLUTION * span)
        times = _least_squares(problem, times)
        if np.abs(times - before).max() < SETTLED:
            break
    advance(0.2)
    return problem, times


def _least_squares(problem: PedalProblem, start: Array) -> Array:
    """The times with the smallest weighted squares."""
    solution = least_squares(
        lambda times: problem.solve(times).residuals,
        np.maximum(start, np.array(SHORTEST_TIMES) + np.array((0.01, 1e-3, 0.01, 1e-3))),
        bounds=(SHORTEST_TIMES, LONGEST_TIMES),
        x_scale=0.05,
        diff_step=0.02,
        max_nfev=8,
        xtol=1e-3,
        ftol=1e-5,
    )
    return np.asarray(solution.x)


def _half_widths(problem: PedalProblem, times: Array, cells: Cells) -> Array:
    """Half the widths of the intervals of the times [s] and the cells [m/s^2], from their joint uncertainty."""
    slopes = []
    for k in range(len(times)):
        low, high = times.copy(), times.copy()
        low[k], high[k] = max(times[k] - DIFFERENCE, 0.0), times[k] + DIFFERENCE
        down, up = (system.design @ cells.values - system.measured for system in map(problem.system, (low, high)))
        slopes.append((up - down) / (high[k] - low[k]))
    prior = np.pad(problem.record.prior, ((0, 0), (len(times), 0)))
    jacobian = np.column_stack((*slopes, cells.system.design))
    return half_widths(problem.widening * cells.residuals, jacobian, problem.owner, prior.T @ prior)


def _rising(cells: Cells, grid: Grid) -> tuple[Array, int]:
    """The cells nearest to the solution in which more pedal gives more, and how many differ from the solution."""
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
