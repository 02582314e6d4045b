"""Conversion of a URDF to the SDF model that Gazebo simulates, without Gazebo.

Gazebo reads URDF too, but then chooses how to convert rigidly joined links, frames without mass, and names. Here,
rigidly joined links become one SDF link with the name of the topmost. The others remain as frames, so every link of the
URDF is in the SDF, with the same name and place.

``<gazebo>`` elements of the URDF without a reference are copied into the model. Those that refer to a link may hold
``<mu1>``, ``<mu2>``, ``<fdir1>``, ``<slip1>``, ``<slip2>`` (friction of its collisions) and ``<sensor>``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.core.description.urdf_reader import DescriptionError, Robot, UrdfJoint, attribute, number, numbers, origin
from vds_gz.core.geometry import Transform, angles, axes

#: Distance of a revolute joint's stops beyond its limits in the URDF [rad]. The actuators enforce the limits; a stop at
#: a limit would push against the joint's controller.
STOP_MARGIN = 0.1

_FRICTION = {"mu1": "mu", "mu2": "mu2", "fdir1": "fdir1", "slip1": "slip1", "slip2": "slip2"}


@dataclass(frozen=True, slots=True)
class LumpedLink:
    """A URDF link as part of a rigid body."""

    link: Element
    body: str  # name of the topmost link of the body
    pose: Transform  # pose of the link in the body


def model(urdf: str, name: str) -> Element:
    """The ``<model>`` of a robot, whose frame is the robot's root link."""
    robot = Robot(urdf)
    parts = {link: _part(robot, link) for link in robot.links}
    result = Element("model", name=name)
    for body in dict.fromkeys(part.body for part in parts.values()):
        members = [part for part in parts.values() if part.body == body]
        result.extend(list(_body(members, robot)))
    result.extend([_joint(joint, parts) for joint in robot.joints if joint.kind != "fixed"])
    for extension in robot.element.findall("gazebo"):
        if extension.get("reference") is None:
            result.extend(extension)
    return result


def _part(robot: Robot, link: str) -> LumpedLink:
    """A link, in the rigid body to which it belongs."""
    body, pose = link, Transform()
    while (joint := robot.above(body)) is not None and joint.kind == "fixed":
        body, pose = joint.parent, joint.origin.then(pose)
    return LumpedLink(robot.links[link], body, pose)


def _body(members: list[LumpedLink], robot: Robot) -> Iterator[Element]:
    """The ``<link>`` of a rigid body, and a ``<frame>`` for each of its other links."""
    name = members[0].body
    link = Element("link", name=name)
    if (mover := robot.above(name)) is not None:
        SubElement(link, "pose", relative_to=mover.name).text = "0 0 0 0 0 0"
    link.append(_inertial(name, members))
    for part in members:
        link.extend(list(_shapes(part, robot.element)))
    yield link
    for part in members:
        part_name = part.link.get("name", "")
        if part_name != name:
            frame = Element("frame", name=part_name, attached_to=name)
            SubElement(frame, "pose").text = pose_text(part.pose)
            yield frame


def _inertial(name: str, members: list[LumpedLink]) -> Element:
    """Mass, centre of mass and inertia of all parts together."""
    found = [(part.pose, part.link.find("inertial")) for part in members]
    inertials = [(pose.then(origin(inertial)), inertial) for pose, inertial in found if inertial is not None]
    masses = np.array([number(attribute(inertial, "mass/value")) for _, inertial in inertials])
    total = float(masses.sum())
    if total <= 0.0:
        raise DescriptionError(f"link '{name}' and the links fixed to it have no mass; a body that moves must have one")
    centres = np.array([pose.position for pose, _ in inertials])
    centre = masses @ centres / total
    tensor = np.zeros((3, 3))
    for (pose, inertial), mass in zip(inertials, masses, strict=True):
        turn, arm = np.array(axes(pose.orientation)).T, pose.position - centre
        tensor += turn @ _tensor(inertial) @ turn.T + mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))

    result = Element("inertial")
    SubElement(result, "pose").text = numbers_text(centre) + " 0 0 0"
    SubElement(result, "mass").text = number_text(total)
    inertia = SubElement(result, "inertia")
    for row, column in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
        SubElement(inertia, f"i{'xyz'[row]}{'xyz'[column]}").text = number_text(tensor[row, column])
    return result


def _tensor(inertial: Element) -> Array:
    def moment(row: str, column: str) -> float:
        return number(attribute(inertial, f"inertia/i{min(row, column)}{max(row, column)}", "0"))

    return np.array([[moment(row, column) for column in "xyz"] for row in "xyz"])


def _shapes(part: LumpedLink, robot: Element) -> Iterator[Element]:
    """Visuals, collisions and sensors of one part."""
    name = part.link.get("name", "")
    friction, sensors = _extensions(robot, name)
    for index, visual in enumerate(part.link.findall("visual")):
        element = _shape(visual, f"{name}_visual_{index}", part.pose)
        if (color := _color(visual, robot)) is not None:
            element.append(color)
        yield element
    for index, collision in enumerate(part.link.findall("collision")):
        element = _shape(collision, f"{name}_collision_{index}", part.pose)
        if friction:
            SubElement(SubElement(SubElement(element, "surface"), "friction"), "ode").extend(friction)
        yield element
    for sensor in sensors:
        if name != part.body:
            place = Element("pose", relative_to=name)
            place.text = "0 0 0 0 0 0"
            sensor.insert(0, place)
        yield sensor


def _extensions(robot: Element, link: str) -> tuple[list[Element], list[Element]]:
    """Friction and sensors of a link, from ``<gazebo>`` elements."""
    friction, sensors = [], []
    for extension in robot.findall("gazebo"):
        for item in extension if extension.get("reference") == link else ():
            if item.tag == "sensor":
                sensors.append(item)
            elif item.tag in _FRICTION:
                renamed = SubElement(Element("ode"), _FRICTION[item.tag], item.attrib)
                renamed.text = item.text
                friction.append(renamed)
            else:
                known = ", ".join([*_FRICTION, "sensor"])
                raise DescriptionError(f"<gazebo reference='{link}'> has <{item.tag}>; it may have {known}")
    return friction, sensors


def _shape(source: Element, name: str, pose: Transform) -> Element:
    """A visual or a collision."""
    element = Element(source.tag, name=name)
    SubElement(element, "pose").text = pose_text(pose.then(origin(source)))
    geometry = source.find("geometry")
    if geometry is None or len(geometry) != 1:
        raise DescriptionError(f"<{source.tag}> '{name}' must have one <geometry> with one shape")
    shape = SubElement(SubElement(element, "geometry"), geometry[0].tag)
    for key, value in geometry[0].attrib.items():
        is_name = key == "filename"
        SubElement(shape, "uri" if is_name else key).text = value if is_name else numbers_text(numbers(value))
    return element


def _color(visual: Element, robot: Element) -> Element | None:
    """The ``<material>`` of a visual, by its colour or by the name of a material of the robot."""
    material = visual.find("material")
    if material is not None and material.find("color") is None:
        material = next((same for same in robot.findall("material") if same.get("name") == material.get("name")), None)
    color = material.find("color") if material is not None else None
    if color is None:
        return None
    element = Element("material")
    for kind in ("ambient", "diffuse"):
        SubElement(element, kind).text = color.get("rgba")
    SubElement(element, "specular").text = "0.2 0.2 0.2 1"
    return element


def _joint(source: UrdfJoint, parts: dict[str, LumpedLink]) -> Element:
    """The ``<joint>`` of a joint that moves."""
    parent = parts[source.parent]
    kind = "revolute" if source.kind == "continuous" else source.kind
    joint = Element("joint", name=source.name, type=kind)
    SubElement(joint, "pose", relative_to=parent.body).text = pose_text(parent.pose.then(source.origin))
    SubElement(joint, "parent").text = parent.body
    SubElement(joint, "child").text = source.child
    axis = SubElement(joint, "axis")
    SubElement(axis, "xyz").text = numbers_text(source.axis)
    limit = SubElement(axis, "limit")
    lower, upper = _stops(source)
    SubElement(limit, "lower").text = number_text(lower)
    SubElement(limit, "upper").text = number_text(upper)
    if effort := attribute(source.element, "limit/effort", ""):
        SubElement(limit, "effort").text = number_text(number(effort))
    return joint


def _stops(joint: UrdfJoint) -> tuple[float, float]:
    """The lower and upper stop of a joint. Its rate is not limited, because the actuators limit it."""
    if joint.kind == "continuous":
        return -math.inf, math.inf
    margin = STOP_MARGIN if joint.turns and not joint.is_hitch else 0.0
    lower, upper = (number(attribute(joint.element, f"limit/{end}", "0")) for end in ("lower", "upper"))
    return lower - margin, upper + margin


def pose_text(pose: Transform) -> str:
    """A pose as ``x y z roll pitch yaw``."""
    return numbers_text([*pose.position, *angles(pose.orientation)])


def numbers_text(values: Iterable[float]) -> str:
    """Numbers separated by spaces."""
    return " ".join(map(number_text, values))


def number_text(value: float) -> str:
    """A number with twelve digits; magnitudes below 1e-12 become 0."""
    return f"{0.0 if abs(value) < 1e-12 else value:.12g}"
