"""Measure environments: environment steps per second of one core, and the time to make and reset them.

Usage: python bench/environments.py [ROUNDS]

Processor time of one thread; the minimum of all rounds counts, so other programs disturb it little. An environment's
step is 20 steps of its vehicle. Actions are random and episodes end, so new vehicles are drawn all the time.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
from time import process_time

import gymnasium
import numba

COUNT, STEPS = 4096, 20
CASES = (
    ("vds_gz/PathTracking-v0", "deepracer", None),
    ("vds_gz/PathTracking-v0", "ackermann_car", None),
    ("vds_gz/PathTracking-v0", "ackermann_car", 0.2),
    ("vds_gz/PathTracking-v0", "indoor_robot", 0.2),
    ("vds_gz/Parking-v0", "ackermann_car", 0.2),
)

MAKE = f"""
from time import perf_counter
before = perf_counter()
import gymnasium
environments = gymnasium.make_vec("vds_gz.environments:vds_gz/PathTracking-v0", num_envs={COUNT}, randomize=0.2)
made = perf_counter()
environments.reset(seed=1)
environments.step(environments.action_space.sample())
print(made - before, perf_counter() - before)
"""


def steps(rounds: int) -> None:
    """Print the time of environment steps."""
    numba.set_num_threads(1)
    print("| environment | vehicle | vehicles differ | ns an environment step | of it the vehicle | M steps/s a core |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, vehicle, randomize in CASES:
        environments = gymnasium.make_vec(f"vds_gz.environments:{name}", COUNT, vehicle=vehicle, randomize=randomize)
        environments.reset(seed=1)
        environments.action_space.seed(1)
        actions = [environments.action_space.sample() for _ in range(STEPS)]
        fleet = environments.unwrapped._fleet
        whole = alone = math.inf
        for _ in range(rounds):
            before = process_time()
            for action in actions:
                environments.step(action)
            whole = min(whole, process_time() - before)
            before = process_time()
            for _ in range(STEPS):
                fleet.advance(20)
            alone = min(alone, process_time() - before)
        each, vehicles = (seconds / STEPS / COUNT * 1e9 for seconds in (whole, alone))
        differ = "no" if randomize is None else f"+-{randomize:.0%} in all numbers"
        print(f"| {name} | {vehicle} | {differ} | {each:.0f} | {vehicles:.0f} | {1e3 / each:.2f} |")


def makes() -> None:
    """Print the time until environments run, with compilation and from the cache on disk."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"NUMBA_CACHE_DIR": folder}
        for order in ("first", "second"):
            words = subprocess.check_output([sys.executable, "-c", MAKE], text=True, env=environment).split()
            made, stepped = map(float, words)
            print(
                f"{order} process: {COUNT} made after {made:.2f} s (goal 5 s), reset and stepped after {stepped:.2f} s"
            )


def main() -> None:
    steps(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
    print()
    makes()


if __name__ == "__main__":
    main()
