"""Exceptions in sensors and command types of other packages: they are named, and the node drives on."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from helpers.live_node import level, live_node
from helpers.processes import PATIENCE

from vds_gz.core.ros.graph import QoS
from vds_gz.core.vehicle.command import twist

pytestmark = pytest.mark.graph

PACKAGE = """
from dataclasses import dataclass, replace
from typing import NamedTuple

from vds_gz import measuring
from vds_gz.programs.interface.commands import CommandType
from vds_gz.core.ros.graph import Topic
from vds_gz.core.share import share
from vds_gz.core.vehicle.command import TWIST
from vds_gz.core.vehicle.differential import DIFFERENTIAL

RANGE = measuring.Stream("range", "sensor_msgs/msg/Range")


@dataclass(frozen=True, slots=True)
class Parameters(measuring.ParameterGroup):
    type: str = measuring.kind("broken")
    rate: float = measuring.rate(50.0)


class Sensor(measuring.SingleTopicOutput):
    def __init__(self, setup):
        super().__init__(setup, setup.message(RANGE), ["range"])
        {making}

    def values(self, state, scene):
        {measuring}
        return (1.0,)


BROKEN = measuring.SensorType(Parameters, (RANGE,), Sensor)


class Values(NamedTuple):
    speed: float

    def command(self):
        return {{}}[self.speed]


def stuck(c, s, u):
    raise Silent


class Silent(Exception):
    def __str__(self):
        raise KeyError("no text")


DRAWING = share("models", "differential.urdf.xacro")
MODEL = replace(DIFFERENTIAL, name="stuck", actuating=(stuck,), xacro=DRAWING)
COMMAND = CommandType("odd", TWIST, Topic("odd", "std_msgs/msg/Float32"), Values, ("data",), "odd numbers")
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Installs the package as pip does, with these statements in its sensor."""

    def installed(making: str = "pass", measuring: str = "pass") -> None:
        (tmp_path / "broken.py").write_text(PACKAGE.format(making=making, measuring=measuring))
        info = tmp_path / "broken-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(
            "[vds_gz.sensors]\nbroken = broken:BROKEN\n[vds_gz.commands]\nodd = broken:COMMAND\n"
            "[vds_gz.models]\nstuck = broken:MODEL\n"
        )
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.delitem(__import__("sys").modules, "broken", raising=False)

    return installed


def assert_drives_on(live, said: list[str], log: str) -> None:
    """Whether the node drives, and says this once in the log and in every report."""
    received = live.received["/ground_truth"]
    live.command(twist(0.5, 0.0, 0.0))
    live.turn_until(lambda: received and received[-1].twist.twist.linear.x > 0.1)
    (line,) = [line for line in log.splitlines() if "[ERROR]" in line]
    assert all(words in line for words in said), line
    live.graph.subscribe("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray", QoS(), live._keeper("/diagnostics"))
    live.turn_until(lambda: live.received["/diagnostics"])
    status = live.received["/diagnostics"][-1].status[0]
    assert level(status) == 2
    assert all(words in status.message for words in said)


@pytest.mark.parametrize("statements", [{"making": "1 / 0"}, {"measuring": "1 / 0"}])
def test_a_sensor_that_raises_is_left_out(domain, install, capfd, statements):
    install(**statements)
    with live_node(model="differential", sensors__front__type="broken", sensors__imu__type="imu") as live:
        live.turn_until(lambda: len(live.received["/imu/data"]) > 20)
        said = ["sensor 'front'", "entry point 'broken' of vds_gz.sensors, broken:BROKEN", "ZeroDivisionError"]
        assert_drives_on(live, [*said, "broken.py, line"], capfd.readouterr().err)


def test_a_command_that_raises_is_refused(domain, install, capfd):
    install()
    with live_node(model="differential") as live:
        odd = live.graph.publisher("/odd", "std_msgs/msg/Float32", QoS())
        refused = live.node._commands.refusals.counts
        live.turn_until(lambda: refused["odd"] > 2, lambda: odd.publish(live.graph.message("std_msgs/msg/Float32")))
        said = ["command type 'odd'", "entry point 'odd' of vds_gz.commands, broken:COMMAND", "KeyError: 0.0"]
        assert_drives_on(live, [*said, "broken.py, line"], capfd.readouterr().err)


def test_a_model_that_raises_ends_the_node_with_one_line(domain, install, tmp_path):
    install()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    command = [sys.executable, "-m", "vds_gz.programs.nodes.sim_node", "--ros-args", "-p", "model:=stuck"]
    node = subprocess.run(command, stderr=subprocess.PIPE, env=environment, text=True, timeout=PATIENCE)
    assert node.returncode == 1
    assert node.stderr.splitlines()[-1].startswith(
        "sim_node: vehicle model 'stuck' (entry point 'stuck' of vds_gz.models, broken:MODEL) raised Silent: its text "
        f"cannot be shown ({tmp_path / 'broken.py'}, line "
    )
    assert "Traceback" not in node.stderr
