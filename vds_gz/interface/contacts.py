"""What a vehicle touches, as Gazebo's contact sensor publishes it through the bridge."""

from __future__ import annotations

from collections.abc import Sequence

from vds_gz.geometry.so3 import Vector
from vds_gz.interface import topics
from vds_gz.interface.conversions import set_stamp
from vds_gz.ros.errors import UnknownTypeError
from vds_gz.ros.graph import Graph, Severity
from vds_gz.world.obstacles import Contact

#: ``ros_gz_interfaces/Entity``.
MODEL, COLLISION = 2, 5


class ContactsOutput:
    """The topic ``contacts``: a message at every instant at which something is touched, and an empty one at the end."""

    def __init__(self, graph: Graph, frame: str, vehicle: str) -> None:
        """Announce the topic.

        Args:
            graph: Where to publish.
            frame: Of the world.
            vehicle: The name of what touches.

        Raises:
            UnknownTypeError: ROS is here without ``ros_gz_interfaces``.
        """
        topic = topics.CONTACTS
        self._graph = graph
        self._vehicle = vehicle
        self._message = graph.message(topic.type)
        self._message.header.frame_id = frame
        self._publisher = graph.publisher(topic.name, topic.type, topic.qos)
        self._touched = False

    def publish(self, time: int, contacts: Sequence[Contact]) -> None:
        """Publish what is touched at an instant [ns], if anybody listens."""
        due = bool(contacts) or self._touched
        self._touched = bool(contacts)
        if due and self._publisher.subscription_count():
            set_stamp(self._message.header.stamp, time)
            self._message.contacts = [self._contact(one) for one in contacts]
            self._publisher.publish(self._message)

    def _contact(self, contact: Contact) -> object:
        message = self._graph.message("ros_gz_interfaces/msg/Contact")
        message.collision1.name, message.collision1.type = self._vehicle, MODEL
        message.collision2.name, message.collision2.type = contact.thing.name, COLLISION
        message.positions, message.normals = [self._vector(contact.point)], [self._vector(contact.normal)]
        message.depths = self._graph.numbers(1)
        message.depths[0] = contact.depth
        return message

    def _vector(self, vector: Vector) -> object:
        message = self._graph.message("geometry_msgs/msg/Vector3")
        message.x, message.y, message.z = vector
        return message


def contacts_output(graph: Graph, frame: str, model: str) -> ContactsOutput | None:
    """Announce the topic; without ``ros_gz_interfaces`` a line in the log says so.

    Args:
        graph: Where to publish.
        frame: Of the world.
        model: The vehicle's model, which names it where it has no namespace.
    """
    try:
        return ContactsOutput(graph, frame, graph.namespace.strip("/") or model)
    except UnknownTypeError as error:
        graph.log(Severity.INFO, f"contacts are not published: {error}")
        return None
