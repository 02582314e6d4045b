"""Drives of which only the joints are known: which are wheels and which hinges, and what they are together."""

from __future__ import annotations

import math
from collections.abc import Collection

from vds_gz.core.parameters.vehicles import MIN_MODULES
from vds_gz.tools.adopt import geometry_check as geometry
from vds_gz.tools.adopt.robot_drive import CORNERS, DriveKind, NamedJoint, RobotDrive, fail, listed
from vds_gz.tools.adopt.structure import Structure
from vds_gz.tools.adopt.xml_text import Tag


def of_joints(
    what: str, tag: Tag, joints: list[NamedJoint], structure: Structure, angles: Collection[str] = ()
) -> RobotDrive:
    """A drive of which only the joints are known; those of ``angles`` are commanded by their angle."""
    unique = list({named.joint: named for named in joints}.values())
    upright = {named: structure.joint(named) for named in unique if geometry.vertical(structure.joint(named))}
    driven = [named for named in unique if named not in upright]
    if modules := _corners(structure, driven, [*upright]):
        return _of_places("four_wheel_steering", what, tag, modules)
    if modules := _modules(structure, driven, [*upright]):
        return _of_places("swerve", what, tag, modules)
    hinges = [named for named, joint in upright.items() if math.isfinite(joint.upper) or joint.name in angles]
    steering = {named.joint for named in hinges}
    free = [joint for joint in structure.joints.values() if geometry.vertical(joint) and math.isinf(joint.upper)]
    swivels = [joint for joint in free if joint.name not in steering]
    casters = {joint.name for swivel in swivels for joint in geometry.steered_below(structure, swivel)}
    wheels = [named for named in driven if named.joint not in casters]
    if not wheels and driven:
        tag.fail(
            f"{what} moves only wheels below hinges that turn freely, as casters do: "
            f"{listed(named.joint for named in driven)}. Wheels must be fixed to the body, or below hinges with stops; "
            "three to eight of them may each have a free hinge if that is moved too"
        )
    if not wheels:
        tag.fail(f"{what} moves no wheel; a drive must have one")
    drive = _of_places("ackermann" if hinges else "differential", what, tag, {})
    if hinges:
        by_side(drive, structure, wheels, hinges)
    else:
        turned = structure.turned(geometry.front([structure.joint(named) for named in wheels], []))
        left, right = _halves(turned, wheels)
        drive.joints = {"left": left, "right": right}
    return drive


def _of_places(kind: DriveKind, what: str, tag: Tag, joints: dict[str, list[NamedJoint]]) -> RobotDrive:
    """A drive of which only the joints are known, by their places."""
    return RobotDrive(kind, what, tag, joints, joints_only=True, command_topic="cmd_vel", odometry_topic="odom")


def _modules(
    structure: Structure, wheels: list[NamedJoint], hinges: list[NamedJoint]
) -> dict[str, list[NamedJoint]] | None:
    """Three or more wheels, each on a hinge of its own; None for other robots."""
    wheel_of = {named.joint: named for named in wheels}
    below = [geometry.steered_below(structure, structure.joint(hinge)) for hinge in hinges]
    steered = {joint.name for group in below for joint in group}
    if any(len(group) != 1 for group in below) or not len(hinges) == len(steered) >= MIN_MODULES:
        return None
    if steered != wheel_of.keys():
        return None
    numbered = list(enumerate(zip(hinges, below, strict=True), 1))
    return {
        **{f"steering_{number}": [hinge] for number, (hinge, _) in numbered},
        **{str(number): [wheel_of[group[0].name]] for number, (_, group) in numbered},
    }


def _corners(
    structure: Structure, wheels: list[NamedJoint], hinges: list[NamedJoint]
) -> dict[str, list[NamedJoint]] | None:
    """Four wheels on four hinges with stops, sorted by corners; None for other robots, or unless on two axles."""
    upright, rolling = ([structure.joint(named) for named in group] for group in (hinges, wheels))
    below = [geometry.steered_below(structure, hinge) for hinge in upright]
    steered = {joint.name for group in below for joint in group}
    if not len(hinges) == len(wheels) == len(steered) == 4 or steered != {joint.name for joint in rolling}:
        return None
    if any(len(group) != 1 for group in below) or not all(math.isfinite(hinge.upper) for hinge in upright):
        return None
    structure = structure.turned(geometry.front(rolling, []))
    place = {named: structure.joint(named).position for named in hinges}
    ordered = sorted(hinges, key=lambda named: float(place[named][0]))
    rear, front = (sorted(axle, key=lambda named: float(place[named][1])) for axle in (ordered[:2], ordered[2:]))
    base = float(place[front[0]][0] - place[rear[0]][0])
    if any(abs(float(place[axle[0]][0] - place[axle[1]][0])) > geometry.SAME * base for axle in (front, rear)):
        return None
    by_corner = dict(zip(("front_right", "front_left", "rear_right", "rear_left"), (*front, *rear), strict=True))
    joint_of = {named.joint: named for named in wheels}
    wheel_on = {hinge: joint_of[group[0].name] for hinge, group in zip(hinges, below, strict=True)}
    return {
        **{f"steering_{corner}": [by_corner[corner]] for corner in CORNERS},
        **{corner: [wheel_on[by_corner[corner]]] for corner in CORNERS},
    }


def by_side(drive: RobotDrive, structure: Structure, traction: list[NamedJoint], hinges: list[NamedJoint]) -> None:
    """Sort wheels and hinges by the side on which they stand."""
    rolling, upright = ([structure.joint(named) for named in group] for group in (traction, hinges))
    yaw = geometry.front(rolling, upright) if drive.joints_only else geometry.heading(rolling)
    structure = structure.turned(yaw)
    if len(hinges) == 1:
        drive.joints["steering"] = hinges
    else:
        left, right = _halves(structure, hinges)
        drive.joints |= {"steering_left": left, "steering_right": right}
    if len(traction) == 1:
        drive.joints["wheel"] = traction
    else:
        left, right = _halves(structure, traction)
        drive.joints |= {"left": left, "right": right}


def _halves(structure: Structure, named: list[NamedJoint]) -> tuple[list[NamedJoint], list[NamedJoint]]:
    """The joints at the left and at the right of their middle."""
    sides = {joint: float(structure.joint(joint).position[1]) for joint in named}
    centre = sum(sides.values()) / len(sides)
    left = [joint for joint in named if sides[joint] > centre]
    right = [joint for joint in named if sides[joint] <= centre]
    if not left:
        fail(
            named[0].place,
            f"joints {listed(joint.joint for joint in named)} stand at the same place; one is left, one right",
        )
    return left, right


def transmissions(robot: Tag) -> list[NamedJoint]:
    """The joints of a URDF's ``<transmission>`` elements, which ROS 1 and Gazebo Classic move."""
    return [
        NamedJoint(name, joint.place) for joint in _joints(robot, "transmission") if (name := joint.get("name", ""))
    ]


def interfaces(robot: Tag) -> list[NamedJoint]:
    """The joints of ``<ros2_control>`` elements that have a command interface."""
    joints = _joints(robot, "ros2_control")
    return [NamedJoint(joint.get("name", ""), joint.place) for joint in joints if joint.tags("command_interface")]


def _joints(robot: Tag, block: str) -> list[Tag]:
    """The joints in all elements of a kind."""
    return [joint for element in robot.tags(block) for joint in element.tags("joint")]
