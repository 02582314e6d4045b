"""Measure a car on tyres: interpreted, compiled and in lanes, beside plain C with the same equations.

Usage: python bench/single_track.py [ROUNDS]

Lanes and C take turns on one core, and the minimum of all rounds counts, so other programs disturb the ratios little.
"""

from __future__ import annotations

import dataclasses
import math
import subprocess
import sys
import tempfile
from time import process_time

import numba
from fleet import built, nanoseconds

from vds_gz.core.parameters.actuator_parameters import DriveParameters
from vds_gz.core.parameters.vehicles import SingleTrackParameters
from vds_gz.core.vehicle.command import Command, ackermann
from vds_gz.core.vehicle.compiled import CompiledVehicle
from vds_gz.core.vehicle.single_track import SINGLE_TRACK
from vds_gz.core.vehicle.vehicle import AnyVehicle, Vehicle
from vds_gz.tools.fleet.fleet import Fleet

MILLISECOND = 1_000_000
VEHICLES, STEPS = 1024, 1000
COMMAND = ackermann(8.0, 0.1)
CAR = SingleTrackParameters(drive_actuator=DriveParameters(max_velocity=30.0, max_acceleration=5.0))
VARIANTS = {
    "": CAR,
    ", curved tyre": dataclasses.replace(CAR, tire_curvature=-0.1),
    ", small angles": dataclasses.replace(CAR, small_angles=True),
}


def alone(vehicle: AnyVehicle, command: Command, steps: int, rounds: int) -> float:
    """Time of a step of one new vehicle [ns]."""
    vehicle.enter(command, 0)
    best = math.inf
    for _ in range(rounds + 1):  # the first one compiles
        before = process_time()
        vehicle.advance(vehicle.time + steps * MILLISECOND)
        vehicle.motion()
        best = min(best, process_time() - before)
    return best / steps * 1e9


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    numba.set_num_threads(1)
    fleet = Fleet(SINGLE_TRACK, [CAR] * VEHICLES)
    fleet.commands[:] = COMMAND
    ours = theirs = math.inf
    with tempfile.TemporaryDirectory() as folder:
        program = built("single_track", folder)
        for round_ in range(rounds):
            took = nanoseconds(fleet, process_time, STEPS)
            if round_:
                ours = min(ours, took)
            words = subprocess.check_output([program, str(VEHICLES), str(STEPS)], text=True).split()
            theirs = min(theirs, float(words[0]))
            if not round_:
                difference = abs(fleet.state(0).x - float(words[1])) + abs(fleet.state(0).y - float(words[2]))
    print(f"after {STEPS} steps lanes and C are {difference:.1e} m apart\n")
    print("| | a step |\n| --- | --- |")
    interpreted = alone(Vehicle(SINGLE_TRACK, CAR, max_command_age=1e9), COMMAND, 2000, 3)
    print(f"| interpreted | {interpreted / 1000.0:.1f} us |")
    for name, parameters in VARIANTS.items():
        car = CompiledVehicle(SINGLE_TRACK, parameters, max_command_age=1e9)
        print(f"| compiled{name} | {alone(car, COMMAND, 500_000, rounds):.0f} ns |")
    print(f"| plain C, `-O3` | {theirs:.0f} ns |\n| in lanes | {ours:.1f} ns, {theirs / ours:.1f} times C |")


if __name__ == "__main__":
    main()
