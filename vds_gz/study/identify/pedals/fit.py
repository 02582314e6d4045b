"""Maps of pedals from logs: what acceleration each position of a pedal gives at each speed.

The car is taken for what :mod:`vds_gz.vehicle.autoware` simulates: each pedal has a dead time, a map says what it gives
at the present speed, and the acceleration follows with a first-order lag. Accelerator and brake are two ends of one
axis here, the pedal, from -1 (brake) over 0 (no pedal) to 1 (accelerator); between its grid points a map is linear.

Given the dead times and time constants, the speed is linear in the cells of the map:

    v(t) = v(t0) + sum over cells of value * integral of lag(weight of the cell)

so the cells are one linear least squares problem, on speeds as they were measured and not on their noisy derivatives,
and the four times are searched around it (variable projection: G. Golub, V. Pereyra, SIAM J. Numer. Anal. 10, 1973).
Each sample weighs as its noise says, a Student's distribution found from the data, so that outliers bend nothing.
A weak prior on the curvature of the map fills cells without data from their neighbours; such cells are marked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vds_gz.parameters.maps import ActuationMap
from vds_gz.study.identify.estimates import Array, Estimate
from vds_gz.study.identify.pedals.cells import rising
from vds_gz.study.identify.pedals.grid import Grid, covering
from vds_gz.study.identify.pedals.intervals import estimates, half_widths, slopes, widening
from vds_gz.study.identify.pedals.pieces import INTERVAL, STANDING
from vds_gz.study.identify.pedals.record import SMOOTHING, record_of
from vds_gz.study.identify.pedals.search import search
from vds_gz.study.identify.pedals.speeds import median_speed
from vds_gz.study.identify.solver.protocol import Mask
from vds_gz.study.progress import Advance, ignore
from vds_gz.study.signals import Series, SignalError

#: A cell that fewer seconds of data tell of is filled from its neighbours [s].
LEAST_SECONDS = 0.2


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
        times: By the names of :data:`~vds_gz.study.identify.pedals.intervals.TIMES`.
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
    driven = float(np.percentile(median_speed(speed, SMOOTHING), 99.9))
    rows = covering(brakes, float(np.max(brake.value))), covering(accels, float(np.max(accel.value)))
    grid = Grid(covering(speeds, driven), np.concatenate((-rows[0][:0:-1], rows[1])))
    record, times, cells = search(record_of(accel, brake, speed, grid, coasts=coasts), advance)
    wider, at, driving = widening(record, cells), slopes(record, times), record.pieces.number >= 0
    seconds = INTERVAL * cells.presence[driving].sum(axis=0).reshape(grid.shape)
    values, moved = rising(cells, grid)
    return PedalFit(
        grid.speeds,
        grid.pedals,
        values.reshape(grid.shape),
        half_widths(cells, at, wider).reshape(grid.shape),
        seconds,
        seconds < LEAST_SECONDS,
        moved,
        estimates(times, at, wider),
        math.sqrt(float(np.mean(cells.residuals**2) / np.mean(cells.weight))),
        speed.time,
        speed.value,
        np.interp(speed.time, record.time, np.where(driving, cells.modelled, math.nan)),
    )


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


def _table(name: str, speeds: Array, pedals: Array, values: Array) -> ActuationMap:
    label = f"{name} / speed [m/s] -> acceleration [m/s^2]"
    rows = tuple(tuple(round(float(value), 4) for value in row) for row in values)
    return ActuationMap(label, tuple(speeds.tolist()), tuple(pedals.tolist()), rows)
