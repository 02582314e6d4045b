"""Progress is shown on a terminal, and now and then in a log."""

import contextlib
import io
import os
import pty
import subprocess
import sys

import pytest

from vds_gz.tools.study.progress import progress

WORK = """
from vds_gz.tools.study.progress import progress
with progress("counting sheep", 3) as advance:
    for sheep in range(3):
        advance(1)
print("all counted")
"""


def test_short_work_shows_nothing_without_a_terminal():
    done = subprocess.run([sys.executable, "-c", WORK], capture_output=True, text=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == ("all counted\n", "")


def test_long_work_tells_its_progress_in_a_log():
    code = "import vds_gz.tools.study.progress as module; module.LOG_PERIOD = 0.0\n" + WORK
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr.splitlines() == ["counting sheep 33%", "counting sheep 67%", "counting sheep 100%"]


def test_a_text_in_memory_is_no_log(monkeypatch):
    monkeypatch.setattr("vds_gz.tools.study.progress.LOG_PERIOD", 0.0)
    with contextlib.redirect_stderr(io.StringIO()) as said, progress("counting sheep", 3.0) as advance:
        advance(1.0)
    assert said.getvalue() == ""


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
