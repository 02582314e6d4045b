"""The world around the vehicle, as markers for RViz and the live page, and the vehicle's contacts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.core.errors import UnknownTypeError
from vds_gz.core.geometry import Vector, of_axes
from vds_gz.core.ros.graph import Graph, Severity
from vds_gz.core.ros.messages.fields import set_stamp
from vds_gz.core.world.obstacles import Contact
from vds_gz.core.world.packing import Thing
from vds_gz.core.world.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh
from vds_gz.programs.interface import topics

#: ``type`` in ``visualization_msgs/Marker``.
CUBE, SPHERE, CYLINDER, TRIANGLE_LIST = 1, 2, 3, 11

#: ``ros_gz_interfaces/Entity``.
MODEL, COLLISION = 2, 5

#: Maximum number of triangles of a mesh that are shown; a larger one is thinned out.
MOST_TRIANGLES = 10_000


def publish_world(graph: Graph, frame: str, things: Sequence[Thing]) -> None:
    """Publish the things of a world, latched; without ``visualization_msgs`` only a line in the log is written."""
    topic = topics.WORLD
    try:
        message = graph.message(topic.type)
        message.markers = [_filled(graph, frame, index, *marker) for index, marker in enumerate(_markers(things))]
        graph.publisher(topic.name, topic.type, topic.qos).publish(message)
    except UnknownTypeError as error:
        graph.log(Severity.INFO, f"no topic '{topic.name}': {error}")


def _markers(things: Sequence[Thing]) -> Iterator[tuple[Thing, int, Vector, Vector, Array]]:
    """For each marker: thing, type, extent along its own axes, place in the thing's frame, and corners of triangles."""
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
    x, y, z = thing.pose[:3, :3].T.tolist()
    for name, value in zip("xyzw", of_axes(x, y, z), strict=True):
        setattr(marker.pose.orientation, name, value)
    marker.color.r, marker.color.g, marker.color.b = (float(part) for part in thing.colour)
    marker.color.a = 1.0
    marker.points = [_coordinates(graph, "Point", corner) for corner in corners.tolist()]
    return marker


def _coordinates(graph: Graph, kind: str, vector: Sequence[float]) -> object:
    """A message with three coordinates."""
    message = graph.message(f"geometry_msgs/msg/{kind}")
    message.x, message.y, message.z = vector
    return message


class ContactsOutput:
    """The topic ``contacts``: a message at every instant with a contact, and an empty one when the contact ends.

    The messages are those of Gazebo's contact sensor through the bridge.
    """

    def __init__(self, graph: Graph, frame: str, vehicle: str) -> None:
        topic = topics.CONTACTS
        self._graph = graph
        self._vehicle = vehicle
        self._message = graph.message(topic.type)
        self._message.header.frame_id = frame
        self._publisher = graph.publisher(topic.name, topic.type, topic.qos)
        self._touched = False

    def publish(self, time: int, contacts: Sequence[Contact]) -> None:
        """Publish the contacts at an instant [ns], if there are subscribers."""
        due = bool(contacts) or self._touched
        self._touched = bool(contacts)
        if due and self._publisher.subscription_count():
            set_stamp(self._message.header.stamp, time)
            self._message.contacts = [self._contact(contact) for contact in contacts]
            self._publisher.publish(self._message)

    def _contact(self, contact: Contact) -> object:
        message = self._graph.message("ros_gz_interfaces/msg/Contact")
        message.collision1.name, message.collision1.type = self._vehicle, MODEL
        message.collision2.name, message.collision2.type = contact.thing.name, COLLISION
        message.positions = [_coordinates(self._graph, "Vector3", contact.point)]
        message.normals = [_coordinates(self._graph, "Vector3", contact.normal)]
        message.depths = self._graph.numbers(1)
        message.depths[0] = contact.depth
        return message


def contacts_output(graph: Graph, frame: str, model: str) -> ContactsOutput | None:
    """Announce the topic; without ``ros_gz_interfaces`` a line in the log says so."""
    try:
        return ContactsOutput(graph, frame, graph.namespace.strip("/") or model)
    except UnknownTypeError as error:
        graph.log(Severity.INFO, f"contacts are not published: {error}")
        return None
