"""Small robots as others write them: SDF and URDF, with every drive plugin."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

#: Joints of the robot: name, x and y of its wheel [m].
TWO = {"left_joint": (0.1, 0.2), "right_joint": (0.1, -0.2)}
FOUR = {
    "front_left": (0.3, 0.25),
    "front_right": (0.3, -0.25),
    "rear_left": (-0.3, 0.25),
    "rear_right": (-0.3, -0.25),
}
RADIUS = 0.08

GZ = ("gz-sim-{}-system", "gz::sim::systems::{}")
FORTRESS = ("ignition-gazebo-{}-system", "ignition::gazebo::systems::{}")
LIBRARY = ("libignition-gazebo6-{}-system.so", "ignition::gazebo::v6::systems::{}")


def plugin(form: tuple[str, str], words: str, name: str, body: str) -> str:
    """A plugin of gz-sim, as a release writes its names."""
    return f'<plugin filename="{form[0].format(words)}" name="{form[1].format(name)}">{body}</plugin>'


def classic(library: str, body: str) -> str:
    """A plugin of Gazebo Classic."""
    return f'<plugin name="drive" filename="lib{library}.so">{body}</plugin>'


DIFF = (
    "<left_joint>left_joint</left_joint><right_joint>right_joint</right_joint>"
    "<wheel_separation>0.4</wheel_separation><wheel_radius>0.08</wheel_radius>"
)


def diff_drive(body: str = DIFF, form: tuple[str, str] = GZ) -> str:
    """DiffDrive."""
    return plugin(form, "diff-drive", "DiffDrive", body)


def sdf_wheels(joints: Mapping[str, tuple[float, float]], radius: float = RADIUS, frame: str = "") -> str:
    """Wheels with their joints, whose axes are y of the model."""
    relative = f' relative_to="{frame}"' if frame else ""
    return "".join(
        f"""
    <link name="{name}_wheel"><pose{relative}>{x} {y} {radius} -1.5707963267948966 0 0</pose>
      <collision name="tyre"><geometry><cylinder><radius>{radius}</radius><length>0.02</length></cylinder></geometry>
      </collision></link>
    <joint name="{name}" type="revolute"><parent>chassis</parent><child>{name}_wheel</child>
      <axis><xyz>0 0 1</xyz></axis></joint>"""
        for name, (x, y) in joints.items()
    )


def sdf(plugins: str, joints: Mapping[str, tuple[float, float]] = TWO, *, more: str = "", name: str = "rover") -> str:
    """An SDF robot."""
    return f"""<?xml version="1.0"?>
<sdf version="1.9">
  <!-- a robot of somebody's own -->
  <model name="{name}">
    <link name="chassis"><pose>0 0 {RADIUS} 0 0 0</pose></link>{sdf_wheels(joints)}{more}
    {plugins}
  </model>
</sdf>
"""


def sdf_car(plugins: str, *, stop: float = 0.7, base: float = 0.6, kingpin: float = 0.4) -> str:
    """An SDF car: two hinges, each with a wheel, and a driven rear axle."""
    front = "".join(
        f"""
    <link name="{side}_knuckle"><pose>{base} {y} {RADIUS} 0 0 0</pose></link>
    <joint name="{side}_hinge" type="revolute"><parent>chassis</parent><child>{side}_knuckle</child>
      <axis><xyz>0 0 1</xyz><limit><lower>{-stop}</lower><upper>{stop}</upper></limit></axis></joint>
    <link name="{side}_front_wheel"><pose>{base} {y} {RADIUS} 0 0 0</pose>
      <collision name="tyre"><geometry><sphere><radius>{RADIUS}</radius></sphere></geometry></collision></link>
    <joint name="{side}_front" type="revolute"><parent>{side}_knuckle</parent><child>{side}_front_wheel</child>
      <axis><xyz>0 1 0</xyz></axis></joint>"""
        for side, y in (("left", kingpin / 2), ("right", -kingpin / 2))
    )
    return sdf(plugins, {"left_rear": (0.0, 0.25), "right_rear": (0.0, -0.25)}, more=front, name="car")


ACKERMANN = (
    "<left_joint>left_rear</left_joint><right_joint>right_rear</right_joint>"
    "<left_steering_joint>left_hinge</left_steering_joint><right_steering_joint>right_hinge</right_steering_joint>"
    "<wheel_separation>0.5</wheel_separation><kingpin_width>0.4</kingpin_width><wheel_base>0.6</wheel_base>"
    "<steering_limit>0.5</steering_limit><wheel_radius>0.08</wheel_radius>"
)

MECANUM = (
    "<front_left_joint>front_left</front_left_joint><front_right_joint>front_right</front_right_joint>"
    "<back_left_joint>rear_left</back_left_joint><back_right_joint>rear_right</back_right_joint>"
    "<wheel_separation>0.5</wheel_separation><wheelbase>0.6</wheelbase><wheel_radius>0.08</wheel_radius>"
)


def urdf(extensions: str, joints: Mapping[str, tuple[float, float]] = TWO, *, more: str = "", limit: str = "") -> str:
    """A URDF robot."""
    wheels = "".join(
        f"""
  <link name="{name}_wheel"><collision><geometry><cylinder radius="{RADIUS}" length="0.02"/></geometry></collision>
    <inertial><mass value="1"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
  <joint name="{name}" type="continuous"><parent link="base_link"/><child link="{name}_wheel"/>
    <origin xyz="{x} {y} 0" rpy="-1.5707963267948966 0 0"/><axis xyz="0 0 1"/>{limit}</joint>"""
        for name, (x, y) in joints.items()
    )
    return f"""<?xml version="1.0"?>
<robot name="rover">
  <link name="base_link"><inertial><mass value="5"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>{wheels}{more}
  {extensions}
</robot>
"""


def urdf_hinge(
    name: str, x: float, y: float, *, stop: float = 0.6, axis: str = "0 0 1", beside: float = 0.0, yaw: float = 0.0
) -> str:
    """A hinge of a URDF car with its wheel, which may stand beside the hinge [m]."""
    return f"""
  <link name="{name}_knuckle"/>
  <joint name="{name}_hinge" type="revolute"><parent link="base_link"/><child link="{name}_knuckle"/>
    <origin xyz="{x} {y} 0"/><axis xyz="{axis}"/>
    <limit lower="{-stop}" upper="{stop}" effort="10" velocity="3"/></joint>
  <link name="{name}_wheel_link"><collision><geometry><sphere radius="{RADIUS}"/></geometry></collision></link>
  <joint name="{name}_wheel" type="continuous"><parent link="{name}_knuckle"/><child link="{name}_wheel_link"/>
    <origin xyz="0 {beside} 0" rpy="0 0 {yaw}"/><axis xyz="0 1 0"/></joint>"""


def ros2_control(yaml: Path | str, *, library: str = "gz_ros2_control-system", ros: str = "") -> str:
    """The plugin of ros2_control."""
    return f"""<gazebo><plugin filename="{library}" name="gz_ros2_control::GazeboSimROS2ControlPlugin">
    <parameters>{yaml}</parameters>{ros}</plugin></gazebo>"""


def controllers(name: str, kind: str, parameters: str) -> str:
    """The YAML of a controller manager with one controller."""
    return f"""controller_manager:
  ros__parameters:
    update_rate: 100
    joint_state_broadcaster:
      type: joint_state_broadcaster/JointStateBroadcaster
    {name}:
      type: {kind}
{name}:
  ros__parameters:
{parameters}
"""
