"""Every drive plugin, under the names of each release: joints, geometry, limits, topics and frames."""

import math

import pytest
from helpers import robot_files as robots

from vds_gz.core.errors import VdsGzError
from vds_gz.tools.adopt.write import adopt


@pytest.fixture
def adopted(tmp_path):
    def adopt_text(text, suffix=".sdf", **options):
        file = tmp_path / f"robot{suffix}"
        file.write_text(text, encoding="utf-8")
        return adopt(file, tmp_path / "out", **options)[0]

    return adopt_text


def refused(adopted, text, message, suffix=".sdf"):
    with pytest.raises(VdsGzError, match=message):
        adopted(text, suffix)


def values(adoption):
    return {name: figure.value for name, figure in adoption.vehicle.values.items()}


@pytest.mark.parametrize("form", [robots.GZ, robots.FORTRESS, robots.LIBRARY, ("other", robots.GZ[1])])
def test_diff_drive_under_each_name(adopted, form):
    adoption = adopted(robots.sdf(robots.diff_drive(form=form)))
    vehicle = adoption.vehicle
    assert vehicle.model == "differential"
    assert vehicle.parts.joints == {"wheel_left_joint": ["left_joint"], "wheel_right_joint": ["right_joint"]}
    assert values(adoption) | {} == {
        "base_link_offset": -0.1,
        "track": 0.4,
        "tire_diameter": 0.16,
        "drive_actuators.dead_time": 0.0,
        "drive_actuators.time_constant": 0.0,
        "drive_actuators.max_velocity": 0.0,
        "drive_actuators.max_acceleration": 0.0,
    }
    assert [check.agrees for check in vehicle.checks] == [True, True]
    assert adoption.parameters.gazebo.model == "rover"


def test_defaults_are_those_of_the_plugins(adopted):
    body = "<left_joint>left_joint</left_joint><right_joint>right_joint</right_joint>"
    adoption = adopted(robots.sdf(robots.diff_drive(body)))
    assert (values(adoption)["track"], values(adoption)["tire_diameter"]) == (1.0, 0.4)
    assert [check.agrees for check in adoption.vehicle.checks] == [False, False]
    assert adoption.drive.command_topic == "/model/rover/cmd_vel"
    assert (adoption.parameters.odom_frame, adoption.parameters.base_frame) == ("rover/odom", "rover/chassis")
    assert adoption.parameters.pub_rate == 50.0
    car = adopted(robots.sdf_car(robots.plugin(robots.GZ, "ackermann-steering", "AckermannSteering", ACKERMANN_JOINTS)))
    assert values(car)["wheel_base"] == 1.0
    assert values(car)["track_fixed"] == 1.0
    assert values(car)["track_steered"] == 0.8
    assert values(car)["tire_diameter"] == 0.4
    assert values(car)["steering_actuator.max_position"] == pytest.approx(math.atan(math.sin(0.5)))
    assert values(car)["steering_actuator.time_constant"] == 0.0
    assert any("a lag of 1 s" in finding for finding in car.findings)


ACKERMANN_JOINTS = (
    "<left_joint>left_rear</left_joint><right_joint>right_rear</right_joint>"
    "<left_steering_joint>left_hinge</left_steering_joint><right_steering_joint>right_hinge</right_steering_joint>"
)


def test_limits_of_the_body(adopted):
    limits = (
        "<max_velocity>3</max_velocity><min_velocity>-3</min_velocity><max_linear_velocity>0.5</max_linear_velocity>"
        "<min_linear_velocity>-0.5</min_linear_velocity><max_acceleration>2</max_acceleration>"
        "<min_acceleration>-2</min_acceleration><max_angular_jerk>9</max_angular_jerk>"
    )
    adoption = adopted(robots.sdf(robots.diff_drive(robots.DIFF + limits)))
    assert values(adoption)["max_linear_velocity"] == 0.5
    assert values(adoption)["max_angular_velocity"] == 3.0
    assert values(adoption)["max_linear_acceleration"] == values(adoption)["max_angular_acceleration"] == 2.0
    assert any("max_angular_jerk" in finding for finding in adoption.findings)


def test_a_robot_that_does_not_drive_backward(adopted):
    limits = "<max_linear_velocity>0.5</max_linear_velocity><min_linear_velocity>0</min_linear_velocity>"
    adoption = adopted(robots.sdf(robots.diff_drive(robots.DIFF + limits)))
    assert values(adoption)["max_linear_velocity"] == 0.5
    assert any("no negative linear velocity" in finding for finding in adoption.findings)


@pytest.mark.parametrize(("given", "rate"), [(30, 30.0), (1000, 1000.0), (0, 200.0), (50_000, 1000.0)])
def test_the_rate_of_odometry(adopted, given, rate):
    text = f"<odom_publish_frequency>{given}</odom_publish_frequency>"
    assert adopted(robots.sdf(robots.diff_drive(robots.DIFF + text))).parameters.pub_rate == rate


def test_topics_and_frames_are_the_robots(adopted):
    names = (
        "<topic>cmd_vel</topic><odom_topic>/robot/odom</odom_topic><frame_id>robot/odom</frame_id>"
        "<child_frame_id>base_footprint</child_frame_id><odom_publish_frequency>30</odom_publish_frequency>"
    )
    adoption = adopted(robots.sdf(robots.diff_drive(robots.DIFF + names)))
    assert adoption.start.remaps[:2] == ("twist_reference:=cmd_vel", "odom:=/robot/odom")
    parameters = adoption.parameters
    assert (parameters.odom_frame, parameters.base_frame, parameters.pub_rate) == ("robot/odom", "base_footprint", 30.0)
    stamped = adopted(robots.sdf(robots.diff_drive(robots.DIFF + names)), stamped=True)
    assert stamped.start.remaps[0] == "twist_stamped_reference:=cmd_vel"


def test_unknown_elements_and_names_are_told(adopted):
    text = robots.DIFF + "<odom_publisher_frequency>30</odom_publisher_frequency><topic>my-robot/cmd_vel</topic>"
    adoption = adopted(robots.sdf(robots.diff_drive(text)))
    assert any("odom_publisher_frequency" in finding for finding in adoption.findings)
    assert any("my-robot/cmd_vel" in finding for finding in adoption.findings)
    assert not any("cmd_vel" in remap for remap in adoption.start.remaps)


def test_several_wheels_a_side_are_a_skid_steer(adopted):
    body = "".join(
        f"<{side}_joint>{end}_{side}</{side}_joint>" for side in ("left", "right") for end in ("front", "rear")
    )
    adoption = adopted(robots.sdf(robots.diff_drive(body), robots.FOUR))
    assert adoption.vehicle.parts.joints["wheel_left_joint"] == ["front_left", "rear_left"]
    model = adoption.files["model.sdf"].decode()
    assert model.count("JointController") == 2
    assert "<joint_name>rear_right</joint_name>" in model
    assert any("skid steer" in finding for finding in adoption.findings)


def test_ackermann_steering(adopted):
    body = (
        robots.ACKERMANN + "<steer_p_gain>4</steer_p_gain><max_velocity>2</max_velocity><min_velocity>-2</min_velocity>"
    )
    adoption = adopted(robots.sdf_car(robots.plugin(robots.GZ, "ackermann-steering", "AckermannSteering", body)))
    assert adoption.vehicle.model == "bicycle"
    joints = adoption.vehicle.parts.joints
    assert joints["steering_left"] == ["left_hinge"]
    assert joints["fixed_wheel_right_joint"] == ["right_rear"]
    assert joints["steered_wheel_left_joint"] == ["left_front"]
    assert adoption.vehicle.parts.driven == {
        "steering_left",
        "steering_right",
        "fixed_wheel_left_joint",
        "fixed_wheel_right_joint",
    }
    found = values(adoption)
    assert (found["wheel_base"], found["track_fixed"], found["track_steered"]) == (0.6, 0.5, 0.4)
    assert found["drive_actuator.max_velocity"] == 2.0
    assert any("a lag of 0.25 s" in finding for finding in adoption.findings)
    assert all(check.agrees for check in adoption.vehicle.checks)
    model = adoption.files["model.sdf"].decode()
    assert model.count("::JointController") == model.count("::JointPositionController") == 2
    assert "left_front</joint_name>" not in model


def test_a_car_with_four_driven_wheels(adopted):
    body = robots.ACKERMANN + "<left_joint>left_front</left_joint><right_joint>right_front</right_joint>"
    adoption = adopted(robots.sdf_car(robots.plugin(robots.GZ, "ackermann-steering", "AckermannSteering", body)))
    assert len(adoption.vehicle.parts.driven) == 6


def test_a_car_whose_front_wheels_drive(adopted):
    body = robots.ACKERMANN.replace("left_rear", "left_front").replace("right_rear", "right_front")
    adoption = adopted(robots.sdf_car(robots.plugin(robots.GZ, "ackermann-steering", "AckermannSteering", body)))
    parts = adoption.vehicle.parts
    assert parts.joints["fixed_wheel_left_joint"] == ["left_rear"]
    assert "fixed_wheel_left_joint" not in parts.driven
    assert "steered_wheel_left_joint" in parts.driven
    assert any("driven wheels on hinges" in finding for finding in adoption.findings)


def test_the_plugin_says_which_wheel_of_a_car_is_left(adopted):
    body = robots.ACKERMANN.replace("left_rear", "r").replace("right_rear", "left_rear").replace(">r<", ">right_rear<")
    adoption = adopted(robots.sdf_car(robots.plugin(robots.GZ, "ackermann-steering", "AckermannSteering", body)))
    assert adoption.vehicle.parts.joints["fixed_wheel_left_joint"] == ["right_rear"]
    assert any("'right_rear' is a left one and stands at the right" in finding for finding in adoption.findings)


def test_mecanum_drive(adopted):
    adoption = adopted(
        robots.sdf(robots.plugin(robots.GZ, "mecanum-drive", "MecanumDrive", robots.MECANUM), robots.FOUR)
    )
    assert adoption.vehicle.model == "omni"
    assert adoption.parameters.vehicle.roller_pattern == "x"
    assert (values(adoption)["wheel_base"], values(adoption)["track"]) == (0.6, 0.5)
    assert adoption.vehicle.parts.joints["wheel_rear_left_joint"] == ["rear_left"]


CLASSIC_DIFF = """<ros><namespace>/demo</namespace><remapping>cmd_vel:=drive</remapping></ros>
<left_joint>left_joint</left_joint><right_joint>right_joint</right_joint><wheel_separation>0.4</wheel_separation>
<wheel_diameter>0.16</wheel_diameter><max_wheel_acceleration>1.5</max_wheel_acceleration><odometry_frame>o</odometry_frame>
<robot_base_frame>base</robot_base_frame>"""
ROS1_DIFF = """<leftJoint>left_joint</leftJoint><rightJoint>right_joint</rightJoint>
<wheelSeparation>0.4</wheelSeparation><wheelDiameter>0.16</wheelDiameter><commandTopic>demo/drive</commandTopic><odometryFrame>o</odometryFrame>
<robotBaseFrame>base</robotBaseFrame><wheelAcceleration>1.5</wheelAcceleration>"""


@pytest.mark.parametrize("body", [CLASSIC_DIFF, ROS1_DIFF])
def test_classic_diff_drive(adopted, body):
    adoption = adopted(robots.urdf(f"<gazebo>{robots.classic('gazebo_ros_diff_drive', body)}</gazebo>"), ".urdf")
    assert (values(adoption)["track"], values(adoption)["tire_diameter"]) == (0.4, 0.16)
    assert values(adoption)["drive_actuators.max_acceleration"] == 1.5
    assert adoption.start.remaps[0] == "twist_reference:=demo/drive"
    assert (adoption.parameters.odom_frame, adoption.parameters.base_frame) == ("o", "base")
    assert 'filename="libgazebo_ros_diff_drive' not in adoption.files["model.urdf"].decode()


@pytest.mark.parametrize(
    ("more", "topic"),
    [
        ("<ros><namespace>/robot1</namespace></ros>", "robot1/cmd_vel"),
        ("<robotNamespace>/robot1/</robotNamespace>", "robot1/cmd_vel"),
        ("<robotNamespace>/</robotNamespace>", "cmd_vel"),
        ("<robotNamespace>r</robotNamespace><commandTopic>/drive</commandTopic>", "/drive"),
    ],
)
def test_classic_topics_are_in_their_namespace(adopted, more, topic):
    body = robots.DIFF + more
    adoption = adopted(robots.urdf(f"<gazebo>{robots.classic('gazebo_ros_diff_drive', body)}</gazebo>"), ".urdf")
    assert adoption.drive.command_topic == topic


def test_classic_skid_steer(adopted):
    body = "".join(
        f"<{side}{end}Joint>{end.lower()}_{side}</{side}{end}Joint>"
        for side in ("left", "right")
        for end in ("Front", "Rear")
    )
    text = robots.urdf(f"<gazebo>{robots.classic('gazebo_ros_skid_steer_drive', body)}</gazebo>", robots.FOUR)
    adoption = adopted(text, ".urdf")
    assert adoption.vehicle.parts.joints["wheel_right_joint"] == ["front_right", "rear_right"]
    assert (values(adoption)["track"], values(adoption)["tire_diameter"]) == (0.4, 0.15)


def test_classic_ackermann_takes_its_geometry_from_the_model(adopted):
    body = """<front_left_joint>left_front</front_left_joint><front_right_joint>right_front</front_right_joint>
    <rear_left_joint>left_rear</rear_left_joint><rear_right_joint>right_rear</rear_right_joint>
    <left_steering_joint>left_hinge</left_steering_joint><right_steering_joint>right_hinge</right_steering_joint>
    <max_steer>0.55</max_steer><max_speed>8</max_speed>"""
    adoption = adopted(robots.sdf_car(robots.classic("gazebo_ros_ackermann_drive", body)))
    found = values(adoption)
    assert found["wheel_base"] == pytest.approx(0.6)
    assert found["track_fixed"] == pytest.approx(0.5)
    assert found["tire_diameter"] == pytest.approx(0.16)
    assert found["steering_actuator.max_position"] == 0.55
    assert found["drive_actuator.max_velocity"] == 8.0
    driven = adoption.vehicle.parts.driven
    assert driven == {"steering_left", "steering_right", "fixed_wheel_left_joint", "fixed_wheel_right_joint"}
    assert any("reads angular.z as the steering angle" in finding for finding in adoption.findings)


def test_classic_tricycle_has_its_defaults(adopted):
    body = """<steering_joint>front_hinge</steering_joint><actuated_wheel_joint>front_wheel</actuated_wheel_joint>
    <max_steering_speed>1.5</max_steering_speed>"""
    plugin = f"<gazebo>{robots.classic('gazebo_ros_tricycle_drive', body)}</gazebo>"
    rear = {"rear_left": (0.0, 0.25), "rear_right": (0.0, -0.25)}
    adoption = adopted(robots.urdf(plugin, rear, more=robots.urdf_hinge("front", 0.7, 0.0, stop=1.7)), ".urdf")
    assert values(adoption)["tire_diameter"] == 0.15
    assert values(adoption)["steering_actuator.max_position"] == pytest.approx(math.pi / 2)
    assert adoption.parameters.base_frame == "base_link"
    assert any("<max_steering_speed> 1.5 is not taken" in finding for finding in adoption.findings)


def test_drives_without_wheels_are_refused(adopted):
    refused(adopted, robots.sdf(robots.classic("gazebo_ros_planar_move", "")), "without wheels")
    refused(adopted, robots.sdf(robots.plugin(robots.GZ, "velocity-control", "VelocityControl", "")), "without wheels")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (robots.DIFF.replace("0.4", "wide"), r"robot.sdf, line \d+: <wheel_separation> has the value 'wide'"),
        (robots.DIFF.replace("0.08", "0"), "wheel_radius is 0"),
        (robots.DIFF.replace("0.08", "nan"), "finite"),
        (robots.DIFF.replace(">right_joint<", ">left_joint<"), r"listed twice \(left, right\)"),
        (robots.DIFF.replace(">right_joint<", ">none<"), r"line \d+: there is no joint 'none'.*left_joint"),
        (robots.DIFF.replace(">right_joint<", "><"), "is empty"),
        ("<left_joint>left_joint</left_joint>", "no <right_joint>"),
        (robots.DIFF + "<max_linear_velocity>0</max_linear_velocity>", "cannot move"),
        (robots.DIFF.replace("0.08", "1e300"), "no vehicle of ours has"),
    ],
)
def test_wrong_figures_are_refused_with_their_place(adopted, body, message):
    refused(adopted, robots.sdf(robots.diff_drive(body)), message)


def test_two_drives_or_none_are_refused(adopted):
    refused(adopted, robots.sdf(robots.diff_drive() * 2), "2 drive plugins")
    refused(adopted, robots.sdf(""), "no drive that is known here")


def test_steering_only_is_refused(adopted):
    def car(more):
        body = robots.ACKERMANN + more
        return robots.sdf_car(robots.plugin(robots.GZ, "ackermann-steering", "AckermannSteering", body))

    message = "<use_actuator_msg>true</use_actuator_msg>"
    for more in ("<steering_only>true</steering_only>", f"{message}<actuator_number>0</actuator_number>"):
        refused(adopted, car(more), "steering_only")
    assert adopted(car(message)).vehicle.model == "bicycle"  # without a number the plugin reads twists


def test_velocity_limits_of_joints_count(adopted):
    limit = '<limit effort="10" velocity="5"/>'
    adoption = adopted(robots.urdf(f"<gazebo>{robots.diff_drive()}</gazebo>", limit=limit), ".urdf")
    assert values(adoption)["drive_actuators.max_velocity"] == pytest.approx(0.4)


def test_joints_that_gazebo_cannot_move_are_told(adopted):
    adoption = adopted(
        robots.urdf(f"<gazebo>{robots.diff_drive()}</gazebo>", limit='<limit effort="0" velocity="5"/>'), ".urdf"
    )
    assert any("effort or velocity of left_joint, right_joint is 0" in finding for finding in adoption.findings)
