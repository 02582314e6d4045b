"""Gazebo for the tests of models and worlds: each run is a separate process and partition."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from vds_gz.core.plant.gazebo.gazebo_server import Spawn, populated
from vds_gz.core.plant.gazebo.links.bindings import bindings_fault
from vds_gz.core.share import share

#: Why there is no Gazebo, in words; empty if there is one.
FAULT = "gz is not in the PATH" if shutil.which("gz") is None else bindings_fault()

#: For ``pytestmark``.
NEEDS_GAZEBO = [pytest.mark.gazebo, pytest.mark.skipif(bool(FAULT), reason=f"no Gazebo here: {FAULT}")]

RUNS = itertools.count()


def run(command: Sequence[str], text: str = "") -> subprocess.CompletedProcess[str]:
    """A program that has to do with Gazebo, with ``text`` as its input."""
    places = {"GZ_PARTITION": f"vds_gz_models_{os.getpid()}_{next(RUNS)}", "GZ_IP": "127.0.0.1"}
    environment = {**os.environ, **places, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=300, env=environment)


def drive(
    folder: Path,
    sdf: str,
    phases: Sequence[dict],
    every: int = 50,
    world: str = "empty",
    pose: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
) -> list[list[float]]:
    """Drive a vehicle, as fast as it goes.

    Args:
        folder: Where files may be written.
        sdf: The vehicle; its name is ``vehicle``.
        phases: What ``model_drive.py`` describes.
        every: Steps between samples.
        world: Name of the world.
        pose: Where the vehicle is at first.

    Returns:
        Samples of time and pose: t, x, y, z, roll, pitch, yaw.
    """
    _, text = populated(share("worlds", f"{world}.sdf"), [Spawn(sdf, pose)], 0.0)
    file = folder / "world.sdf"
    file.write_text(text)
    return records("model_drive.py", {"world": str(file), "model": "vehicle", "phases": phases, "every": every})


def records(program: str, job: dict) -> list[list[float]]:
    """What one of the programs beside this file prints of a job, which it describes."""
    done = run([sys.executable, str(Path(__file__).with_name(program))], json.dumps(job))
    assert done.returncode == 0, done.stderr
    assert "[Err]" not in done.stderr, done.stderr
    return json.loads(done.stdout.splitlines()[-1])
