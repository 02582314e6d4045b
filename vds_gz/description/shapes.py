"""The shapes of a robot by its URDF, as things of a world."""

from __future__ import annotations

from xml.etree.ElementTree import Element

import numpy as np

from vds_gz.description.footprint import half_sizes, parts_of
from vds_gz.description.urdf_reader import Robot
from vds_gz.geometry import Transform, axes
from vds_gz.world.geometry_reader import matrix
from vds_gz.world.packing import Thing
from vds_gz.world.shapes import Array, Box, Cylinder, Shape, sphere


def things_of(urdf: str, name: str, tag: str) -> list[Thing]:
    """Boxes, cylinders and spheres of a robot in ``base_link``, its joints at 0; meshes and empty shapes are left out.

    Args:
        urdf: The robot's description.
        name: What stands before the names of its links.
        tag: ``visual`` or ``collision``.

    Raises:
        DescriptionError: It is none.
    """
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
