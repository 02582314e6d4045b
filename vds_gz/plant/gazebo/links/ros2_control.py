"""The link to ``ros2_control``: two forward command controllers move the joints, in Gazebo or elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from vds_gz.parameters.gazebo import GazeboParameters
from vds_gz.plant.gazebo.links.ros_link import RosLink
from vds_gz.ros.graph import Graph, QoS

NUMBERS = "std_msgs/msg/Float64MultiArray"

#: Topic of joint_state_broadcaster with use_local_topics; otherwise it would conflict with the node's joint_states.
JOINT_STATES = "joint_state_broadcaster/joint_states"


class Ros2ControlLink(RosLink):
    """Sends wheels to a velocity controller and steering joints to a position controller, as two messages.

    The controllers list the joints in the order of ``joint_states``. Both messages act in the next cycle of
    ``controller_manager``; only when that begins between the two, one cycle lies between them.
    """

    name = "ros2_control"
    lag_cause = (
        "gz_ros2_control's position interface, which lags by T = 1/(position_proportional_gain * update_rate), "
        "0.1 s as shipped: set position_proportional_gain to 1.0 and update_rate to 500 or more"
    )

    def __init__(self, graph: Graph, parameters: GazeboParameters) -> None:
        """Announce the topics of commands."""
        super().__init__(graph, parameters, JOINT_STATES)
        self._velocities = graph.publisher(parameters.velocity_commands_topic, NUMBERS, QoS(depth=1))
        self._positions = graph.publisher(parameters.position_commands_topic, NUMBERS, QoS(depth=1))
        self._message = graph.message(NUMBERS)
        self._steers = False

    def send(self, velocities: Sequence[float], positions: Sequence[float]) -> None:
        """Send the commands, steering first: if a cycle begins between the two messages, the wheels turn as before."""
        self._steers = bool(positions)
        for publisher, values in ((self._positions, positions), (self._velocities, velocities)):
            if values:
                self._message.data = self._filled(values)
                publisher.publish(self._message)
        if self._helper.due():
            self._message.data = self._graph.numbers(len(velocities))
            standing = self._graph.serialize(self._message, NUMBERS)
            self._helper.note((self._velocities.topic, NUMBERS, bytes(standing)))

    def fault(self) -> str:
        """The fault of the link itself."""
        needed = [self._velocities, self._positions] if self._steers else [self._velocities]
        for publisher in needed:
            if not publisher.subscription_count():
                return f"no one listens to '{publisher.topic}'; is this forward_command_controller loaded and active?"
        return self._helper.fault
