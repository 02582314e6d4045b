"""How a robot looks from above, by its URDF: boxes and wheels around ``base_link``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from vds_gz.errors import VdsGzError

#: A wheel that says nothing of its size [m].
DEFAULT_RADIUS = 0.1


class OutlineError(VdsGzError, ValueError):
    """The description cannot be drawn; the message says why."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A planar pose in ``base_link`` [m, m, rad]."""

    x: float = 0.0
    y: float = 0.0
    yaw: float = 0.0

    def then(self, x: float, y: float, yaw: float) -> Placed:
        """A pose that is given in this one."""
        cosine, sine = math.cos(self.yaw), math.sin(self.yaw)
        return Placed(self.x + cosine * x - sine * y, self.y + sine * x + cosine * y, self.yaw + yaw)


@dataclass(frozen=True, slots=True)
class Box:
    """A part of the body: its middle, its direction, its size [m]."""

    x: float
    y: float
    yaw: float
    length: float
    width: float


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel that points straight ahead.

    Attributes:
        x, y: Its middle in ``base_link`` [m].
        radius, width: Its size [m].
        rolls: The joint by which it rolls.
        steers: The joint by which it is steered; empty for none.
    """

    x: float
    y: float
    radius: float
    width: float
    rolls: str
    steers: str


@dataclass(frozen=True, slots=True)
class Outline:
    """All there is to draw."""

    boxes: tuple[Box, ...]
    wheels: tuple[Wheel, ...]

    @property
    def steers(self) -> bool:
        """Whether any wheel is steered."""
        return any(wheel.steers for wheel in self.wheels)

    @property
    def wheel_base(self) -> float:
        """From the fixed to the steered axle along x [m]; NaN without two axles, negative with rear steering."""
        steered = [wheel.x for wheel in self.wheels if wheel.steers]
        fixed = [wheel.x for wheel in self.wheels if not wheel.steers]
        return sum(steered) / len(steered) - sum(fixed) / len(fixed) if steered and fixed else math.nan

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def outline_of(urdf: str) -> Outline:
    """Read a URDF.

    Raises:
        OutlineError: It is no URDF, or its links hang together in no tree.
    """
    try:
        robot = ElementTree.fromstring(urdf)
        return _Reader(robot).read()
    except (ElementTree.ParseError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise OutlineError(f"robot_description is no URDF that can be drawn: {error}") from None


class _Reader:
    def __init__(self, robot: Element) -> None:
        self._links = {link.attrib["name"]: link for link in robot.iter("link")}
        self._below: dict[str, list[Element]] = {}
        for joint in robot.findall("joint"):
            self._below.setdefault(_attribute(joint, "parent", "link"), []).append(joint)
        self._boxes: list[Box] = []
        self._wheels: list[Wheel] = []

    def read(self) -> Outline:
        children = {_attribute(joint, "child", "link") for joints in self._below.values() for joint in joints}
        roots = [name for name in self._links if name not in children]
        if not roots:
            raise OutlineError("it has no root link")
        self._walk(roots[0], Placed(), "")
        return Outline(tuple(self._boxes), tuple(self._wheels))

    def _walk(self, link: str, placed: Placed, steered_by: str) -> None:
        if not steered_by:  # what turns with a wheel would hide it
            self._boxes += [
                Box(at.x, at.y, at.yaw, size[0], size[1])
                for visual in self._links[link].iter("visual")
                for at, size in _boxes(visual, placed)
            ]
        for joint in self._below.get(link, []):
            xyz, rpy = _origin(joint)
            at = placed.then(xyz[0], xyz[1], rpy[2])
            child, name, kind = _attribute(joint, "child", "link"), joint.attrib["name"], joint.attrib["type"]
            turns = kind in ("continuous", "revolute")
            upright = abs(_axis(joint)[2]) > 0.5
            if turns and not upright:
                radius, width = _wheel_size(self._links[child])
                self._wheels.append(Wheel(at.x, at.y, radius, width, name, steered_by))
            else:
                self._walk(child, at, name if turns else steered_by)


def _boxes(visual: Element, placed: Placed) -> Iterator[tuple[Placed, list[float]]]:
    box = visual.find("geometry/box")
    if box is not None:
        xyz, rpy = _origin(visual)
        yield placed.then(xyz[0], xyz[1], rpy[2]), _numbers(box.attrib["size"])


def _wheel_size(link: Element) -> tuple[float, float]:
    """Radius and width of what the link shows of itself."""
    cylinders = list(link.iter("cylinder"))
    radii = [float(shape.attrib["radius"]) for shape in (*cylinders, *link.iter("sphere"))]
    radius = max(radii, default=DEFAULT_RADIUS)
    return radius, float(cylinders[0].attrib["length"]) if cylinders else 0.5 * radius


def _origin(element: Element) -> tuple[list[float], list[float]]:
    origin = element.find("origin")
    given = {} if origin is None else origin.attrib
    return _numbers(given.get("xyz", "0 0 0")), _numbers(given.get("rpy", "0 0 0"))


def _axis(joint: Element) -> list[float]:
    axis = joint.find("axis")
    return _numbers("1 0 0" if axis is None else axis.attrib["xyz"])


def _numbers(text: str) -> list[float]:
    numbers = [float(part) for part in text.split()]
    if len(numbers) != 3 or not all(map(math.isfinite, numbers)):
        raise OutlineError(f"'{text}' must be three numbers")
    return numbers


def _attribute(element: Element, child: str, name: str) -> str:
    found = element.find(child)
    if found is None:
        raise OutlineError(f"joint '{element.attrib.get('name')}' has no <{child}>")
    return found.attrib[name]
