"""Measure a step of Autoware's models: interpreted, and compiled at 1 kHz.

    python3 bench/autoware.py

Targets: the mechanical model interpreted in at most 60 us a step, compiled at least 1500 times real time.
"""

from __future__ import annotations

import sys
import time

from vds_gz.autoware.vehicle.command_kinds import PEDALS, control, pedals
from vds_gz.autoware.vehicle.models import AUTOWARE_MODELS
from vds_gz.core.vehicle.command import Command
from vds_gz.core.vehicle.vehicle import NANOSECONDS, Vehicle
from vds_gz.core.vehicle.vehicle_model import VehicleModel

MOST_MICROSECONDS = 60.0
LEAST_REAL_TIME_FACTOR = 1500.0


def command_for(model: VehicleModel) -> Command:
    """A command that keeps everything in motion."""
    return pedals(0.3, 0.0, 2.0, 2) if PEDALS in model.accepts else control(3.0, 1.0, 0.1, 2)


def best(vehicle: Vehicle, seconds: float, repeats: int) -> float:
    """The shortest processor time [s] of simulating ``seconds``, of ``repeats`` trials."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        vehicle.advance(vehicle.time + round(seconds * NANOSECONDS))
        vehicle.motion()  # steps are done when the motion is read
        times.append(time.process_time() - start)
    return min(times)


def interpreted(model: VehicleModel) -> float:
    """Microseconds a step."""
    vehicle = Vehicle(model, model.parameters(), max_command_age=1e6)
    vehicle.enter(command_for(model), 0)
    return 1e6 * best(vehicle, 0.5, 20) / 500


def compiled(model: VehicleModel) -> float:
    """Simulated seconds a second."""
    from vds_gz.core.vehicle.compiled import CompiledVehicle

    vehicle = CompiledVehicle(model, model.parameters(), max_command_age=1e6)
    vehicle.enter(command_for(model), 0)
    vehicle.advance(NANOSECONDS)
    return 10.0 / best(vehicle, 10.0, 10)


def main(names: list[str]) -> int:
    """Measure the models of these names, or all; return 1 if the mechanical one is too slow."""
    failed = False
    print("model                                 interpreted [us/step]   compiled [times real time]")
    for model in AUTOWARE_MODELS:
        if names and model.name not in names:
            continue
        step, factor = interpreted(model), compiled(model)
        print(f"{model.name:38}{step:20.1f}{factor:26.0f}", flush=True)
        if model.name == "actuation_cmd_mechanical":
            failed = step > MOST_MICROSECONDS or factor < LEAST_REAL_TIME_FACTOR
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
