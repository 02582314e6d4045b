"""What stands around the vehicle, as markers that RViz and the live page show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from vds_gz.geometry.so3 import Quaternion, Vector, of_axes
from vds_gz.interface import topics
from vds_gz.ros.errors import UnknownTypeError
from vds_gz.ros.graph import Graph, Severity
from vds_gz.world.packing import Thing
from vds_gz.world.shapes import Array, Box, Capsule, Cylinder, Ellipsoid, Mesh

#: ``type`` in ``visualization_msgs/Marker``.
CUBE, SPHERE, CYLINDER, TRIANGLE_LIST = 1, 2, 3, 11

#: Of a mesh with more triangles, only some are shown.
MOST_TRIANGLES = 10_000


def publish_world(graph: Graph, frame: str, things: Sequence[Thing]) -> None:
    """Publish things once, for all who come now or later; without ``visualization_msgs`` a line in the log says so.

    Args:
        graph: Where to publish.
        frame: The world's frame.
        things: What there is.
    """
    topic = topics.WORLD
    try:
        message = graph.message(topic.type)
        message.markers = [_filled(graph, frame, index, *one) for index, one in enumerate(_markers(things))]
        graph.publisher(topic.name, topic.type, topic.qos).publish(message)
    except UnknownTypeError as error:
        graph.log(Severity.INFO, f"no topic '{topic.name}': {error}")


def _markers(things: Sequence[Thing]) -> Iterator[tuple[Thing, int, Vector, Vector, Array]]:
    """Of each marker its thing, type, extent along its own axes, place in the thing's frame, and triangles' corners."""
    nowhere, none = (0.0, 0.0, 0.0), np.empty((0, 3))
    for thing in things:
        match thing.shape:
            case Box((x, y, z)):
                yield thing, CUBE, (x, y, z), nowhere, none
            case Cylinder(radius, length):
                yield thing, CYLINDER, (2.0 * radius, 2.0 * radius, length), nowhere, none
            case Ellipsoid((x, y, z)):
                yield thing, SPHERE, (2.0 * x, 2.0 * y, 2.0 * z), nowhere, none
            case Capsule(radius, length):
                width = 2.0 * radius
                yield thing, CYLINDER, (width, width, length), nowhere, none
                for end in (-0.5 * length, 0.5 * length):
                    yield thing, SPHERE, (width, width, width), (0.0, 0.0, end), none
            case Mesh(vertices, faces):
                shown = faces[:: -(-len(faces) // MOST_TRIANGLES)]
                yield thing, TRIANGLE_LIST, (1.0, 1.0, 1.0), nowhere, vertices[shown].reshape(-1, 3)


def _filled(
    graph: Graph, frame: str, index: int, thing: Thing, kind: int, extent: Vector, place: Vector, corners: Array
) -> object:
    """A marker."""
    marker = graph.message("visualization_msgs/msg/Marker")
    marker.header.frame_id = frame
    marker.ns, marker.id, marker.type = thing.name.partition("::")[0], index, kind
    position = (thing.pose[:3, :3] @ place + thing.pose[:3, 3]).tolist()
    for axis, where, size in zip("xyz", position, extent, strict=True):
        setattr(marker.pose.position, axis, where)
        setattr(marker.scale, axis, size)
    for name, value in zip("xyzw", _orientation(thing.pose[:3, :3]), strict=True):
        setattr(marker.pose.orientation, name, value)
    marker.color.r, marker.color.g, marker.color.b = (float(part) for part in thing.colour)
    marker.color.a = 1.0
    marker.points = [_point(graph, *corner) for corner in corners.tolist()]
    return marker


def _orientation(rotation: Array) -> Quaternion:
    x, y, z = rotation.T.tolist()
    return of_axes(x, y, z)


def _point(graph: Graph, x: float, y: float, z: float) -> object:
    point = graph.message("geometry_msgs/msg/Point")
    point.x, point.y, point.z = x, y, z
    return point
