"""The link over ROS topics that ``ros_gz_bridge`` carries into Gazebo and out of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from vds_gz.description import gz_topics as topics
from vds_gz.geometry.so3 import Quaternion, Vector
from vds_gz.parameters.gazebo import GazeboParameters
from vds_gz.plant.gazebo.links import world_services
from vds_gz.plant.gazebo.links.base import Inbox
from vds_gz.plant.gazebo.links.helper_process import Helper
from vds_gz.plant.gazebo.links.ros_state import RosState
from vds_gz.ros.graph import Graph, QoS

ACTUATORS = "actuator_msgs/msg/Actuators"


class BridgeLink:
    """All joints in one ``actuator_msgs/Actuators``; `vds-gz model PRESET --format bridge` writes the bridge's file."""

    name = "bridge"
    clock_topic = ""
    lag_cause = (
        "the bridge: give /clock a bridge of its own and cameras another; or a JointPositionController without "
        "<use_velocity_commands>"
    )

    def __init__(self, graph: Graph, parameters: GazeboParameters) -> None:
        """Announce the topic of commands; one command waits at most, since an older one is of no use."""
        topic = parameters.actuators_topic or topics.actuators(parameters.model)
        self._graph = graph
        self._model = parameters.model
        self._publisher = graph.publisher(topic, ACTUATORS, QoS(depth=1))
        self._message = graph.message(ACTUATORS)
        self._state = RosState(graph, parameters, topics.joint_state(parameters.model))
        self._world = parameters.world
        self._helper = Helper(parameters.partition)

    def start(self, inbox: Inbox, wake: Callable[[], None]) -> None:
        """Begin to listen."""
        self._state.start(inbox, wake)
        self.clock_topic = self._state.clock_topic

    def poll(self) -> None:
        """Take in what the helper process has found out."""
        self._helper.poll()

    def send(self, velocities: Sequence[float], positions: Sequence[float]) -> None:
        """All joints in one message, which Gazebo obeys in one step."""
        self._message.velocity = filled(self._graph, velocities)
        self._message.position = filled(self._graph, positions)
        self._publisher.publish(self._message)
        if self._helper.due():
            self._message.velocity = self._graph.numbers(len(velocities))
            standing = self._graph.serialize(self._message, ACTUATORS)
            self._helper.note((self._publisher.topic, ACTUATORS, bytes(standing)))

    def set_pose(self, position: Vector, orientation: Quaternion) -> None:
        """Put the vehicle there [m]."""
        self._helper.call(self._world, world_services.set_pose(self._model, position, orientation))

    def pause(self, paused: bool) -> None:
        """Let the world pause or go on."""
        self._helper.call(self._world, world_services.pause(paused))

    def fault(self) -> str:
        """What is wrong with the link itself."""
        if not self._publisher.subscription_count():
            return f"nobody listens to '{self._publisher.topic}'; does ros_gz_bridge run, with this topic?"
        return self._helper.fault

    def close(self) -> None:
        """The graph sends what is left."""
        self._helper.close()


def filled(graph: Graph, values: Sequence[float]) -> Any:
    """A ``float64[]`` with these values."""
    numbers = graph.numbers(len(values))
    for i, value in enumerate(values):
        numbers[i] = value
    return numbers
