"""Kinds of tests that need more than Python: whether it is here, and which tests were left out without it."""

from __future__ import annotations

import shutil
from collections import Counter
from importlib.util import find_spec

import pytest


def _ros() -> str:
    return "" if find_spec("rclpy") else "ROS 2 is not sourced (there is no rclpy)"


def _gazebo() -> str:
    return "" if shutil.which("gz") else "Gazebo is not installed (no gz on the PATH)"


def _browser() -> str:
    missing = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    missing += [] if find_spec("selenium") else ["the Python package selenium"]
    return f"there is no {' and no '.join(missing)}" if missing else ""


#: Why tests of a kind, which is a marker, cannot run here; empty if they can.
ABSENT = {"ros": _ros(), "gazebo": _gazebo(), "browser": _browser()}

SLOW = "they take long and run with --all"


class Kinds:
    """Leaves out tests that cannot run here, says so at the end, and fails where they were required."""

    def __init__(self, required: frozenset[str], slow: bool) -> None:
        self._required = required
        self._slow = slow
        self._ran: Counter[str] = Counter()
        self._skipped: Counter[str] = Counter()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            for kind, why in ABSENT.items():
                if why and item.get_closest_marker(kind):
                    item.add_marker(pytest.mark.skip(reason=why))
            if not self._slow and item.get_closest_marker("slow"):
                item.add_marker(pytest.mark.skip(reason=SLOW))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for kind in (*ABSENT, "slow"):
            if kind in report.keywords:
                self._skipped[kind] += report.skipped
                self._ran[kind] += report.when == "call" and not report.skipped

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for kind, why in {**ABSENT, "slow": "" if self._slow else SLOW}.items():
            count = f" ({self._skipped[kind]})" if self._skipped[kind] else ""
            if why or count:
                terminalreporter.write_line(f"skipped {kind} tests{count}: {why or 'see -rs'}")
        for kind in sorted(self._idle()):
            terminalreporter.write_line(f"--require {kind}: no test of this kind ran", red=True)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._idle() and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _idle(self) -> set[str]:
        """Kinds that were required and of which no test ran."""
        return {kind for kind in self._required if not self._ran[kind]}


def required(text: str) -> frozenset[str]:
    """The kinds in a text such as ``browser,ros``.

    Raises:
        pytest.UsageError: There is no such kind, or what it needs is not here.
    """
    kinds = frozenset(filter(None, text.split(",")))
    if unknown := sorted(kinds - ABSENT.keys()):
        raise pytest.UsageError(f"--require {unknown[0]}: it must be of {', '.join(ABSENT)}")
    if absent := [f"--require {kind}: {ABSENT[kind]}" for kind in sorted(kinds) if ABSENT[kind]]:
        raise pytest.UsageError("; ".join(absent))
    return kinds
