"""The sensors of a robot with their topics in Gazebo, and the bridge that brings them to ROS."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from vds_gz.core.description import gz_topics as topics
from vds_gz.core.description.gz_bridge import CONTACTS, JOINTS, BridgeEntry, entry
from vds_gz.core.sensing.planar_lidar import SCAN
from vds_gz.core.sensing.point_layout import POINTS
from vds_gz.core.sensing.sensors.camera import CAMERA_INFO, IMAGE
from vds_gz.core.sensing.sensors.gnss import FIX
from vds_gz.core.sensing.sensors.imu import DATA
from vds_gz.tools.adopt.robot_drive import ros_name
from vds_gz.tools.adopt.robot_file import RobotFile
from vds_gz.tools.adopt.robot_files import RobotFiles
from vds_gz.tools.adopt.sdf_structure import inner_models
from vds_gz.tools.adopt.structure import Structure
from vds_gz.tools.adopt.xml_text import Tag

#: The world whose name stands in topics that have one; a launch file puts the name of its own there.
WORLD = "default"

#: The topic of the joints' states in ROS.
JOINT_STATES = "joint_states"

#: Types in ROS and in Gazebo of what our own sensors send too.
_IMAGE, _CAMERA_INFO, _POINTS, _SCAN, _IMU, _FIX = (
    (stream.ros_type, stream.gz_type) for stream in (IMAGE, CAMERA_INFO, POINTS, SCAN, DATA, FIX)
)

#: Topics of each type of sensor: what follows its ``<topic>``, and the types in ROS and in Gazebo. ``../`` stands for
#: the topic's last part.
_STREAMS: Mapping[str, tuple[tuple[str, str, str], ...]] = {
    "gpu_lidar": (("", *_SCAN), ("/points", *_POINTS)),
    "camera": (("", *_IMAGE), ("../camera_info", *_CAMERA_INFO)),
    "depth_camera": (("", *_IMAGE), ("/points", *_POINTS), ("../camera_info", *_CAMERA_INFO)),
    "rgbd_camera": (
        ("/image", *_IMAGE),
        ("/depth_image", *_IMAGE),
        ("/points", *_POINTS),
        ("/camera_info", *_CAMERA_INFO),
    ),
    "imu": (("", *_IMU),),
    "navsat": (("", *_FIX),),
    "magnetometer": (("", "sensor_msgs/msg/MagneticField", "gz.msgs.Magnetometer"),),
    "air_pressure": (("", "sensor_msgs/msg/FluidPressure", "gz.msgs.FluidPressure"),),
    "altimeter": (("", "ros_gz_interfaces/msg/Altimeter", "gz.msgs.Altimeter"),),
    "force_torque": (("", "geometry_msgs/msg/WrenchStamped", "gz.msgs.Wrench"),),
    "contact": (("", *CONTACTS),),
}
_SAME = {
    "gpu_ray": "gpu_lidar",
    "depth": "depth_camera",
    "rgbd": "rgbd_camera",
    "gps": "navsat",
    "wideanglecamera": "camera",
    "wide_angle_camera": "camera",
    "thermal": "camera",
    "thermal_camera": "camera",
    "multicamera": "camera",
}

#: Last part of the topic of a sensor without ``<topic>``, below its scoped name.
_DEFAULT = {
    "gpu_lidar": "scan",
    "camera": "image",
    "depth_camera": "depth_image",
    "rgbd_camera": "",
    "force_torque": "forcetorque",
}

#: Types that Gazebo Classic simulates and Gazebo does not.
NOT_SIMULATED = frozenset({"lidar", "ray"})

#: Sensors that render.
RENDERED = frozenset({"gpu_lidar", "camera", "depth_camera", "rgbd_camera"})


class RobotSensor(NamedTuple):
    """A sensor: its name, its type, its topic in Gazebo, and the entries of its bridge; empty if not simulated."""

    name: str
    kind: str
    topic: str
    entries: tuple[BridgeEntry, ...]

    @property
    def renders(self) -> bool:
        """Whether it needs rendering."""
        return _SAME.get(self.kind, self.kind) in RENDERED


def sensors_of(robot: RobotFile, structure: Structure) -> list[RobotSensor]:
    """The sensors of a robot, in the order of its file."""
    found = (
        _of_urdf(robot.model, structure) if robot.is_urdf else _of_sdf(robot.model, robot.version, robot.library, "")
    )
    return [_sensor(robot, part, sensor) for part, sensor in found]


def _of_urdf(robot: Tag, structure: Structure) -> Iterator[tuple[str, Tag]]:
    """Links or joints, and their sensors."""
    for extension in robot.tags("gazebo"):
        for sensor in extension.tags("sensor"):
            part = extension.get("reference", "")
            if part in structure.joints and part not in structure.links:
                yield f"joint/{part}", sensor
            else:
                yield f"link/{_lumped(part, robot, structure)}", sensor


def _lumped(link: str, robot: Tag, structure: Structure) -> str:
    """The link in Gazebo: a link on a fixed joint becomes a part of its parent, unless the joint is preserved."""
    kept = {
        extension.get("reference", "")
        for extension in robot.tags("gazebo")
        for name in ("preserveFixedJoint", "disableFixedJointLumping")
        if extension.value(name).lower() in ("true", "1")
    }
    fixed = {joint.child: joint for joint in structure.joints.values() if joint.kind == "fixed"}
    while link in fixed and fixed[link].name not in kept and fixed[link].parent != "world":
        link = fixed[link].parent
    return link


def _of_sdf(model: Tag, version: str, library: RobotFiles, where: str) -> Iterator[tuple[str, Tag]]:
    """Links or joints of a model and of those in it, and their sensors; ``where`` is the way to the model."""
    for part in model.tags("link", "joint"):
        for sensor in part.tags("sensor"):
            yield f"{where}{part.tag}/{part.get('name', '')}", sensor
    for inner in inner_models(model, version, library):
        way = where if inner.merged else f"{where}model/{inner.name}/"
        yield from _of_sdf(inner.node, inner.version, library, way)


def _sensor(robot: RobotFile, part: str, sensor: Tag) -> RobotSensor:
    name, kind = sensor.get("name", ""), sensor.get("type", "")
    if kind in NOT_SIMULATED:
        return RobotSensor(name, kind, "", ())
    same = _SAME.get(kind, kind)
    inner = sensor.child("contact")
    topic = sensor.value("topic") or (inner.value("topic") if isinstance(inner, Tag) else "")
    if not topic or topic == "__default_topic__":
        last = _DEFAULT.get(same, same)
        topic = f"/world/{WORLD}/model/{robot.name}/{part}/sensor/{name}" + (f"/{last}" if last else "")
    entries = []
    for suffix, ros_type, gz_type in _STREAMS.get(same, ()):
        there = topic + suffix
        if suffix.startswith("../"):
            parent, slash, _ = topic.rpartition("/")
            there = f"{parent}{slash}{suffix.removeprefix('../')}"
        if suffix.endswith("camera_info") and (info := _camera_info(sensor)):
            there = info
        ros = there if ros_name(there) else f"{_word(name)}{suffix.replace('../', '/')}"
        entries.append(entry(ros, ros_type, gz_type, gz_topic=there) | {"lazy": True})
    return RobotSensor(name, kind, topic, tuple(entries))


def _camera_info(sensor: Tag) -> str:
    camera = sensor.child("camera")
    return sensor.value("camera_info_topic") or (camera.value("camera_info_topic") if isinstance(camera, Tag) else "")


def _word(name: str) -> str:
    """A name with only what ROS allows."""
    word = "".join(letter if letter.isascii() and (letter.isalnum() or letter == "_") else "_" for letter in name)
    return word if word[:1].isalpha() else f"sensor_{word}"


def joint_states(model: str) -> BridgeEntry:
    """The bridge of the joints' states, under the robot's own names, for its robot_state_publisher."""
    return entry(JOINT_STATES, *JOINTS, gz_topic=topics.joint_state(model))
