"""Geometry measured on the model, compared with the plugin's."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.core.errors import WorldError
from vds_gz.core.world.meshes import read_mesh
from vds_gz.core.world.sdf_files import Resources
from vds_gz.tools.adopt.robot_drive import Figure, NamedJoint
from vds_gz.tools.adopt.robot_files import RobotFiles
from vds_gz.tools.adopt.structure import RoundShape, Structure, StructureJoint
from vds_gz.tools.adopt.xml_text import Tag

#: Relative and absolute difference [m] up to which two lengths agree.
SAME, NEAR = 0.01, 5e-4

#: How far an axis may be from its direction, as a sine.
ASKEW = 0.1

LEFT = np.array([0.0, 1.0, 0.0])
UP = np.array([0.0, 0.0, 1.0])


class GeometryCheck(NamedTuple):
    """A figure of the plugin beside that of the model; one of both may be missing."""

    name: str
    unit: str
    plugin: Figure | None
    model: float | None

    @property
    def agrees(self) -> bool:
        """Whether both say the same, or only one says something."""
        if self.plugin is None or self.model is None:
            return True
        return math.isclose(self.plugin.value, self.model, rel_tol=SAME, abs_tol=NEAR)


@dataclass(frozen=True, slots=True)
class RobotWheel:
    """A wheel: its joint, its centre in the model's frame [m], and its radius [m] if its collision gives one."""

    joint: StructureJoint
    centre: Array
    radius: float | None


def wheel(structure: Structure, joint: StructureJoint) -> RobotWheel:
    """The wheel on a joint: the largest sphere, cylinder or mesh among the collisions of its link."""
    links = structure.rigid_with(joint.child)
    shapes = [shape for link in links for shape in structure.round.get(link, ()) if _rolls(shape, joint)]
    if not shapes:
        meshes = [mesh for link in links for mesh in structure.meshes.get(link, ())]
        radii = [around for tag, pose in meshes if (around := _mesh_radius(structure.library, tag, pose, joint))]
        return RobotWheel(joint, joint.position, max(radii, default=None))
    largest = max(shapes, key=lambda shape: shape.radius)
    return RobotWheel(joint, largest.centre, largest.radius)


def _rolls(shape: RoundShape, joint: StructureJoint) -> bool:
    """True for a sphere, or a cylinder around the joint's axis."""
    return shape.length == 0.0 or abs(float(shape.pose[:3, 2] @ joint.axis)) > 1.0 - ASKEW


def _mesh_radius(library: RobotFiles, tag: Tag, pose: Array, joint: StructureJoint) -> float | None:
    """The radius of a mesh about a joint's axis [m]; None if it cannot be read."""
    path = library.find(tag.get("filename", "") or tag.value("uri"), tag.file.parent)
    if path is None or not path.is_file() or tag.child("submesh") is not None:
        return None
    mesh, uri, scale = Tag("mesh"), Tag("uri"), Tag("scale")
    for element in (mesh, uri, scale):
        element.file, element.line = tag.file, tag.line
    uri.text, scale.text = str(path.resolve()), tag.get("scale", "") or tag.value("scale", "1 1 1")
    mesh.extend([uri, scale])
    try:
        corners = read_mesh(mesh, Resources({})).vertices
    except WorldError:
        return None
    arms = corners @ pose[:3, :3].T + pose[:3, 3] - joint.position
    return float(np.linalg.norm(arms - np.outer(arms @ joint.axis, joint.axis), axis=1).max())


def heading(joints: Sequence[StructureJoint]) -> float:
    """The direction in which wheels roll at positive speeds, from +x of the model about z [rad].

    Where some turn the other way round, it is the direction across their axes that is nearer to +x, or to +y.
    """
    directions = np.array([np.cross(joint.axis, UP) for joint in joints])
    forward = np.linalg.svd(directions)[2][0]  # their principal direction
    ways = directions @ forward
    if abs(float(ways.sum())) < 0.5 * len(joints):
        forward = forward * (1.0 if forward[0] > ASKEW or (abs(forward[0]) <= ASKEW and forward[1] > 0.0) else -1.0)
    elif ways.sum() < 0.0:
        forward = -forward
    yaw = math.atan2(forward[1], forward[0])
    return yaw if abs(yaw) > math.asin(ASKEW) else 0.0


def front(joints: Sequence[StructureJoint], hinges: Sequence[StructureJoint]) -> float:
    """The direction across the wheels' axes from +x of the model about z [rad], whatever the axes' signs are.

    It is the one in which the hinges stand before the wheels; without hinges, that which is nearer to +x, or to +y.
    """
    yaw = heading(joints)
    forward = np.array([math.cos(yaw), math.sin(yaw), 0.0])
    ahead = 0.0
    if hinges:
        places = (np.mean([joint.position for joint in group], axis=0) for group in (hinges, joints))
        ahead = float((next(places) - next(places)) @ forward)
    if abs(ahead) < NEAR:
        ahead = float(forward[0] if abs(forward[0]) > ASKEW else forward[1])
    return yaw if ahead > 0.0 else math.remainder(yaw + math.pi, math.tau)


def wheels(structure: Structure, named: Sequence[NamedJoint]) -> list[RobotWheel]:
    """The wheels on joints that a plugin names."""
    return [wheel(structure, structure.joint(joint)) for joint in named]


def middle(group: Sequence[RobotWheel]) -> Array:
    """The mean of the centres [m]."""
    centre: Array = np.mean([member.centre for member in group], axis=0)
    return centre


def separation(left: Sequence[RobotWheel], right: Sequence[RobotWheel]) -> float:
    """Lateral distance between two groups of wheels, along their axles [m]."""
    axis = left[0].joint.axis
    return abs(float((middle(left) - middle(right)) @ axis))


def radius(group: Sequence[RobotWheel]) -> float | None:
    """The radius that the collisions of all wheels have; None if they differ or no collision gives one."""
    radii = [member.radius for member in group if member.radius is not None]
    if not radii or max(radii) - min(radii) > NEAR:
        return None
    return radii[0]


def steered_below(structure: Structure, hinge: StructureJoint) -> list[StructureJoint]:
    """The wheels that a hinge steers."""
    return [joint for joint in structure.below(hinge.child) if joint.turns and not vertical(joint)]


def vertical(joint: StructureJoint) -> bool:
    """Whether a joint turns about a vertical axis, as a hinge of a steering does."""
    return abs(float(joint.axis @ UP)) > 0.7


def rolling(structure: Structure, without: Sequence[str]) -> list[StructureJoint]:
    """Other joints on which wheels could roll: axes are horizontal, without stops, and a shape turns about them."""
    return [
        joint
        for joint in structure.joints.values()
        if joint.turns
        and joint.name not in without
        and abs(float(joint.axis @ UP)) < ASKEW
        and math.isinf(joint.upper)
        and wheel(structure, joint).radius is not None
    ]


def directions(structure: Structure, joints: Mapping[str, Sequence[str]]) -> list[str]:
    """Findings on joints that do not stand or turn as the drive assumes; the robot's joints by the names of ours."""
    findings = []
    for ours, names in joints.items():
        steers = ours.startswith("steering")
        for name in names:
            axis = structure.joints[name].axis
            along = float(axis @ (UP if steers else LEFT))
            shown = axis_text(axis)
            if along < -0.7:
                wrong = "positive angles steer it to the right" if steers else "positive speeds roll it backward"
                findings.append(f"joint '{name}': its axis is {shown}: {wrong}, also with the robot's own drive")
            elif along < 1.0 - ASKEW and not steers:
                findings.append(
                    f"joint '{name}' has the axis {shown}, which is not lateral: the robot does not drive straight"
                )
    for left in joints:
        right = left.replace("left", "right")
        if right == left or right not in joints:
            continue
        sides = [structure.joints[joints[ours][0]].position[1] for ours in (left, right)]
        if sides[0] < sides[1]:
            findings.append(
                f"joint '{joints[left][0]}' is a left one and stands at the right, also with the robot's own drive"
            )
    return findings


def axis_text(axis: Array) -> str:
    """A unit vector for a message."""
    return " ".join(f"{part:.3g}" for part in np.round(axis, 4) + 0.0)


def stop_of(hinges: Sequence[StructureJoint]) -> float | None:
    """The least angle at which a hinge stops [rad]; None without stops."""
    stops = [min(abs(hinge.lower), abs(hinge.upper)) for hinge in hinges]
    least = min(stops, default=math.inf)
    return least if 0.0 < least < math.inf else None


def middle_angle(inner: float, wheel_base: float, track: float) -> float:
    """The angle of the middle wheel [rad] at an angle of the inner one: cot(middle) = cot(inner) + track/(2 base)."""
    return math.atan2(math.sin(inner) * wheel_base, math.cos(inner) * wheel_base + 0.5 * track * math.sin(inner))


def inner_angle(middle_angle: float, wheel_base: float, track: float) -> float:
    """The angle of the inner wheel by Ackermann's rule [rad], at an angle of the middle one [rad]."""
    return math.atan2(
        math.sin(middle_angle) * wheel_base, math.cos(middle_angle) * wheel_base - 0.5 * track * math.sin(middle_angle)
    )
