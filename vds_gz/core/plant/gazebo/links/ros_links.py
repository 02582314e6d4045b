"""Links to Gazebo over ROS topics, through ros_gz_bridge or ros2_control."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any

from vds_gz.core.description import gz_topics as topics
from vds_gz.core.parameters.node import GazeboParameters
from vds_gz.core.plant.gazebo.links.gazebo_link import Alive, HelpedLink, JointReadings, ReadingQueue
from vds_gz.core.ros.graph import CLOCK_IN, Graph, Message, QoS
from vds_gz.core.ros.messages.fields import stamp_ns

#: Gazebo also publishes its time while it is paused. It counts as paused if the time does not change for this long [s].
STANDING = 0.2

_STATE = QoS(depth=10)


class RosLink(HelpedLink):
    """Puts clock, joint states and odometry from ROS into the plant's inbox."""

    clock_cause = "no bridge brings it to the topic of gazebo.clock_topic"

    def __init__(self, graph: Graph, parameters: GazeboParameters, joint_states: str) -> None:
        """Make the link, without subscriptions; ``joint_states`` is the default topic of joint states."""
        super().__init__(parameters)
        self._graph = graph
        self._joint_states = parameters.joint_states_topic or joint_states
        self._odometry = parameters.odometry_topic or topics.odometry(parameters.model)
        self._time = -1
        self._moved = self._reported = monotonic()

    def start(self, inbox: ReadingQueue, wake: Callable[[], None]) -> None:
        """Begin to listen. Messages come in the node's own thread, so ``wake`` is not used."""
        self._inbox = inbox
        graph = self._graph
        clock = graph.subscribe(self._parameters.clock_topic, CLOCK_IN.type, CLOCK_IN.qos, self._on_clock)
        self.clock_topic = clock.topic
        graph.subscribe(self._odometry, "nav_msgs/msg/Odometry", _STATE, self._on_odometry)
        graph.subscribe(self._joint_states, "sensor_msgs/msg/JointState", _STATE, self._on_joints)

    def _filled(self, values: Sequence[float]) -> Any:
        """A ``float64[]`` with these values."""
        numbers = self._graph.numbers(len(values))
        for i, value in enumerate(values):
            numbers[i] = value
        return numbers

    def _on_clock(self, message: Message, arrival: int) -> None:
        time, now = stamp_ns(message.clock), monotonic()
        if time != self._time:
            self._time, self._moved = time, now
        elif now - self._moved > STANDING and now - self._reported > STANDING / 2:
            self._reported = now
            self._inbox.append(Alive(paused=True))
        self._tick(time)

    def _on_odometry(self, message: Message, arrival: int) -> None:
        self._place(stamp_ns(message.header.stamp), message.pose.pose)

    def _on_joints(self, message: Message, arrival: int) -> None:
        count = len(message.name)
        if not len(message.position) == len(message.velocity) == count:
            return
        self._inbox.append(
            JointReadings(
                stamp_ns(message.header.stamp),
                dict(zip(message.name, map(float, message.position), strict=True)),
                dict(zip(message.name, map(float, message.velocity), strict=True)),
            )
        )


ACTUATORS = "actuator_msgs/msg/Actuators"


class BridgeLink(RosLink):
    """All joints in one ``actuator_msgs/Actuators``; `vds-gz model PRESET --format bridge` writes the bridge's file."""

    name = "bridge"
    lag_cause = (
        "the bridge (give /clock its own, and cameras another), or a JointPositionController without "
        "<use_velocity_commands>"
    )

    def __init__(self, graph: Graph, parameters: GazeboParameters) -> None:
        """Advertise the topic of commands, with a queue of one, because older commands are useless."""
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
            return f"no one listens to '{self._publisher.topic}'; is ros_gz_bridge running with this topic?"
        return self._helper.fault


NUMBERS = "std_msgs/msg/Float64MultiArray"

#: Topic of joint_state_broadcaster with use_local_topics; otherwise it would conflict with the node's joint_states.
JOINT_STATES = "joint_state_broadcaster/joint_states"


class Ros2ControlLink(RosLink):
    """Sends wheels to a velocity controller and steering joints to a position controller, as two messages.

    The controllers list the joints in the order of ``VehicleModel.joints``. Both messages act in the next cycle of
    ``controller_manager``, or one cycle apart if a cycle begins between them.
    """

    name = "ros2_control"
    lag_cause = (
        "gz_ros2_control's position interface, which lags by T = 1/(position_proportional_gain * update_rate), "
        "0.1 s as shipped: set position_proportional_gain to 1.0 and update_rate to 500 or more"
    )
    joint_reporter = "joint_state_broadcaster with use_local_topics: true"
    lists_joints = True

    def __init__(self, graph: Graph, parameters: GazeboParameters) -> None:
        super().__init__(graph, parameters, JOINT_STATES)
        self._velocities = graph.publisher(parameters.velocity_commands_topic, NUMBERS, QoS(depth=1))
        self._positions = graph.publisher(parameters.position_commands_topic, NUMBERS, QoS(depth=1))
        self._message = graph.message(NUMBERS)
        self._steers = False

    def send(self, velocities: Sequence[float], positions: Sequence[float]) -> None:
        """Send the commands, steering first, so that the wheels never act a cycle earlier than the steering."""
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
