"""Maps of pedals from recordings: the acceleration at each position of a pedal and each speed.

The car follows the model of :mod:`vds_gz.vehicle.autoware`: each pedal has a dead time, a map gives the acceleration
at the present speed, and the acceleration follows with a first-order lag. Accelerator and brake are two ends of one
axis, the pedal, from -1 (brake) over 0 (no pedal) to 1 (accelerator); between its grid points a map is linear.

For given dead times and time constants, the speed is linear in the cells of the map:

    v(t) = v(t0) + sum over cells of value * integral of lag(weight of the cell)

so the cells are a linear least squares problem, of measured speeds and not of their noisy derivatives, and the four
times are searched around it (variable projection: G. Golub, V. Pereyra, SIAM J. Numer. Anal. 10, 1973). Samples are
reweighted by their residuals, so that outliers hardly count. A weak prior on the curvature of the map fills cells
without data from their neighbours; such cells are marked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.optimize import least_squares

from vds_gz.parameters.maps import ActuationMap
from vds_gz.study.identify.estimates import CERTAIN, CERTAIN_TIME, TIME_RESOLUTION, WIDTH, Array, Estimate
from vds_gz.study.identify.pedals.grid import Grid, covering
from vds_gz.study.identify.pedals.problem import Cells, Problem, rising
from vds_gz.study.identify.pedals.record import INTERVAL, STANDING, Mask, Record, median_speed
from vds_gz.study.identify.robust import half_widths
from vds_gz.study.progress import Advance, ignore
from vds_gz.study.recording import Series, SignalError

#: A cell with fewer seconds of data is filled from its neighbours [s].
LEAST_SECONDS = 0.2

#: The times in the order of the vectors.
TIMES = ("accel_time_delay", "accel_time_constant", "brake_time_delay", "brake_time_constant")

#: Least time constant of the models [s].
SHORTEST = 0.03

#: Longest dead times and time constants that are searched for, in the order of the vectors [s].
LONGEST_TIMES = 1.5, 3.0, 1.5, 3.0

#: Dead times [s] and time constants [s] that are tried, the same for both pedals.
DELAYS, LAGS = (0.0, 0.1, 0.2, 0.35, 0.5, 0.8), (0.03, 0.1, 0.25, 0.5)

#: The weights are settled when no time moves by more than this [s], or after so many rounds.
SETTLED, ROUNDS = 5e-4, 6

#: Least noise that is believed, as a part of the range of the speed; the same before any model.
RESOLUTION, ROUGH = 1e-3, 1e-2

#: A time of this part of the longest one that is searched for, or more, is not determined.
AT_END = 0.99

#: Step of derivatives with respect to the times [s].
DIFFERENCE = 0.01


@dataclass(frozen=True, slots=True)
class PedalFit:
    """Maps and times of a car.

    Attributes:
        speeds: Keys of the columns [m/s].
        pedals: Keys of the rows, brake negative.
        values: Acceleration [m/s^2], (rows, columns).
        half: Half the width of the 95 % interval of each [m/s^2].
        seconds: Time that the recording spent around the cell [s].
        filled: The cell has next to no data and follows from its neighbours.
        moved: Number of cells that were moved so that more pedal gives more.
        times: By the names of :data:`TIMES`.
        residual: Standard deviation of the speeds, averaged over 0.1 s, from the model [m/s]; outliers weigh little.
        time, measured, modelled: For pictures; nan where the car stood.
    """

    speeds: Array
    pedals: Array
    values: Array
    half: Array
    seconds: Array
    filled: Mask
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
    """Estimate the maps.

    Args:
        accel, brake: Positions of the pedals as commanded; each holds until the next.
        speed: Speed as measured [m/s].
        speeds: Speeds of the grid [m/s]; those beyond the first above the maximum are left out.
        accels, brakes: Pedal positions of the grid, from 0 on; cut off in the same way.
        coasts: Without a pedal the car does what the row 0 says; else it keeps its speed, as in Autoware's simulator.
        advance: Called with the part of the work, 1 in all, that was done.

    Raises:
        SignalError: The pedals were never moved, or the car never drove forwards.
    """
    _check(accel, brake, speed)
    driven = float(np.percentile(median_speed(speed), 99.9))
    rows = covering(brakes, float(np.max(brake.value))), covering(accels, float(np.max(accel.value)))
    grid = Grid(covering(speeds, driven), np.concatenate((-rows[0][:0:-1], rows[1])))
    record = Record(accel, brake, speed, grid, coasts=coasts)
    problem, times = _search(record, advance)
    cells = problem.solve(times)
    half = _half_widths(problem, times, cells)
    driving = record.piece >= 0
    seconds = INTERVAL * cells.presence[driving].sum(axis=0).reshape(grid.shape)
    values, moved = rising(cells, grid)
    return PedalFit(
        grid.speeds,
        grid.pedals,
        values.reshape(grid.shape),
        half[len(times) :].reshape(grid.shape),
        seconds,
        seconds < LEAST_SECONDS,
        moved,
        estimates(times, half),
        math.sqrt(float(np.mean(cells.residuals**2) / np.mean(problem.weight))),
        speed.time,
        speed.value,
        np.interp(speed.time, record.time, np.where(driving, cells.modelled, math.nan)),
    )


def estimates(times: Array, half: Array) -> dict[str, Estimate | None]:
    """The times [s] with half the widths of their intervals; None of those that the recording does not determine."""
    numbers: dict[str, Estimate | None] = {}
    for name, value, width, end in zip(TIMES, times.tolist(), half.tolist(), LONGEST_TIMES, strict=False):
        width = math.hypot(width, WIDTH * TIME_RESOLUTION)
        sure = width <= max(CERTAIN * value, CERTAIN_TIME) and value < AT_END * end
        numbers[name] = Estimate(value, max(value - width, 0.0), value + width) if sure else None
    return numbers


def _search(record: Record, advance: Advance) -> tuple[Problem, Array]:
    """The times from a coarse grid, then by iteratively reweighted least squares; with the last weights."""
    span = float(np.ptp(record.median))
    problem = Problem(record, np.interp(record.time, record.speed.time, record.median), ROUGH * span)
    trials = [np.array([delay, lag, delay, lag]) for delay, lag in product(DELAYS, LAGS)]
    squares = []
    for trial in trials:
        squares.append(float(np.sum(problem.solve(trial).residuals ** 2)))
        advance(0.4 / len(trials))
    times = _least_squares(problem, trials[int(np.argmin(squares))])
    advance(0.4)
    for _ in range(ROUNDS):
        before = times
        problem = Problem(record, problem.solve(times).modelled, RESOLUTION * span)
        times = _least_squares(problem, times)
        if np.abs(times - before).max() < SETTLED:
            break
    advance(0.2)
    return problem, times


def _least_squares(problem: Problem, start: Array) -> Array:
    """The times of the least weighted squares."""
    lower = np.array((0.0, SHORTEST, 0.0, SHORTEST))
    solution = least_squares(
        lambda times: problem.solve(times).residuals,
        np.maximum(start, lower + np.array((0.01, 1e-3, 0.01, 1e-3))),
        bounds=(lower, LONGEST_TIMES),
        x_scale=0.05,
        diff_step=0.02,
        max_nfev=8,
        xtol=1e-3,
        ftol=1e-5,
    )
    return np.asarray(solution.x)


def _half_widths(problem: Problem, times: Array, cells: Cells) -> Array:
    """Half the widths of the intervals of the times [s] and the cells [m/s^2], which are uncertain together."""
    slopes = []
    for k in range(len(times)):
        low, high = times.copy(), times.copy()
        low[k], high[k] = max(times[k] - DIFFERENCE, 0.0), times[k] + DIFFERENCE
        down, up = (system.design @ cells.values - system.measured for system in map(problem.system, (low, high)))
        slopes.append((up - down) / (high[k] - low[k]))
    prior = np.pad(problem.record.grid.prior(), ((0, 0), (len(times), 0)))
    jacobian = np.column_stack((*slopes, cells.design))
    return half_widths(problem.widening * cells.residuals, jacobian, problem.owner, prior.T @ prior)


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
            raise SignalError("the accelerator was never pressed; there is nothing to identify")


def _table(name: str, speeds: Array, pedals: Array, values: Array) -> ActuationMap:
    label = f"{name} / speed [m/s] -> acceleration [m/s^2]"
    rows = tuple(tuple(round(float(value), 4) for value in row) for row in values)
    return ActuationMap(label, tuple(speeds.tolist()), tuple(pedals.tolist()), rows)
