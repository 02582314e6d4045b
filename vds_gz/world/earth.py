"""What an SDF world says of the Earth beneath it: gravity, and where its origin lies."""

from __future__ import annotations

from vds_gz.geometry import Vector
from vds_gz.world.geodesy import NULL_ISLAND, Origin
from vds_gz.world.xml_reader import Node

#: Gravity where a world says nothing of it, as in SDF [m/s^2].
GRAVITY: Vector = (0.0, 0.0, -9.8)

#: What ``<spherical_coordinates>`` may choose; only these have a meaning here.
CHOICES = {"surface_model": "EARTH_WGS84", "world_frame_orientation": "ENU"}

#: Bounds of its numbers.
BOUNDS = {"latitude_deg": 90.0, "longitude_deg": 360.0, "elevation": 1e6, "heading_deg": 360.0}


def gravity_of(world: Node) -> Vector:
    """``<gravity>`` [m/s^2].

    Raises:
        WorldError: It is not three numbers.
    """
    node = world.child("gravity")
    if node is None:
        return GRAVITY
    x, y, z = node.numbers(3)
    return x, y, z


def origin_of(world: Node) -> Origin:
    """``<spherical_coordinates>``; 0 degrees north and east where there are none.

    Raises:
        WorldError: It is not the Earth, the axes are not east, north and up, or a number is out of bounds.
    """
    node = world.child("spherical_coordinates")
    if node is None:
        return NULL_ISLAND
    for tag, known in CHOICES.items():
        if (value := node.value(tag, known)) != known:
            node.fail(f"<{tag}> is '{value}'; it must be {known}")
    latitude, longitude, elevation, heading = (_number(node, tag, bound) for tag, bound in BOUNDS.items())
    return Origin(latitude, longitude, elevation, heading)


def _number(node: Node, tag: str, bound: float) -> float:
    child = node.child(tag)
    if child is None:
        return 0.0
    (value,) = child.numbers(1)
    if abs(value) > bound:
        child.fail(f"<{tag}> is {value:g}; it must be from {-bound:g} to {bound:g}")
    return value
