"""Quantities in the messages of commands and measurements, by type."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from vds_gz.interface.commands import CommandType, whole_types
from vds_gz.interface.conversions import yaw_of
from vds_gz.ros.graph import Message
from vds_gz.study.signals import COMMANDED, LIMITS, is_hinge
from vds_gz.vehicle.command import ACKERMANN, CONTROL, PEDALS, TWIST, CommandKind


class Key(NamedTuple):
    """Meaning of a number: a quantity, and for a joint its name."""

    quantity: str
    joint: str = ""


Reader = Callable[[Message], Mapping[Key, float]]

#: The quantities of a command of each kind.
_COUNTING: Mapping[CommandKind, tuple[str, ...]] = MappingProxyType(
    {
        TWIST: ("v_x", "v_y", "yaw_rate"),
        ACKERMANN: ("v_x", "steering", *LIMITS),
        CONTROL: ("v_x", "acceleration", "steering"),
        PEDALS: ("accel", "brake", "wheel"),
    }
)


def command_readers(*, pedals: bool) -> dict[str, Reader]:
    """Readers of the messages of all command types: of cars with pedals, or of the others."""
    return {one.topic.type: _reader(one) for one in whole_types() if (one.kind == PEDALS) == pedals}


def _reader(one: CommandType) -> Reader:
    keys = [(Key(name), COMMANDED[name]) for name in _COUNTING[one.kind]]

    def read(message: object) -> dict[Key, float]:
        command = one.decode(message).command()
        values = {key: getattr(command, field) for key, field in keys}
        return {key: 0.0 if key.quantity in LIMITS and value == math.inf else value for key, value in values.items()}

    return read


_V_X, _V_Y, _YAW_RATE, _STEERING = map(Key, ("v_x", "v_y", "yaw_rate", "steering"))
_X, _Y, _HEADING = map(Key, ("x", "y", "heading"))


def _of_twist(twist: Message) -> dict[Key, float]:
    return {_V_X: twist.linear.x, _V_Y: twist.linear.y, _YAW_RATE: twist.angular.z}


def _of_odometry(message: Message) -> dict[Key, float]:
    pose = message.pose.pose
    at = {_X: pose.position.x, _Y: pose.position.y, _HEADING: yaw_of(pose.orientation)}
    return _of_twist(message.twist.twist) | at


def _of_joints(message: Message) -> dict[Key, float]:
    """Angles of hinges and their mean; for each other joint its speed, or its angle without a speed."""
    positions = dict(zip(message.name, message.position, strict=False))
    velocities = dict(zip(message.name, message.velocity, strict=False))
    hinges = {name: angle for name, angle in positions.items() if is_hinge(name)}
    values = {Key("joint_position", name): angle for name, angle in hinges.items()}
    if hinges:
        values[_STEERING] = sum(hinges.values()) / len(hinges)
    for name in message.name:
        if name in velocities and name not in hinges:
            values[Key("joint_velocity", name)] = velocities[name]
        elif name in positions and name not in hinges:
            values[Key("joint_position", name)] = positions[name]
    return values


MEASUREMENTS: Mapping[str, Reader] = MappingProxyType(
    {
        "nav_msgs/msg/Odometry": _of_odometry,
        "geometry_msgs/msg/TwistStamped": lambda m: _of_twist(m.twist),
        "autoware_vehicle_msgs/msg/VelocityReport": lambda m: {
            _V_X: m.longitudinal_velocity,
            _V_Y: m.lateral_velocity,
            _YAW_RATE: m.heading_rate,
        },
        "autoware_vehicle_msgs/msg/SteeringReport": lambda m: {_STEERING: m.steering_tire_angle},
        "sensor_msgs/msg/JointState": _of_joints,
        "sensor_msgs/msg/Imu": lambda m: {_YAW_RATE: m.angular_velocity.z},
    }
)

#: Types that give the main velocities, and those that give the main steering angle.
VELOCITY_TYPES = (
    "nav_msgs/msg/Odometry",
    "geometry_msgs/msg/TwistStamped",
    "autoware_vehicle_msgs/msg/VelocityReport",
)
STEERING_TYPES = ("autoware_vehicle_msgs/msg/SteeringReport", "sensor_msgs/msg/JointState")
