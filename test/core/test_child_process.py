"""What a program starts ends with it, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from helpers.processes import PATIENCE

from vds_gz.core.child_process import ChildProcess

SLEEPS = "import os, time; {before}; os.fork(); os.write(1, b'%d\\n' % os.getpid()); time.sleep(1000)"

PARENT = """
import sys, time
from vds_gz.core.child_process import ChildProcess
child = ChildProcess([sys.executable, "-c", {code!r}])
{after}
"""


def run(after: str, before: str = "pass") -> tuple[subprocess.Popen, list[int]]:
    """A program with a child of two processes, which is not told anything; the children's numbers."""
    code = SLEEPS.format(before=before)
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT.format(code=code, after=after)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert parent.stdout is not None
    return parent, [int(parent.stdout.readline()) for _ in range(2)]


def ends(number: int) -> bool:
    """Whether a process ends; one that only waits to be collected has ended."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            with open(f"/proc/{number}/stat") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="the test looks at /proc")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize(
    "before",
    ["pass", pytest.param("import signal; signal.signal(2, signal.SIG_IGN)", marks=pytest.mark.slow)],
    ids=["", "which ignores Ctrl-C"],
)
def test_children_end_with_a_program_that_is_killed(number, before):
    parent, children = run("time.sleep(1000)", before)
    parent.send_signal(number)
    parent.wait()
    assert all(map(ends, children))


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="the test looks at /proc")
@pytest.mark.parametrize("after", ["child.stop()", "raise SystemExit", "1 / 0", "import os; os._exit(3)"])
def test_children_end_with_a_program_that_ends(after):
    parent, children = run(f"time.sleep(0.5); {after}")
    parent.wait()
    assert all(map(ends, children))


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="the test looks at /proc")
def test_what_outlives_a_child_ends_when_it_is_stopped(tmp_path):
    code = "import os, time; os.fork() and os._exit(0); os.write(1, b'%d' % os.getpid()); time.sleep(1000)"
    output = tmp_path / "output"
    with output.open("wb") as file:
        child = ChildProcess([sys.executable, "-c", code], output=file)
    assert child.wait() == 0
    while not (left := output.read_text()):
        time.sleep(0.02)
    child.stop()
    assert ends(int(left))
    child.stop()


def test_a_child_that_has_ended_is_left_alone():
    child = ChildProcess([sys.executable, "-c", "raise SystemExit(3)"])
    assert child.wait() == 3
    child.stop()
    assert child._guard.returncode == 0
