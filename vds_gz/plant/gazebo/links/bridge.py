"""The link over ROS topics through ``ros_gz_bridge``."""

from __future__ import annotations

from collections.abc import Sequence

from vds_gz.description import gz_topics as topics
from vds_gz.parameters.gazebo import GazeboParameters
from vds_gz.plant.gazebo.links.ros_link import RosLink
from vds_gz.ros.graph import Graph, QoS

ACTUATORS = "actuator_msgs/msg/Actuators"


class BridgeLink(RosLink):
    """All joints in one ``actuator_msgs/Actuators``; `vds-gz model PRESET --format bridge` writes the bridge's file."""

    name = "bridge"
    lag_cause = (
        "the bridge: give /clock its own bridge and cameras another; or a JointPositionController without "
        "<use_velocity_commands>"
    )

    def __init__(self, graph: Graph, parameters: GazeboParameters) -> None:
        """Announce the topic of commands, with a queue of one, because older commands are useless."""
        super().__init__(graph, parameters, topics.joint_state(parameters.model))
        topic = parameters.actuators_topic or topics.actuators(parameters.model)
        self._publisher = graph.publisher(topic, ACTUATORS, QoS(depth=1))
        self._message = graph.message(ACTUATORS)

    def send(self, velocities: Sequence[float], positions: Sequence[float]) -> None:
        """Send all joints in one message, which Gazebo applies in one step."""
        self._message.velocity = self._filled(velocities)
        self._message.position = self._filled(positions)
        self._publisher.publish(self._message)
        if self._helper.due():
            self._message.velocity = self._graph.numbers(len(velocities))
            standing = self._graph.serialize(self._message, ACTUATORS)
            self._helper.note((self._publisher.topic, ACTUATORS, bytes(standing)))

    def fault(self) -> str:
        """The fault of the link itself."""
        if not self._publisher.subscription_count():
            return f"no one listens to '{self._publisher.topic}'; does ros_gz_bridge run, with this topic?"
        return self._helper.fault
