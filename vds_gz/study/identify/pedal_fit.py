"""Maps of pedals from logs: what acceleration each position of a pedal gives at each speed.

The car is taken for what :mod:`vds_gz.vehicle.autoware` simulates: each pedal has a dead time, a map says what it gives
at the present speed, and the acceleration follows with a first-order lag. Accelerator and brake are two ends of one
axis here, the pedal, from -1 (brake) over 0 (no pedal) to 1 (accelerator); between its grid points a map is linear.

Given the dead times and time constants, the speed is linear in the cells of the map:

    v(t) = v(t0) + sum over cells of value * integral of lag(weight of the cell)

so the cells are one linear least squares problem, on speeds as they were measured and not on their noisy derivatives,
and the four times are searched around it (variable projection: G. Golub, V. Pereyra, SIAM J. Numer. Anal. 10, 1973).
A weak prior on the curvature of the map fills cells without data from their neighbours; such cells are marked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter1d
from scipy.optimize import least_squares, lsq_linear

from vds_gz.parameters.maps import ActuationMap
from vds_gz.study.identify.estimates import (
    CERTAIN,
    CERTAIN_TIME,
    TIME_RESOLUTION,
    WIDTH,
    Estimate,
    central_differences,
    correlation_factor,
    noise,
    standard_deviations,
)
from vds_gz.study.identify.signals import Series, SignalError
from vds_gz.study.progress import Advance, ignore

Array = NDArray[np.float64]

#: Times that are found, in the order of the vectors below.
TIMES = ("accel_time_delay", "accel_time_constant", "brake_time_delay", "brake_time_constant")

#: The motion is integrated in steps of this length; what the pedals do within one is taken as its mean [s].
INTERVAL = 0.04

#: Speeds within this time are averaged to one [s].
BIN = 0.1

#: Slower than this the car may stand, and what holds it is not in the maps [m/s].
STANDING = 0.15

#: The record is cut into pieces of at most this length, each from a speed of its own, so that slopes do not add up [s].
PIECE = 8.0

#: A second difference of the map is expected to be within this [m/s^2]: from pedal to pedal, from speed to speed.
CURVATURE = 1.0, 0.5

#: A cell that fewer seconds of data tell of is filled from its neighbours [s].
LEAST_SECONDS = 0.2

#: Speeds are smoothed over this time before maps are read at them [s].
SMOOTHING = 0.3

#: More pedal must give so much more [m/s^2] from row to row, so that a controller can invert the map.
LEAST_RISE = 0.005

#: Least time constant of the models [s].
SHORTEST = 0.03


@dataclass(frozen=True, slots=True)
class PedalFit:
    """Maps and times of a car.

    Attributes:
        speeds: Keys of the columns [m/s].
        pedals: Keys of the rows, brake negative.
        values: Acceleration [m/s^2], (rows, columns).
        half: Half the width of the 95 % interval of each [m/s^2].
        seconds: How long the record was in the cell's surroundings.
        filled: The cell had next to no data and is what its neighbours say.
        moved: So many cells were moved so that more pedal gives more.
        times: By the names of :data:`TIMES`.
        residual: Standard deviation of the speeds from the model [m/s].
        time, measured, modelled: For pictures; nan where the car stood.
    """

    speeds: Array
    pedals: Array
    values: Array
    half: Array
    seconds: Array
    filled: NDArray[np.bool_]
    moved: int
    times: dict[str, Estimate | None]
    residual: float
    time: Array
    measured: Array
    modelled: Array

    def accel_map(self) -> ActuationMap:
        """The part with the accelerator."""
        rows = self.pedals >= 0.0
        return _table("accel", self.speeds, self.pedals[rows], self.values[rows])

    def brake_map(self) -> ActuationMap:
        """The part with the brake, most brake last."""
        rows = self.pedals <= 0.0
        return _table("brake", self.speeds, -self.pedals[rows][::-1] + 0.0, self.values[rows][::-1])


def csv_text(table: ActuationMap) -> str:
    """A map as the node reads it."""
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
    """Find the maps.

    Args:
        accel, brake: Positions of the pedals as commanded; each holds until the next.
        speed: Speed as measured [m/s].
        speeds: Speeds of the grid [m/s]; those above the maximum that occurs but one are left out.
        accels, brakes: Pedal positions of the grid, from 0 on; cut off in the same way.
        coasts: With no pedal the car does what the row 0 says; else it keeps its speed, as in Autoware's simulator.
        advance: Called with the part of the work, 1 in all, that was done.

    Raises:
        SignalError: The pedals were never moved, or the car never drove forwards.
    """
    _check(accel, brake, speed)
    grid = _Grid(
        _covering(speeds, float(np.percentile(speed.value, 99.9))),
        np.concatenate(
            (-_covering(brakes, float(np.max(brake.value)))[:0:-1], _covering(accels, float(np.max(accel.value))))
        ),
    )
    record = _Record(accel, brake, speed, grid, coasts)
    times = record.search(advance)
    record.use_speed(record.solve(times).modelled)
    times = record.search_from(times)
    advance(0.2)
    return record.result(times)


def _check(accel: Series, brake: Series, speed: Series) -> None:
    if len(speed.time) < 100 or np.sum(speed.value > STANDING) < 50:
        raise SignalError(
            f"of {len(speed.time)} speeds {int(np.sum(speed.value > STANDING))} are above {STANDING} m/s; for maps of "
            "pedals the car must drive forwards, best for some minutes"
        )
    for series, name in ((accel, "accelerator"), (brake, "brake")):
        low, high = (float(f(series.value)) for f in (np.min, np.max))
        if low < 0.0:
            raise SignalError(f"the {name} goes down to {low:g}; positions must be 0 or more. Is it another column?")
        if name == "accelerator" and high <= 0.0:
            raise SignalError("the accelerator was never pressed; there is nothing to find")


def _covering(keys: Sequence[float], maximum: float) -> Array:
    """The keys up to the first that is not below the maximum; at least two, from 0 on."""
    rising = np.array(sorted({0.0, *keys}))
    return rising[: max(2, int(np.searchsorted(rising, maximum - 1e-9)) + 1)]


def _table(name: str, speeds: Array, pedals: Array, values: Array) -> ActuationMap:
    label = f"{name} / speed [m/s] -> acceleration [m/s^2]"
    rows = tuple(tuple(round(float(value), 4) for value in row) for row in values)
    return ActuationMap(label, tuple(speeds.tolist()), tuple(pedals.tolist()), rows)


@dataclass(frozen=True, slots=True)
class _Grid:
    """Keys of columns and rows."""

    speeds: Array
    pedals: Array

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.pedals), len(self.speeds)

    @property
    def none(self) -> int:
        """The row of no pedal."""
        return int(np.searchsorted(self.pedals, 0.0))


@dataclass(frozen=True, slots=True)
class _Solution:
    cells: Array
    covariance: Array
    precision: Array
    modelled: Array
    residuals: Array
    presence: Array


class _Record:
    """The samples on an even grid of times, and the least squares on them."""

    def __init__(self, accel: Series, brake: Series, speed: Series, grid: _Grid, coasts: bool) -> None:
        self.grid, self.coasts, self.all, self.measured = grid, coasts, speed, _binned(speed)
        self.level = max(noise(self.measured.value), 1e-3 * float(np.ptp(speed.value)))
        begin, end = max(speed.time[0], min(accel.time[0], brake.time[0])), speed.time[-1]
        self.time = np.arange(begin, end, INTERVAL)
        if len(self.time) < 50:
            raise SignalError("pedals and speeds hardly overlap in time. Are the clocks the same?")
        self.inside = (self.measured.time >= self.time[0]) & (self.measured.time <= self.time[-1])
        self.pedals = accel, brake
        self.accel = _Held(accel, grid.pedals[grid.none :])
        self.brake = _Held(brake, -grid.pedals[: grid.none + 1][::-1])
        self.use_speed(np.interp(self.time, speed.time, speed.value))

    def use_speed(self, speed: Array) -> None:
        """Take these speeds, at the even times, to read the maps at."""
        width = max(1, round(SMOOTHING / INTERVAL))
        smooth = uniform_filter1d(speed, width, mode="nearest")
        self.moving = smooth > STANDING + 2.0 * self.level / math.sqrt(width)
        self.at_speed = _weights(np.clip(smooth, 0.0, self.grid.speeds[-1]), self.grid.speeds)
        starts = np.flatnonzero(np.diff(self.moving.astype(int), prepend=0) == 1)
        ends = np.flatnonzero(np.diff(self.moving.astype(int), append=0) == -1) + 1
        self.piece = np.full(len(self.time), -1)
        self.launches = np.zeros(len(self.time), bool)
        number = 0
        for start, end in zip(starts, ends, strict=True):
            if (end - start) * INTERVAL < 1.0:
                continue
            self.launches[start] = True
            parts = math.ceil((end - start) * INTERVAL / PIECE)
            for left, right in pairwise(np.linspace(start, end, parts + 1).astype(int)):
                self.piece[left:right] = number
                number += 1
        if not number:
            raise SignalError(f"the car never drove faster than {STANDING} m/s for a second")
        # A measurement belongs to the piece of both the even times around it.
        at = np.clip(np.searchsorted(self.time, self.measured.time) - 1, 0, len(self.time) - 2)
        piece = np.where(self.piece[at] == self.piece[at + 1], self.piece[at], -1)
        self.used = self.inside & (piece >= 0)
        self.owner = piece[self.used]

    def shares(self, times: Array) -> tuple[Array, Array]:
        """In every interval of time: the mean weight of each row, and the part in which the brake acts."""
        accel, accel_part = self.accel.mean(self.time - times[0], INTERVAL)
        brake, brake_part = self.brake.mean(self.time - times[2], INTERVAL)
        brake = brake * (1.0 - accel_part)[:, None]
        none = self.grid.none
        rows = np.zeros((len(self.time), self.grid.shape[0]))
        rows[:, none:] = accel
        rows[:, :none] = brake[:, :0:-1]
        rows[:, none] += brake[:, 0]
        if self.coasts:
            rows[:, none] += (1.0 - accel_part) * (1.0 - brake_part)
        return rows, brake_part * (1.0 - accel_part)

    def motions(self, times: Array) -> tuple[Array, Array, Array]:
        """What each cell's unit of acceleration adds to the speed since the piece's begin, at the even times.

        Returns:
            That, (times, cells); what a unit of acceleration at the begin of a drive adds, (times,); and how much of
            each cell was acting, (times, cells).
        """
        rows, braking = self.shares(times)
        presence = (rows[:, :, None] * self.at_speed[:, None, :]).reshape(len(self.time), -1)
        target = np.column_stack((presence, np.zeros(len(self.time))))
        lag = np.maximum(np.where(braking > 0.5, times[3], times[1]), 1e-3)
        kept = np.exp(-INTERVAL / lag)
        # With a constant target w: the acceleration's distance from w decays, and the speed gains the area below.
        area = lag * (1.0 - kept)
        speeds = np.zeros_like(target)
        a, v = np.zeros(target.shape[1]), np.zeros(target.shape[1])
        begins = np.diff(self.piece, prepend=-1) != 0
        for k in range(len(self.time) - 1):
            if begins[k]:
                v = np.zeros_like(v)
                a[-1] = self.launches[k]
            speeds[k] = v
            away = a - target[k]
            v = v + target[k] * INTERVAL + away * area[k]
            a = target[k] + away * kept[k]
            if begins[k + 1]:
                # The end of a piece is the begin of the next one; measurements between them are not used.
                speeds[k + 1] = v
        speeds[-1] = v
        return speeds[:, :-1], speeds[:, -1], presence

    def solve(self, times: Array) -> _Solution:
        """The cells for given times."""
        speeds, launch, presence = self.motions(times)
        at = self.measured.time[self.used]
        value = self.measured.value[self.used]
        columns = _interpolated(self.time, np.column_stack((speeds, launch)), at)
        columns = np.column_stack((columns, value))
        columns -= self._pieces(columns)[self.owner]
        # What the acceleration was when a drive began is not known: what it explains is left out, piece by piece.
        guess = columns[:, -2:-1]
        power = np.maximum(self._pieces(guess**2), 1e-12)
        columns -= guess * (self._pieces(columns * guess) / power)[self.owner]
        design, centred = columns[:, :-2], columns[:, -1]
        prior = _curvature(self.grid) * self.level
        precision = design.T @ design + prior.T @ prior
        precision += np.eye(len(precision)) * (self.level / 20.0) ** 2
        inverse = np.linalg.inv(precision)
        cells = inverse @ (design.T @ centred)
        modelled = self._shown(speeds @ cells, launch, at, value)
        return _Solution(cells, inverse, precision, modelled, design @ cells - centred, presence)

    def _pieces(self, rows: Array) -> Array:
        """Means of the rows of each piece."""
        order = np.searchsorted(self.owner, np.arange(self.owner[-1] + 1))
        counts = np.bincount(self.owner, minlength=len(order))
        safe = np.minimum(order, len(rows) - 1)
        means = np.add.reduceat(rows, safe, axis=0) / np.maximum(counts, 1)[:, None]
        return np.where(counts[:, None] > 0, means, 0.0)

    def _shown(self, speeds: Array, launch: Array, at: Array, value: Array) -> Array:
        """The model's speeds with what every piece begins with; where the car stands, the measured ones."""
        shown = np.interp(self.time, self.measured.time, self.measured.value)
        for number in range(self.owner[-1] + 1):
            here, own = self.piece == number, self.owner == number
            if own.sum() < 3:
                continue
            model, first = (np.interp(at[own], self.time[here], series[here]) for series in (speeds, launch))
            free = np.column_stack((np.ones(len(first)), first))
            begin = np.linalg.lstsq(free, value[own] - model, rcond=None)[0]
            shown[here] = speeds[here] + begin[0] + begin[1] * launch[here]
        return shown

    def search(self, advance: Advance) -> Array:
        """The times by a coarse grid, the same for both pedals and with a coarse map, then by least squares."""
        coarse = self.thinned()
        trials = list(product((0.0, 0.1, 0.2, 0.35, 0.5, 0.8), (0.03, 0.1, 0.25, 0.5)))
        best, least = np.zeros(4), math.inf
        for delay, lag in trials:
            times = np.array([delay, lag, delay, lag])
            residuals = coarse.solve(times).residuals
            if residuals @ residuals < least:
                best, least = times, float(residuals @ residuals)
            advance(0.4 / len(trials))
        found = self.search_from(best)
        advance(0.4)
        return found

    def thinned(self) -> _Record:
        """The same with fewer cells."""
        none = self.grid.none
        rows = np.concatenate((self.grid.pedals[:none:2], self.grid.pedals[none::2], self.grid.pedals[-1:]))
        columns = np.concatenate((self.grid.speeds[::3], self.grid.speeds[-1:]))
        return _Record(
            self.pedals[0], self.pedals[1], self.all, _Grid(np.unique(columns), np.unique(rows)), self.coasts
        )

    def search_from(self, start: Array) -> Array:
        """The times by least squares."""
        found = least_squares(
            lambda times: self.solve(times).residuals,
            np.maximum(start, (0.01, SHORTEST + 1e-3, 0.01, SHORTEST + 1e-3)),
            bounds=((0.0, SHORTEST, 0.0, SHORTEST), (1.5, 3.0, 1.5, 3.0)),
            x_scale=0.05,
            diff_step=0.02,
            max_nfev=8,
            xtol=1e-3,
            ftol=1e-5,
        )
        return np.asarray(found.x)

    def result(self, times: Array) -> PedalFit:
        """Everything, for the times that were found."""
        solution = self.solve(times)
        shape = self.grid.shape
        together = correlation_factor(solution.residuals)
        deviation = float(np.sqrt(np.mean(solution.residuals**2)))
        half = WIDTH * together * max(deviation, 0.2 * self.level) * np.sqrt(np.diag(solution.covariance))
        seconds = INTERVAL * solution.presence[self.piece >= 0].sum(axis=0).reshape(shape)
        cells, moved = _rising(solution, self.grid)
        modelled = np.interp(self.all.time, self.time, np.where(self.piece >= 0, solution.modelled, math.nan))
        return PedalFit(
            self.grid.speeds,
            self.grid.pedals,
            cells.reshape(shape),
            half.reshape(shape),
            seconds,
            seconds < LEAST_SECONDS,
            moved,
            self._numbers(times, solution, together),
            deviation,
            self.all.time,
            self.all.value,
            modelled,
        )

    def _numbers(self, times: Array, solution: _Solution, together: float) -> dict[str, Estimate | None]:
        """The times with their intervals, from the derivatives of what is left after the cells adapted."""
        jacobian = central_differences(lambda at: self.solve(at).residuals, times, np.full(4, 0.01), 0.0)
        deviation = max(float(np.sqrt(np.mean(solution.residuals**2))), 0.2 * self.level)
        spread = standard_deviations(jacobian, together * deviation)
        found: dict[str, Estimate | None] = {}
        for name, value, one in zip(TIMES, times, spread, strict=True):
            half = WIDTH * math.hypot(one, TIME_RESOLUTION)
            sure = half <= max(CERTAIN * value, CERTAIN_TIME)
            found[name] = Estimate(float(value), float(max(value - half, 0.0)), float(value + half)) if sure else None
        return found


class _Held:
    """A pedal that holds each position until the next: the integrals of its weights on a grid of positions."""

    def __init__(self, pedal: Series, keys: Array) -> None:
        changed = np.concatenate(([True], np.diff(pedal.value) != 0.0))
        value = np.clip(pedal.value[changed], 0.0, keys[-1])
        self.edges = np.concatenate(([pedal.time[0] - 1e3], pedal.time[changed][1:], [pedal.time[-1] + 1e3]))
        weights = np.column_stack((_weights(value, keys), value > 0.0))
        # Not pressed at all is no weight; whoever asks adds what holds then.
        weights[value <= 0.0] = 0.0
        steps = weights * np.diff(self.edges)[:, None]
        self.integral: Array = np.concatenate((np.zeros((1, weights.shape[1])), np.cumsum(steps, axis=0))).astype(float)

    def mean(self, times: Array, interval: float) -> tuple[Array, Array]:
        """Mean weights of each position in the intervals that begin at some times, and the part it was pressed."""
        begin = _interpolated(self.edges, self.integral, times)
        end = _interpolated(self.edges, self.integral, times + interval)
        means = (end - begin) / interval
        return means[:, :-1], means[:, -1]


def _weights(values: Array, keys: Array) -> Array:
    """How much each key counts in a linear interpolation: (values, keys)."""
    return np.column_stack([np.interp(values, keys, row) for row in np.eye(len(keys))])


def _interpolated(x: Array, rows: Array, at: Array) -> Array:
    """Rows that belong to ``x``, between them."""
    place = np.clip(np.searchsorted(x, at, side="right") - 1, 0, len(x) - 2)
    share = ((at - x[place]) / (x[place + 1] - x[place]))[:, None]
    return np.asarray(rows[place] + (rows[place + 1] - rows[place]) * share)


def _binned(series: Series) -> Series:
    """Means of times and values within short times."""
    place = np.floor((series.time - series.time[0]) / BIN).astype(int)
    counts = np.bincount(place)
    time, value = (np.bincount(place, one)[counts > 0] / counts[counts > 0] for one in (series.time, series.value))
    return Series(time, value)


def _curvature(grid: _Grid) -> Array:
    """Second differences of the map over what they may be, along both directions; first ones at a thin grid."""
    rows = []
    for axis, keys, expected in ((0, grid.pedals, CURVATURE[0]), (1, grid.speeds, CURVATURE[1])):
        shape = grid.shape
        places = np.arange(shape[0] * shape[1]).reshape(shape)
        places = places if axis == 0 else places.T
        for i in range(1, len(keys) - 1):
            before, after = keys[i] - keys[i - 1], keys[i + 1] - keys[i]
            mean = 0.5 * (before + after)
            for left, middle, right in zip(places[i - 1], places[i], places[i + 1], strict=True):
                row = np.zeros(places.size)
                row[left], row[right] = mean / before, mean / after
                row[middle] = -row[left] - row[right]
                rows.append(row / expected)
    return np.array(rows) if rows else np.zeros((0, grid.shape[0] * grid.shape[1]))


def _rising(solution: _Solution, grid: _Grid) -> tuple[Array, int]:
    """The cells nearest to the solution in which more pedal gives more, and how many moved by that."""
    rows, columns = grid.shape
    table = solution.cells.reshape(grid.shape)
    if (np.diff(table, axis=0) >= LEAST_RISE).all():
        return solution.cells, 0
    # Each column as its lowest value and what is added from row to row.
    sums = np.kron(np.tril(np.ones((rows, rows))), np.eye(columns))
    root = np.linalg.cholesky(solution.precision).T
    lowest = np.full(rows * columns, LEAST_RISE)
    lowest[:columns] = -np.inf
    found = lsq_linear(root @ sums, root @ solution.cells, bounds=(lowest, np.inf), tol=1e-9)
    cells = sums @ found.x
    return cells, int(np.sum(np.abs(cells - solution.cells) > 0.01))
