"""From a URDF to the SDF model that Gazebo simulates, without Gazebo.

Gazebo reads URDF too, but it then decides by itself what becomes of links that are joined rigidly, of frames without a
mass and of names. Here: links joined rigidly are one SDF link, which has the name of the topmost; the others remain as
frames, so that every name of the URDF is known in the SDF, at the same place.

Of the URDF's ``<gazebo>`` elements, those without a reference go into the model as they are. Those that refer to a link
may hold ``<mu1>``, ``<mu2>``, ``<fdir1>``, ``<slip1>``, ``<slip2>`` (friction of its collisions) and ``<sensor>``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement, fromstring

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]

#: How much further than in the URDF a hinge turns before it meets its stop [rad]. The limits that act are those of the
#: actuators; a stop that a joint just touches would push against its controller.
STOP_MARGIN = 0.1

_FRICTION = {"mu1": "mu", "mu2": "mu2", "fdir1": "fdir1", "slip1": "slip1", "slip2": "slip2"}


@dataclass(frozen=True)
class Part:
    """A URDF link as part of a rigid body.

    Attributes:
        link: The link.
        body: Name of the topmost link of the body.
        pose: Where the link is in the body, as a 4x4 matrix.
    """

    link: Element
    body: str
    pose: Matrix


def model(urdf: str, name: str) -> Element:
    """The ``<model>`` of a robot; its frame is the robot's root link.

    Args:
        urdf: The robot.
        name: Name of the model.

    Raises:
        ValueError: A moving part has no mass, or a ``<gazebo>`` element holds something unknown.
    """
    robot = fromstring(urdf)
    joints = robot.findall("joint")
    parts = _parts(robot.findall("link"), joints)
    movers = {_child(joint): joint for joint in joints if joint.get("type") != "fixed"}

    result = Element("model", name=name)
    for body in dict.fromkeys(part.body for part in parts.values()):
        members = [part for part in parts.values() if part.body == body]
        result.extend(list(_body(members, movers.get(body), robot)))
    result.extend([_joint(joint, parts) for joint in movers.values()])
    for extension in robot.findall("gazebo"):
        if extension.get("reference") is None:
            result.extend(extension)
    return result


def _parts(links: list[Element], joints: list[Element]) -> dict[str, Part]:
    """Every link by its name, with the rigid body that it belongs to."""
    above = {_child(joint): joint for joint in joints}
    by_name = {link.get("name", ""): link for link in links}

    def placed(name: str) -> tuple[str, Matrix]:
        joint = above.get(name)
        if joint is None or joint.get("type") != "fixed":
            return name, np.eye(4)
        body, pose = placed(_parent(joint))
        return body, pose @ origin(joint)

    return {name: Part(link, *placed(name)) for name, link in by_name.items()}


def _body(members: list[Part], mover: Element | None, robot: Element) -> Iterator[Element]:
    """The ``<link>`` of one rigid body and the ``<frame>`` of each further link in it."""
    name = members[0].body
    link = Element("link", name=name)
    if mover is not None:
        SubElement(link, "pose", relative_to=mover.get("name", "")).text = "0 0 0 0 0 0"
    link.append(_inertial(name, members))
    for part in members:
        link.extend(list(_shapes(part, robot)))
    yield link
    for part in members:
        own = part.link.get("name", "")
        if own != name:
            frame = Element("frame", name=own, attached_to=name)
            SubElement(frame, "pose").text = pose_text(part.pose)
            yield frame


def _inertial(name: str, members: list[Part]) -> Element:
    """Mass, centre of mass and inertia of all parts together."""
    inertials = [(part, part.link.find("inertial")) for part in members]
    found = [(part.pose @ origin(inertial), inertial) for part, inertial in inertials if inertial is not None]
    masses = np.array([_number(inertial, "mass", "value") for _, inertial in found])
    total = float(masses.sum())
    if total <= 0.0:
        raise ValueError(f"link '{name}' and what is fixed to it have no mass; a body must have one to move")
    centres = np.array([pose[:3, 3] for pose, _ in found])
    centre = masses @ centres / total
    tensor = np.zeros((3, 3))
    for (pose, inertial), mass in zip(found, masses, strict=True):
        turn, arm = pose[:3, :3], pose[:3, 3] - centre
        tensor += turn @ _tensor(inertial) @ turn.T + mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))

    result = Element("inertial")
    SubElement(result, "pose").text = numbers_text(centre) + " 0 0 0"
    SubElement(result, "mass").text = number_text(total)
    inertia = SubElement(result, "inertia")
    for row, column in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
        SubElement(inertia, f"i{'xyz'[row]}{'xyz'[column]}").text = number_text(tensor[row, column])
    return result


def _tensor(inertial: Element) -> Matrix:
    inertia = inertial.find("inertia")
    return np.array([[_float(inertia, f"i{min(row, column)}{max(row, column)}") for column in "xyz"] for row in "xyz"])


def _shapes(part: Part, robot: Element) -> Iterator[Element]:
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
    """What ``<gazebo>`` elements say of a link: its friction and its sensors."""
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
                raise ValueError(f"<gazebo reference='{link}'> holds <{item.tag}>; it may hold {known}")
    return friction, sensors


def _shape(source: Element, name: str, pose: Matrix) -> Element:
    """A visual or a collision."""
    element = Element(source.tag, name=name)
    SubElement(element, "pose").text = pose_text(pose @ origin(source))
    geometry = source.find("geometry")
    if geometry is None or len(geometry) != 1:
        raise ValueError(f"<{source.tag}> '{name}' must have one <geometry> with one shape")
    shape = SubElement(SubElement(element, "geometry"), geometry[0].tag)
    for key, value in geometry[0].attrib.items():
        is_name = key == "filename"
        SubElement(shape, "uri" if is_name else key).text = value if is_name else numbers_text(_numbers(value))
    return element


def _color(visual: Element, robot: Element) -> Element | None:
    """The ``<material>`` of a visual. Where it only has a name, the robot's material of this name is meant."""
    material = visual.find("material")
    if material is not None and material.find("color") is None:
        material = next((one for one in robot.findall("material") if one.get("name") == material.get("name")), None)
    color = material.find("color") if material is not None else None
    if color is None:
        return None
    element = Element("material")
    for kind in ("ambient", "diffuse"):
        SubElement(element, kind).text = color.get("rgba")
    SubElement(element, "specular").text = "0.2 0.2 0.2 1"
    return element


def _joint(source: Element, parts: dict[str, Part]) -> Element:
    """A joint that moves."""
    kind = source.get("type", "")
    parent = parts[_parent(source)]
    joint = Element("joint", name=source.get("name", ""), type="revolute" if kind == "continuous" else kind)
    SubElement(joint, "pose", relative_to=parent.body).text = pose_text(parent.pose @ origin(source))
    SubElement(joint, "parent").text = parent.body
    SubElement(joint, "child").text = _child(source)
    axis = SubElement(joint, "axis")
    given = source.find("axis")
    SubElement(axis, "xyz").text = given.get("xyz") if given is not None else "1 0 0"
    limit = SubElement(axis, "limit")
    lower, upper = _stops(source)
    SubElement(limit, "lower").text = number_text(lower)
    SubElement(limit, "upper").text = number_text(upper)
    if effort := _attribute(source, "limit", "effort"):
        SubElement(limit, "effort").text = number_text(float(effort))
    return joint


def _stops(joint: Element) -> tuple[float, float]:
    """Where the stops are. The rate is not limited at all: the actuators do that."""
    if joint.get("type") == "continuous":
        return -math.inf, math.inf
    margin = STOP_MARGIN if joint.get("type") == "revolute" else 0.0
    limit = joint.find("limit")
    return _float(limit, "lower") - margin, _float(limit, "upper") + margin


def _child(joint: Element) -> str:
    return _attribute(joint, "child", "link")


def _parent(joint: Element) -> str:
    return _attribute(joint, "parent", "link")


def _attribute(element: Element, tag: str, key: str) -> str:
    found = element.find(tag)
    return found.get(key, "") if found is not None else ""


def _number(element: Element, tag: str, key: str) -> float:
    return _float(element.find(tag), key)


def _float(element: Element | None, key: str, default: float = 0.0) -> float:
    return float(element.get(key, default)) if element is not None else default


# Poses


def origin(element: Element) -> Matrix:
    """The ``<origin>`` of a URDF element as a 4x4 matrix."""
    found = element.find("origin")
    pose = np.eye(4)
    if found is not None:
        pose[:3, :3] = _rotation(*_numbers(found.get("rpy", "0 0 0")))
        pose[:3, 3] = _numbers(found.get("xyz", "0 0 0"))
    return pose


def pose_text(pose: Matrix) -> str:
    """A pose as ``x y z roll pitch yaw``."""
    return numbers_text([*pose[:3, 3], *_angles(pose[:3, :3])])


def numbers_text(values: object) -> str:
    """Numbers with blanks between them."""
    return " ".join(number_text(value) for value in np.asarray(values))


def number_text(value: float) -> str:
    """A number to twelve digits; what is smaller than a picometre is zero."""
    return f"{0.0 if abs(value) < 1e-12 else value:.12g}"


def _numbers(text: str) -> list[float]:
    return [float(number) for number in text.split()]


def _rotation(roll: float, pitch: float, yaw: float) -> Matrix:
    """About the fixed axes x, then y, then z."""
    (cr, sr), (cp, sp), (cy, sy) = ((math.cos(angle), math.sin(angle)) for angle in (roll, pitch, yaw))
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def _angles(turn: Matrix) -> tuple[float, float, float]:
    """Roll, pitch and yaw of a rotation; looking straight up or down the yaw is 0."""
    pitch = math.atan2(-turn[2, 0], math.hypot(turn[0, 0], turn[1, 0]))
    if abs(turn[2, 0]) > 1.0 - 1e-12:
        return math.atan2(math.copysign(1.0, pitch) * turn[0, 1], turn[1, 1]), pitch, 0.0
    return math.atan2(turn[2, 1], turn[2, 2]), pitch, math.atan2(turn[1, 0], turn[0, 0])
