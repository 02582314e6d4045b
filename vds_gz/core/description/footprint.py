"""Footprint and outline of a robot, from its URDF: contacts with the ground, collision box, boxes and wheels."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple
from xml.etree.ElementTree import Element

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.core.description.urdf_reader import Robot, UrdfJoint, attribute, number, origin, vector
from vds_gz.core.geometry import Transform, Vector, angles, axes, into_world
from vds_gz.core.vehicle.vehicle_model import VehicleGeometry
from vds_gz.core.world.geometry_reader import matrix
from vds_gz.core.world.packing import Thing
from vds_gz.core.world.shapes import Box, Cylinder, Ellipsoid, sphere

STANDING = 0.1  # maximum distance from the ground of a ball or disc that touches it, as a part of its radius
CLIMBABLE = 0.5  # maximum step of the ground that wheels climb, as a part of their radius


@dataclass(frozen=True, slots=True)
class Footprint:
    """A robot's contacts with ground and walls, in ``base_link`` [m]."""

    contacts: tuple[tuple[float, float], ...]  # contacts with level ground, (x, y) of each wheel and caster
    step: float  # maximum step of the ground that its wheels climb
    lower: Vector  # corners of the box around all collisions, from ``step`` upwards
    upper: Vector


class _LinkShape(NamedTuple):
    """A visual or collision of a link, with its pose in ``base_link``; the shape is None for a mesh."""

    link: str
    shape: Box | Ellipsoid | Cylinder | None
    pose: Transform

    @property
    def half_sizes(self) -> Vector:
        """Half sizes along its own axes [m]; 0 without a shape."""
        match self.shape:
            case Box((x, y, z)):
                return 0.5 * x, 0.5 * y, 0.5 * z
            case Ellipsoid(radii):
                return radii
            case Cylinder(radius, length):
                return radius, radius, 0.5 * length
        return 0.0, 0.0, 0.0

    def bounds(self) -> list[Vector]:
        """The lower and upper corner of its bounding box along the axes of ``base_link``."""
        reach = self.half_sizes
        if not isinstance(self.shape, Ellipsoid):
            turned = axes(self.pose.orientation)
            x, y, z = (sum(abs(turned[k][d]) * reach[k] for k in range(3)) for d in range(3))
            reach = x, y, z
        (x, y, z), (dx, dy, dz) = self.pose.position, reach
        return [(x - dx, y - dy, z - dz), (x + dx, y + dy, z + dz)]


def footprint_of(urdf: str, geometry: VehicleGeometry) -> Footprint:
    """The footprint of a robot, which stands on the ground at z = 0 of ``base_link``.

    If no ball or disc touches the ground, the wheels of the geometry are its contacts.
    """
    robot = Robot(urdf)
    discs = [part for part in _parts(robot, "visual") if isinstance(part.shape, Cylinder)]
    largest = {part.link: part for part in sorted(discs, key=lambda part: part.half_sizes[0])}
    parts = [  # a ball counts as the largest cylinder that is seen of its link
        largest.get(part.link, part) if isinstance(part.shape, Ellipsoid) else part
        for part in _parts(robot, "collision")
    ]
    standing = []
    for part in parts:
        lying = isinstance(part.shape, Cylinder) and abs(axes(part.pose.orientation)[2][2]) >= 0.1
        if isinstance(part.shape, Ellipsoid | Cylinder) and not lying:
            (x, y, z), (radius, _, _) = part.pose.position, part.half_sizes
            if abs(z - radius) <= STANDING * radius:
                standing.append((x, y, radius))
    standing = standing or [(wheel.x, wheel.y, 0.5 * geometry.tire_diameter) for wheel in geometry.wheels]
    step = CLIMBABLE * max(radius for _, _, radius in standing)
    corners = [*(corner for part in parts for corner in part.bounds()), *((x, y, 0.0) for x, y, _ in standing)]
    (back, right, _), (front, left, top) = (tuple(map(pick, zip(*corners, strict=True))) for pick in (min, max))
    contacts = tuple((x, y) for x, y, _ in standing)
    return Footprint(contacts, step, (back, right, step), (front, left, max(top, 2.0 * step)))


def _parts(robot: Robot, tag: str) -> Iterator[_LinkShape]:
    """All visuals or collisions of a robot whose joints are at 0."""
    waiting = [(robot.root, Transform())]
    while waiting:
        link, placed = waiting.pop(0)
        for element in robot.links[link].iter(tag):
            geometry = element.find("geometry")
            if geometry is not None:
                yield _LinkShape(link, _shape(geometry), placed.then(origin(element)))
        waiting += [(joint.child, placed.then(joint.origin)) for joint in robot.below(link)]


def _shape(geometry: Element) -> Box | Ellipsoid | Cylinder | None:
    box, ball, disc = (geometry.find(kind) for kind in ("box", "sphere", "cylinder"))
    if box is not None:
        return Box(vector(attribute(box, "size")))
    if ball is not None:
        return sphere(number(attribute(ball, "radius")))
    return None if disc is None else Cylinder(number(attribute(disc, "radius")), number(attribute(disc, "length")))


def things_of(urdf: str, name: str, tag: str) -> list[Thing]:
    """Boxes, cylinders and spheres of a robot in ``base_link``, with its joints at 0; others are left out.

    ``name`` is a prefix of its links' names; ``tag`` is ``visual`` or ``collision``.
    """
    parts = [part for part in _parts(Robot(urdf), tag) if min(part.half_sizes) > 0.0]
    return [Thing(f"{name}::{part.link}", part.shape, _matrix(part.pose)) for part in parts if part.shape]


def moved(things: list[Thing], pose: Transform) -> list[Thing]:
    """The same things after a motion of their frame."""
    place = _matrix(pose)
    return [replace(thing, pose=place @ thing.pose) for thing in things]


def _matrix(pose: Transform) -> Array:
    """A pose as a homogeneous matrix of shape (4, 4)."""
    return matrix(np.array(axes(pose.orientation)).T, np.array(pose.position))


DEFAULT_RADIUS = 0.1  # radius of a wheel without a cylinder or sphere [m]


@dataclass(frozen=True, slots=True)
class OutlineBox:
    """A box of the body from above: middle [m], direction [rad] and size [m]."""

    x: float
    y: float
    yaw: float
    length: float
    width: float


@dataclass(frozen=True, slots=True)
class OutlineWheel:
    """A wheel that points straight ahead."""

    x: float  # place of its middle in ``base_link`` [m]
    y: float
    radius: float  # [m]
    width: float  # [m]
    rolls: str  # name of the joint by which it rolls
    steers: str  # name of the joint by which it is steered; empty for none


@dataclass(frozen=True, slots=True)
class Outline:
    """Boxes and wheels of a robot from above."""

    boxes: tuple[OutlineBox, ...]
    wheels: tuple[OutlineWheel, ...]

    @property
    def steers(self) -> bool:
        """Whether any wheel is steered."""
        return any(wheel.steers for wheel in self.wheels)

    @property
    def wheel_base(self) -> float:
        """Distance from the fixed to the steered axle along x [m]; negative with rear steering, NaN without both."""
        steered = [wheel.x for wheel in self.wheels if wheel.steers]
        fixed = [wheel.x for wheel in self.wheels if not wheel.steers]
        return sum(steered) / len(steered) - sum(fixed) / len(fixed) if steered and fixed else math.nan


def outline_of(urdf: str) -> Outline:
    """The outline of a robot, from its URDF."""
    robot = Robot(urdf)
    boxes: list[OutlineBox] = []
    wheels: list[OutlineWheel] = []
    waiting = [(robot.root, Transform(), "")]
    while waiting:
        link, placed, steered_by = waiting.pop(0)
        if not steered_by:  # boxes that turn with a wheel would hide it
            boxes += _boxes(robot.links[link], placed)
        for joint in robot.below(link):
            at = placed.then(joint.origin)
            # The axis of a wheel is not vertical.
            if _turns(joint) and abs(into_world(at.orientation, joint.axis)[2]) <= 0.5:
                radius, width = _wheel_size(robot.links[joint.child])
                wheels.append(OutlineWheel(at.position[0], at.position[1], radius, width, joint.name, steered_by))
            else:
                waiting.append((joint.child, at, joint.name if _turns(joint) else steered_by))
    return Outline(tuple(boxes), tuple(wheels))


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
    """Radius and width of a wheel [m]."""
    cylinders = list(link.iter("cylinder"))
    radii = [number(attribute(shape, "radius")) for shape in (*cylinders, *link.iter("sphere"))]
    radius = max(radii, default=DEFAULT_RADIUS)
    return radius, number(attribute(cylinders[0], "length")) if cylinders else 0.5 * radius
