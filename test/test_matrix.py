"""``./dev matrix``: what it would run, and what it refuses."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import yaml
from helpers.tools import ROOT, tool
from packaging.requirements import Requirement

matrix = tool("matrix")

WORKFLOWS = ROOT / ".github" / "workflows"
THIS = "{}.{}".format(*sys.version_info)


def strategy(file: Path) -> list[str]:
    return yaml.safe_load(file.read_text(encoding="utf-8"))["jobs"]["test"]["strategy"]["matrix"]["python"]


def test_the_pythons_are_those_of_the_workflows():
    assert strategy(WORKFLOWS / "python.yaml") == list(matrix.PYTHONS)
    steps = yaml.safe_load((WORKFLOWS / "weekly.yaml").read_text(encoding="utf-8"))["jobs"]["matrix"]["steps"]
    (pythons,) = (step["with"]["python-version"].split() for step in steps if "with" in step)
    assert sorted(pythons) == sorted(matrix.PYTHONS)
    assert {row.python for row in matrix.ROWS.values()} == set(matrix.PYTHONS)


def test_a_row_changes_its_packages_before_its_tests():
    install, tests = matrix.commands(matrix.ROWS["numpy-1.26"], ["test/vehicle", "-x"])
    assert install[:4] == ("python", "-m", "pip", "install")
    assert install[-3:] == ("numpy==1.26.*", "--editable", ".[test]")
    assert tests[:3] == ("python", "-m", "pytest")
    assert tests[-2:] == ("test/vehicle", "-x")
    uninstall, _ = matrix.commands(matrix.ROWS["no-numba"], [])
    assert uninstall[3:] == ("uninstall", "--quiet", "--yes", "numba", "llvmlite")
    assert len(list(matrix.commands(matrix.ROWS["3.12"], []))) == 1


def test_an_extra_includes_those_that_it_names():
    requirements = [Requirement(line) for line in matrix.requirements("all")]
    names = {requirement.name for requirement in requirements}
    assert {"numpy", "xacro", "cyclonedds", "numba", "scipy", "aiohttp", "dask", "gymnasium"} <= names
    assert "vds_gz" not in names


def test_cyclone_dds_is_asked_for_where_it_has_a_wheel():
    (marker,) = {one.marker for one in map(Requirement, matrix.requirements("all")) if one.name == "cyclonedds"}

    def wanted(python: str, platform: str) -> bool:
        machine = platform.removesuffix("-manylinux_2_28")
        return marker.evaluate({"python_version": python, "sys_platform": "linux", "platform_machine": machine})

    x86 = "x86_64-manylinux_2_28"
    without = {(python, platform) for python in matrix.PYTHONS for platform in (matrix.ARM64, x86)}
    without = {(python, platform) for python, platform in without if not wanted(python, platform)}
    assert without == set(matrix.NO_CYCLONEDDS)


def test_a_python_is_found_by_its_version(monkeypatch, tmp_path):
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    monkeypatch.setenv("PATH", f"{bin_folder}:/usr/bin:/bin")
    shim = bin_folder / f"python{THIS}"
    shim.write_text("#!/bin/sh\nexit 127\n")
    shim.chmod(0o755)
    installed = tmp_path / "versions" / f"{THIS}.99" / "bin" / "python"
    installed.parent.mkdir(parents=True)
    installed.symlink_to(sys.executable)
    assert matrix.interpreter(THIS) == str(installed), "a shim that does not start is passed over"
    assert matrix.run("old", matrix.Row("2.99"), []) == (matrix.NOT_RUN, "there is no Python 2.99 on this machine")


def test_the_exit_code_tells_failed_rows_from_rows_that_were_not_run():
    passed, failed, not_run = matrix.PASSED, matrix.FAILED, matrix.NOT_RUN
    assert matrix.exit_code([passed]) == 0
    assert matrix.exit_code([passed, failed, not_run]) == 1
    assert matrix.exit_code([passed, not_run]) == matrix.INCOMPLETE


def test_an_unknown_row_is_refused(capsys):
    with pytest.raises(SystemExit, match="2"):
        matrix.options(["3.12", "3.9"])
    assert "there is no row '3.9'; it must be one of 3.10, " in capsys.readouterr().err


def test_arguments_for_pytest_are_split_as_by_a_shell():
    chosen = matrix.options(["no-numba", "--pytest", "test/vehicle -k 'steering and lag'"])
    assert (chosen.rows, chosen.pytest) == (["no-numba"], ["test/vehicle", "-k", "steering and lag"])
