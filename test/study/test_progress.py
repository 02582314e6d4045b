"""Progress is shown on a terminal and nowhere else."""

import os
import pty
import subprocess
import sys

import pytest

WORK = """
from vds_gz.study.progress import progress
with progress("counting sheep", 3) as advance:
    for sheep in range(3):
        advance(1)
print("all counted")
"""


def test_nothing_is_shown_without_a_terminal():
    done = subprocess.run([sys.executable, "-c", WORK], capture_output=True, text=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == ("all counted\n", "")


@pytest.mark.parametrize("hidden", ["", "import sys; sys.modules['rich'] = None"], ids=["rich", "no rich"])
def test_a_terminal_shows_the_progress_and_a_note(hidden):
    if not hidden:
        pytest.importorskip("rich")
    here, there = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", hidden + WORK], stdout=subprocess.PIPE, stderr=there, env=os.environ | {"TERM": "xterm"}
    ) as process:
        os.close(there)
        shown = _all_of(here)
        assert process.wait(timeout=60) == 0
    assert "counting sheep" in shown
    assert ("100%" if not hidden else "counting sheep 33%") in shown


def _all_of(terminal: int) -> str:
    shown = b""
    try:
        while more := os.read(terminal, 4096):
            shown += more
    except OSError:  # how Linux says that the other side is closed
        pass
    os.close(terminal)
    return shown.decode()
