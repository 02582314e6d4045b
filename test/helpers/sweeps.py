"""A small sweep with a controller of one's own, which kills whoever runs it where a file says so."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from helpers.dask_cluster import environment

#: The folder of files that say what the controller does.
ORDERS = "VDS_GZ_TEST_ORDERS"

PLAN = """\
vehicle: deepracer
controller: helpers.sweeps:controller
path: straight.csv
driving: {rate: 20, duration: 0.5}
vary:
  steering_actuator.dead_time: {uniform: [0.0, 0.1]}
  start.lateral: {from: 0, to: 0.7, count: 8}
samples: {random: 4, seed: 3}
measure: [path.rms, path.peak]
"""


def controller(observations: NDArray[np.float64]) -> NDArray[np.float64]:
    """Straight on; a file ``die-*`` kills once, ``die at 0.3`` whoever drives a vehicle that begins there."""
    folder = Path(os.environ.get(ORDERS, "/nonexistent"))
    for order in folder.glob("die-*"):
        try:
            order.unlink()
        except FileNotFoundError:  # it was for another one
            continue
        os.kill(os.getpid(), signal.SIGKILL)
    if (folder / "die at 0.3").exists() and np.isclose(observations[:, 0], 0.3).any():
        os.kill(os.getpid(), signal.SIGKILL)
    if (folder / "slow").exists():
        time.sleep(0.02)
    return np.tile([0.0, 1.0], (len(observations), 1))


def raising(observations: NDArray[np.float64]) -> NDArray[np.float64]:
    raise KeyError("nothing")


def returning_nan(observations: NDArray[np.float64]) -> NDArray[np.float64]:
    commands = controller(observations)
    commands[observations[:, 0] > 0.65] = np.nan
    return commands


def write_plan(folder: Path, text: str = PLAN) -> Path:
    """The plan and its path."""
    (folder / "straight.csv").write_text("x,y\n0,0\n20,0\n")
    plan = folder / "sweep.yaml"
    plan.write_text(text)
    return plan


def start(plan: Path, out: Path, *options: str, code: str = "", **more: str) -> subprocess.Popen[str]:
    """``vds-gz sweep`` in its own process, which leads a group as in a terminal, after some code."""
    program = f"{code}\nfrom vds_gz.cli import main\nimport sys\nif __name__ == '__main__': sys.exit(main())"
    return subprocess.Popen(
        [sys.executable, "-c", program, "sweep", str(plan), "-o", str(out), *options],
        env=environment(**more),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
