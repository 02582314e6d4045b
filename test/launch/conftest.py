"""The package as ROS finds it, and a domain for each test."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from helpers.launches import Ears, Exits

import vds_gz
from vds_gz.programs.launching.actions import installed

ROOT = Path(vds_gz.__file__).parents[1]

PROGRAMS = {
    "sim_node": "vds_gz.programs.nodes.sim_node",
    "joystick_teleop": "vds_gz.programs.nodes.joystick_teleop",
    "vds-gz": "vds_gz.cli",
}


@pytest.fixture(scope="session", autouse=True)
def package(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The package in the index of ROS: as colcon installed it, else this checkout in the form of an installation."""
    if "AMENT_PREFIX_PATH" not in os.environ or installed("vds_gz"):
        return
    prefix = tmp_path_factory.mktemp("prefix")
    index = prefix / "share" / "ament_index" / "resource_index" / "packages"
    index.mkdir(parents=True)
    (index / "vds_gz").touch()
    (prefix / "share" / "vds_gz").symlink_to(ROOT)
    programs = prefix / "lib" / "vds_gz"
    programs.mkdir(parents=True)
    for name, module in PROGRAMS.items():
        code = f"import sys; from {module} import main; sys.exit(main())"
        program = programs / name
        program.write_text(f"#!{sys.executable}\n{code}\n", encoding="utf-8")
        program.chmod(0o755)
    os.environ["PYTHONPATH"] = f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    os.environ["AMENT_PREFIX_PATH"] = f"{prefix}{os.pathsep}{os.environ['AMENT_PREFIX_PATH']}"


@pytest.fixture
def exits() -> Exits:
    """The exit codes of the processes that the test's launch starts."""
    return Exits()


@pytest.fixture
def ears(domain: int) -> Iterator[Callable[..., Ears]]:
    """Makes nodes that listen."""
    pytest.importorskip("tf2_ros", reason="needs the ROS package tf2_ros")
    made: list[Ears] = []

    def make(**options: object) -> Ears:
        made.append(Ears(domain, **options))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for one in made:
        one.close()
