"""The model for Gazebo: its plugins, and its sensors compared with their parameters and data sheets."""

from __future__ import annotations

import functools
import math
import re
import xml.etree.ElementTree as ElementTree

import pytest
from helpers.sensors import GROUPS, IN_GAZEBO

from vds_gz.core.configuration import load_parameters, preset_names
from vds_gz.core.description import gz_topics as topics
from vds_gz.core.description.sdf import joint_plugins, sdf
from vds_gz.core.description.urdf_writer import parameters_taken, urdf
from vds_gz.core.parameters.declaration import describe
from vds_gz.core.parameters.vehicles import BicycleParameters, DifferentialParameters, OmniParameters
from vds_gz.core.share import share
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.vehicle_model import Joint


@functools.cache
def described(model: str, parameters: object, sensors: tuple[tuple[str, object], ...], **options: object) -> str:
    return sdf(models()[model], parameters, sensors=dict(sensors), **options)


def simulated(model: str, parameters: object, sensors: dict[str, object] | None = None, **options: object):
    root = ElementTree.fromstring(described(model, parameters, tuple((sensors or {}).items()), **options))
    assert root.tag == "sdf"
    (result,) = root.findall("model")
    return result


def settings(plugin: ElementTree.Element) -> dict[str, str]:
    return {item.tag: item.text for item in plugin}


def plugins(vehicle: ElementTree.Element, kind: str) -> list[dict[str, str]]:
    result = [element for element in vehicle.findall("plugin") if element.get("name") == f"gz::sim::systems::{kind}"]
    return [settings(element) for element in result]


@pytest.mark.parametrize("preset", preset_names())
def test_one_message_moves_all_joints(preset):
    parameters = load_parameters(preset)
    joints = models()[parameters.model].joints(parameters.vehicle)
    vehicle = simulated(parameters.model, parameters.vehicle, name="robo")
    assert vehicle.get("name") == "robo"
    for command, controller in (("velocity", "JointController"), ("position", "JointPositionController")):
        names = [joint.name for joint in joints if joint.command == command]
        result = plugins(vehicle, controller)
        assert [element["joint_name"] for element in result] == names
        assert [element["actuator_number"] for element in result] == [str(index) for index in range(len(names))]
        for element in result:
            assert element["topic"] == topics.actuators("robo") == "/model/robo/actuators"
            assert element["use_actuator_msg"] == "true"
            assert element.get("use_velocity_commands") == ("true" if command == "position" else None)


def test_passive_joints_have_no_controller():
    kinds = {"left": "wheel", "hitch_1_joint": "hitch", "right": "wheel"}
    joints = [*(Joint(name, kind) for name, kind in kinds.items()), Joint("trailer_wheel", "wheel", passive=True)]
    controlled = [
        (element.findtext("joint_name"), element.findtext("actuator_number")) for element in joint_plugins(joints, "v")
    ]
    assert controlled == [("left", "0"), ("right", "1")]


def test_plugins_report_joints_and_pose():
    vehicle = simulated("omni", OmniParameters(), name="robo", rate=125.0)
    (joints,) = plugins(vehicle, "JointStatePublisher")
    (pose,) = plugins(vehicle, "OdometryPublisher")
    assert joints == {"topic": "/model/robo/joint_state", "update_rate": "125"}
    assert pose == {
        "dimensions": "3",
        "odom_topic": "/model/robo/odometry",
        "odom_publish_frequency": "125",
        "odom_frame": "map",
        "robot_base_frame": "base_link",
    }


def test_file_names_of_systems():
    result = simulated("bicycle", BicycleParameters()).findall("plugin")
    assert {element.get("filename") for element in result} == {
        "gz-sim-joint-controller-system",
        "gz-sim-joint-position-controller-system",
        "gz-sim-joint-state-publisher-system",
        "gz-sim-odometry-publisher-system",
    }


@pytest.mark.parametrize(("pattern", "sign"), [("x", 1), ("o", -1)])
def test_rollers_pull_along_their_axles(pattern, sign):
    """The roller at the bottom lies across the one on top, which points to the middle in an X."""
    vehicle = simulated("omni", OmniParameters(roller_pattern=pattern))
    for place, diagonal in (("front_left", 1), ("rear_left", -1), ("rear_right", 1), ("front_right", -1)):
        friction = vehicle.find(f"link[@name='wheel_{place}']/collision/surface/friction/ode")
        assert float(friction.findtext("mu2")) == 0
        direction = friction.find("fdir1")
        # In base_link, so that it does not turn with the wheel.
        assert direction.get("{http://gazebosim.org/schema}expressed_in") == "base_link"
        assert [float(part) for part in direction.text.split()] == [1, -diagonal * sign, 0]


def test_the_sdf_needs_no_other_file():
    text = sdf(models()["omni"], OmniParameters())
    assert "<uri>" not in text
    assert "<include>" not in text
    assert 'xmlns:gz="http://gazebosim.org/schema"' in text


# Sensors

#: Vertical angles of the real lidars [degrees].
HELIOS_ROWS = {
    "helios_32_fov_26": "-16 -14.5 -13 -12.5 -11 -9.5 -8 -7 -6.5 -6.0 -5.5 -5.0 -4.5 -4.0 -3.5 -3.0 -2.5 -2.0 -1.5 "
    "-1.0 -0.5 0 0.5 1.0 1.5 2.0 2.5 3.0 3.5 6.0 8.0 10.0",
    "helios_32_fov_31": " ".join(map(str, range(-16, 16))),
    "helios_32_fov_70": "-55.020 -52.081 -49.142 -46.204 -43.265 -40.326 -37.387 -34.449 -31.510 -28.571 -25.632 "
    "-22.694 -19.755 -16.816 -13.877 -10.939 -8.000 -6.667 -5.333 -4.000 -2.667 -1.333 0.000 1.333 2.667 4.000 5.333 "
    "6.667 8.754 10.841 12.929 15",
}


def carried(kind: str, **values: object) -> list[ElementTree.Element]:
    """The sensors in SDF that one sensor becomes."""
    vehicle = simulated("bicycle", BicycleParameters(), sensors={"probe": GROUPS[kind](**values)})
    return mounted(vehicle)


def mounted(vehicle: ElementTree.Element) -> list[ElementTree.Element]:
    """The sensors of a vehicle, without that of contacts, which every vehicle has."""
    return [sensor for sensor in vehicle.findall("link/sensor") if sensor.get("type") != "contact"]


def test_the_body_feels_contacts_and_a_caster_does_not():
    for model, parameters in (("bicycle", BicycleParameters()), ("differential", DifferentialParameters())):
        vehicle = simulated(model, parameters, name="robo")
        (sensor,) = vehicle.findall("link[@name='base_link']/sensor[@type='contact']")
        assert [element.text for element in sensor.findall("contact/collision")] == ["chassis_collision_0"]
        assert sensor.findtext("contact/topic") == topics.contacts("robo")


def value(sensor: ElementTree.Element, path: str) -> float:
    return float(sensor.findtext(path))


def rows(sensor: ElementTree.Element) -> list[float]:
    """Vertical angles of a lidar [degrees]."""
    scan = sensor.find("lidar/scan/vertical")
    count, low, high = (float(scan.findtext(tag)) for tag in ("samples", "min_angle", "max_angle"))
    pitch = (high - low) / (count - 1) if count > 1 else 0.0
    return [math.degrees(low + index * pitch) for index in range(int(count))]


@pytest.mark.parametrize("kind", HELIOS_ROWS)
def test_rows_of_a_helios_are_those_of_the_real_one(kind):
    angles = [angle for band in carried(kind) for angle in rows(band)]
    assert angles == pytest.approx([float(angle) for angle in HELIOS_ROWS[kind].split()], abs=0.0125)


@pytest.mark.parametrize("kind", [*HELIOS_ROWS, "velodyne_vlp16"])
@pytest.mark.parametrize(("rate", "columns"), [(5.0, 3616), (20.0, 904)])
def test_firing_time_sets_the_columns(kind, rate, columns):
    for band in carried(kind, rate=rate):
        assert value(band, "update_rate") == rate
        assert value(band, "lidar/scan/horizontal/samples") == columns


def test_a_turn_does_not_measure_the_same_direction_twice():
    (sensor,) = carried("ouster_os1")
    low, high = (value(sensor, f"lidar/scan/horizontal/{end}_angle") for end in ("min", "max"))
    assert high - low == pytest.approx(2 * math.pi * 1023 / 1024)


@pytest.mark.parametrize(
    ("kind", "count", "fov", "near", "far", "noise"),
    [
        ("helios_32_fov_31", 32, 31.0, 0.2, 110.0, 0.005),
        ("ouster_os1", 128, 22.5, 0.5, 90.0, 0.005),
        ("velodyne_vlp16", 16, 30.0, 0.1, 80.0, 0.005),
        ("lidar2d", 1, 0.0, 0.05, 30.0, 0.01),
        ("rplidar_a2", 1, 0.0, 0.05, 16.0, 0.01),
    ],
)
def test_lidars(kind, count, fov, near, far, noise):
    (sensor,) = carried(kind)
    angles = rows(sensor)
    assert len(angles) == count
    assert angles[-1] - angles[0] == pytest.approx(fov)
    assert value(sensor, "lidar/range/min") == near
    assert value(sensor, "lidar/range/max") == far
    assert value(sensor, "lidar/noise/stddev") == noise


def test_fans():
    (generic,), (rplidar,) = carried("lidar2d", fov=math.radians(270)), carried("rplidar_a2", rate=5.0)
    assert value(generic, "lidar/scan/horizontal/samples") == 181
    assert value(generic, "lidar/scan/horizontal/max_angle") == pytest.approx(math.radians(135))
    assert value(rplidar, "lidar/scan/horizontal/samples") == 1600  # 125 us each


def test_imu():
    (sensor,) = carried("imu", angular_velocity_random_walk=1e-5, linear_acceleration_random_walk=3e-4)
    for axis in "xyz":
        for what, white, walk in (("angular_velocity", 2e-4, 1e-5), ("linear_acceleration", 0.017, 3e-4)):
            assert value(sensor, f"imu/{what}/{axis}/noise/stddev") == white
            assert value(sensor, f"imu/{what}/{axis}/noise/dynamic_bias_stddev") == walk
            # So long that the bias in Gazebo, which decays to zero, only walks.
            assert value(sensor, f"imu/{what}/{axis}/noise/dynamic_bias_correlation_time") >= 1e8
    assert sensor.findtext("imu/enable_orientation") == "false"
    assert sensor.findtext("imu/orientation_reference_frame/localization") == "ENU"
    (measuring, *_) = carried("imu", measure_orientation=True, orientation_reference_frame="start")
    assert measuring.findtext("imu/enable_orientation") == "true"
    assert measuring.find("imu/orientation_reference_frame") is None


@pytest.mark.parametrize("kind", ["camera", "rgbd_camera"])
def test_cameras(kind):
    (sensor,) = carried(kind, columns=800, rows=600, fx=800.0, fy=790.0, cx=400.0, cy=300.0, clip_max=300.0)
    assert value(sensor, "camera/horizontal_fov") == pytest.approx(2 * math.atan(0.5))
    assert value(sensor, "camera/image/width") == 800
    assert value(sensor, "camera/image/height") == 600
    lens = {item.tag: float(item.text) for item in sensor.find("camera/lens/intrinsics")}
    assert lens == {"fx": 800.0, "fy": 790.0, "cx": 400.0, "cy": 300.0, "s": 0.0}
    assert value(sensor, "camera/clip/far") == 300.0
    assert sensor.find("camera/optical_frame_id") is None  # Jetty does not read it


@pytest.mark.parametrize("kind", ["camera", "rgbd_camera"])
def test_a_camera_has_no_lens_if_its_field_of_view_is_enough(kind):
    """With a lens, Gazebo's points of an RGBD camera are at wrong places."""
    (sensor,) = carried(kind)
    assert value(sensor, "camera/horizontal_fov") == pytest.approx(2 * math.atan(0.8))
    assert sensor.find("camera/lens") is None


def test_depth_has_its_own_clips():
    (sensor,) = carried("rgbd_camera")
    assert value(sensor, "camera/depth_camera/clip/near") == 0.01
    assert value(sensor, "camera/depth_camera/clip/far") == 15.0


def test_gnss_noise_is_in_metres():
    (sensor,) = carried("gnss", horizontal_std_noise=1.5, vertical_std_noise=2.5)
    sensing = sensor.find("navsat/position_sensing")
    assert float(sensing.findtext("vertical/noise/stddev")) == 2.5
    # Gazebo adds the noise to latitude and longitude in degrees.
    degree = 2 * math.pi * 6371e3 / 360
    assert float(sensing.findtext("horizontal/noise/stddev")) * degree == pytest.approx(1.5, rel=0.005)


@pytest.mark.parametrize("kind", IN_GAZEBO)
def test_macros_have_the_same_defaults_as_the_parameters(kind, tmp_path):
    """So the macros can be used in other robots too."""
    file = tmp_path / "robot.xacro"
    file.write_text(f"""<robot name="robot" xmlns:xacro="http://www.ros.org/wiki/xacro">
        <xacro:include filename="{share("models", "sensors", f"{kind}.xacro")}"/>
        <link name="base_link"/><xacro:{kind} name="probe"/></robot>""")
    bare = tmp_path / "bare.xacro"
    bare.write_text('<robot name="robot"><link name="base_link"/></robot>')
    alone = urdf("robot", BicycleParameters(), file)
    called = urdf("robot", BicycleParameters(), bare, {"probe": GROUPS[kind]()})
    assert canonical(alone) == canonical(called)


#: Parameters that Gazebo's sensors lack.
NOT_IN_GAZEBO = {
    "gnss": r"layout|fix_type|regions|correlation_time|(float|rtk)_(horizontal|vertical)_std_noise|correlated_.*",
    "imu": "",
    "camera": "",
    "rgbd_camera": "",
}


@pytest.mark.parametrize("kind", IN_GAZEBO)
def test_macros_take_every_parameter_that_gazebo_has(kind):
    names = {item.name for item in describe(GROUPS[kind]())} - {"type"}
    left = names - parameters_taken(kind, share("models") / IN_GAZEBO[kind].gazebo.xacro, ())
    assert {name for name in names if re.fullmatch(NOT_IN_GAZEBO.get(kind, "layout"), name)} == left


def canonical(text: str) -> list[tuple[str, dict[str, object], object]]:
    """Elements in order, numbers as numbers."""

    def plain(word: str | None) -> object:
        try:
            return [round(float(part), 9) for part in (word or "").split()]
        except ValueError:
            return word

    items = ElementTree.fromstring(text).iter()
    return [
        (item.tag, {key: plain(word) for key, word in item.items()}, plain((item.text or "").strip())) for item in items
    ]


@pytest.mark.parametrize("kind", IN_GAZEBO)
def test_a_sensor_has_its_pose_and_no_mass(kind):
    sensors = {"probe": GROUPS[kind](xyz=(0.1, -0.2, 0.3), rpy=(0.0, 0.1, 0.2))}
    bare = simulated("bicycle", BicycleParameters())
    vehicle = simulated("bicycle", BicycleParameters(), sensors=sensors)
    frame = vehicle.find("frame[@name='probe']")
    assert frame.get("attached_to") == "base_link"
    assert [float(part) for part in frame.findtext("pose").split()] == pytest.approx([0.1, -0.2, 0.3, 0, 0.1, 0.2])
    for sensor in mounted(vehicle):
        assert sensor.find("pose").get("relative_to") == "probe"
        assert sensor.findtext("gz_frame_id") == ("probe_optical_frame" if "camera" in kind else "probe")
    masses = [[float(mass.text) for mass in model.iter("mass")] for model in (bare, vehicle)]
    assert masses[0] == masses[1]


#: Ends that Gazebo appends to the topic of a sensor, by its type in Gazebo.
APPENDED = {
    "gpu_lidar": ("", "/points"),
    "imu": ("",),
    "navsat": ("",),
    "camera": ("", "/../camera_info"),
    "rgbd_camera": ("/image", "/depth_image", "/points", "/camera_info"),
}


@pytest.mark.parametrize("kind", IN_GAZEBO)
def test_topics_are_those_of_the_catalogue(kind):
    vehicle = simulated("bicycle", BicycleParameters(), name="robo", sensors={"probe": GROUPS[kind]()})
    for sensor in mounted(vehicle):
        topic = sensor.findtext("topic")
        present = {topic + end for end in APPENDED[sensor.get("type")] if ".." not in end}
        present |= {topic.rpartition("/")[0] + "/camera_info" for end in APPENDED[sensor.get("type")] if ".." in end}
        assert {topics.of_sensor("robo", f"probe/{stream.gz}") for stream in IN_GAZEBO[kind].streams} <= present


def test_a_sensor_with_the_name_of_a_link_is_refused():
    with pytest.raises(ValueError, match="sensor 'chassis' has the name of a link of"):
        sdf(models()["bicycle"], BicycleParameters(), sensors={"chassis": GROUPS["imu"]()})
