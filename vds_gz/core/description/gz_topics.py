"""Names of a vehicle's topics in Gazebo."""

from __future__ import annotations


def actuators(name: str) -> str:
    """Commands to all joints of the vehicle ``name`` (``gz.msgs.Actuators``).

    ``velocity[]`` holds the wheel joints and ``position[]`` the steering joints, each in the order of the
    model's ``joints``.
    """
    return f"/model/{name}/actuators"


def joint_state(name: str) -> str:
    """Positions and velocities of all joints, by the joint's name (``gz.msgs.Model``)."""
    return f"/model/{name}/joint_state"


def odometry(name: str) -> str:
    """True pose in the world and velocity of base_link (``gz.msgs.Odometry``)."""
    return f"/model/{name}/odometry"


def contacts(name: str) -> str:
    """Contacts of the body (``gz.msgs.Contacts``)."""
    return f"/model/{name}/contacts"


def of_sensor(name: str, topic: str) -> str:
    """A topic of a sensor of the vehicle ``name``, e.g. ``lidar1/points``; an absolute one is unchanged."""
    return topic if topic.startswith("/") else f"/model/{name}/{topic}"
