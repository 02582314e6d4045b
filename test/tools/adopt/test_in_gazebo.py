"""Adopted robots on a real Gazebo server."""

from __future__ import annotations

import subprocess
from dataclasses import replace

import pytest
from helpers import robot_files as robots
from helpers.processes import Probe, Program

from vds_gz.programs.interface import topics
from vds_gz.tools.adopt.write import adopt

pytestmark = pytest.mark.gazebo

INERTIA = "<inertial><mass>1</mass><inertia><ixx>0.01</ixx><iyy>0.01</iyy><izz>0.01</izz></inertia></inertial>"
CASTER = (
    '<collision name="caster"><pose>-0.2 0 -0.04 0 0 0</pose><geometry><sphere><radius>0.04</radius></sphere>'
    "</geometry><surface><friction><ode><mu>0</mu><mu2>0</mu2></ode></friction></surface></collision>"
)
SDF = (
    robots.sdf(robots.diff_drive(robots.DIFF + "<topic>cmd_vel</topic>"))
    .replace("</link>", f"{INERTIA}</link>")
    .replace("</pose>", f"</pose>{CASTER}", 1)
)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "robot.sdf").write_text(SDF, encoding="utf-8")
    adoption, output = adopt(tmp_path / "robot.sdf", tmp_path / "rover")
    adoption.write(output)
    return output


def test_gazebo_accepts_the_copy(folder):
    run = subprocess.run(["gz", "sdf", "-k", str(folder / "model.sdf")], capture_output=True, text=True, check=False)
    assert "Valid" in run.stdout


def test_an_adopted_robot_drives_by_its_own_topic(folder, domain, partition, probe: Probe):
    program = Program("vds_gz.cli", "gazebo", str(folder), "--headless")
    try:
        probe.listen(topics.GROUND_TRUTH)
        command_topic = replace(topics.TWIST_REFERENCE, name="cmd_vel")

        def fill(message):
            message.linear.x = 0.4

        probe.until_heard(command_topic)
        truth = probe.received[topics.GROUND_TRUTH.name]
        probe.hold(command_topic, fill, lambda: truth and truth[-1].pose.pose.position.x > 0.5, "half a metre")
        assert truth[-1].twist.twist.linear.x == pytest.approx(0.4, rel=0.05)
        assert truth[-1].header.frame_id == "map"
    finally:
        program.stop()
