"""What is published on the graph, as discovery reports it: every topic with its type and quality of service."""

from __future__ import annotations

import ctypes as c

from vds_gz.ros.dds.context import Context
from vds_gz.ros.dds.library import Endpoint, SampleInfo
from vds_gz.ros.graph import Offer, QoS
from vds_gz.ros.names import is_topic

# Cyclone DDS gives the topic on which it reports all writers this number instead of a name.
_WRITERS = 0x7FFF0000 + 3
_ALIVE = 16
#: Writers that are looked at.
_MAX_WRITERS = 4096


class PublishedTopics:
    """Knows all writers of the domain that belong to ROS topics."""

    def __init__(self, context: Context) -> None:
        """Begin to listen to discovery.

        Raises:
            GraphError: It cannot be listened to.
        """
        self._library = library = context.library
        reader = library.c.dds_create_reader(context.participant, _WRITERS, None, None)
        self._reader = library.check(reader, "discovery cannot be read")

    def now(self) -> dict[str, Offer]:
        """What is published now, by the topic's absolute name. Of several publishers the type is the first one's.

        Writers whose topic or type has no valid ROS name are left out.
        """
        library = self._library
        samples, infos = (c.c_void_p * _MAX_WRITERS)(), (SampleInfo * _MAX_WRITERS)()
        read = library.c.dds_read(self._reader, samples, infos, _MAX_WRITERS, _MAX_WRITERS)
        count = library.check(read, "discovery cannot be read")
        found: dict[str, Offer] = {}
        for sample, info in zip(samples[:count], infos, strict=False):
            if sample and info.valid_data and info.instance_state == _ALIVE:
                endpoint = Endpoint.from_address(sample)
                topic = endpoint.topic_name.decode("ascii", "replace")
                name = topic.removeprefix("rt")
                type_name = ros_type_name(endpoint.type_name.decode("ascii", "replace"))
                if name != topic and is_topic(name, type_name):
                    offer = Offer(type_name, self._qos(endpoint.qos))
                    found[name] = offer.together_with(found[name]) if name in found else offer
        if count:
            library.c.dds_return_loan(self._reader, samples, count)
        return found

    def _qos(self, qos: int) -> QoS:
        library, kind, depth = self._library, c.c_int(), c.c_int32(10)
        library.c.dds_qget_history(qos, c.byref(kind), c.byref(depth))
        reliable, durable = c.c_int(), c.c_int()
        library.c.dds_qget_reliability(qos, c.byref(reliable), None)
        library.c.dds_qget_durability(qos, c.byref(durable))
        return QoS(max(depth.value, 1), bool(reliable.value), bool(durable.value))


def ros_type_name(name: str) -> str:
    """The ROS name of a type on the wire: ``nav_msgs::msg::dds_::Odometry_`` is ``nav_msgs/msg/Odometry``.

    Empty for what is no type of ROS.
    """
    parts = name.split("::")
    is_ros = len(parts) == 4 and parts[2] == "dds_" and parts[3].endswith("_")
    return f"{parts[0]}/{parts[1]}/{parts[3][:-1]}" if is_ros else ""
