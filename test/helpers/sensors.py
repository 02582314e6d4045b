"""Sensors of ours on a real graph, and a listener beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from helpers.processes import Probe
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.ros.graph import QoS
from vds_gz.core.sensing.sensor_types import SensorTypes, sensor_setups
from vds_gz.core.vehicle.vehicle_model import Joint
from vds_gz.programs.interface.topics import Topic

#: All types of sensors, their parameter groups, and those that Gazebo simulates, by their names.
TYPES = dict(SensorTypes())
GROUPS = {name: record.parameters for name, record in TYPES.items()}
IN_GAZEBO = {name: record for name, record in TYPES.items() if record.gazebo}

#: Formats of ``sensor_msgs/PointField``.
FORMATS = {2: "u1", 4: "<u2", 6: "<u4", 7: "<f4", 8: "<f8"}


class Heard:
    """A sensor, and what is heard of it."""

    def __init__(
        self,
        probe: Probe,
        sensor: Any,
        *,
        name: str = "front",
        only: str | None = None,
        prefix: str = "",
        seed: int = 0,
        joints: Sequence[Joint] = (),
    ) -> None:
        """Announce the sensor, and listen to all of its topics, or to one."""
        self.probe = probe
        parameters = NodeParameters(frame_prefix=prefix, random_seed=seed, sensors={name: sensor})
        (setup,) = sensor_setups(probe.graph, parameters, joints)
        self.output = setup.type.make(setup)
        self.topics = {
            stream.ros: Topic(stream.topic(name), stream.ros_type, QoS(10, reliable=False))
            for stream in TYPES[sensor.type].streams
            if only in (None, stream.ros)
        }
        for topic in self.topics.values():
            probe.listen(topic)

    def measured(self, states: Any, scene: Any, count: int = 1) -> dict[str, list[Any]]:
        """The messages of one measurement, so many on each topic."""
        received = [self.probe.received[topic.name] for topic in self.topics.values()]

        def complete() -> bool:
            for messages in received:
                messages.clear()
            self.output.measure(states, scene)
            self.probe.serve(0.05)
            return all(len(messages) == count for messages in received)

        self.probe.until(complete, f"{count} messages on {', '.join(self.topics)}")
        return {name: list(messages) for name, messages in zip(self.topics, received, strict=True)}


def points(message: Any) -> np.ndarray:
    """The points of a cloud, by the fields that it describes; of shape (height, width)."""
    fields = list(message.fields)
    assert all(field.count == 1 for field in fields)
    dtype = np.dtype(
        {
            "names": [field.name for field in fields],
            "formats": [FORMATS[field.datatype] for field in fields],
            "offsets": [field.offset for field in fields],
            "itemsize": message.point_step,
        }
    )
    assert not message.is_bigendian
    assert message.row_step == message.width * message.point_step
    assert len(message.data) == message.height * message.row_step
    return np.frombuffer(bytes(message.data), dtype).reshape(message.height, message.width)


def described(message: Any) -> list[tuple[str, int, int]]:
    """Name, offset and type of every field."""
    return [(field.name, field.offset, field.datatype) for field in message.fields]
