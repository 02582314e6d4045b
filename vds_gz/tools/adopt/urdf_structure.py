"""The joints and collisions of a URDF robot: https://wiki.ros.org/urdf/XML"""

from __future__ import annotations

import math

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.core.world.geometry_reader import IDENTITY, matrix, rotation_of_angles
from vds_gz.tools.adopt.robot_files import RobotFiles
from vds_gz.tools.adopt.structure import Structure, StructureJoint, limit_of, unit, vector
from vds_gz.tools.adopt.xml_text import Tag


def of_urdf(robot: Tag, library: RobotFiles) -> Structure:
    """The structure of a URDF ``<robot>``, whose frame is its root link."""
    structure = Structure(library)
    links = {_name(link): link for link in reversed(robot.tags("link"))}
    if len(links) < len(robot.tags("link")):
        names = [_name(link) for link in robot.tags("link")]
        again = next(link for index, link in enumerate(robot.tags("link")) if names[index] in names[:index])
        again.fail(f"the robot has two links '{_name(again)}'; each needs its own name")
    joints = robot.tags("joint")
    children: dict[str, list[Tag]] = {}
    parents: dict[str, Tag] = {}
    for joint in joints:
        parent, child = (_end(joint, end) for end in ("parent", "child"))
        for link in (parent, child):
            if link not in links:
                joint.fail(f"joint '{_name(joint)}' joins link '{link}', which the robot does not have")
        if child in parents:
            other = parents[child]
            joint.fail(
                f"link '{child}' is the child of joint '{_name(joint)}' and of '{_name(other)}'; it may have one"
            )
        parents[child] = joint
        children.setdefault(parent, []).append(joint)
    roots = [name for name in links if name not in parents]
    if len(roots) != 1:
        robot.fail(f"the robot has {len(roots)} links that are no joint's child; it must have one, its root")
    waiting = [(roots[0], IDENTITY)]
    while waiting:
        name, pose = waiting.pop()
        _urdf_link(structure, links[name], name, pose)
        for joint in children.get(name, ()):
            place = pose @ _origin(joint)
            waiting.append((_end(joint, "child"), place))
    for joint in joints:
        if _end(joint, "child") in structure.links:
            _urdf_joint(structure, joint)
        else:
            joint.fail(f"joint '{_name(joint)}' is not joined to the root link '{roots[0]}'")
    return structure


def _urdf_link(structure: Structure, link: Tag, name: str, pose: Array) -> None:
    structure.add_link(name, link, pose)
    for collision in link.tags("collision"):
        geometry = collision.child("geometry")
        assert geometry is None or isinstance(geometry, Tag)
        structure.add_collision(name, geometry, pose @ _origin(collision))


def _urdf_joint(structure: Structure, joint: Tag) -> None:
    child, kind = _end(joint, "child"), joint.get("type", "")
    place = structure.links[child]
    axis, limit = joint.child("axis"), joint.child("limit")
    direction = np.array([1.0, 0.0, 0.0])
    if isinstance(axis, Tag):
        direction = np.array(vector(axis.get("xyz", "1 0 0"), axis, "xyz"))
    if kind not in ("fixed", "floating"):
        direction = unit(place[:3, :3] @ direction, joint)
    values, stuck = (-math.inf, math.inf, math.inf), False
    if isinstance(limit, Tag):
        lower, upper = (0.0, 0.0) if kind in ("revolute", "prismatic") else (-math.inf, math.inf)
        values = (
            limit_of(limit.get("lower", ""), lower, limit, "lower"),
            limit_of(limit.get("upper", ""), upper, limit, "upper"),
            limit_of(limit.get("velocity", ""), math.inf, limit, "velocity"),
        )
        stuck = limit_of(limit.get("effort", ""), math.inf, limit, "effort") == 0.0 or values[2] == 0.0
    lower, upper, velocity = values
    if kind == "continuous":
        lower, upper = -math.inf, math.inf
    velocity = velocity if velocity > 0.0 else math.inf  # 0 means that there is none
    structure.add_joint(
        StructureJoint(
            _name(joint),
            kind,
            _end(joint, "parent"),
            child,
            place[:3, 3],
            direction,
            lower,
            upper,
            velocity,
            joint,
            stuck,
        )
    )


def _name(tag: Tag) -> str:
    name = tag.get("name", "")
    if not name:
        tag.fail(f"<{tag.tag}> has no name")
    return name


def _end(joint: Tag, end: str) -> str:
    """The name of a joint's parent or child."""
    tag = joint.child(end)
    name = tag.get("link", "") if tag is not None else ""
    if not name:
        joint.fail(f"joint '{_name(joint)}' has no <{end} link=...>")
    return name


def _origin(tag: Tag) -> Array:
    """The ``<origin>`` of an element, of shape (4, 4)."""
    origin = tag.child("origin")
    if not isinstance(origin, Tag):
        return IDENTITY
    turn, place = (vector(origin.get(key, "0 0 0"), origin, key) for key in ("rpy", "xyz"))
    return matrix(rotation_of_angles(*turn), np.array(place))
