"""Identify random mechanical steerings from `profile turns`: how large are the errors, and do the intervals hold?

    python bench/steering.py [--trials 20] [--first 0] [--noise 0.002] [--dead-zone]

The bound is Cramer and Rao's: the minimum standard deviation of unbiased estimates, with all fitted numbers unknown.
Estimates whose rms error is 1 bound use all information in the samples.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
from collections.abc import Mapping

import numpy as np

from vds_gz.autoware.command_types import Pedals
from vds_gz.autoware.identify.mechanism_fit import (
    DEAD_ZONE,
    FREE,
    LOGARITHMIC,
    MechanismFit,
    MechanismProblem,
    fit_mechanism,
    with_values,
)
from vds_gz.autoware.identify.mechanism_log import MechanismLog
from vds_gz.autoware.identify.pedal_profile import turns
from vds_gz.autoware.parameters.car_parameters import ActuationCmdMechanicalParameters
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.compiled import CompiledVehicle
from vds_gz.tools.study.recording import Series

MODEL, GIVEN = models()["actuation_cmd_mechanical"], ActuationCmdMechanicalParameters()
NAMES = ("kp", "ki", "inertia", "damping", "friction")

#: Maximum ratio of random and given parameters, as a logarithm, and range of random dead zones [N m].
SPREAD, DEAD_ZONES = 0.4, (0.3, 2.0)


@dataclasses.dataclass(frozen=True)
class Trial:
    """The parameters of a steering, their estimates, and the bound of each standard deviation."""

    true: Mapping[str, float]
    fit: MechanismFit
    bound: Mapping[str, float]


def trial(seed: int, noise: float, *, dead_zone: bool) -> Trial:
    """Make a steering, drive it, and identify its parameters."""
    random = np.random.default_rng(seed)
    given = GIVEN.mechanical_params
    true = {name: getattr(given, name) * float(np.exp(random.uniform(-SPREAD, SPREAD))) for name in NAMES}
    true[DEAD_ZONE] = float(np.exp(random.uniform(*np.log(DEAD_ZONES)))) if dead_zone else 0.0
    car = with_values(GIVEN, true)
    log = turns(MODEL, GIVEN, duration=60.0, seed=seed)
    vehicle = CompiledVehicle(MODEL, car, max_command_age=1e9)
    rows = []
    for time, command in zip(log.times, log.commands, strict=True):
        vehicle.advance(round(time * 1e9))
        vehicle.enter(command.command(), round(time * 1e9))
        if isinstance(command, Pedals):
            rows.append((time, command.steering_command, vehicle.motion().v_x, float(vehicle.state.steering.angle)))
    time, wheel, speed, angle = np.array(rows).T
    series = Series(time, wheel), Series(time, speed)
    measured = Series(time, angle + noise * random.standard_normal(len(angle)))
    exact = MechanismLog(*series, Series(time, angle), car, 1000.0)
    bound = least_deviations(MechanismProblem(exact, car, FREE), noise)
    return Trial(true, fit_mechanism(*series, measured, GIVEN), bound)


def least_deviations(truth: MechanismProblem, noise: float) -> dict[str, float]:
    """Cramer and Rao's bound at the truth; relative for positive numbers."""
    jacobian = truth.jacobian(truth.begin, noise)
    return dict(zip(FREE, np.sqrt(np.diag(np.linalg.inv(jacobian.T @ jacobian))).tolist(), strict=False))


def main() -> None:
    """Run the trials and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="seed of the first trial (0)")
    parser.add_argument("--noise", type=float, default=0.002, help="standard deviation of the angle [rad] (0.002)")
    parser.add_argument("--dead-zone", action="store_true", help="steerings have dead zones of 0.3 to 2 N m")
    options = parser.parse_args()
    names = (*NAMES, DEAD_ZONE) if options.dead_zone else NAMES
    found: dict[str, list[tuple[bool, float, float, float]]] = {name: [] for name in names}
    for seed in range(options.first, options.first + options.trials):
        result = trial(seed, options.noise, dead_zone=options.dead_zone)
        for name in names:
            number, value = result.fit.numbers[name], result.true[name]
            if number is not None:
                error = math.log(number.value / value) if name in LOGARITHMIC else number.value - value
                half = 0.5 * (number.high - number.low) / number.value
                held = number.low <= value <= number.high
                found[name].append((held, number.value / value - 1.0, half, error / result.bound[name]))
    print("number               interval holds  median error  worst error  median half width  rms error / bound")
    for name, rows in found.items():
        if not rows:
            print(f"{name:20s} never excited")
            continue
        held, error, half, over = (np.array(column) for column in zip(*rows, strict=True))
        worst = error[np.argmax(np.abs(error))]
        held_of, rms = f"{int(held.sum())} of {len(held)}", math.sqrt(float(np.mean(over**2)))
        print(f"{name:20s} {held_of:>14s} {np.median(error):13.1%} {worst:12.1%} {np.median(half):18.1%} {rms:18.2f}")


if __name__ == "__main__":
    main()
