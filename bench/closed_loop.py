"""Measure many vehicles under control: nanoseconds of processor time for each vehicle and step of 1 ms.

Usage: python bench/closed_loop.py [RUNS] [SECONDS]

Cars with random dead times and lags follow a figure of eight: first 1024 cars with every controller on one core, then
RUNS (10,000) of SECONDS (60) with pure pursuit on all cores.
"""

from __future__ import annotations

import math
import os
import sys
from time import perf_counter, process_time

import numba
import numpy as np

from vds_gz import BICYCLE, BicycleParameters, ClosedLoop, DriveParameters, Fleet, Path, SteeringParameters

RATE, STEPS = 50, 20
SOME, PERIODS = 1024, 500


def figure_of_eight() -> Path:
    angles = np.arange(100) / 100 * 2.0 * math.pi
    return Path.from_points(np.stack([20.0 * np.sin(angles), 20.0 * np.sin(angles) * np.cos(angles)], 1), closed=True)


def fleet_of(count: int) -> Fleet:
    random = np.random.default_rng(1)
    return Fleet(
        BICYCLE,
        [
            BicycleParameters(
                drive_actuator=DriveParameters(dead_time=drive, time_constant=lag),
                steering_actuator=SteeringParameters(dead_time=steering),
            )
            for drive, steering, lag in random.uniform((0.0, 0.0, 0.1), (0.2, 0.2, 0.6), (count, 3)).round(3).tolist()
        ],
    )


def feedback(observations: np.ndarray) -> np.ndarray:
    """A custom controller in NumPy."""
    lateral, heading_error = observations[:, :2].T
    return np.stack([-0.4 * lateral - 0.9 * heading_error, np.ones(len(lateral))], axis=1)


def nanoseconds(loop: ClosedLoop, periods: int) -> float:
    """Time of a vehicle's step, including its share of a period's control [ns]."""
    before = process_time()
    loop.advance(periods)
    return (process_time() - before) / len(loop) / periods / STEPS * 1e9


def main() -> None:
    runs, seconds = (int(sys.argv[k]) if len(sys.argv) > k else default for k, default in ((1, 10_000), (2, 60)))
    path = figure_of_eight()
    numba.set_num_threads(1)
    fleet = fleet_of(SOME)
    fleet.advance(1)
    before = process_time()
    fleet.advance(PERIODS * STEPS)
    alone = (process_time() - before) / SOME / PERIODS / STEPS * 1e9
    print(f"| {SOME} cars, one core, {RATE} Hz | ns a step |\n| --- | --- |\n| no controller | {alone:.1f} |")
    for name in ("pure_pursuit", "stanley", "lqr", feedback):
        loop = ClosedLoop(fleet, path, name, rate=RATE)
        loop.advance(1)
        label = name if isinstance(name, str) else "a function of one's own, numpy"
        print(f"| {label} | {nanoseconds(loop, PERIODS):.1f} |")

    numba.set_num_threads(os.cpu_count() or 1)
    before = perf_counter()
    loop = ClosedLoop(fleet_of(runs), path, "pure_pursuit", rate=RATE, bound=2.0)
    made, used = perf_counter() - before, process_time()
    before = perf_counter()
    loop.advance(seconds * RATE)
    took, used = perf_counter() - before, process_time() - used
    print(
        f"\n{runs:,} runs of {seconds} s with pure pursuit on {os.cpu_count()} cores: {took:.1f} s "
        f"({used:.1f} s of processor time), after {made:.1f} s to make them (goal: 10,000 of 60 s within 60 s); "
        f"p95 of the peak error {np.percentile(loop.measures()['path.peak'], 95):.3f} m"
    )


if __name__ == "__main__":
    main()
