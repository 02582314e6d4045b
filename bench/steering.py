"""Mechanical steerings with random parameters, driven by `profile turns`: are they found, and do the intervals hold?

    python bench/steering.py [--trials 20] [--noise 0.002] [--dead-zone]

Without --dead-zone the steerings have none, so that no chance is in how they respond.
"""

from __future__ import annotations

import argparse
import dataclasses

import numpy as np

from vds_gz.commandlog.turn_profile import turns
from vds_gz.interface.commands import Pedals
from vds_gz.parameters.autoware import ActuationCmdMechanicalParameters
from vds_gz.study.identify.mechanism_fit import MechanismFit, fit_mechanism
from vds_gz.study.identify.signals import Series
from vds_gz.vehicle.catalogue import models
from vds_gz.vehicle.compiled import CompiledVehicle

MODEL, GIVEN = models()["actuation_cmd_mechanical"], ActuationCmdMechanicalParameters()
NAMES = ("kp", "ki", "inertia", "damping", "friction")

#: Parameters lie within this factor, as a logarithm, of the given ones.
SPREAD = 0.4


def trial(seed: int, noise: float, *, dead_zone: bool) -> tuple[dict[str, float], MechanismFit]:
    """What a steering has, and what is found of it."""
    random = np.random.default_rng(seed)
    given = (
        GIVEN.mechanical_params if dead_zone else dataclasses.replace(GIVEN.mechanical_params, dead_zone_threshold=0.0)
    )
    true = {name: getattr(given, name) * float(np.exp(random.uniform(-SPREAD, SPREAD))) for name in NAMES}
    car = dataclasses.replace(GIVEN, mechanical_params=dataclasses.replace(given, **true))
    log = turns(MODEL, GIVEN, duration=60.0, seed=seed)
    vehicle = CompiledVehicle(MODEL, car, max_command_age=1e9)
    rows = []
    for time, command in zip(log.times, log.commands, strict=True):
        vehicle.advance(round(time * 1e9))
        vehicle.enter(command.command(), round(time * 1e9))
        if isinstance(command, Pedals):
            rows.append((time, command.steering_command, vehicle.motion().v_x, float(vehicle.state.steering.angle)))
    time, wheel, speed, angle = np.array(rows).T
    measured = angle + noise * random.standard_normal(len(angle))
    return true, fit_mechanism(Series(time, wheel), Series(time, speed), Series(time, measured), GIVEN)


def main() -> None:
    """Run the trials and tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--noise", type=float, default=0.002, help="standard deviation of the angle [rad] (0.002)")
    parser.add_argument("--dead-zone", action="store_true", help="steerings have Autoware's dead zone")
    options = parser.parse_args()
    errors: dict[str, list[tuple[bool, float, float]]] = {name: [] for name in NAMES}
    for seed in range(options.trials):
        true, fit = trial(seed, options.noise, dead_zone=options.dead_zone)
        for name, value in true.items():
            number = fit.numbers[name]
            if number is not None:
                half = 0.5 * (number.high - number.low) / number.value
                errors[name].append((number.low <= value <= number.high, number.value / value - 1.0, half))
    print("number    interval holds  median error  worst error  median half width")
    for name, rows in errors.items():
        if not rows:
            print(f"{name:9s} never excited")
            continue
        held, error, half = (np.array(column) for column in zip(*rows, strict=True))
        worst = error[np.argmax(np.abs(error))]
        held_of = f"{int(held.sum())} of {len(held)}"
        print(f"{name:9s} {held_of:>14s} {np.median(error):13.1%} {worst:12.1%} {np.median(half):18.1%}")


if __name__ == "__main__":
    main()
