"""Robots from files, folders, worlds and xacro, and what the command prints and writes."""

import os

import pytest
import yaml
from helpers import robot_files as robots

from vds_gz.cli.adopt import main
from vds_gz.cli.check import main as check
from vds_gz.core.errors import ArgumentError, VdsGzError
from vds_gz.tools.adopt.packages import Packages
from vds_gz.tools.adopt.robot_file import expand
from vds_gz.tools.adopt.robot_folder import read_folder
from vds_gz.tools.adopt.start import adopted_world, server_environment
from vds_gz.tools.adopt.write import adopt

XACRO = """<robot name="rover" xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:arg name="track" default="0.4"/><xacro:include filename="$(find other)/drive.xacro"/>
<link name="base_link"/>
<xacro:macro name="wheel" params="name y"><link name="${name}_wheel">
<collision><geometry><sphere radius="0.08"/></geometry>
</collision></link><joint name="${name}" type="continuous"><parent link="base_link"/><child link="${name}_wheel"/>
<origin xyz="0 ${y} 0"/><axis xyz="0 1 0"/></joint></xacro:macro>
<xacro:wheel name="left_joint" y="${$(arg track) / 2}"/><xacro:wheel name="right_joint" y="${-$(arg track) / 2}"/>
</robot>"""
PACKAGE = "<package><name>{}</name></package>"


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    """A clone with two packages, as it stands without ROS; the working directory is another one."""
    for name in ("description", "elsewhere"):
        (tmp_path / "src" / name).mkdir(parents=True)
    (tmp_path / "src" / "description" / "package.xml").write_text(PACKAGE.format("rover_description"))
    (tmp_path / "src" / "elsewhere" / "package.xml").write_text(PACKAGE.format("other"))
    drive = f'<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><gazebo>{robots.diff_drive()}</gazebo></robot>'
    (tmp_path / "src" / "elsewhere" / "drive.xacro").write_text(drive)
    (tmp_path / "src" / "description" / "robot.urdf.xacro").write_text(XACRO)
    (tmp_path / "run").mkdir()
    monkeypatch.chdir(tmp_path / "run")
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)
    return tmp_path / "src"


def test_xacro_finds_packages_of_a_clone(workspace):
    adoption, folder = adopt(workspace / "description" / "robot.urdf.xacro", arguments=["track:=0.6"])
    assert folder == workspace.parent / "run" / "rover"
    assert [check.model for check in adoption.vehicle.checks] == pytest.approx([0.6, 0.08])
    assert not adoption.vehicle.checks[0].agrees
    assert adoption.start.model == "model.urdf"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            XACRO.replace("$(find other)", "$(find nowhere)").replace("<link", "<xacro:its/><link", 1),
            "package 'nowhere'",
        ),
        (XACRO.replace("$(arg track)", "$(arg width)"), "argument 'width' has no value"),
        (XACRO.replace("<link", "<xacro:wheel/><link", 1), "robot.urdf.xacro"),
        (XACRO.replace('<link name="${name}_wheel">', '<xacro:wheel name="${name}" y="1"/>'), "xacro"),
    ],
)
def test_wrong_xacro_is_refused(workspace, text, message):
    file = workspace / "description" / "robot.urdf.xacro"
    file.write_text(text)
    with pytest.raises(ArgumentError, match=message):
        expand(file, [])


def test_a_file_with_one_macro_is_the_macros_robot(workspace):
    inner = XACRO.partition("<link")[2].rpartition("</robot>")[0]
    macro = XACRO.partition("<xacro:arg")[0].replace(' name="rover"', "") + (
        '<xacro:arg name="track" default="0.4"/><xacro:include filename="$(find other)/drive.xacro"/>'
        f'<xacro:macro name="small" params="color:=\'red\'"><link{inner.replace("xacro:macro", "xacro:macro")}'
    )
    head, rest = macro.split('<xacro:macro name="wheel"')
    wheel, uses = rest.split("</xacro:macro>")
    file = workspace / "description" / "small.urdf.xacro"
    (workspace / "description" / "wheel.xacro").write_text(
        f'<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:macro name="wheel"{wheel}</xacro:macro></robot>'
    )
    include = '<xacro:include filename="wheel.xacro"/>'
    file.write_text(head.replace("<xacro:macro", include + "<xacro:macro") + uses + "</xacro:macro></robot>")
    assert adopt(file)[0].robot.name == "small"


def test_arguments_need_xacro(tmp_path):
    (tmp_path / "robot.sdf").write_text(robots.sdf(robots.diff_drive()))
    with pytest.raises(ArgumentError, match="no xacro file"):
        adopt(tmp_path / "robot.sdf", arguments=["a:=1"])


def test_packages_are_found_in_the_environment_first(workspace, monkeypatch):
    share = workspace / "install" / "share" / "other"
    share.mkdir(parents=True)
    assert Packages(workspace / "description").find("other") == workspace / "elsewhere"
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(workspace / "install"))
    assert Packages(workspace / "description").find("other") == share
    assert Packages(workspace / "description").find("none") is None


def test_a_models_folder(tmp_path):
    (tmp_path / "model.config").write_text(
        '<model><sdf version="1.5">old.sdf</sdf><sdf version="1.10">new.sdf</sdf>'
        '<sdf version="1.9">old.sdf</sdf></model>'
    )
    (tmp_path / "new.sdf").write_text(robots.sdf(robots.diff_drive()))
    assert adopt(tmp_path, tmp_path / "out")[0].robot.path.name == "new.sdf"


def test_the_model_that_drives_is_chosen(tmp_path):
    world = '<sdf version="1.9"><world name="w">{}</world></sdf>'
    models = [
        robots.sdf(body, name=name).partition("<model")[2].rpartition("</sdf>")[0]
        for body, name in ((robots.diff_drive(), "one"), (robots.diff_drive(), "two"), ("", "box"))
    ]
    file = tmp_path / "world.sdf"
    missing = "<include><uri>model://missing</uri></include>"
    file.write_text(world.format(missing + "".join(f"<model{text}" for text in models[1:])))
    assert adopt(file, tmp_path / "out")[0].robot.name == "two"
    file.write_text(world.format("".join(f"<model{text}" for text in models)))
    with pytest.raises(ArgumentError, match="one, two; name one"):
        adopt(file, tmp_path / "out")
    assert adopt(file, tmp_path / "out", model="one")[0].robot.name == "one"
    with pytest.raises(ArgumentError, match="no model 'three'"):
        adopt(file, tmp_path / "out", model="three")


def test_meshes_are_found_from_the_copy(tmp_path, monkeypatch):
    monkeypatch.delenv("GZ_SIM_RESOURCE_PATH", raising=False)
    shapes = "".join(
        f'<visual name="v{n}"><geometry><mesh><uri>{uri}</uri></mesh></geometry></visual>'
        for n, uri in enumerate(("model://parts/meshes/a.stl", "meshes/b.stl", "model://none/c.stl", "https://x/d.stl"))
    )
    text = robots.sdf(robots.diff_drive()).replace("</pose></link>", f"</pose>{shapes}</link>", 1)
    for folder, file in (("parts/meshes", "a.stl"), ("rover/meshes", "b.stl")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / file).write_text("")
    (tmp_path / "rover" / "model.sdf").write_text(text)
    adoption, folder = adopt(tmp_path / "rover", tmp_path / "out")
    adoption.write(folder)
    assert (folder / "meshes" / "b.stl").is_file()
    assert adoption.start.resources == (str(tmp_path),)
    assert server_environment(read_folder(folder).start, {})["GZ_SIM_RESOURCE_PATH"] == str(tmp_path)
    assert any("model://none/c.stl" in finding for finding in adoption.findings)


def test_a_world_around_an_included_robot_keeps_its_meshes(tmp_path, monkeypatch):
    monkeypatch.delenv("GZ_SIM_RESOURCE_PATH", raising=False)
    mesh = '<visual name="v"><geometry><mesh><uri>meshes/a.dae</uri></mesh></geometry></visual>'
    inside = (
        "<include><uri>model://arena</uri></include><include><uri>model://rover</uri></include>"
        f'<model name="box"><link name="l">{mesh}</link></model>'
    )
    for folder in ("meshes", "models/arena", "models/rover"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "meshes" / "a.dae").write_text("")
    (tmp_path / "models" / "arena" / "model.sdf").write_text(robots.sdf("", name="arena"))
    (tmp_path / "models" / "rover" / "model.sdf").write_text(robots.sdf(robots.diff_drive()))
    (tmp_path / "world.sdf").write_text(f'<sdf version="1.9"><world name="w">{inside}</world></sdf>')
    adoption, folder = adopt(tmp_path / "world.sdf", tmp_path / "out")
    adoption.write(folder)
    assert (folder / "meshes" / "a.dae").is_file()
    assert adoption.start.resources == (str(tmp_path / "models"),)
    assert not any("not found" in finding for finding in adoption.findings)


@pytest.mark.parametrize("output", ["rover", "."])
def test_the_robots_own_files_are_never_overwritten(tmp_path, output):
    (tmp_path / "rover").mkdir()
    file = tmp_path / "rover" / "model.sdf"
    file.write_text(robots.sdf(robots.diff_drive()))
    adoption, folder = adopt(file, tmp_path / output)
    with pytest.raises(ArgumentError, match="the robot's own files; name another folder: --output FOLDER"):
        adoption.write(folder, overwrite=True)
    assert file.read_text() == robots.sdf(robots.diff_drive())


SENSORS = """<sensor name="lidar" type="gpu_lidar"><topic>scan</topic></sensor>
<sensor name="imu" type="imu"/><sensor name="cam" type="camera"><topic>front/image</topic></sensor>"""


def test_sensors_have_their_topics(tmp_path):
    text = robots.sdf(robots.diff_drive()).replace("</pose></link>", f"</pose>{SENSORS}</link>", 1)
    (tmp_path / "robot.sdf").write_text(text)
    adoption, folder = adopt(tmp_path / "robot.sdf", tmp_path / "out")
    adoption.write(folder)
    entries = yaml.safe_load(read_folder(folder).bridge("hall", "bridge"))
    topics = {entry["ros_topic_name"]: entry["gz_topic_name"] for entry in entries}
    assert topics["scan"] == "scan"
    assert topics["scan/points"] == "scan/points"
    assert topics["front/camera_info"] == "front/camera_info"
    assert "/world/hall/model/rover/link/chassis/sensor/imu/imu" in topics.values()
    assert topics["joint_states"] == "/model/rover/joint_state"
    assert topics["/model/rover/actuators"] == "/model/rover/actuators"
    assert adoption.start.renders
    assert yaml.safe_load(read_folder(folder).bridge("hall", "transport", sensors=False, joints=False) or "[]") == []
    kept = yaml.safe_load(read_folder(folder).bridge("hall", "transport", sensors=False))
    assert [entry["ros_topic_name"] for entry in kept] == ["joint_states"]


def test_a_topic_without_a_folder_keeps_its_camera_info_in_the_namespace(tmp_path):
    sensor = '<sensor name="cam" type="camera"><topic>cam</topic></sensor>'
    (tmp_path / "robot.sdf").write_text(robots.sdf(robots.diff_drive(), more=f'<link name="eye">{sensor}</link>'))
    entries = adopt(tmp_path / "robot.sdf", tmp_path / "out")[0].sensors[0].entries
    assert [entry["ros_topic_name"] for entry in entries] == ["cam", "camera_info"]


def test_sensors_that_gazebo_does_not_simulate_are_told(tmp_path):
    sensor = '<sensor name="scanner" type="ray"/>'
    (tmp_path / "robot.sdf").write_text(robots.sdf(robots.diff_drive(), more=f'<link name="eye">{sensor}</link>'))
    adoption = adopt(tmp_path / "robot.sdf", tmp_path / "out")[0]
    assert not adoption.start.renders
    assert adoption.sensors[0].entries == ()
    assert any("the type of scanner (ray); make it gpu_lidar" in finding for finding in adoption.findings)


@pytest.mark.parametrize(("merge", "way"), [("false", "model/head/link/eye"), ("true", "link/eye")])
def test_sensors_of_included_models(tmp_path, merge, way):
    head = f'<sdf version="1.9"><model name="head"><link name="eye">{SENSORS}</link></model></sdf>'
    (tmp_path / "head.sdf").write_text(head)
    include = f'<include merge="{merge}"><uri>head.sdf</uri></include>'
    (tmp_path / "robot.sdf").write_text(robots.sdf(robots.diff_drive(), more=include))
    adoption = adopt(tmp_path / "robot.sdf", tmp_path / "out")[0]
    assert [sensor.name for sensor in adoption.sensors] == ["lidar", "imu", "cam"]
    assert adoption.sensors[1].topic == f"/world/default/model/rover/{way}/sensor/imu/imu"
    assert adoption.start.renders


@pytest.mark.parametrize(
    ("preserved", "link"), [("", "base_link"), ("<preserveFixedJoint>1</preserveFixedJoint>", "b")]
)
def test_sensors_on_fixed_links_of_a_urdf(tmp_path, preserved, link):
    fixed = '<link name="{0}"/><joint name="{0}_joint" type="fixed"><parent link="{1}"/><child link="{0}"/></joint>'
    more = fixed.format("b", "base_link") + fixed.format("imu_link", "b")
    sensor = '<gazebo reference="imu_link"><sensor name="imu" type="imu"/></gazebo>'
    keep = f'<gazebo reference="b_joint">{preserved}</gazebo>'
    (tmp_path / "robot.urdf").write_text(
        robots.urdf(f"<gazebo>{robots.diff_drive()}</gazebo>{sensor}{keep}", more=more)
    )
    adoption = adopt(tmp_path / "robot.urdf", tmp_path / "out")[0]
    assert adoption.sensors[0].topic == f"/world/default/model/rover/link/{link}/sensor/imu/imu"


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    body = robots.DIFF.replace("0.4", "0.5") + "<topic>cmd_vel</topic>"
    (tmp_path / "robot.sdf").write_text(robots.sdf(robots.diff_drive(body)))
    assert main(["robot.sdf"]) == 0
    shown = capsys.readouterr().out
    for words in (
        "DiffDrive",
        "track: the plugin has 0.5 m",
        "0.4 m",
        "twist_reference    cmd_vel",
        "vds-gz gazebo rover",
    ):
        assert words in shown
    assert "+++ model.sdf" in shown
    assert sorted(os.listdir("rover")) == ["bridge.yaml", "model.sdf", "robot.yaml", "start.yaml"]
    assert check(["rover/robot.yaml"]) == 0
    assert main(["robot.sdf"]) == 2
    assert "not empty" in capsys.readouterr().err
    assert main(["robot.sdf", "--overwrite"]) == 0


def test_the_robots_world(tmp_path):
    (tmp_path / "robot.sdf").write_text(robots.sdf(robots.diff_drive()))
    adoption, folder = adopt(tmp_path / "robot.sdf", tmp_path / "out")
    adoption.write(folder)
    name, text, _ = adopted_world(read_folder(folder), None, (1.0, 2.0, 0.5, 0.0, 0.0, 3.0))
    assert name == "empty"
    assert f"<uri>{folder / 'model.sdf'}</uri>" in text
    assert "<pose>1 2 0.5 0 0 3</pose>" in text
    world = '<sdf version="1.9"><world name="w"><model' + robots.sdf(robots.diff_drive()).partition("<model")[
        2
    ].replace("</sdf>", "</world></sdf>")
    (tmp_path / "world.sdf").write_text(world)
    adoption, folder = adopt(tmp_path / "world.sdf", tmp_path / "own")
    adoption.write(folder)
    assert adopted_world(read_folder(folder), None, (0.0,) * 6)[:2] == ("w", folder / "world.sdf")
    with pytest.raises(ArgumentError, match="own world"):
        adopted_world(read_folder(folder), "hall", (0.0,) * 6)


@pytest.mark.parametrize(
    "text", ["", "[]", "model: ../x\nname: a\n", "model: model.sdf\nname: 3\n", "model: a\nname: b\nmore: c\n", "a: *b"]
)
def test_damaged_folders_are_refused(tmp_path, text):
    (tmp_path / "robot.sdf").write_text(robots.sdf(robots.diff_drive()))
    adoption, folder = adopt(tmp_path / "robot.sdf", tmp_path / "out")
    adoption.write(folder)
    (folder / "start.yaml").write_text(text)
    with pytest.raises(VdsGzError, match=r"start\.yaml"):
        read_folder(folder)
    with pytest.raises(VdsGzError, match=r"has no start\.yaml"):
        read_folder(tmp_path)


def test_includes_of_missing_packages_are_left_out(workspace):
    file = workspace / "description" / "robot.urdf.xacro"
    file.write_text(XACRO.replace("<link", '<xacro:include filename="$(find arm)/arm.xacro"/><link', 1))
    adoption = adopt(file)[0]
    assert any("package 'arm' is not here" in finding for finding in adoption.findings)
