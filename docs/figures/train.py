"""Draw how two policies drive the same cars: docs/pictures/train.png. It trains both, which takes about a minute."""

from __future__ import annotations

import sys
from pathlib import Path

import gymnasium
import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
import train_with_latency as example

DOCS = Path(__file__).resolve().parents[1]
ITERATIONS = 20


def main() -> None:
    """Train, drive and draw."""
    cars = gymnasium.make_vec(example.ENVIRONMENT, example.CARS, randomize=example.LATENCY, **example.TASK)
    seeds = range(example.SEED, example.SEED + example.CARS)
    figure, (plan, shares) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    (path,) = cars.unwrapped.scenery()
    plan.plot(*path.T, color="0.7", linewidth=6)
    for name, randomize, colour in (
        ("without latency", example.AT_ONCE, "tab:red"),
        ("with latency", example.LATENCY, "tab:blue"),
    ):
        policy = example.trained(randomize, ITERATIONS)
        _, errors, positions = example.driven(cars, np.repeat(policy[np.newaxis], example.CARS, axis=0), seeds)
        plan.plot(*np.array(positions).T, color=colour)
        time = (1 + np.arange(len(errors))) / example.TASK["rate"]
        still = np.isfinite(errors).mean(axis=1)
        shares.plot(time, 100.0 * still, color=colour, label=f"trained {name}")
    plan.set(xlabel="x [m]", ylabel="y [m]", title="one of them; grey: the path", aspect="equal")
    shares.set(xlabel="time [s]", ylabel="cars still on the path [%]", ylim=(0, 105), title=f"{example.CARS} cars")
    shares.legend(fontsize="small")
    figure.savefig(DOCS / "pictures" / "train.png", dpi=80)


if __name__ == "__main__":
    main()
