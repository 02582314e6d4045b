"""How well vehicles are identified: errors, and how often the 95 % intervals hold what is true.

Usage: python bench/identify.py [TRIALS]
"""

from __future__ import annotations

import sys
from collections import defaultdict
from time import perf_counter

import numpy as np

from vds_gz.parameters.actuators import DriveParameters, SteeringParameters
from vds_gz.parameters.node import NodeParameters
from vds_gz.parameters.vehicles import BicycleParameters
from vds_gz.study.axis_fit import AxisFit, fit_axis
from vds_gz.study.profile import Limits, make
from vds_gz.study.sources import simulate

#: Standard deviation of the noise, of full scale; samples lost; standard deviation of the times of samples [s].
NOISE, LOST, JITTER = 0.02, 0.05, 0.001

FULL_SPEED, FULL_ANGLE = 2.0, 0.45


def trial(seed: int, duration: float = 60.0) -> list[tuple[str, dict[str, float], AxisFit, float]]:
    """Axis, truth, what was found and how long it took, for a random vehicle."""
    random = np.random.default_rng(seed)
    drive = DriveParameters(
        dead_time=random.uniform(0.05, 0.4),
        time_constant=random.uniform(0.1, 0.5),
        max_velocity=random.uniform(1.2, 1.8),
        max_acceleration=random.uniform(0.8, 2.0),
        max_deceleration=random.uniform(0.8, 2.5),
    )
    steering = SteeringParameters(
        dead_time=random.uniform(0.03, 0.3),
        time_constant=random.uniform(0.05, 0.3),
        max_velocity=random.uniform(0.4, 1.0),
        max_position=random.uniform(0.3, 0.4),
    )
    # The drive's limit is one of wheel speeds too; a narrow vehicle hardly feels the difference.
    vehicle = BicycleParameters(drive_actuator=drive, steering_actuator=steering, track_fixed=0.0, track_steered=0.0)
    node = NodeParameters(model="bicycle", model_params={"bicycle": vehicle})
    log = make("steps", Limits(FULL_SPEED, 0.0, 1.0, FULL_ANGLE, 1.6), ackermann=True, duration=duration, seed=seed)
    run = simulate(log, node)
    found = []
    for actuator, scale in zip(run.actuators, (FULL_SPEED, FULL_ANGLE), strict=True):
        kept = random.uniform(size=len(actuator.time)) > LOST
        offset = random.uniform(-0.02, 0.02) * scale
        measured = actuator.response + offset + NOISE * scale * random.standard_normal(len(actuator.time))
        time = actuator.time + JITTER * random.standard_normal(len(actuator.time))
        angle = actuator.kind == "steering"
        commanded = run.commands.steering_angle if angle else run.commands.speed
        before = perf_counter()
        fit = fit_axis(run.commands.time, commanded, np.sort(time[kept]), measured[kept], angle=angle)
        took = perf_counter() - before
        truth = {"gain": 1.0, "offset": offset}
        if angle:
            truth |= {"dead_time": steering.dead_time, "time_constant": steering.time_constant}
            truth |= {"rise": steering.max_velocity, "value": steering.max_position}
        else:
            truth |= {"dead_time": drive.dead_time, "time_constant": drive.time_constant, "value": drive.max_velocity}
            truth |= {"rise": drive.max_acceleration, "fall": drive.max_deceleration}
        found.append((actuator.name, truth, fit, took))
    return found


def main() -> None:
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    errors: dict[tuple[str, str], list[float]] = defaultdict(list)
    held: dict[tuple[str, str], list[bool]] = defaultdict(list)
    missing: dict[tuple[str, str], int] = defaultdict(int)
    slowest = 0.0
    fit_axis(*[np.arange(30.0)] * 4)
    for seed in range(trials):
        for axis, truth, fit, took in trial(seed):
            slowest = max(slowest, took if seed else 0.0)
            for name, true in truth.items():
                number = fit.numbers[name]
                if number is None:
                    missing[axis, name] += 1
                    continue
                errors[axis, name].append(
                    number.value - true if name in ("dead_time", "offset") else number.value / true - 1
                )
                held[axis, name].append(number.low <= true <= number.high)
    print(f"{trials} vehicles, noise {NOISE:.0%}, {LOST:.0%} of the samples lost, jitter {JITTER * 1e3:g} ms\n")
    print("| axis | number | interval holds | error, median | error, worst | not excited |\n|" + " --- |" * 6)
    for (axis, name), values in errors.items():
        unit, factor = ("ms", 1e3) if name == "dead_time" else ("", 1.0) if name == "offset" else ("%", 100.0)
        size = factor * np.abs(values)
        hold = np.mean(held[axis, name])
        texts = f"{np.median(size):.3g} {unit}", f"{np.max(size):.3g} {unit}"
        print(f"| {axis} | {name} | {hold:.1%} | {texts[0]} | {texts[1]} | {missing[axis, name]} |")
    print(f"\nslowest axis of 60 s: {slowest:.2f} s")


if __name__ == "__main__":
    main()
