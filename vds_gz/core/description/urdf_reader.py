"""The links and joints of a robot, from its URDF: https://wiki.ros.org/urdf/XML"""

from __future__ import annotations

import math
from dataclasses import dataclass
from xml.etree.ElementTree import Element, ParseError, fromstring

from vds_gz.core import files
from vds_gz.core.errors import VdsGzError
from vds_gz.core.geometry import Transform, Vector, quaternion

BASE_LINK = "base_link"  # the vehicle's frame, and the root of every description

HITCH = "hitch_"  # begin of the names of the joints at which trailers hang

_ORIGIN = "0 0 0"


class DescriptionError(VdsGzError, ValueError):
    """The description of a robot cannot be made or read; the message says why."""


@dataclass(frozen=True, slots=True)
class UrdfJoint:
    """A joint of a robot."""

    name: str
    kind: str  # its type, such as ``fixed``, ``continuous``, ``revolute`` or ``prismatic``
    parent: str  # name of a link
    child: str  # name of a link
    origin: Transform  # its pose in the parent's frame
    axis: Vector  # axis of its motion, in its own frame
    element: Element  # its element in the URDF

    @property
    def turns(self) -> bool:
        """Whether it turns about its axis."""
        return self.kind in ("continuous", "revolute")

    @property
    def is_hitch(self) -> bool:
        """Whether a trailer hangs at it, which nothing drives."""
        return self.turns and self.name.startswith(HITCH)


class Robot:
    """A robot: a tree of links and joints.

    Attributes:
        element: The element ``<robot>``.
        links: Elements of the links, by name.
        joints: The joints.
        root: Name of the link that is no joint's child.
    """

    def __init__(self, urdf: str) -> None:
        try:
            self.element = fromstring(urdf)
        except ParseError as error:
            raise DescriptionError(f"the robot description is not well-formed XML: {error}") from None
        self.links = {attribute(link, "name"): link for link in self.element.findall("link")}
        self.joints = [_joint(joint) for joint in self.element.findall("joint")]
        self._above: dict[str, UrdfJoint] = {}
        self._below: dict[str, list[UrdfJoint]] = {}
        for joint in self.joints:
            for link in (joint.parent, joint.child):
                if link not in self.links:
                    raise DescriptionError(f"joint '{joint.name}' joins link '{link}', which does not exist")
            if joint.child in self._above:
                other = self._above[joint.child].name
                raise DescriptionError(f"link '{joint.child}' is the child of joints '{other}' and '{joint.name}'")
            self._above[joint.child] = joint
            self._below.setdefault(joint.parent, []).append(joint)
        roots = [name for name in self.links if name not in self._above]
        if len(roots) != 1:
            raise DescriptionError(f"the robot has {len(roots)} links that are no joint's child; it must have one root")
        self.root = roots[0]
        joined = [self.root]
        for link in joined:
            joined += [joint.child for joint in self.below(link)]
        if lost := self.links.keys() - set(joined):
            raise DescriptionError(f"link '{min(lost)}' is not joined to the root link '{self.root}'")

    def above(self, link: str) -> UrdfJoint | None:
        """The joint above a link; None for the root."""
        return self._above.get(link)

    def below(self, link: str) -> list[UrdfJoint]:
        """The joints below a link."""
        return self._below.get(link, [])


def _joint(element: Element) -> UrdfJoint:
    return UrdfJoint(
        attribute(element, "name"),
        attribute(element, "type"),
        attribute(element, "parent/link"),
        attribute(element, "child/link"),
        origin(element),
        vector(attribute(element, "axis/xyz", "1 0 0")),
        element,
    )


def attribute(element: Element, path: str, default: str | None = None) -> str:
    """An attribute of an element, or of its first child with a tag if the path is ``tag/attribute``."""
    *tags, key = path.split("/")
    owner = element.find(tags[0]) if tags else element
    value = default if owner is None else owner.get(key, default)
    if value is None:
        place = f"<{tags[0]} {key}=...>" if tags else f"attribute '{key}'"
        raise DescriptionError(f"<{element.tag}> '{element.get('name', '')}' has no {place}")
    return value


def numbers(text: str, count: int | None = None) -> list[float]:
    """Finite numbers separated by blanks; exactly ``count``, if given."""
    try:
        values = [files.number(part) for part in text.split()]
    except ValueError:
        values = [math.nan]
    if not all(map(math.isfinite, values)):
        raise DescriptionError(f"'{text}' must be finite numbers")
    if count not in (None, len(values)):
        raise DescriptionError(f"'{text}' must be {'one number' if count == 1 else 'three numbers'}")
    return values


def number(text: str) -> float:
    """One number."""
    return numbers(text, 1)[0]


def vector(text: str) -> Vector:
    """Three numbers."""
    x, y, z = numbers(text, 3)
    return x, y, z


def origin(element: Element) -> Transform:
    """The ``<origin>`` of a visual, a collision, an inertial or a joint."""
    place, turn = (attribute(element, f"origin/{key}", _ORIGIN) for key in ("xyz", "rpy"))
    return Transform(vector(place), quaternion(*vector(turn)))
