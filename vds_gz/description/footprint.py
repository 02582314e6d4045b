"""A robot from above, by its URDF: where it stands on the ground, what of it can bump, and its boxes and wheels."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from xml.etree.ElementTree import Element

import numpy as np

from vds_gz.description.urdf_reader import Robot, UrdfJoint, attribute, number, origin, vector
from vds_gz.geometry import Transform, Vector, angles, axes, into_world
from vds_gz.vehicle.model import VehicleGeometry
from vds_gz.world.geometry_reader import matrix
from vds_gz.world.packing import Thing
from vds_gz.world.shapes import Array, Box, Cylinder, Shape, sphere

#: A ball or a disc whose lowest point is so near to the ground stands on it [m], in parts of its radius.
STANDING = 0.1

#: A step of the ground that is higher than this is a wall, in parts of a wheel's radius.
CLIMBABLE = 0.5


@dataclass(frozen=True, slots=True)
class Footprint:
    """A robot as the ground and the walls feel it, in ``base_link`` [m]."""

    contacts: tuple[tuple[float, float], ...]  # where it touches level ground, (x, y) of each wheel and caster
    step: float  # highest step of the ground that its wheels climb
    lower: Vector  # corners of the box around all that can bump, from ``step`` upwards
    upper: Vector  # corners of the box around all that can bump, from ``step`` upwards


@dataclass(frozen=True, slots=True)
class LinkShape:
    """A shape of a link of a robot: its ``<geometry>``, and where it is in ``base_link``."""

    link: str
    geometry: Element
    pose: Transform


def footprint_of(urdf: str, geometry: VehicleGeometry) -> Footprint:
    """Read a URDF."""
    parts = list(_bodies(Robot(urdf)))
    standing = [(x, y, radius) for part in parts for x, y, z, radius in _round(part) if abs(z) <= STANDING * radius]
    standing = standing or [(wheel.x, wheel.y, 0.5 * geometry.tire_diameter) for wheel in geometry.wheels]
    step = CLIMBABLE * max(radius for _, _, radius in standing)
    corners = [*(corner for part in parts for corner in _bounds(part)), *((x, y, 0.0) for x, y, _ in standing)]
    (back, right, _), (front, left, top) = (tuple(map(pick, zip(*corners, strict=True))) for pick in (min, max))
    contacts = tuple((x, y) for x, y, _ in standing)
    return Footprint(contacts, step, (back, right, step), (front, left, max(top, 2.0 * step)))


def _bodies(robot: Robot) -> Iterator[LinkShape]:
    """What of a robot bumps: its collisions; but a wheel that collides as a ball is as broad as it looks."""
    discs = [part for part in parts_of(robot, "visual") if part.geometry.find("cylinder") is not None]
    broadest = {part.link: part for part in sorted(discs, key=lambda part: half_sizes(part.geometry)[0])}
    for part in parts_of(robot, "collision"):
        yield broadest.get(part.link, part) if part.geometry.find("sphere") is not None else part


def parts_of(robot: Robot, tag: str) -> Iterator[LinkShape]:
    """All visuals or collisions of a robot whose joints stand at 0."""
    waiting = [(robot.root, Transform())]
    while waiting:
        link, placed = waiting.pop(0)
        for element in robot.links[link].iter(tag):
            geometry = element.find("geometry")
            if geometry is not None:
                yield LinkShape(link, geometry, placed.then(origin(element)))
        waiting += [(joint.child, placed.then(joint.origin)) for joint in robot.below(link)]


def _round(part: LinkShape) -> Iterator[tuple[float, float, float, float]]:
    """Lowest point and radius of a ball, or of a disc that stands upright."""
    ball, disc = part.geometry.find("sphere"), part.geometry.find("cylinder")
    x, y, z = part.pose.position
    if ball is not None:
        radius = number(attribute(ball, "radius"))
        yield x, y, z - radius, radius
    elif disc is not None and abs(axes(part.pose.orientation)[2][2]) < 0.1:
        radius = number(attribute(disc, "radius"))
        yield x, y, z - radius, radius


def _bounds(part: LinkShape) -> Iterator[Vector]:
    """Two corners of the box along the axes of ``base_link`` around a part."""
    sizes = half_sizes(part.geometry)
    turned = axes(part.pose.orientation)
    is_ball = part.geometry.find("sphere") is not None
    for sign in (-1.0, 1.0):
        reach = sizes if is_ball else tuple(sum(abs(turned[k][d]) * sizes[k] for k in range(3)) for d in range(3))
        x, y, z = (part.pose.position[d] + sign * reach[d] for d in range(3))
        yield x, y, z


def half_sizes(geometry: Element) -> Vector:
    """Half of what a box, ball or cylinder measures along its own axes [m]; 0 of anything else."""
    box, ball, disc = (geometry.find(kind) for kind in ("box", "sphere", "cylinder"))
    if box is not None:
        x, y, z = vector(attribute(box, "size"))
        return 0.5 * x, 0.5 * y, 0.5 * z
    if ball is not None or disc is not None:
        element = ball if ball is not None else disc
        assert element is not None
        radius = number(attribute(element, "radius"))
        return radius, radius, radius if disc is None else 0.5 * number(attribute(disc, "length"))
    return 0.0, 0.0, 0.0


def things_of(urdf: str, name: str, tag: str) -> list[Thing]:
    """Boxes, cylinders and spheres of a robot in ``base_link``, its joints at 0; meshes and empty shapes are left out."""
    found = []
    for part in parts_of(Robot(urdf), tag):
        shape = _shape(part.geometry)
        if shape is not None:
            found.append(Thing(f"{name}::{part.link}", shape, pose_matrix(part.pose)))
    return found


def moved(things: list[Thing], pose: Transform) -> list[Thing]:
    """The same things where the frame that they stand in has come to."""
    place = pose_matrix(pose)
    return [Thing(one.name, one.shape, place @ one.pose, one.retro, one.colour) for one in things]


def pose_matrix(pose: Transform) -> Array:
    """A pose as a homogeneous matrix of shape (4, 4)."""
    return matrix(np.array(axes(pose.orientation)).T, np.array(pose.position))


def _shape(geometry: Element) -> Shape | None:
    x, y, z = half_sizes(geometry)
    if min(x, y, z) <= 0.0:
        return None
    if geometry.find("box") is not None:
        return Box((2.0 * x, 2.0 * y, 2.0 * z))
    if geometry.find("sphere") is not None:
        return sphere(x)
    return Cylinder(x, 2.0 * z) if geometry.find("cylinder") is not None else None


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
    """A wheel that points straight ahead."""

    x: float  # its middle in ``base_link`` [m]
    y: float  # its middle in ``base_link`` [m]
    radius: float  # its size [m]
    width: float  # its size [m]
    rolls: str  # the joint by which it rolls
    steers: str  # the joint by which it is steered; empty for none


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
    """Read a URDF."""
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
