"""What most likely went wrong with the times of a recording: clocks that are not the same, columns that are swapped."""

from __future__ import annotations

import numpy as np

from vds_gz.study.identify.causes.relations import AFTER_COMMAND, FEWEST
from vds_gz.study.signals import Series, SignalError

#: How far ahead of the commands measurements are looked for, and in which steps [s].
LEAD, LEAD_STEP = 1.0, 0.02

#: With a lower correlation two courses have nothing to do with each other.
ALIKE = 0.3


def check_times(quantity: str, command: Series, measured: Series) -> None:
    """Refuse measurements that cannot be what came of commands, by their times.

    Raises:
        SignalError: There are too few in the time of the commands, or they come before these.
    """
    if not len(command.time) or not len(measured.time):
        raise SignalError(
            f"of {quantity} there are {len(command.time)} commands and {len(measured.time)} measurements; needed are "
            f"1 and {FEWEST}"
        )
    inside = (measured.time >= command.time[0]) & (measured.time <= command.time[-1] + AFTER_COMMAND)
    if inside.sum() < FEWEST:
        raise SignalError(
            f"of {quantity} there are {int(inside.sum())} measurements in the time of the commands "
            f"({command.time[0]:.2f} to {command.time[-1]:.2f} s; measured from {measured.time[0]:.2f} to "
            f"{measured.time[-1]:.2f} s); needed are {FEWEST}. Are the clocks the same?"
        )
    ahead = _ahead(command, Series(measured.time[inside], measured.value[inside]))
    if ahead > 0.0:
        raise SignalError(
            f"of {quantity} what was measured comes {ahead:.2f} s before what was commanded; it must come after. Are "
            "the columns or topics swapped, or the clocks different?"
        )


def _ahead(command: Series, measured: Series) -> float:
    """By how much the measurements clearly lead the commands [s]; 0 if they do not."""
    grid = np.arange(measured.time[0], measured.time[-1], LEAD_STEP)
    reach = round(LEAD / LEAD_STEP)
    if len(grid) < 4 * reach:
        return 0.0
    at = np.clip(np.searchsorted(command.time, grid, side="right") - 1, 0, None)
    commanded, did = command.value[at], np.interp(grid, measured.time, measured.value)
    if np.ptp(commanded) < 1e-9 or np.ptp(did) < 1e-9:
        return 0.0
    middle = did[reach:-reach]
    lags = range(-reach, reach + 1)
    with np.errstate(invalid="ignore", divide="ignore"):  # parts in which nothing changes are alike to nothing
        alike = [float(np.corrcoef(commanded[reach - lag : len(grid) - reach - lag], middle)[0, 1]) for lag in lags]
    if not np.isfinite(alike).any():
        return 0.0
    best = int(np.nanargmax(alike)) - reach
    clearly = alike[best + reach] > max(float(np.nanmax([-1.0, *alike[reach:]])) + 0.02, ALIKE)
    return -best * LEAD_STEP if best < 0 and clearly else 0.0
