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

#: Four modules without a plugin: the drive is that of their transmissions.
CORNERS = {"front_left": (0.3, 0.2), "front_right": (0.3, -0.2), "rear_left": (-0.3, 0.2), "rear_right": (-0.3, -0.2)}
URDF_INERTIA = (
    '<inertial><mass value="1"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial>'
)
MODULES = "".join(robots.urdf_hinge(corner, *place, stop=1e16) for corner, place in CORNERS.items())
TRANSMISSIONS = "".join(
    f'<transmission name="{joint}"><joint name="{joint}"/></transmission>'
    for corner in CORNERS
    for joint in (f"{corner}_hinge", f"{corner}_wheel")
)
URDF = robots.urdf(
    TRANSMISSIONS,
    {},
    more=MODULES.replace('_knuckle"/>\n  <joint', f'_knuckle">{URDF_INERTIA}</link>\n  <joint')
    .replace("</collision></link>", f"</collision>{URDF_INERTIA}</link>")
    .replace('effort="10"', 'effort="100"'),
)


def written(tmp_path, name, text):
    (tmp_path / name).write_text(text, encoding="utf-8")
    adoption, output = adopt(tmp_path / name, tmp_path / "rover")
    adoption.write(output)
    return output


@pytest.fixture
def folder(tmp_path):
    return written(tmp_path, "robot.sdf", SDF)


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


def test_adopted_modules_drive_sideways(tmp_path, domain, partition, probe: Probe):
    program = Program("vds_gz.cli", "gazebo", str(written(tmp_path, "robot.urdf", URDF)), "--headless")
    try:
        probe.listen(topics.GROUND_TRUTH)
        command_topic = replace(topics.TWIST_REFERENCE, name="cmd_vel")

        def fill(message):
            message.linear.x, message.linear.y = 0.3, 0.4

        probe.until_heard(command_topic)
        truth = probe.received[topics.GROUND_TRUTH.name]
        probe.hold(command_topic, fill, lambda: truth and truth[-1].pose.pose.position.y > 0.5, "half a metre")
        twist = truth[-1].twist.twist
        assert (twist.linear.x, twist.linear.y) == (pytest.approx(0.3, rel=0.05), pytest.approx(0.4, rel=0.05))
    finally:
        program.stop()
