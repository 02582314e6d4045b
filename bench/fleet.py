"""Measure a fleet beside plain C over the same vehicles: nanoseconds of processor time for each vehicle and step.

Usage: python bench/fleet.py [ROUNDS]

Fleet and C take turns on one core, and the minimum of all rounds counts, so other programs disturb the ratios little.
"""

from __future__ import annotations

import math
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time

import numba
import numpy as np

from vds_gz.core.parameters.actuator_parameters import DriveParameters, SteeringParameters
from vds_gz.core.parameters.vehicles import BicycleParameters
from vds_gz.core.vehicle.bicycle import BICYCLE
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.command import ACKERMANN, ackermann, twist
from vds_gz.core.vehicle.schedule import command_records
from vds_gz.tools.fleet.fleet import AnyFleet, Fleet
from vds_gz.tools.fleet.sampled import Readings, SampledDrive, Simulations

VEHICLES, STEPS, SLOTS = 2048, 300, 201
COMMANDS = (twist(1.0, 0.0, 0.3), ackermann(1.0, 0.3))
#: Title, index of the command, random dead times, limits of rates, and the goal as a multiple of C's speed.
CASES = (
    ("twist, equal dead times", 0, False, False, 3.0),
    ("Ackermann, equal dead times", 1, False, False, 2.5),
    ("twist, random dead times", 0, True, False, 2.0),
    ("Ackermann, random dead times", 1, True, False, 2.0),
    ("Ackermann, equal dead times, limits of rates in commands", 1, False, True, math.nan),
    ("Ackermann, random dead times, limits of rates in commands", 1, True, True, math.nan),
)

FIRST = """
from time import perf_counter
from vds_gz import BICYCLE, BicycleParameters, Fleet
fleet = Fleet(BICYCLE, [BicycleParameters()] * 64)
before = perf_counter()
fleet.advance(1)
print(perf_counter() - before)
"""


def fleet_of(kind: int, spread: bool, limited: bool, count: int = VEHICLES) -> AnyFleet:
    """Vehicles with one command."""
    random = np.random.default_rng(1)
    times = random.integers(0, SLOTS, (count, 2)) * 1e-3 if spread else np.full((count, 2), (SLOTS - 1) * 1e-3)
    fleet = Fleet(
        BICYCLE,
        [
            BicycleParameters(
                drive_actuator=DriveParameters(dead_time=drive),
                steering_actuator=SteeringParameters(dead_time=steering),
            )
            for drive, steering in times.tolist()
        ],
    )
    fleet.commands[:] = COMMANDS[kind]
    if limited:
        fleet.commands.acceleration = fleet.commands.steering_rate = 1e3
    fleet.advance(1)
    return fleet


def nanoseconds(fleet: AnyFleet, clock: Callable[[], float], steps: int = STEPS) -> float:
    """Time of a vehicle's step by a clock [ns]."""
    before = clock()
    fleet.advance(steps)
    return (clock() - before) / len(fleet) / steps * 1e9


def built(peer: str, folder: str) -> Path:
    """A program in C from ``peers``, compiled."""
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None:
        sys.exit(f"{sys.argv[0]}: there is no C compiler (cc, gcc or clang)")
    program = Path(folder) / peer
    source = Path(__file__).parent / "peers" / f"{peer}.c"
    subprocess.run([compiler, "-O3", "-o", program, source, "-lm"], check=True)
    return program


def beside_c(rounds: int) -> None:
    """Print all cases beside C."""
    numba.set_num_threads(1)
    fleets = [fleet_of(*case[1:4]) for case in CASES]
    ours, theirs = [math.inf] * len(CASES), [math.inf] * len(CASES)
    with tempfile.TemporaryDirectory() as folder:
        program = built("fleet", folder)
        for _ in range(rounds):
            for k, (_, kind, spread, _, _) in enumerate(CASES):
                words = [str(word) for word in (program, VEHICLES, STEPS, kind, int(spread))]
                ours[k] = min(ours[k], nanoseconds(fleets[k], process_time))
                theirs[k] = min(theirs[k], float(subprocess.check_output(words, text=True).split()[0]))
    print("| one core, 300 steps at once | ours [ns] | C -O3 [ns] | times C | goal |\n| --- | --- | --- | --- | --- |")
    for (what, *_, goal), one, other in zip(CASES, ours, theirs, strict=True):
        wanted = "" if math.isnan(goal) else f">= {goal:g}"
        print(f"| {what} | {one:.1f} | {other:.1f} | {other / one:.2f} | {wanted} |")
    least = min(nanoseconds(fleets[0], process_time, 20) for _ in range(5 * rounds))
    print(f"| twist, 20 steps at once | {least:.1f} | | | |")


def cores(rounds: int) -> None:
    """Print the speed-up by all cores."""
    fleet = fleet_of(0, False, False, 16 * VEHICLES)
    count = os.cpu_count() or 1
    best = dict.fromkeys((1, count), math.inf)
    for _ in range(rounds):
        for threads in best:
            numba.set_num_threads(threads)
            best[threads] = min(best[threads], nanoseconds(fleet, perf_counter, 100))
    print(f"\n{count} cores: {best[1] / best[count]:.2f} times one core (goal: two are 1.8)")


def of_a_recording(rounds: int) -> None:
    """Print the time of a step of vehicles that follow a recording's commands and are read 50 times a second."""
    numba.set_num_threads(1)
    random, steps = np.random.default_rng(1), 6000
    speeds, angles = random.uniform(-1, 1, 120), random.uniform(-0.3, 0.3, 120)
    commands = command_records(kind=ACKERMANN, v_x=speeds, steering_angle=angles)
    begins = np.arange(0, steps, 50)
    samples = np.arange(0, steps, 20).repeat(2)
    numbers, each = np.tile([0, 1], len(samples) // 2), np.arange(len(samples))
    readings = Readings(samples, ("v_x", "yaw_rate"), numbers, each, np.ones(len(samples)), len(samples))
    print("\n| following a recording, one core | [ns] | first call [s] |\n| --- | --- | --- |")
    known = models()
    for name, count in (("bicycle", 2048), ("differential", 2048), ("omni", 2048), ("delay_steer_vel", 64)):
        model = known[name]
        took = []
        for _ in range(rounds + 1):
            before = process_time()
            Simulations(model, [model.parameters()] * count).read([SampledDrive(commands, begins, readings)])
            took.append(process_time() - before)
        print(f"| {name}, {count} vehicles | {min(took) / count / steps * 1e9:.1f} | {took[0] - min(took):.1f} |")


def first_calls() -> None:
    """Print the time of the first call, with compilation and from the cache on disk."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"NUMBA_CACHE_DIR": folder}
        took = [
            float(subprocess.check_output([sys.executable, "-c", FIRST], text=True, env=environment)) for _ in range(2)
        ]
    print(f"First call {took[0]:.2f} s (goal 3 s), in a second process {took[1]:.2f} s (goal 0.5 s)")


def memory() -> None:
    """Print the memory of a large fleet."""
    fleet = fleet_of(0, False, False, 100_000)
    fleet.advance(SLOTS)
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    print(f"{len(fleet):,} vehicles with dead times of {(SLOTS - 1) / 1000} s: {used:.2f} GB in all (goal 1 GB)")


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    facts = dict(line.split(":", 1) for line in Path("/proc/cpuinfo").read_text().splitlines() if ":" in line)
    facts = {name.strip(): value for name, value in facts.items()}
    vectors = next((name for name in ("avx512f", "avx2", "sse2") if name in facts["flags"].split()), "none of x86")
    print(f"{facts['model name'].strip()}, {vectors}\n")
    beside_c(rounds)
    cores(rounds)
    of_a_recording(rounds)
    first_calls()
    memory()


if __name__ == "__main__":
    main()
