"""How a robot looks from above, by its URDF: boxes and wheels around ``base_link``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from xml.etree.ElementTree import Element

from vds_gz.description.urdf_reader import Robot, UrdfJoint, attribute, number, origin, vector
from vds_gz.geometry import Transform, angles, into_world

#: Radius of a wheel whose size is not given [m].
DEFAULT_RADIUS = 0.1


@dataclass(frozen=True, slots=True)
class OutlineBox:
    """A part of the body: its middle, its direction, its size [m]."""

    x: float
    y: float
    yaw: float
    length: float
    width: float


@dataclass(frozen=True, slots=True)
class OutlineWheel:
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

    boxes: tuple[OutlineBox, ...]
    wheels: tuple[OutlineWheel, ...]

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

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)


def outline_of(urdf: str) -> Outline:
    """Read a URDF.

    Raises:
        DescriptionError: It is none that can be drawn.
    """
    robot = Robot(urdf)
    boxes: list[OutlineBox] = []
    wheels: list[OutlineWheel] = []
    waiting = [(robot.root, Transform(), "")]
    while waiting:
        link, placed, steered_by = waiting.pop(0)
        if not steered_by:  # what turns with a wheel would hide it
            boxes += _boxes(robot.links[link], placed)
        for joint in robot.below(link):
            at = placed.then(joint.origin)
            if _rolls(joint, at):
                radius, width = _wheel_size(robot.links[joint.child])
                wheels.append(OutlineWheel(at.position[0], at.position[1], radius, width, joint.name, steered_by))
            else:
                waiting.append((joint.child, at, joint.name if _turns(joint) else steered_by))
    return Outline(tuple(boxes), tuple(wheels))


def _rolls(joint: UrdfJoint, at: Transform) -> bool:
    """Whether a joint is that of a wheel: it turns, and not about the vertical."""
    return _turns(joint) and abs(into_world(at.orientation, joint.axis)[2]) <= 0.5


def _turns(joint: UrdfJoint) -> bool:
    return joint.kind in ("continuous", "revolute")


def _boxes(link: Element, placed: Transform) -> Iterator[OutlineBox]:
    for visual in link.iter("visual"):
        box = visual.find("geometry/box")
        if box is not None:
            at = placed.then(origin(visual))
            length, width, _ = vector(attribute(box, "size"))
            yield OutlineBox(at.position[0], at.position[1], angles(at.orientation)[2], length, width)


def _wheel_size(link: Element) -> tuple[float, float]:
    """Radius and width of what the link shows of itself."""
    cylinders = list(link.iter("cylinder"))
    radii = [number(attribute(shape, "radius")) for shape in (*cylinders, *link.iter("sphere"))]
    radius = max(radii, default=DEFAULT_RADIUS)
    return radius, number(attribute(cylinders[0], "length")) if cylinders else 0.5 * radius
