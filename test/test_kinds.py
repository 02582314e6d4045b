"""A run names the tests that cannot run here, and fails if their kind is required."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from helpers.kinds import ABSENT

ROOT = Path(__file__).resolve().parents[1]

TESTS = """
import pytest

def test_of_no_kind(): pass

@pytest.mark.slow
def test_that_takes_long(): pass

@pytest.mark.browser
def test_in_a_browser(): pass
"""


@pytest.fixture
def dev_test(tmp_path: Path):
    """pytest with the project's conftest over three tests, with or without Chromium on the PATH."""
    (tmp_path / "conftest.py").write_text((ROOT / "test" / "conftest.py").read_text())
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n  slow:\n  browser:\n")
    (tmp_path / "test_three.py").write_text(TESTS)

    def run(*arguments: str, browser: bool) -> subprocess.CompletedProcess[str]:
        programs = tmp_path / "bin"
        programs.mkdir(exist_ok=True)
        for name in ("chromium", "chromedriver") if browser else ():
            (programs / name).write_text("#!/bin/sh\n")
            (programs / name).chmod(0o755)
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments, str(tmp_path)],
            cwd=tmp_path,
            env={"PATH": str(programs), "PYTHONPATH": f"{ROOT}:{ROOT / 'test'}", "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=120,
        )

    return run


def test_tests_that_cannot_run_are_named(dev_test):
    done = dev_test(browser=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed, 2 skipped" in done.stdout
    assert "skipped browser tests (1): there is no chromium and no chromedriver" in done.stdout
    assert "skipped slow tests (1): they take long and run with --all" in done.stdout


def test_slow_tests_run_with_all(dev_test):
    assert "2 passed, 1 skipped" in dev_test("--all", browser=False).stdout


def test_a_required_kind_must_be_able_to_run(dev_test):
    done = dev_test("--require", "browser", browser=False)
    assert done.returncode != 0
    assert "--require browser: there is no chromium and no chromedriver" in done.stderr


def test_a_test_of_a_required_kind_must_run(dev_test):
    assert dev_test("--require", "browser", browser=True).returncode == 0
    done = dev_test("--require", "browser", "-k", "no_kind", browser=True)
    assert done.returncode == 1
    assert "--require browser: no test of this kind ran" in done.stdout


def test_an_unknown_kind_is_named(dev_test):
    done = dev_test("--require", "browsers", browser=True)
    assert done.returncode != 0
    assert f"--require browsers: it must be of {', '.join(ABSENT)}" in done.stderr
