"""Measure a swerve robot with four modules and a tugger with three trailers: in lanes and compiled, beside plain C.

Usage: python bench/steered_wheels.py [ROUNDS]

Fleets and C take turns on one core, and the minimum of all rounds counts, so other programs disturb the ratios little.
Before, both must bring a vehicle to the same place.
"""

from __future__ import annotations

import math
import subprocess
import sys
import tempfile
from time import process_time
from typing import Any

import numba
from fleet import STEPS, VEHICLES, built, nanoseconds
from single_track import alone

from vds_gz.core.parameters.actuator_parameters import SteeringParameters
from vds_gz.core.parameters.trailer_parameters import TrailerParameters
from vds_gz.core.parameters.vehicles import DifferentialParameters, SwerveParameters
from vds_gz.core.vehicle.command import Command, twist
from vds_gz.core.vehicle.compiled import CompiledVehicle
from vds_gz.core.vehicle.differential import DIFFERENTIAL, DifferentialState
from vds_gz.core.vehicle.swerve import SWERVE, SwerveState
from vds_gz.core.vehicle.vehicle_model import AnyModel
from vds_gz.tools.fleet.fleet import AnyFleet, Fleet

#: Steps before the places are compared, and how far apart they may be [m, rad].
COMPARED_STEPS, LARGEST_DIFFERENCE = 3000, 1e-9

ROBOT = SwerveParameters(cosine_scaling=True, steering_actuators=SteeringParameters(max_position=0.0))
TUGGER = DifferentialParameters(
    trailers=TrailerParameters(
        hitch_offset=(-0.5, -0.9, -0.9),
        drawbar=(0.9,) * 3,
        track=(0.7,) * 3,
        tire_diameter=(0.25,) * 3,
        max_angle=(1.3,) * 3,
    )
)
#: Title, model, parameters and command. The program in C selects a case by its index.
CASES: tuple[tuple[str, AnyModel, Any, Command], ...] = (
    ("swerve, four modules", SWERVE, ROBOT, twist(1.0, 0.3, 0.5)),
    ("differential, three trailers", DIFFERENTIAL, TUGGER, twist(1.0, 0.0, 0.3)),
)


def place(state: SwerveState | DifferentialState) -> tuple[float, ...]:
    """Pose of a vehicle and angle of its last module or hitch, as the program in C prints them [m, m, rad, rad]."""
    angle = state.modules[-1].steering.angle if isinstance(state, SwerveState) else state.trailers[-1].angle
    return state.x, state.y, state.heading, angle


def check(fleet: AnyFleet, numbers: list[float]) -> float:
    """How far a new fleet and C are apart after some steps [m, rad]; too far ends the program."""
    fleet.advance(COMPARED_STEPS)
    difference = max(abs(ours - theirs) for ours, theirs in zip(place(fleet.state(0)), numbers, strict=True))
    if not difference <= LARGEST_DIFFERENCE:
        sys.exit(
            f"bench/steered_wheels.py: after {COMPARED_STEPS} steps '{fleet.vehicles.model.name}' is at "
            f"{place(fleet.state(0))} and C at {numbers}; they may be {LARGEST_DIFFERENCE:g} apart"
        )
    return difference


def main() -> None:
    """Print the table."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    numba.set_num_threads(1)
    fleets: list[AnyFleet] = []
    for _, model, parameters, command in CASES:
        fleets.append(Fleet(model, [parameters] * VEHICLES))
        fleets[-1].commands[:] = command
    ours, theirs = [math.inf] * len(CASES), [math.inf] * len(CASES)
    with tempfile.TemporaryDirectory() as folder:
        program = built("steered_wheels", folder)

        def in_c(kind: int, vehicles: int, steps: int) -> list[float]:
            words = [str(word) for word in (program, kind, vehicles, steps)]
            return [float(word) for word in subprocess.check_output(words, text=True).split()]

        differences = [check(fleet, in_c(k, 1, COMPARED_STEPS)[1:]) for k, fleet in enumerate(fleets)]
        for _ in range(rounds):
            for k, fleet in enumerate(fleets):
                ours[k] = min(ours[k], nanoseconds(fleet, process_time))
                theirs[k] = min(theirs[k], in_c(k, VEHICLES, STEPS)[0])
    print("| | in lanes [ns] | C -O3 [ns] | times C | compiled [ns] | apart |\n| --- | --- | --- | --- | --- | --- |")
    for k, (what, model, parameters, command) in enumerate(CASES):
        compiled = alone(CompiledVehicle(model, parameters, max_command_age=1e9), command, 200_000, rounds)
        ratio, apart = theirs[k] / ours[k], differences[k]
        print(f"| {what} | {ours[k]:.1f} | {theirs[k]:.1f} | {ratio:.2f} | {compiled:.0f} | {apart:.1e} |")


if __name__ == "__main__":
    main()
