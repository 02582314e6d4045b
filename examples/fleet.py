"""A thousand cars that differ in dead time and lag, stepped together: how far do they roll before they stop?

python examples/fleet.py [NUMBER OF CARS]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import vds_gz

SPEED = 2.0  # [m/s]
STEP_RATE = 1000  # [Hz]


def stopping_distances(count: int, seed: int = 1) -> NDArray[np.float64]:
    """Distance [m] that each car rolls after the command to stop, of shape (count,)."""
    random = np.random.default_rng(seed)
    drives = [
        vds_gz.DriveParameters(dead_time=dead_time, time_constant=lag, max_velocity=10.0, max_acceleration=2.0)
        for dead_time, lag in zip(random.uniform(0.05, 0.4, count), random.uniform(0.1, 0.6, count), strict=True)
    ]
    fleet = vds_gz.Fleet(vds_gz.BICYCLE, [vds_gz.BicycleParameters(drive_actuator=drive) for drive in drives])
    fleet.commands.v_x = SPEED
    fleet.advance(10 * STEP_RATE)
    begun = fleet.states.x.copy()
    fleet.commands.v_x = 0.0
    fleet.advance(10 * STEP_RATE)
    return np.asarray(fleet.states.x - begun)


def main(arguments: Sequence[str] = ()) -> None:
    """Print a histogram of the distances."""
    distances = stopping_distances(int(arguments[0]) if arguments else 1000)
    counts, edges = np.histogram(distances, bins=10)
    for count, low, high in zip(counts, edges[:-1], edges[1:], strict=True):
        print(f"{low:5.2f} to {high:5.2f} m  {'#' * round(60 * count / counts.max())}")
    median, worst = np.percentile(distances, (50, 99))
    print(f"{len(distances)} cars at {SPEED:g} m/s stop within {median:.2f} m (median), {worst:.2f} m (99 %)")


if __name__ == "__main__":
    main(sys.argv[1:])
