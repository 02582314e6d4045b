"""Measure the vehicle: interpreted, compiled, and compiled over a fleet, beside a plain C loop of the same arithmetic.

Usage: python bench/vehicle.py
"""

from __future__ import annotations

import math
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

from vds_gz.core.configuration import load_vehicle
from vds_gz.core.parameters.vehicles import BicycleParameters
from vds_gz.core.vehicle.bicycle import BICYCLE
from vds_gz.core.vehicle.command import Command, twist
from vds_gz.core.vehicle.vehicle import AnyVehicle, Vehicle

MILLISECOND = 1_000_000
SECOND = 1_000_000_000
REPEATS = 5
FLEET = 10_000
#: Steps with one command at 50 commands a second.
HELD = 20

Row = tuple[str, str, str]


def best(run: Callable[[], object], clock: Callable[[], float] = perf_counter) -> float:
    """Seconds of the fastest of several runs."""
    times = []
    for _ in range(REPEATS):
        before = clock()
        run()
        times.append(clock() - before)
    return min(times)


def commands(seconds: float) -> list[tuple[Command, int]]:
    """A command every 20 ms, and its time of arrival [ns]."""
    count = round(seconds * 50)
    return [(twist(1.0, 0.0, -0.2 if k % 2 else 0.3), k * HELD * MILLISECOND) for k in range(count)]


def drive(vehicle: Vehicle, given: list[tuple[Command, int]], seconds: float) -> float:
    """Processor time of driving for ``seconds``, with commands entered as they arrive [s]."""
    start = vehicle.time

    def run() -> None:
        vehicle.reset(start)
        for command, time in given:
            vehicle.advance(start + time)
            vehicle.enter(command, start + time)
        vehicle.advance(start + round(seconds * SECOND))
        vehicle.motion()  # steps are done when the motion is read

    return best(run, process_time)


def control(vehicle: AnyVehicle, seconds: float) -> float:
    """Processor time of one period of a controller at 50 Hz, which enters a command and reads the motion [s]."""
    period, count = HELD * MILLISECOND, round(seconds * 50)
    command = twist(1.0, 0.0, 0.1)

    def run() -> None:
        start = vehicle.time
        for k in range(count):
            vehicle.enter(command, start + k * period)
            vehicle.advance(start + (k + 1) * period)
            vehicle.motion()

    run()  # the first period compiles
    return best(run, process_time) / count


def control_rows(*, compiled: bool) -> list[Row]:
    rows = []
    for preset in ("ackermann_car", "f1tenth", "indoor_robot"):
        took = control(load_vehicle(preset, compiled=compiled), 20.0)
        text = f"{took * 1e6:.0f} us a period, {0.02 / took:,.0f} x real time"
        what = "compiled" if compiled else "interpreted"
        rows.append((f"{what}, controller at 50 Hz, {preset}", text, "<= 15 us" if compiled else ""))
    return rows


def interpreted_rows() -> list[Row]:
    seconds = 20.0
    rows = []
    for label, given in (("command held", [(twist(1.0, 0.0, 0.3), 0)]), ("50 commands a second", commands(seconds))):
        vehicle = Vehicle(BICYCLE, BicycleParameters(), max_command_age=1e6)
        took = drive(vehicle, given, seconds)
        rows.append((f"interpreted, {label}", f"{took / (seconds * 1e3) * 1e6:.2f} us/step", "<= 5 us/step"))
    return rows


def compiled_rows() -> list[Row]:
    from vds_gz.core.vehicle.compiled import CompiledVehicle
    from vds_gz.core.vehicle.schedule import command_records

    rows = []
    seconds = 2000.0
    for label, given in (("command held", [(twist(1.0, 0.0, 0.3), 0)]), ("50 commands a second", commands(seconds))):
        vehicle = CompiledVehicle(BICYCLE, BicycleParameters(), max_command_age=1e6)
        vehicle.advance(MILLISECOND)
        took = drive(vehicle, given, seconds)
        text = f"{seconds / took:,.0f} x real time ({took / (seconds * 1e3) * 1e9:.0f} ns/step)"
        rows.append((f"compiled, 1 kHz, {label}", text, ">= 8,000 x" if len(given) == 1 else ""))
    records = command_records(v_x=[u.v_x for u, _ in given], yaw_rate=[u.yaw_rate for u, _ in given])
    times = np.array([time for _, time in given])

    def follow() -> None:
        vehicle.reset(0)
        vehicle.follow(records, times, round(seconds * SECOND))
        vehicle.motion()

    took = best(follow, process_time)
    text = f"{seconds / took:,.0f} x real time ({took / (seconds * 1e3) * 1e9:.0f} ns/step)"
    rows.append(("compiled, 1 kHz, 50 commands a second as arrays", text, ">= 8,000 x"))
    return rows


def fleet_rows() -> list[Row]:
    import numba

    from vds_gz.tools.fleet.fleet import Fleet

    fleet = Fleet(BICYCLE, [BicycleParameters()] * FLEET)
    fleet.commands.v_x = 1.0
    fleet.commands.yaw_rate = 0.3
    fleet.advance(1)
    rows = []
    for steps in (HELD, 1000):
        took = best(lambda steps=steps: fleet.advance(steps))
        text = f"{FLEET * steps / took / 1e6:.1f} million steps/s"
        label = f"fleet of {FLEET:,}, {numba.get_num_threads()} threads, {steps} steps at once"
        rows.append((label, text, ">= 25 million"))
    return rows


def c_rows() -> list[Row]:
    """The plain C loop if there is a compiler, and its distance from the vehicle after 20 s."""
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None:
        return [("plain C loop (peer)", "no compiler here", "")]
    with tempfile.TemporaryDirectory() as folder:
        program, fleet = Path(folder) / "bicycle", Path(folder) / "fleet"
        for binary in (program, fleet):
            source = Path(__file__).parent / "peers" / f"{binary.name}.c"
            subprocess.run([compiler, "-O3", "-o", binary, source, "-lm"], check=True)
        rows = []
        for kind, label in enumerate(("twist", "Ackermann")):
            output = subprocess.check_output([fleet, "1", "400000", str(kind), "0"], text=True)
            nanoseconds = float(output.split()[0])
            text = f"{1e6 / nanoseconds:,.0f} x real time ({nanoseconds:.0f} ns/step)"
            rows.append((f"scalar C of the fleet -O3 (peer), one vehicle, {label} held", text, ""))
        for label, steps, held in (("command held", 2_000_000, 2_000_000), ("50 commands a second", 2_000_000, HELD)):
            outputs = [subprocess.check_output([program, str(steps), str(held)], text=True) for _ in range(REPEATS)]
            nanoseconds = min(float(output.split()[0]) for output in outputs)
            text = f"{1e6 / nanoseconds:,.0f} x real time ({nanoseconds:.0f} ns/step)"
            rows.append((f"plain C loop -O3 (peer), {label}", text, ""))
        there = tuple(map(float, subprocess.check_output([program, "20000", str(HELD)], text=True).split()[1:]))
    vehicle = Vehicle(BICYCLE, BicycleParameters(), max_command_age=1e6)
    for command, time in commands(20.0):
        vehicle.enter(command, time)
    vehicle.advance(20 * SECOND)
    motion = vehicle.motion()
    apart = math.dist((motion.x, motion.y, motion.heading), there)
    rows.append(("  where both are after 20 s", f"{apart:.1e} m apart", ""))
    return rows


def main() -> None:
    rows: list[Row] = interpreted_rows() + control_rows(compiled=False)
    try:
        rows += compiled_rows() + control_rows(compiled=True) + fleet_rows()
    except ImportError as error:
        rows.append(("compiled", str(error), ""))
    rows += c_rows()
    print(f"Bicycle, both actuators, dead times of 200 steps; best of {REPEATS} runs\n")
    print("| what | measured | target |\n| --- | --- | --- |")
    for row in rows:
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
