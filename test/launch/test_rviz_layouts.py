"""RViz shows this package's layouts: every display loads and listens, and RViz logs no error."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from helpers.launches import PATIENCE, Ears

pytest.importorskip("rclpy", reason="needs ROS 2 (rclpy)")

from ament_index_python.packages import get_package_prefix

from vds_gz.core.share import share
from vds_gz.programs.launching.actions import installed

if not installed("rviz2"):
    pytest.skip("needs the ROS package rviz2", allow_module_level=True)

pytestmark = [pytest.mark.ros, pytest.mark.skipif(not shutil.which("Xvfb"), reason="needs Xvfb")]

RVIZ = str(Path(get_package_prefix("rviz2"), "lib", "rviz2", "rviz2"))

#: Time for which RViz draws before its log is read [s].
FRAMES = 2.0

#: What RViz logs about a layout that it cannot follow.
COMPLAINTS = ("[ERROR]", "[WARN]", "failed to load", "could not be loaded", "does not exist")


@pytest.fixture
def display(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A virtual screen; Xvfb chooses its number."""
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


def topics(displays: list[dict[str, Any]]) -> Iterator[str]:
    """What the displays of a layout listen to."""
    for one in displays:
        yield from topics(one.get("Displays", []))
        for field in ("Topic", "Description Topic"):
            if field in one:
                yield "/" + one[field]["Value"].lstrip("/")


@pytest.mark.parametrize("layout", ["vehicle", "side_by_side"])
def test_every_display_of_a_layout_listens_without_complaint(
    layout: str, display: None, ears: Callable[..., Ears], tmp_path: Path
) -> None:
    listener = ears()
    log = tmp_path / "log"
    file = share("config", "rviz", f"{layout}.rviz")
    wanted = set(topics(yaml.safe_load(file.read_text(encoding="utf-8"))["Visualization Manager"]["Displays"]))
    with log.open("w") as output:
        rviz = subprocess.Popen([RVIZ, "--display-config", str(file)], stdout=output, stderr=output)
    try:
        listener.until(lambda: all(map(listener.node.count_subscribers, wanted)), f"subscriptions of {wanted}")
        time.sleep(FRAMES)
        said = log.read_text()
    finally:
        rviz.send_signal(signal.SIGINT)
        try:
            rviz.wait(PATIENCE)
        finally:
            rviz.kill()
    assert not [line for line in said.splitlines() if any(word in line for word in COMPLAINTS)]
