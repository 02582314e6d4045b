"""Geometry from joints' poses and collisions, in every way in which SDF and URDF may say the same."""

import math

import numpy as np
import pytest
from helpers import robot_files as robots
from helpers.recorder import Recorder
from hypothesis import given, settings
from hypothesis import strategies as st

from vds_gz.core.errors import VdsGzError
from vds_gz.core.geometry import Pose, angles, of_axes
from vds_gz.core.plant.gazebo.gazebo_plant import GazeboPlant
from vds_gz.core.vehicle.make_vehicle import make_vehicle
from vds_gz.core.world.geometry_reader import matrix, rotation_of_angles
from vds_gz.tools.adopt.robot_files import RobotFiles
from vds_gz.tools.adopt.sdf_structure import of_sdf
from vds_gz.tools.adopt.structure import root_of
from vds_gz.tools.adopt.urdf_structure import of_urdf
from vds_gz.tools.adopt.write import adopt
from vds_gz.tools.adopt.xml_text import document_of

LENGTH = st.floats(0.05, 3.0)
ANGLE = st.floats(-3.1, 3.1)


def structure(text, folder):
    root = document_of(folder / "robot.sdf", text.encode()).root
    library = RobotFiles(folder)
    return (
        of_urdf(root, library) if root.tag == "robot" else of_sdf(root.tags("model")[0], root.get("version"), library)
    )


def adopted(tmp_path_factory, text, suffix=".sdf"):
    folder = tmp_path_factory.mktemp("robot")
    (folder / f"robot{suffix}").write_text(text, encoding="utf-8")
    return adopt(folder / f"robot{suffix}", folder / "out")[0]


@given(LENGTH, LENGTH, st.floats(-1.0, 1.0), st.floats(0.02, 0.5), st.booleans())
@settings(max_examples=40, deadline=None)
def test_disagreements_are_told_with_both_numbers(tmp_path_factory, plugin_track, track, x, radius, urdf):
    joints = {"left_joint": (x, track / 2), "right_joint": (x, -track / 2)}
    body = robots.DIFF.replace(">0.4<", f">{plugin_track!r}<").replace(">0.08<", f">{radius!r}<")
    text = (
        robots.urdf(f"<gazebo>{robots.diff_drive(body)}</gazebo>", joints)
        if urdf
        else (robots.sdf(robots.diff_drive(body), joints))
    )
    adoption = adopted(tmp_path_factory, text, ".urdf" if urdf else ".sdf")
    checks = {check.name: check for check in adoption.vehicle.checks}
    assert checks["track"].model == pytest.approx(track)
    assert checks["track"].plugin.value == plugin_track
    assert checks["track"].agrees == math.isclose(plugin_track, track, rel_tol=0.01, abs_tol=5e-4)
    assert checks["wheel radius"].model == pytest.approx(robots.RADIUS)
    assert adoption.parameters.vehicle.track == pytest.approx(plugin_track)
    assert adoption.parameters.vehicle.tire_diameter == pytest.approx(2 * radius)
    assert adoption.parameters.vehicle.base_link_offset == pytest.approx(-x, abs=1e-6)


@given(ANGLE, ANGLE, ANGLE, st.floats(-2.0, 2.0))
@settings(max_examples=40, deadline=None)
def test_poses_through_frames_are_those_without(tmp_path_factory, roll, pitch, yaw, shift):
    folder = tmp_path_factory.mktemp("frames")
    plain = structure(robots.sdf(""), folder)
    turn = f"{shift} 0.1 -0.2 {roll!r} {pitch!r} {yaw!r}"
    frames = f'<frame name="there"><pose>{turn}</pose></frame>'
    frames += '<frame name="back"><pose relative_to="there">{}</pose></frame>'
    there = structure(robots.sdf("").replace("<link", frames.format("0 0 0 0 0 0") + "<link", 1), folder)
    pose = np.linalg.inv(matrix(rotation_of_angles(roll, pitch, yaw), np.array([shift, 0.1, -0.2])))
    quaternion = _quaternion(pose[:3, :3])
    text = " ".join(repr(float(value)) for value in (*pose[:3, 3], *quaternion))
    back = frames.format("").replace(
        '<pose relative_to="there"></pose>', f'<pose relative_to="there" rotation_format="quat_xyzw">{text}</pose>'
    )
    wheels = robots.sdf_wheels(robots.TWO, frame="back")
    whole = robots.sdf("", {}, more=back + wheels)
    turned = structure(whole, folder)
    for name in robots.TWO:
        assert turned.joints[name].position == pytest.approx(plain.joints[name].position, abs=1e-9)
        assert turned.joints[name].axis == pytest.approx(plain.joints[name].axis, abs=1e-9)
        assert there.joints[name].position == pytest.approx(plain.joints[name].position)


def _quaternion(rotation):
    return of_axes(*(tuple(map(float, rotation[:, column])) for column in range(3)))


def test_axes_may_be_expressed_in_the_model(tmp_path):
    old = robots.sdf("").replace('version="1.9"', 'version="1.4"').replace("<xyz>0 0 1</xyz>", "<xyz>0 1 0</xyz>")
    assert structure(old, tmp_path).joints["left_joint"].axis == pytest.approx([0.0, 1.0, 0.0])
    new = robots.sdf("").replace("<xyz>0 0 1</xyz>", '<xyz expressed_in="__model__">0 1 0</xyz>')
    assert structure(new, tmp_path).joints["left_joint"].axis == pytest.approx([0.0, 1.0, 0.0])


def test_nested_and_merged_models(tmp_path):
    (tmp_path / "axle.sdf").write_text(
        robots.sdf("", {"left_joint": (0.0, 0.3)}, name="axle").replace("chassis", "beam"), encoding="utf-8"
    )
    nested = "<include><uri>axle.sdf</uri><pose>1 0 0 0 0 1.5707963267948966</pose></include>"
    inner = structure(robots.sdf("", {}, more=nested), tmp_path).joints["axle::left_joint"]
    assert inner.position == pytest.approx([0.7, 0.0, robots.RADIUS], abs=1e-9)
    merged = nested.replace("<include>", '<include merge="true">')
    assert structure(robots.sdf("", {}, more=merged), tmp_path).joints["left_joint"].position == pytest.approx(
        [0.7, 0.0, robots.RADIUS], abs=1e-9
    )


def test_joints_may_name_frames_and_nested_models(tmp_path):
    text = robots.sdf("", {"left_joint": (0.1, 0.2)}, more='<frame name="base" attached_to="chassis"/>')
    inner = '<model name="arm"><link name="a"/></model><joint name="j" type="fixed"><parent>base</parent>'
    inner += "<child>arm</child></joint>"
    text = text.replace("<parent>chassis</parent>", "<parent>base</parent>").replace("</model>", f"{inner}</model>")
    joints = structure(text, tmp_path).joints
    assert (joints["left_joint"].parent, joints["j"].parent, joints["j"].child) == ("chassis", "chassis", "arm::a")
    with pytest.raises(VdsGzError, match="'nowhere', which the model does not have"):
        structure(text.replace("<parent>base</parent>", "<parent>nowhere</parent>"), tmp_path)


@pytest.mark.parametrize("merge", [False, True])
def test_included_models_stand_on_their_placement_frame(tmp_path, merge):
    foot = '<frame name="foot"><pose>0.5 0 0 0 0 0</pose></frame>'
    axle = robots.sdf("", {"left_joint": (0.5, 0.3)}, name="axle", more=foot).replace("chassis", "beam")
    (tmp_path / "axle.sdf").write_text(axle, encoding="utf-8")
    include = f"<include merge='{str(merge).lower()}'><uri>axle.sdf</uri><pose>0 0 0 0 0 0</pose>"
    include += "<placement_frame>foot</placement_frame></include>"
    found = structure(robots.sdf("", {}, more=include), tmp_path).joints
    assert found["left_joint" if merge else "axle::left_joint"].position == pytest.approx([0.0, 0.3, robots.RADIUS])


def test_links_may_be_relative_to_nested_frames(tmp_path):
    nested = '<model name="in"><pose>1 0 0 0 0 0</pose><link name="l"/>'
    nested += '<frame name="f"><pose>0 2 0 0 0 0</pose></frame></model>'
    link = '<link name="far"><pose relative_to="in::f">0 0 3 0 0 0</pose></link>'
    found = structure(robots.sdf("", {}, more=nested + link), tmp_path)
    assert found.links["far"][:3, 3] == pytest.approx([1.0, 2.0, 3.0])


def test_the_canonical_link(tmp_path):
    text = robots.sdf(robots.diff_drive()).replace("<link", '<link name="imu"/><link', 1)
    assert root_of(structure(text, tmp_path)) == "imu"
    chosen = text.replace('<model name="rover"', '<model name="rover" canonical_link="chassis"')
    assert root_of(structure(chosen, tmp_path)) == "chassis"


def test_collisions_may_be_relative_to_other_frames(tmp_path):
    text = robots.sdf("").replace('<collision name="tyre">', '<collision name="tyre"><pose relative_to="chassis"/>', 1)
    shape = structure(text, tmp_path).round["left_joint_wheel"][0]
    assert shape.centre == pytest.approx([0.0, 0.0, robots.RADIUS])


def test_before_sdf_1_7_a_joint_may_have_its_links_name(tmp_path):
    text = robots.sdf("").replace('<joint name="left_joint"', '<joint name="left_joint_wheel"')
    with pytest.raises(VdsGzError, match="taken"):
        structure(text, tmp_path)
    assert "left_joint_wheel_joint" in structure(text.replace('version="1.9"', 'version="1.6"'), tmp_path).joints


def test_a_robot_that_drives_along_y(tmp_path_factory):
    joints = {"left_joint": (-0.2, 0.0), "right_joint": (0.2, 0.0)}
    turned = robots.urdf(f"<gazebo>{robots.diff_drive()}</gazebo>", joints).replace(
        "-1.5707963267948966 0 0", "0 -1.5707963267948966 0"
    )
    adoption = adopted(tmp_path_factory, turned, ".urdf")
    assert adoption.vehicle.yaw == pytest.approx(math.pi / 2)
    assert b"<rpy_offset>0 0 1.57079633</rpy_offset>" in adoption.files["model.urdf"]
    assert not any("right" in finding for finding in adoption.findings)
    assert adoption.parameters.gazebo.heading == pytest.approx(math.pi / 2)
    poses = []
    link = Recorder()
    link.set_pose = lambda T_map_model: poses.append((T_map_model.position, angles(T_map_model.orientation)))
    vehicle = make_vehicle(adoption.parameters, moves=False)
    GazeboPlant(vehicle, adoption.parameters.gazebo, link, lambda: None, print).set_pose(Pose(1.0, 2.0, 0.3))
    assert poses == [((1.0, 2.0, 0.0), pytest.approx((0.0, 0.0, 0.3 - math.pi / 2)))]


def test_joints_at_the_wrong_side_are_told(tmp_path_factory):
    joints = {"left_joint": (0.0, -0.2), "right_joint": (0.0, 0.2)}
    adoption = adopted(tmp_path_factory, robots.sdf(robots.diff_drive(), joints))
    assert any("stands at the right" in finding for finding in adoption.findings)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (robots.sdf(robots.diff_drive()).replace('name="right_joint"', 'name="left_joint"', 1), "taken|two joints"),
        (robots.sdf(robots.diff_drive()).replace("0.1 0.2", "x 0.2", 1), "must be 6 numbers"),
        (
            robots.sdf(robots.diff_drive())
            .replace("<pose>", '<pose relative_to="left_joint">', 1)
            .replace(
                '<link name="left_joint_wheel"><pose>', '<link name="left_joint_wheel"><pose relative_to="chassis">'
            ),
            "relative to itself",
        ),
        (
            robots.urdf(f"<gazebo>{robots.diff_drive()}</gazebo>").replace(
                'child link="left_joint_wheel"', 'child link="no"'
            ),
            "which the robot does not have",
        ),
    ],
)
def test_damaged_structures_are_refused(tmp_path, text, message):
    file = tmp_path / ("robot.urdf" if "<robot" in text else "robot.sdf")
    file.write_text(text, encoding="utf-8")
    with pytest.raises(VdsGzError, match=message):
        adopt(file, tmp_path / "out")
