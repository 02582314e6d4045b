"""Options of Gazebo's releases."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from vds_gz.core.plant.gazebo.links.bindings import server_options

WAIT = ("--wait-for-assets",)

FAULTS = """
from vds_gz.core.plant.gazebo.links.bindings import bindings_fault, system_fault
print([bindings_fault(), system_fault()])
"""


@pytest.mark.parametrize(
    ("versions", "options"),
    [("8.14.0\n", ()), ("10.4.0\n", WAIT), ("10.4.0\n8.14.0\n", WAIT), ("8.14.0\n10.4.0\n", WAIT), ("", ()), ("?", ())],
)
def test_options_are_those_of_the_newest_release_in_any_order(tmp_path: Path, versions: str, options: tuple[str, ...]):
    program = tmp_path / "gz"
    program.write_text(f"#!/bin/sh\nprintf '{versions}'\n")
    program.chmod(0o755)
    assert server_options(str(program)) == options


@pytest.mark.parametrize("left_out", ["", "gz/sim8.py", "gz/math7.py", "sdformat14.py"])
def test_a_python_system_needs_more_bindings_than_messages_do(tmp_path: Path, left_out: str):
    """Only names count: Gazebo's packages are empty here, and hide installed ones."""
    names = ["gz/transport13.py", "gz/msgs10/clock_pb2.py", "gz/sim8.py", "gz/math7.py", "sdformat14.py"]
    for name in ("gz/__init__.py", "gz/msgs10/__init__.py", *names):
        if name != left_out:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).touch()
    if left_out == "sdformat14.py":
        (tmp_path / left_out).write_text("raise ModuleNotFoundError(name=__name__)\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    printed = subprocess.check_output([sys.executable, "-c", FAULTS], env=environment, text=True)
    missing = "the Python bindings of gz-sim, gz-math or sdformat are not installed" if left_out else ""
    assert ast.literal_eval(printed) == ["", missing]
