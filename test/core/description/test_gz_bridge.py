"""The configuration of ros_gz_bridge."""

import yaml
from helpers.sensors import GROUPS, IN_GAZEBO

from vds_gz.core.description.gz_bridge import clock_bridge, vehicle_bridge
from vds_gz.core.plant.gazebo.links.link_types import LINKS

#: Types that ros_gz_bridge translates into each other.
PAIRS = {
    "actuator_msgs/msg/Actuators": "gz.msgs.Actuators",
    "ros_gz_interfaces/msg/Contacts": "gz.msgs.Contacts",
    "nav_msgs/msg/Odometry": "gz.msgs.Odometry",
    "sensor_msgs/msg/CameraInfo": "gz.msgs.CameraInfo",
    "sensor_msgs/msg/Image": "gz.msgs.Image",
    "sensor_msgs/msg/Imu": "gz.msgs.IMU",
    "sensor_msgs/msg/JointState": "gz.msgs.Model",
    "sensor_msgs/msg/LaserScan": "gz.msgs.LaserScan",
    "sensor_msgs/msg/NavSatFix": "gz.msgs.NavSat",
    "sensor_msgs/msg/PointCloud2": "gz.msgs.PointCloudPacked",
    "rosgraph_msgs/msg/Clock": "gz.msgs.Clock",
}

SENSORS = {f"a_{kind}": group() for kind, group in GROUPS.items()}

#: Topics out of Gazebo besides those of sensors.
OUT = ("/model/robo/joint_state", "/model/robo/odometry", "contacts")


def of_sensors():
    """The topics of all sensors that Gazebo simulates."""
    return {stream.topic(f"a_{kind}") for kind, record in IN_GAZEBO.items() for stream in record.streams}


def entries(text):
    return {entry["ros_topic_name"]: entry for entry in yaml.safe_load(text)}


def test_only_joint_commands_go_into_gazebo():
    result = entries(vehicle_bridge("robo", SENSORS))
    assert {name for name, item in result.items() if item["direction"] == "ROS_TO_GZ"} == {"/model/robo/actuators"}
    assert set(result) - of_sensors() == {"/model/robo/actuators", *OUT}


def test_other_links_need_fewer_topics():
    transport = entries(vehicle_bridge("robo", SENSORS, link=LINKS["transport"].bridged("robo")))
    assert transport.keys() == {"contacts"} | of_sensors()
    control = entries(vehicle_bridge("robo", SENSORS, link=LINKS["ros2_control"].bridged("robo")))
    assert control.keys() == {"contacts", "/model/robo/odometry"} | of_sensors()
    assert control["/model/robo/odometry"]["direction"] == "GZ_TO_ROS"


def test_types_are_those_that_the_bridge_knows():
    for text in (vehicle_bridge("robo", SENSORS), clock_bridge()):
        for entry in yaml.safe_load(text):
            ros_type, gz_type = entry["ros_type_name"], entry["gz_type_name"]
            assert PAIRS.get(ros_type) == gz_type, f"PAIRS must have the ROS type of {gz_type}"


def test_only_the_newest_command_counts():
    commands = entries(vehicle_bridge("robo"))["/model/robo/actuators"]
    assert commands["publisher_queue"] == commands["subscriber_queue"] == 1


def test_sensors_lie_in_the_namespace_and_have_frames():
    result = entries(vehicle_bridge("robo", {"cam": GROUPS["rgbd_camera"](), "gps": GROUPS["gnss"]()}, "robo/"))
    assert result["cam/image_raw"]["gz_topic_name"] == "/model/robo/cam/image"
    assert result["cam/image_raw"]["frame_id"] == "robo/cam_optical_frame"
    assert result["cam/points"]["frame_id"] == "robo/cam"
    assert result["gps/fix"]["frame_id"] == "robo/gps"


def test_topics_of_sensors_are_lazy():
    for name, item in entries(vehicle_bridge("robo", SENSORS)).items():
        assert item.get("lazy", False) == (not name.startswith("/model"))


def test_the_clock_has_its_own_bridge():
    (clock,) = yaml.safe_load(clock_bridge())
    assert clock["ros_topic_name"] == clock["gz_topic_name"] == "/clock"
    assert clock["qos_profile"] == "CLOCK"
    assert "/clock" not in entries(vehicle_bridge("robo", SENSORS))
