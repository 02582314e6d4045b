"""Robot descriptions read back from the URDF, and the vehicles whose descriptions are looked at."""

from __future__ import annotations

import functools
import itertools
import math
import xml.etree.ElementTree as ElementTree

import numpy as np

from vds_gz.core.description.urdf_writer import urdf
from vds_gz.core.parameters.vehicles import (
    BicycleParameters,
    DifferentialParameters,
    FourWheelSteeringParameters,
    OmniParameters,
    SwerveParameters,
)

OFFSET = 0.3

#: Half of all combinations: any three of the four differences meet in every way.
BICYCLES = [
    BicycleParameters(OFFSET, drive_on_steered_wheel=driven, reverse=reverse, track_fixed=fixed, track_steered=steered)
    for driven, reverse, fixed, steered in itertools.product((False, True), (False, True), (0.0, 1.1), (0.0, 1.3))
    if (driven + reverse + (fixed > 0.0) + (steered > 0.0)) % 2 == 0
]
VEHICLES = [
    *(("bicycle", parameters) for parameters in BICYCLES),
    ("differential", DifferentialParameters(OFFSET)),
    *(
        ("four_wheel_steering", FourWheelSteeringParameters(OFFSET, track_front=front, track_rear=rear))
        for front, rear in ((1.1, 1.3), (0.0, 0.0))
    ),
    ("omni", OmniParameters(OFFSET)),
    ("omni", OmniParameters(OFFSET, wheel_base=0.5, track=0.5, roller_pattern="x")),
    ("swerve", SwerveParameters(base_link_offset=OFFSET)),
    ("swerve", SwerveParameters(module_x=(0.4, -0.3, 0.0), module_y=(0.0, 0.2, -0.3))),
]


class Robot:
    """A URDF, and where its links are."""

    def __init__(self, text: str) -> None:
        self.root = ElementTree.fromstring(text)
        self.links = {link.get("name"): link for link in self.root.findall("link")}
        self.joints = {joint.get("name"): joint for joint in self.root.findall("joint")}

    def movable(self) -> set[str]:
        return {name for name, joint in self.joints.items() if joint.get("type") != "fixed"}

    def pose(self, link: str, **positions: float) -> np.ndarray:
        """Pose of a link in the root link, as a 4x4 matrix, the joints standing at these positions."""
        for name, joint in self.joints.items():
            if joint.find("child").get("link") == link:
                turn = np.eye(4)
                if name in positions:
                    turn[:3, :3] = rotation(numbers(joint.find("axis").get("xyz")), positions[name])
                return self.pose(joint.find("parent").get("link"), **positions) @ origin(joint) @ turn
        return np.eye(4)

    def place(self, link: str) -> list[float]:
        return self.pose(link)[:3, 3].tolist()

    def limit(self, joint: str, name: str) -> float:
        return float(self.joints[joint].find("limit").get(name))


@functools.cache
def drawn(model: str, parameters: object) -> Robot:
    """The robot of these parameters. Tests only read it."""
    return Robot(urdf(model, parameters))


def numbers(text: str) -> np.ndarray:
    return np.array([float(number) for number in text.split()])


def rotation(axis: np.ndarray, angle: float) -> np.ndarray:
    """Rotation about a unit vector (Rodrigues)."""
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross


def origin(element: ElementTree.Element) -> np.ndarray:
    """The <origin> of an element as a 4x4 matrix."""
    child = element.find("origin")
    pose = np.eye(4)
    if child is not None:
        roll, pitch, yaw = numbers(child.get("rpy", "0 0 0"))
        x, y, z = np.eye(3)
        pose[:3, :3] = rotation(z, yaw) @ rotation(y, pitch) @ rotation(x, roll)
        pose[:3, 3] = numbers(child.get("xyz", "0 0 0"))
    return pose
