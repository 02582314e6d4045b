"""Robots that ros2_control moves: controllers of wheels in all their releases, and forward controllers."""

import math
import xml.etree.ElementTree as ElementTree

import pytest
import yaml
from helpers import robot_files as robots
from helpers.recorder import Recorder

from vds_gz.core.errors import VdsGzError
from vds_gz.core.plant.gazebo.gazebo_plant import GazeboPlant
from vds_gz.core.vehicle.command import twist
from vds_gz.core.vehicle.make_vehicle import make_vehicle
from vds_gz.tools.adopt.write import adopt

CAR = (
    robots.urdf_hinge("front_left", 0.6, 0.2) + robots.urdf_hinge("front_right", 0.6, -0.2),
    {"rear_left": (0.0, 0.25), "rear_right": (0.0, -0.25)},
)
#: The middle angle of that car at which its inner hinge stops [rad].
STOP = math.atan(1 / (1 / math.tan(0.6) + 0.4 / 1.2))
STEERING = """    {rear}: [rear_right, rear_left]
    {front}: [front_right_hinge, front_left_hinge]
    wheelbase: 0.6
    {front_track}: 0.4
    {rear_track}: 0.5
    {radius}: 0.08
    reference_timeout: 0.2"""
HUMBLE = {
    "rear": "rear_wheels_names",
    "front": "front_wheels_names",
    "front_track": "front_wheel_track",
    "rear_track": "rear_wheel_track",
    "radius": "rear_wheels_radius",
}
ROLLING = {
    "rear": "traction_joints_names",
    "front": "steering_joints_names",
    "front_track": "steering_track_width",
    "rear_track": "traction_track_width",
    "radius": "traction_wheels_radius",
}


@pytest.fixture
def adopted(tmp_path):
    def adopt_controllers(
        yaml_text, text=None, *, more="", joints=robots.TWO, ros="", library="gz_ros2_control-system", stamped=None
    ):
        (tmp_path / "control.yaml").write_text(yaml_text, encoding="utf-8")
        plugin = robots.ros2_control("control.yaml", ros=ros, library=library)
        (tmp_path / "robot.urdf").write_text(text or robots.urdf(plugin, joints, more=more), encoding="utf-8")
        return adopt(tmp_path / "robot.urdf", tmp_path / "out", stamped=stamped)[0]

    return adopt_controllers


def values(adoption):
    return {name: figure.value for name, figure in adoption.vehicle.values.items()}


DIFF = """    left_wheel_names: ["left_joint"]
    right_wheel_names: ["right_joint"]
    wheel_separation: 0.4
    wheel_separation_multiplier: 1.5
    wheel_radius: 0.08
    odom_frame_id: o
    base_frame_id: b
    publish_rate: 20.0
    cmd_vel_timeout: 0.3
    linear.x.max_velocity: 1.0
    linear.x.max_acceleration: .NAN
    angular:
      z:
        max_velocity: 2.0
        min_velocity: -2.0
        has_acceleration_limits: false
        max_acceleration: 3.0"""


def diff_drive(parameters=DIFF):
    """A file with one controller of wheels."""
    return robots.controllers("base", "diff_drive_controller/DiffDriveController", parameters)


@pytest.mark.parametrize("library", ["gz_ros2_control-system", "libign_ros2_control-system.so"])
def test_diff_drive_controller(adopted, library):
    text = diff_drive()
    adoption = adopted(text, library=library)
    found = values(adoption)
    assert (found["track"], found["tire_diameter"]) == (pytest.approx(0.6), 0.16)
    assert found["max_linear_velocity"] == 1.0
    assert found["max_angular_velocity"] == 2.0
    assert "max_linear_acceleration" not in found
    assert "max_angular_acceleration" not in found
    assert adoption.start.remaps[:2] == ("twist_stamped_reference:=base/cmd_vel", "odom:=base/odom")
    parameters = adoption.parameters
    assert (parameters.odom_frame, parameters.base_frame, parameters.pub_rate) == ("o", "b", 20.0)
    assert parameters.twist_reference_max_oldness == 0.3
    controllers = yaml.safe_load(adoption.files["controllers.yaml"])
    assert controllers["/**/forward_velocity_controller"]["ros__parameters"]["joints"] == ["left_joint", "right_joint"]
    controlled = adoption.files["model_ros2_control.urdf"].decode()
    assert "/out/controllers.yaml</parameters>" in controlled
    assert "JointController" in adoption.files["model.urdf"].decode()
    assert "ros2_control-system" not in adoption.files["model.urdf"].decode()


def test_classics_ros2_control_is_exchanged_but_not_loaded(adopted):
    text = diff_drive()
    adoption = adopted(text, library="libgazebo_ros2_control.so")
    assert values(adoption)["track"] == pytest.approx(0.6)
    assert not adoption.start.controllers
    assert "model_ros2_control.urdf" not in adoption.files
    assert adoption.parameters.gazebo.controlled_joints == ""
    assert any("load gz_ros2_control" in finding for finding in adoption.findings)


@pytest.mark.parametrize(
    "inner", ["/>", "></plugin>", "><parameters>a</parameters><parameters>b</parameters><x>1 &lt; 2</x></plugin>"]
)
def test_the_copy_for_ros2_control_has_our_controllers(tmp_path, inner):
    plugin = f'<gazebo><plugin filename="gz_ros2_control-system" name="a&amp;b"{inner}</gazebo>'
    (tmp_path / "robot.urdf").write_text(robots.urdf(plugin))
    (tmp_path / "c.yaml").write_text(diff_drive())
    adoption, folder = adopt(tmp_path / "robot.urdf", tmp_path / "out", controllers=tmp_path / "c.yaml")
    root = ElementTree.fromstring(adoption.files["model_ros2_control.urdf"])
    found = root.find("gazebo/plugin")
    assert found.attrib == {"filename": "gz_ros2_control-system", "name": "a&b"}
    assert [element.text for element in found.findall("parameters")] == [str(folder / "controllers.yaml")]
    assert found.findtext("position_proportional_gain") == "1.0"
    assert found.findtext("x") == ("1 < 2" if "<x>" in inner else None)


def test_topics_of_controllers_are_remapped(adopted):
    text = diff_drive(DIFF + "\n    use_stamped_vel: false")
    ros = "<ros><namespace>r1</namespace><remapping>~/cmd_vel_unstamped:=drive</remapping></ros>"
    assert adopted(text, ros=ros).start.remaps[0] == "twist_reference:=r1/drive"


@pytest.mark.parametrize(
    ("ros", "topic"),
    [
        ("<ros><remapping>/base/cmd_vel_unstamped:=/cmd_vel</remapping></ros>", "/cmd_vel"),
        ("<ros><namespace>r1</namespace><remapping>/r1/base/cmd_vel_unstamped:=/cmd_vel</remapping></ros>", "/cmd_vel"),
        ("<ros><remapping>~/cmd_vel:=cmd_vel</remapping></ros>", "cmd_vel"),
        ("<ros><namespace>/r1</namespace></ros>", "r1/base/cmd_vel_unstamped"),
    ],
)
def test_topics_in_namespaces(adopted, ros, topic):
    text = diff_drive(DIFF + "\n    use_stamped_vel: false")
    assert adopted(text, ros=ros).drive.command_topic == topic


def test_what_releases_assume_differently_is_told_and_can_be_said(adopted):
    text = diff_drive()
    adoption = adopted(text)
    assert any("--no-stamped" in finding for finding in adoption.findings)
    assert any("linear.x.has_velocity_limits is not set" in finding for finding in adoption.findings)
    said = adopted(text, stamped=False)
    assert said.start.remaps[0] == "twist_reference:=base/cmd_vel_unstamped"
    assert not any("--no-stamped" in finding for finding in said.findings)


@pytest.mark.parametrize(
    ("given", "age"), [("cmd_vel_timeout: 0.3", 0.3), ("cmd_vel_timeout: 0.0", 1e6), ("x: 1", 0.5)]
)
def test_the_age_of_commands(adopted, given, age):
    parameters = DIFF.replace("cmd_vel_timeout: 0.3", given)
    text = diff_drive(parameters)
    assert adopted(text).parameters.twist_reference_max_oldness == age


def test_types_in_the_controllers_own_section(adopted):
    text = f"base:\n  ros__parameters:\n    type: diff_drive_controller/DiffDriveController\n{DIFF}\n"
    assert values(adopted(text))["track"] == pytest.approx(0.6)


@pytest.mark.parametrize("names", [HUMBLE, ROLLING])
@pytest.mark.parametrize("kind", ["Ackermann", "Tricycle"])
def test_steering_controllers(adopted, names, kind):
    package = f"{kind.lower()}_steering_controller/{kind}SteeringController"
    text = robots.controllers("steer", package, STEERING.format(**names))
    adoption = adopted(text, more=CAR[0], joints=CAR[1])
    joints = adoption.vehicle.parts.joints
    assert (joints["steering_left"], joints["fixed_wheel_right_joint"]) == (["front_left_hinge"], ["rear_right"])
    assert joints["steered_wheel_left_joint"] == ["front_left_wheel"]
    assert "steered_wheel_left_joint" not in adoption.vehicle.parts.driven
    found = values(adoption)
    # Humble's controllers turn the hinges as if they had the width of the driven axle.
    kingpin = 0.5 if names is HUMBLE else 0.4
    assert (found["wheel_base"], found["track_fixed"], found["track_steered"]) == (0.6, 0.5, kingpin)
    inner = math.atan(1 / (1 / math.tan(0.6) + kingpin / 1.2))
    assert found["steering_actuator.max_position"] == pytest.approx(inner)
    assert not any("the inner wheel needs" in finding for finding in adoption.findings)
    assert adoption.parameters.twist_reference_max_oldness == 0.2
    assert found["steering_actuator.max_velocity"] == 3.0
    assert adoption.start.remaps[:2] == ("twist_stamped_reference:=steer/reference", "odom:=steer/odometry")
    controllers = yaml.safe_load(adoption.files["controllers.yaml"])
    position = controllers["/**/forward_position_controller"]["ros__parameters"]
    assert position["joints"] == ["front_left_hinge", "front_right_hinge"]


def test_hinges_without_a_width_have_that_of_the_driven_axle(adopted):
    parameters = STEERING.format(**ROLLING).replace("    steering_track_width: 0.4\n", "").replace("0.5", "0.44")
    text = robots.controllers("steer", "ackermann_steering_controller/AckermannSteeringController", parameters)
    assert values(adopted(text, more=CAR[0], joints=CAR[1]))["track_steered"] == 0.44


def test_bicycle_steering_controller(adopted):
    parameters = """    rear_wheels_names: [rear]
    front_wheels_names: [front_hinge]
    wheelbase: 0.7
    rear_wheel_radius: 0.08"""
    text = robots.controllers("steer", "bicycle_steering_controller/BicycleSteeringController", parameters)
    adoption = adopted(text, more=robots.urdf_hinge("front", 0.7, 0.0), joints={"rear": (0.0, 0.0)})
    assert adoption.vehicle.parts.joints == {
        "steering": ["front_hinge"],
        "fixed_wheel_joint": ["rear"],
        "steered_wheel_joint": ["front_wheel"],
    }
    assert values(adoption)["track_steered"] == values(adoption)["track_fixed"] == 0.0


def test_tricycle_controller_drives_the_steered_wheel(adopted):
    parameters = """    traction_joint_name: front_wheel
    steering_joint_name: front_hinge
    wheelbase: 0.7
    wheel_radius: 0.08
    steering.max_position: 1.57
    traction.max_acceleration: 3.0
    cmd_vel_timeout: 400"""
    text = robots.controllers("tri", "tricycle_controller/TricycleController", parameters)
    rear = {"rear_left": (0.0, 0.25), "rear_right": (0.0, -0.25)}
    adoption = adopted(text, more=robots.urdf_hinge("front", 0.7, 0.0, stop=1.6), joints=rear)
    assert adoption.parameters.vehicle.drive_on_steered_wheel
    assert adoption.vehicle.parts.driven == {"steering", "steered_wheel_joint"}
    assert values(adoption)["track_fixed"] == pytest.approx(0.5)
    assert adoption.parameters.twist_reference_max_oldness == pytest.approx(0.4)
    assert any("traction.max_acceleration 3 is not taken" in finding for finding in adoption.findings)


def test_mecanum_drive_controller(adopted):
    corners = "\n".join(
        f"    {corner}_wheel_command_joint_name: {corner}"
        for corner in ("front_left", "front_right", "rear_left", "rear_right")
    )
    parameters = (
        corners
        + """
    kinematics:
      wheels_radius: 0.08
      sum_of_robot_center_projection_on_X_Y_axis: 0.55"""
    )
    text = robots.controllers("m", "mecanum_drive_controller/MecanumDriveController", parameters)
    adoption = adopted(text, joints=robots.FOUR)
    assert (values(adoption)["wheel_base"], values(adoption)["track"]) == (pytest.approx(0.6), pytest.approx(0.5))
    assert any("for one cycle after each command" in finding for finding in adoption.findings)
    assert adoption.parameters.twist_reference_max_oldness == 1.0


FORWARD = """controller_manager:
  ros__parameters:
    forward_velocity_controller:
      type: forward_command_controller/ForwardCommandController
    forward_position_controller:
      type: forward_command_controller/ForwardCommandController
forward_velocity_controller:
  ros__parameters: {joints: [rear_left, rear_right], interface_name: velocity}
forward_position_controller:
  ros__parameters: {joints: [front_left_hinge, front_right_hinge], interface_name: position}
"""


def test_forward_controllers_take_the_models_geometry(adopted):
    adoption = adopted(FORWARD, more=CAR[0], joints=CAR[1])
    found = values(adoption)
    assert found["wheel_base"] == pytest.approx(0.6)
    assert found["tire_diameter"] == pytest.approx(0.16)
    assert found["steering_actuator.max_position"] == pytest.approx(STOP)


def steered_all_round(rear_right=(-0.3, -0.2), rear_stop=0.6):
    places = {
        "front_left": (0.3, 0.25),
        "front_right": (0.3, -0.25),
        "rear_left": (-0.3, 0.2),
        "rear_right": rear_right,
    }
    hinges = "".join(
        robots.urdf_hinge(corner, *place, stop=rear_stop if "rear" in corner else 0.6)
        for corner, place in places.items()
    )
    names = [f"{corner}_{part}" for part in ("wheel", "hinge") for corner in places]
    text = FORWARD.replace("[rear_left, rear_right]", str(names[:4]))
    return text.replace("[front_left_hinge, front_right_hinge]", str(names[4:])), hinges


def test_four_wheels_on_hinges_become_a_vehicle_that_steers_both_axles(adopted):
    text, hinges = steered_all_round(rear_stop=0.4)
    adoption = adopted(text, more=hinges, joints={})
    assert adoption.vehicle.model == "four_wheel_steering"
    found = values(adoption)
    geometry = {name: found[name] for name in ("base_link_offset", "wheel_base", "track_front", "track_rear")}
    assert geometry == pytest.approx(
        {"base_link_offset": 0.3, "wheel_base": 0.6, "track_front": 0.5, "track_rear": 0.4}
    )
    # With equal angles against each other, the turning centre is 0.3 m ahead of the rear axle.
    for axle, stop, track in (("front", 0.6, 0.5), ("rear", 0.4, 0.4)):
        limit = math.atan(1.0 / (1.0 / math.tan(stop) + 0.5 * track / 0.3))
        assert found[f"{axle}_steering_actuator.max_position"] == pytest.approx(limit)
        assert found[f"{axle}_steering_actuator.max_velocity"] == 3.0
    joints = sent(adoption, twist(0.5, 0.0, 0.25))
    for corner, x, y in (("front_left", 0.3, 0.25), ("rear_right", -0.3, -0.2)):
        along, across = 0.5 - 0.25 * y, 0.25 * x
        assert joints[f"{corner}_hinge"] == pytest.approx(math.atan2(across, along))
        assert joints[f"{corner}_wheel"] == pytest.approx(math.hypot(along, across) / 0.08)


def modules(places, **hinge):
    """Controllers of wheels and hinges that turn round, each wheel on a hinge, and the joints."""
    hinges = "".join(robots.urdf_hinge(f"m{k}", *place, **hinge) for k, place in enumerate(places))
    wheels, steerings = ([f"m{k}_{part}" for k in range(len(places))] for part in ("wheel", "hinge"))
    text = FORWARD.replace("[rear_left, rear_right]", str(wheels))
    return text.replace("[front_left_hinge, front_right_hinge]", str(steerings)), hinges


SQUARE = ((-0.3, -0.2), (0.3, 0.2), (0.3, -0.2), (-0.3, 0.2))
STOPPED = {"stop": 0.6}


@pytest.mark.parametrize(
    ("places", "hinge"),
    [
        (SQUARE, {"stop": 1e16}),
        (((0.4, 0.0), (-0.2, 0.3), (-0.2, -0.3)), {"stop": 1e16, "axis": "0 0 -1"}),
        ((*SQUARE[:3], (-0.2, 0.2)), STOPPED),  # not on two axles
        ((*SQUARE[:3], (0.3, 0.4)), STOPPED),
    ],
)
def test_wheels_on_hinges_of_their_own_become_modules(adopted, places, hinge):
    text, hinges = modules(places, **hinge)
    adoption = adopted(text, more=hinges, joints={})
    assert adoption.vehicle.model == "swerve"
    p = adoption.parameters.vehicle
    assert (p.module_x, p.module_y) == tuple(zip(*places, strict=True))
    assert p.tire_diameter == pytest.approx(0.16)
    assert p.steering_actuators.max_position == (0.6 if hinge == STOPPED else 0.0)
    assert p.steering_actuators.max_velocity == 3.0
    joints = sent(adoption, twist(0.5, 0.0, 0.25))
    for k, (x, y) in enumerate(places):
        along, across = 0.5 - 0.25 * y, 0.25 * x
        sign = -1.0 if hinge.get("axis") else 1.0
        assert joints[f"m{k}_hinge"] == pytest.approx(sign * math.atan2(across, along))
        assert joints[f"m{k}_wheel"] == pytest.approx(math.hypot(along, across) / 0.08)


def test_modules_with_wheels_beside_their_hinges_are_refused(adopted):
    text, hinges = modules(SQUARE, stop=1e16, beside=0.045)
    message = r"robot.urdf, line \d+: hinge 'm0_hinge' has its wheel 'm0_wheel' 0.045 m beside its axis"
    with pytest.raises(VdsGzError, match=message):
        adopted(text, more=hinges, joints={})


@pytest.mark.parametrize("stop", [1e16, 0.6])
def test_the_median_counts_if_the_radii_of_steered_wheels_differ(adopted, stop):
    text, hinges = modules(SQUARE, stop=stop)
    larger = hinges.replace('radius="0.08"', 'radius="0.09"', 1)
    adoption = adopted(text, more=larger, joints={})
    assert adoption.parameters.vehicle.tire_diameter == pytest.approx(0.16)
    assert "wheel radii are 0.08 to 0.09 m; the median, 0.08, counts" in adoption.vehicle.findings


@pytest.mark.parametrize("places", [SQUARE, SQUARE[:3]])
def test_hinges_that_turn_to_one_side_only_are_refused(adopted, places):
    text, hinges = modules(places, stop=0.6)
    one_sided = hinges.replace('lower="-0.6"', 'lower="0"', 1)
    with pytest.raises(VdsGzError, match=r"hinge 'm0_hinge' turns from 0 to 0\.6 rad; it must turn to both sides"):
        adopted(text, more=one_sided, joints={})


def test_wheels_of_different_radii_on_one_axle_are_refused_by_their_radii(adopted):
    text, hinges = FORWARD, CAR[0].replace('radius="0.08"', 'radius="0.09"', 1)
    with pytest.raises(VdsGzError, match="the collisions of its wheels give none or different ones"):
        adopted(text, more=hinges, joints=CAR[1])


def test_modules_drive_where_all_wheels_roll(adopted):
    text, hinges = modules(SQUARE, stop=1e16, yaw=0.8)
    assert adopted(text, more=hinges, joints={}).vehicle.yaw == pytest.approx(0.8)


def test_tilted_hinges_are_no_modules(adopted):
    text, hinges = modules(SQUARE, stop=1e16, axis="0 0.5 0.866")
    with pytest.raises(VdsGzError, match=r"hinge 'm0_hinge' has the axis 0 0\.5 0\.866; .* are vertical"):
        adopted(text, more=hinges, joints={})


def test_wheels_on_hinges_that_nothing_moves_are_casters(adopted):
    text, hinges = modules(SQUARE, stop=1e16)
    for_wheels = text.replace(str([f"m{k}_hinge" for k in range(4)]), "[m0_wheel]")
    with pytest.raises(VdsGzError, match="moves only wheels below hinges that turn freely, as casters do: m0_wheel"):
        adopted(for_wheels, more=hinges, joints={})


def test_modules_whose_wheels_roll_in_different_directions_are_refused(adopted):
    text, hinges = modules(SQUARE, stop=1e16)
    turned = hinges.replace('rpy="0 0 0.0"', 'rpy="0 0 0.9"', 1)
    with pytest.raises(VdsGzError, match="at angle 0 all wheels must roll ahead"):
        adopted(text, more=turned, joints={})


def test_reversed_axes_of_robots_without_a_controller(adopted):
    reversed_hinges = CAR[0].replace('<axis xyz="0 0 1"/>', '<axis xyz="0 0 -1"/>')
    adoption = adopted(FORWARD, more=reversed_hinges, joints=CAR[1])
    assert "steering_left=-front_left_hinge" in adoption.parameters.gazebo.joint_names


def test_wheels_that_all_turn_the_other_way_round_without_a_controller(adopted):
    """Left stays left: the hinges show the front, and the node undoes the sign."""
    text = robots.urdf(robots.ros2_control("control.yaml"), CAR[1], more=CAR[0])
    reversed_wheels = text.replace('<axis xyz="0 1 0"/>', '<axis xyz="0 -1 0"/>')
    reversed_wheels = reversed_wheels.replace('<axis xyz="0 0 1"/></joint>', '<axis xyz="0 0 -1"/></joint>')
    adoption = adopted(FORWARD, reversed_wheels)
    assert adoption.vehicle.yaw == 0.0
    parts = adoption.vehicle.parts
    assert parts.joints["fixed_wheel_left_joint"] == ["rear_left"]
    assert {"fixed_wheel_left_joint", "fixed_wheel_right_joint"} <= parts.reversed
    assert "steering_left" not in parts.reversed
    assert not any("wrong way" in finding for finding in adoption.findings)
    assert sent(adoption, twist(1.0, 0.0, 0.0))["rear_left"] == -1.0 / 0.08


def test_transmissions(adopted):
    transmissions = "".join(
        f'<transmission name="{name}"><joint name="{name}"><hardwareInterface>x</hardwareInterface></joint>'
        "</transmission>"
        for name in robots.FOUR
    )
    plugin = f"<gazebo>{robots.classic('gazebo_ros_control', '')}</gazebo>"
    adoption = adopted("", robots.urdf(transmissions + plugin, robots.FOUR))
    assert adoption.vehicle.parts.joints["wheel_left_joint"] == ["front_left", "rear_left"]
    assert values(adoption)["track"] == pytest.approx(0.5)
    assert "libgazebo_ros_control" not in adoption.files["model.urdf"].decode()
    without = adopted("", robots.urdf(transmissions, robots.FOUR))
    assert without.files["model.urdf"].decode().count("JointController") == 2


def test_a_robot_of_which_only_the_shape_is_known(adopted):
    plugin = f"<gazebo>{robots.classic('gazebo_ros_control', '')}</gazebo>"
    adoption = adopted("", robots.urdf(plugin, CAR[1], more=CAR[0]))
    assert adoption.vehicle.model == "bicycle"
    assert values(adoption)["wheel_base"] == pytest.approx(0.6)
    assert values(adoption)["steering_actuator.max_position"] == pytest.approx(STOP)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            diff_drive(DIFF.replace("0.4", "wide")),
            "wheel_sep",
        ),
        (
            diff_drive(DIFF.replace("    wheel_radius: 0.08\n", "")),
            "no wheel_radius",
        ),
        (
            diff_drive(DIFF.replace('["left_joint"]', "[1]")),
            "list of joints",
        ),
        (
            robots.controllers("arm", "joint_trajectory_controller/JointTrajectoryController", "    joints: [a]"),
            "no controller of wheels",
        ),
        ("", "it is empty"),
        ("a: [", "not valid YAML"),
    ],
)
def test_wrong_controllers_are_refused(adopted, text, message):
    with pytest.raises(VdsGzError, match=message):
        adopted(text)


def test_a_yaml_that_is_not_here_can_be_named(tmp_path):
    (tmp_path / "robot.urdf").write_text(robots.urdf(robots.ros2_control("$(find none)/x.yaml")))
    with pytest.raises(VdsGzError, match="--controllers FILE"):
        adopt(tmp_path / "robot.urdf", tmp_path / "out")
    text = diff_drive()
    (tmp_path / "mine.yaml").write_text(text)
    adoption = adopt(tmp_path / "robot.urdf", tmp_path / "out", controllers=tmp_path / "mine.yaml")[0]
    assert math.isclose(values(adoption)["track"], 0.6)


def test_the_node_commands_the_joints_of_the_forward_controllers(adopted):
    """Every joint of a controller gets the value of the joint of ours whose role it has."""
    body = DIFF.replace('["left_joint"]', "[front_left, rear_left]").replace(
        '["right_joint"]', "[front_right, rear_right]"
    )
    text = diff_drive(body)
    skid = adopted(text, joints=robots.FOUR)
    assert sent(skid, twist(1.0, 0.0, 1.0)) == {
        "front_left": 0.7 / 0.08,
        "rear_left": 0.7 / 0.08,
        "front_right": 1.3 / 0.08,
        "rear_right": 1.3 / 0.08,
    }
    car = adopted(FORWARD, more=CAR[0], joints=CAR[1])
    assert set(sent(car, twist(1.0, 0.0, 0.5))) == {"rear_left", "rear_right", "front_left_hinge", "front_right_hinge"}


def sent(adoption, command):
    """What each joint of the robot is commanded, by its name in the controllers' file."""
    link = Recorder()
    vehicle = make_vehicle(adoption.parameters, moves=False)
    plant = GazeboPlant(vehicle, adoption.parameters.gazebo, link, lambda: None, print)
    vehicle.enter(command, 0)
    plant.command(100_000_000)
    nodes = yaml.safe_load(adoption.files["controllers.yaml"])
    names = [
        nodes.get(f"/**/forward_{kind}_controller", {"ros__parameters": {"joints": []}})["ros__parameters"]["joints"]
        for kind in ("velocity", "position")
    ]
    return {
        name: pytest.approx(value)
        for group, values in zip(names, link.sent, strict=True)
        for name, value in zip(group, values, strict=True)
    }
