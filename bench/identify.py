"""How well vehicles are identified: errors, how often they are small, and how often the intervals hold the true value.

"bound" is the root mean square of error over Cramer and Rao's bound: 1 is as exact as the samples allow at all.

Usage: python bench/identify.py [TRIALS]
"""

from __future__ import annotations

import sys
from collections import defaultdict
from time import perf_counter

import numpy as np

from vds_gz.commandlog.profiles import Limits, make
from vds_gz.parameters.actuators import DriveParameters, SteeringParameters
from vds_gz.parameters.node import NodeParameters
from vds_gz.parameters.vehicles import BicycleParameters
from vds_gz.study.compare import sources
from vds_gz.study.identify.axis_fit import AxisFit, fit_axis
from vds_gz.study.identify.axis_model import AxisParameters, simulate

#: Standard deviation of the noise, of full scale; samples lost; standard deviation of the times of samples [s].
NOISE, LOST, JITTER = 0.02, 0.05, 0.001

FULL_SPEED, FULL_ANGLE = 2.0, 0.45


#: What an error may be at most, as a part, or for a dead time also in s.
ALLOWED = {"dead_time": 0.05, "time_constant": 0.05, "rise": 0.02, "fall": 0.02, "value": 0.02}
ALLOWED_DEAD_TIME = 0.01


def bound(
    fit: AxisFit, commands: tuple[np.ndarray, np.ndarray], truth: dict[str, float], noise: float
) -> dict[str, float]:
    """Least standard deviations that any unbiased estimate can have, by Cramer and Rao."""
    angle = "fall" not in truth
    whole = AxisParameters(**truth)

    def response(name: str, step: float) -> np.ndarray:
        p = whole._replace(**{name: getattr(whole, name) + step})
        return simulate(*commands, fit.time, p._replace(fall=p.rise) if angle else p)

    names = [*truth, "start"]
    steps = [1e-3 * max(abs(getattr(whole, name)), 0.01) for name in names]
    columns = [(response(i, step) - response(i, -step)) / (2.0 * step) for i, step in zip(names, steps, strict=True)]
    size = np.linalg.norm(columns, axis=1)
    unit = np.array(columns).T / size
    deviations = noise * np.sqrt(np.diag(np.linalg.inv(unit.T @ unit))) / size
    return dict(zip(names, deviations, strict=True))


def trial(seed: int, duration: float = 60.0) -> list[tuple[str, dict[str, float], AxisFit, float, dict[str, float]]]:
    """Axis, truth, what was found, how long it took, and the bound, for a random vehicle."""
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
    run = sources.simulate(log, node)
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
        commands = np.asarray(run.commands.time, float), np.asarray(commanded, float)
        found.append((actuator.name, truth, fit, took, bound(fit, commands, truth, NOISE * scale)))
    return found


def main() -> None:
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    rows: dict[tuple[str, str], list[tuple[float, float, bool]]] = defaultdict(list)
    trues: dict[tuple[str, str], list[float]] = defaultdict(list)
    missing: dict[tuple[str, str], int] = defaultdict(int)
    slowest = 0.0
    fit_axis(*[np.arange(30.0)] * 4)
    for seed in range(trials):
        for axis, truth, fit, took, least in trial(seed):
            slowest = max(slowest, took if seed else 0.0)
            for name, true in truth.items():
                number = fit.numbers[name]
                if number is None:
                    missing[axis, name] += 1
                    continue
                error = number.value - true
                rows[axis, name].append((error, error / least[name], number.low <= true <= number.high))
                trues[axis, name].append(true)
    print(f"{trials} vehicles, noise {NOISE:.0%}, {LOST:.0%} of the samples lost, jitter {JITTER * 1e3:g} ms\n")
    head = (
        "axis",
        "number",
        "interval holds",
        "bound",
        "median",
        "95 %",
        "99 %",
        "worst",
        "within rule",
        "not excited",
    )
    print(f"| {' | '.join(head)} |\n|" + " --- |" * len(head))
    for (axis, name), found in rows.items():
        error, ratio, holds = (np.array(column, float) for column in zip(*found, strict=True))
        size, true = np.abs(error), np.abs(np.array(trues[axis, name]))
        absolute = name in ("dead_time", "offset")
        unit, factor = ("ms", 1e3) if name == "dead_time" else ("", 1.0) if name == "offset" else ("%", 100.0)
        shown = factor * (size if absolute else size / true)
        texts = [f"{value:.3g} {unit}".strip() for value in np.percentile(shown, (50.0, 95.0, 99.0, 100.0))]
        limit = ALLOWED.get(name, np.inf) * true
        within = np.mean(size <= (np.maximum(limit, ALLOWED_DEAD_TIME) if name == "dead_time" else limit))
        judged = f"{within:.1%}" if name in ALLOWED else ""
        efficiency = f"{np.sqrt(np.mean(ratio**2)):.2f}"
        cells = (axis, name, f"{holds.mean():.1%}", efficiency, *texts, judged, str(missing[axis, name]))
        print(f"| {' | '.join(cells)} |")
    print(f"\nslowest axis of 60 s: {slowest:.2f} s")


if __name__ == "__main__":
    main()
