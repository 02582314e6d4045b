"""Footprint and outline of a robot, from its URDF: contacts with the ground, collision boxes, boxes and wheels.

A joint whose name begins with ``hitch_`` is a trailer's hitch. What is below it is another body.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple
from xml.etree.ElementTree import Element

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.core.description.urdf_reader import Robot, attribute, number, origin, vector
from vds_gz.core.geometry import Transform, Vector, angles, axes, into_world, quaternion
from vds_gz.core.vehicle.vehicle_model import VehicleGeometry
from vds_gz.core.world.geometry_reader import matrix
from vds_gz.core.world.obstacles import CollisionBox
from vds_gz.core.world.packing import Thing
from vds_gz.core.world.shapes import Box, Cylinder, Ellipsoid, sphere

STANDING = 0.1  # maximum distance from the ground of a ball or disc that touches it, as a part of its radius
CLIMBABLE = 0.5  # maximum step of the ground that wheels climb, as a part of their radius


@dataclass(frozen=True, slots=True)
class TrailerBox:
    """The box of a trailer, in the frame of its hitch."""

    hitch: Vector  # place of the hitch in the body ahead: ``base_link``, or the frame of the hitch before [m]
    box: CollisionBox


@dataclass(frozen=True, slots=True)
class Footprint:
    """A robot's contacts with ground and walls, in ``base_link`` [m]."""

    contacts: tuple[tuple[float, float], ...]  # contacts with level ground, (x, y) of each wheel and caster
    step: float  # maximum step of the ground that its wheels climb
    lower: Vector  # corners of the box around all collisions, from ``step`` upwards, without trailers
    upper: Vector
    trailers: tuple[TrailerBox, ...] = ()


class _RigidBody(NamedTuple):
    """The vehicle, or a trailer, whose frame is that of its hitch."""

    hitch: str  # name of the joint at which it hangs; empty for the vehicle
    place: Transform  # pose of the joint in the body ahead
    links: list[tuple[str, Transform]]  # its links, with their poses


def _bodies(robot: Robot) -> list[_RigidBody]:
    """The vehicle and its trailers, from front to rear."""
    bodies = [_RigidBody("", Transform(), [(robot.root, Transform())])]
    for body in bodies:
        for link, placed in body.links:
            for joint in robot.below(link):
                at = placed.then(joint.origin)
                if joint.is_hitch:
                    bodies.append(_RigidBody(joint.name, at, [(joint.child, Transform())]))
                else:
                    body.links.append((joint.child, at))
    return bodies


class _LinkShape(NamedTuple):
    """A visual or collision of a link, with its pose in its body; the shape is None for a mesh."""

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
        """The lower and upper corner of its bounding box along the axes of its body."""
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
    body, *trailers = _bodies(robot)
    parts = _solids(robot, body)
    standing = []
    for part in parts:
        lying = isinstance(part.shape, Cylinder) and abs(axes(part.pose.orientation)[2][2]) >= 0.1
        if isinstance(part.shape, Ellipsoid | Cylinder) and not lying:
            (x, y, z), (radius, _, _) = part.pose.position, part.half_sizes
            if abs(z - radius) <= STANDING * radius:
                standing.append((x, y, radius))
    standing = standing or [(wheel.x, wheel.y, 0.5 * geometry.tire_diameter) for wheel in geometry.wheels]
    step = CLIMBABLE * max(radius for _, _, radius in standing)
    box = _box_around([*_corners(parts), *((x, y, 0.0) for x, y, _ in standing)], step)
    boxes = tuple(
        TrailerBox(trailer.place.position, _box_around([(0.0, 0.0, 0.0), *_corners(_solids(robot, trailer))], step))
        for trailer in trailers
    )
    return Footprint(tuple((x, y) for x, y, _ in standing), step, box.lower, box.upper, boxes)


def _solids(robot: Robot, body: _RigidBody) -> list[_LinkShape]:
    """The collisions of a body; a ball counts as the largest cylinder that is seen of its link."""
    discs = [part for part in _parts(robot, body, "visual") if isinstance(part.shape, Cylinder)]
    largest = {part.link: part for part in sorted(discs, key=lambda part: part.half_sizes[0])}
    return [
        largest.get(part.link, part) if isinstance(part.shape, Ellipsoid) else part
        for part in _parts(robot, body, "collision")
    ]


def _corners(parts: list[_LinkShape]) -> Iterator[Vector]:
    for part in parts:
        yield from part.bounds()


def _box_around(corners: list[Vector], step: float) -> CollisionBox:
    """The box around some points, from a height upwards [m]."""
    (back, right, _), (front, left, top) = (tuple(map(pick, zip(*corners, strict=True))) for pick in (min, max))
    return CollisionBox((back, right, step), (front, left, max(top, 2.0 * step)))


def _parts(robot: Robot, body: _RigidBody, tag: str) -> Iterator[_LinkShape]:
    """All visuals or collisions of a body whose joints are at 0."""
    for link, placed in body.links:
        for element in robot.links[link].iter(tag):
            geometry = element.find("geometry")
            if geometry is not None:
                yield _LinkShape(link, _shape(geometry), placed.then(origin(element)))


def _shape(geometry: Element) -> Box | Ellipsoid | Cylinder | None:
    box, ball, disc = (geometry.find(kind) for kind in ("box", "sphere", "cylinder"))
    if box is not None:
        return Box(vector(attribute(box, "size")))
    if ball is not None:
        return sphere(number(attribute(ball, "radius")))
    return None if disc is None else Cylinder(number(attribute(disc, "radius")), number(attribute(disc, "length")))


@dataclass(frozen=True, slots=True)
class BodyThings:
    """Boxes, cylinders and spheres of the vehicle or a trailer, with the joints within it at 0."""

    hitch: str  # name of the joint at which it hangs; empty for the vehicle
    place: Transform  # pose of this joint in the body ahead
    things: list[Thing]


def things_of(urdf: str, name: str, tag: str) -> list[BodyThings]:
    """Boxes, cylinders and spheres of the bodies of a robot; others are left out.

    ``name`` is a prefix of its links' names; ``tag`` is ``visual`` or ``collision``.
    """
    robot = Robot(urdf)
    return [
        BodyThings(
            body.hitch,
            body.place,
            [
                Thing(f"{name}::{part.link}", part.shape, _matrix(part.pose))
                for part in _parts(robot, body, tag)
                if part.shape and min(part.half_sizes) > 0.0
            ],
        )
        for body in _bodies(robot)
    ]


def placed(bodies: list[BodyThings], pose: Transform, hitches: Mapping[str, float]) -> list[Thing]:
    """The things of a robot at a pose of ``base_link``, with hitch angles [rad]; those that are not given are 0."""
    things = []
    for body in bodies:
        pose = pose.then(body.place).then(Transform(orientation=quaternion(0.0, 0.0, hitches.get(body.hitch, 0.0))))
        place = _matrix(pose)
        things += [replace(thing, pose=place @ thing.pose) for thing in body.things]
    return things


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

    x: float  # place of its middle in its body [m]
    y: float
    radius: float  # [m]
    width: float  # [m]
    rolls: str  # name of the joint by which it rolls
    steers: str  # name of the joint by which it is steered; empty for none


@dataclass(frozen=True, slots=True)
class OutlineTrailer:
    """Boxes and wheels of a trailer from above, in the frame of its hitch."""

    hitch: str  # name of the joint at which it hangs
    x: float  # place of the hitch in the body ahead: ``base_link``, or the frame of the hitch before [m]
    y: float
    boxes: tuple[OutlineBox, ...]
    wheels: tuple[OutlineWheel, ...]


@dataclass(frozen=True, slots=True)
class Outline:
    """Boxes and wheels of a robot from above, and its trailers."""

    boxes: tuple[OutlineBox, ...]
    wheels: tuple[OutlineWheel, ...]
    trailers: tuple[OutlineTrailer, ...] = ()

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
    body, *trailers = _bodies(robot)
    hung = (
        OutlineTrailer(trailer.hitch, *trailer.place.position[:2], *_body_outline(robot, trailer))
        for trailer in trailers
    )
    return Outline(*_body_outline(robot, body), tuple(hung))


def _body_outline(robot: Robot, body: _RigidBody) -> tuple[tuple[OutlineBox, ...], tuple[OutlineWheel, ...]]:
    """Boxes and wheels of a body from above."""
    boxes: list[OutlineBox] = []
    wheels: list[OutlineWheel] = []
    waiting = [(*body.links[0], "")]
    while waiting:
        link, placed, steered_by = waiting.pop(0)
        if not steered_by:  # boxes that turn with a wheel would hide it
            boxes += _boxes(robot.links[link], placed)
        for joint in robot.below(link):
            if joint.is_hitch:
                continue
            at = placed.then(joint.origin)
            # The axis of a wheel is not vertical.
            if joint.turns and abs(into_world(at.orientation, joint.axis)[2]) <= 0.5:
                radius, width = _wheel_size(robot.links[joint.child])
                wheels.append(OutlineWheel(at.position[0], at.position[1], radius, width, joint.name, steered_by))
            else:
                waiting.append((joint.child, at, joint.name if joint.turns else steered_by))
    return tuple(boxes), tuple(wheels)


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
