"""RViz itself shows our layouts: every display loads, and it says no error."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="needs ROS 2 (rclpy)")

from ament_index_python.packages import get_package_prefix

from vds_gz.launching.actions import installed
from vds_gz.share import share

if not installed("rviz2"):
    pytest.skip("needs the ROS package rviz2", allow_module_level=True)

pytestmark = [pytest.mark.ros, pytest.mark.skipif(not shutil.which("Xvfb"), reason="needs Xvfb")]

RVIZ = str(Path(get_package_prefix("rviz2"), "lib", "rviz2", "rviz2"))

#: What RViz logs about a layout that it cannot follow.
COMPLAINTS = ("[ERROR]", "[WARN]", "failed to load", "could not be loaded", "does not exist")

PATIENCE = 60.0  # [s]


@pytest.fixture
def display(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A screen that nobody sees; Xvfb chooses its number."""
    reader, writer = os.pipe()
    command = ["Xvfb", "-displayfd", str(writer), "-screen", "0", "1400x900x24"]
    server = subprocess.Popen(command, pass_fds=[writer], stderr=subprocess.DEVNULL)
    os.close(writer)
    with os.fdopen(reader) as numbers:
        monkeypatch.setenv("DISPLAY", f":{numbers.readline().strip()}")
    monkeypatch.setenv("LIBGL_ALWAYS_SOFTWARE", "1")
    monkeypatch.setenv("QT_QPA_PLATFORM", "xcb")
    yield
    server.terminate()
    server.wait()


@pytest.mark.parametrize("layout", ["vehicle", "side_by_side"])
def test_rviz_loads_a_layout_without_complaint(layout: str, domain: int, display: None, tmp_path: Path) -> None:
    log = tmp_path / "log"
    file = share("config", "rviz", f"{layout}.rviz")
    with log.open("w") as output:
        rviz = subprocess.Popen([RVIZ, "--display-config", str(file)], stdout=output, stderr=output)
    try:
        end = time.monotonic() + PATIENCE
        # It says so twice: at its start, and once the layout's window has been made.
        while log.read_text().count("Stereo is NOT SUPPORTED") < 2 and time.monotonic() < end and rviz.poll() is None:
            time.sleep(0.2)
        time.sleep(2.0)
        assert rviz.poll() is None, log.read_text()
    finally:
        rviz.send_signal(signal.SIGINT)
        rviz.wait(PATIENCE)
    said = log.read_text()
    assert said.count("Stereo is NOT SUPPORTED") >= 2, said
    assert not [line for line in said.splitlines() if any(word in line for word in COMPLAINTS)]
