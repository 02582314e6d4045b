"""A copy of the robot's model in which the drive's plugin is exchanged, and every other byte is as it was."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from vds_gz.core.description import gz_topics as topics
from vds_gz.core.description.sdf import plugin, state_plugins
from vds_gz.core.vehicle.vehicle_model import Joint
from vds_gz.tools.adopt.adopted_vehicle import Parts
from vds_gz.tools.adopt.xml_text import Document, Tag

#: Rate of joint states and pose [Hz].
STATE_RATE = 200.0


class Exchange(NamedTuple):
    """An element of a file, and the text in its place."""

    tag: Tag
    text: str


def exchanged(document: Document, exchanges: Iterable[Exchange]) -> bytes:
    """The file with some elements exchanged; all other bytes are the same."""
    data, end = b"", 0
    for tag, text in sorted(exchanges, key=lambda exchange: exchange.tag.start):
        data += document.data[end : tag.start] + text.encode("utf-8")
        end = tag.end
    return data + document.data[end:]


def difference(document: Document, exchanges: Iterable[Exchange], name: str) -> str:
    """A unified diff from the file to its copy, with the lines of the exchanged elements only."""
    data, shift = document.data, 0
    lines = [f"--- {document.path}", f"+++ {name}"]
    for tag, text in sorted(exchanges, key=lambda exchange: exchange.tag.start):
        start = data.rfind(b"\n", 0, tag.start) + 1
        end = data.find(b"\n", tag.end)
        end = len(data) if end < 0 else end
        before = data[start:end].decode("utf-8").splitlines()
        rest = data[tag.end : end].decode("utf-8")
        after = (data[start : tag.start].decode("utf-8") + text + rest).splitlines()
        first = data.count(b"\n", 0, start) + 1
        lines.append(f"@@ -{first},{len(before)} +{first + shift},{len(after)} @@")
        lines += [f"-{line}" for line in before] + [f"+{line}" for line in after]
        shift += len(after) - len(before)
    return "\n".join(lines) + "\n"


def plugins(joints: Sequence[Joint], parts: Parts, model: str, yaw: float = 0.0) -> list[Element]:
    """The joint controllers and the plugins that report states, for a model of this name in Gazebo.

    The n-th joint of ours of a kind follows the n-th number of its kind in the message. A controller moves all joints
    of the robot that have the same role. Odometry has its x axis at ``yaw`` from that of the model [rad].
    """
    numbers = {"velocity": 0, "position": 0}
    elements = []
    for joint in joints:
        if joint.command is None:
            continue
        number = numbers[joint.command]
        numbers[joint.command] += 1
        if joint.name not in parts.driven:
            continue
        steers = joint.command == "position"
        element = plugin("JointPositionController" if steers else "JointController")
        for name in parts.joints[joint.name]:
            SubElement(element, "joint_name").text = name
        settings = {"topic": topics.actuators(model), "use_actuator_msg": "true", "actuator_number": str(number)}
        if steers:
            settings["use_velocity_commands"] = "true"
        for key, value in settings.items():
            SubElement(element, key).text = value
        elements.append(element)
    states = list(state_plugins(model, STATE_RATE))
    if yaw:
        SubElement(states[-1], "rpy_offset").text = f"0 0 {yaw:.9g}"
    return [*elements, *states]


def text_of(elements: Iterable[Element], document: Document, tag: Tag, comment: str) -> str:
    """Elements as text in place of a tag, indented as it is."""
    start = document.line_start(tag)
    blanks = document.data[start : tag.start].decode("utf-8") if start < tag.start else ""
    pieces = [f"<!-- {comment.replace('--', '-')} -->"]
    for element in elements:
        indent(element, "  ")
        pieces += tostring(element, encoding="unicode").strip().splitlines()
    return f"\n{blanks}".join(pieces)
