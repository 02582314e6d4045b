"""What goes out at every publish instant, where somebody listens. Messages are made once and filled anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from vds_gz.ros import topics
from vds_gz.ros.conversions import exact_covariance, set_odometry, set_stamp, set_transform, set_twist
from vds_gz.ros.graph import Graph, Publisher
from vds_gz.sensing.localization import Pose
from vds_gz.vehicle.model import ActuatorStates, JointStates
from vds_gz.vehicle.vehicle import Motion

BASE_LINK = "base_link"


@dataclass(frozen=True, slots=True)
class Frames:
    """Names of the frames, prefix included."""

    map: str
    odom: str
    base_link: str

    @classmethod
    def of(cls, parameters: Any) -> Frames:
        """The frames of a node's parameters."""
        prefix = parameters.frame_prefix
        return cls(prefix + parameters.map_frame, prefix + parameters.odom_frame, prefix + BASE_LINK)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The vehicle at one publish instant.

    Attributes:
        time: Simulated time [ns].
        truth: Pose of base_link in the map.
        odom: Pose of base_link in the odometry's frame, with the variances of position and heading [m^2, rad^2].
        map_to_odom: The odometry's frame in the map; None where it is fixed.
    """

    time: int
    motion: Motion
    truth: Pose
    odom: Pose
    odom_variance: tuple[float, float]
    map_to_odom: Pose | None
    joints: JointStates
    actuators: ActuatorStates


class _Joints:
    """A topic of joint states whose names never change."""

    def __init__(self, graph: Graph, topic: topics.Topic, names: Sequence[str]) -> None:
        self._publisher = graph.publisher(topic.name, topic.type, topic.qos)
        self._message = graph.message(topic.type)
        self._message.name = list(names)
        self._positions = graph.numbers(len(names))
        self._velocities = graph.numbers(len(names))

    def publish(self, time: int, positions: Sequence[float], velocities: Sequence[float]) -> None:
        if not self._publisher.subscription_count():
            return
        set_stamp(self._message.header.stamp, time)
        for i, value in enumerate(positions):
            self._positions[i] = value
        for i, value in enumerate(velocities):
            self._velocities[i] = value
        self._message.position = self._positions
        self._message.velocity = self._velocities
        self._publisher.publish(self._message)


class Outputs:
    """All topics that go out at the publish rate, and the latched ones."""

    def __init__(
        self, graph: Graph, frames: Frames, joints: Sequence[str], actuators: Sequence[str], fixed_odom: bool
    ) -> None:
        """Announce the topics.

        Args:
            graph: Where to publish.
            frames: Names of the frames.
            joints: Names of the joints.
            actuators: Names of the actuators.
            fixed_odom: The odometry's frame lies fixed in the map.
        """
        self._graph = graph
        self._frames = frames
        self._fixed_odom = fixed_odom
        self._twist, self._twist_message = self._announce(topics.TWIST_ACTUAL)
        self._twist_message.header.frame_id = frames.base_link
        self._odom, self._odom_message = self._odometry(topics.ODOM, frames.odom)
        self._truth, self._truth_message = self._odometry(topics.GROUND_TRUTH, frames.map)
        self._joints = _Joints(graph, topics.JOINT_STATES, joints)
        self._references = _Joints(graph, topics.ACTUATOR_REFERENCES, actuators)
        self._actuators = _Joints(graph, topics.ACTUATOR_STATES, actuators)
        self._description, _ = self._announce(topics.ROBOT_DESCRIPTION)
        self._tf_static, _ = self._announce(topics.TF_STATIC)
        self._tf, self._tf_message = self._announce(topics.TF)
        self._base_transform = self._transform(frames.odom, frames.base_link)
        self._odom_transform = self._transform(frames.map, frames.odom)
        self._tf_message.transforms = [self._base_transform]
        if not fixed_odom:
            self._tf_message.transforms = [self._odom_transform, self._base_transform]

    def publish_latched(self, time: int, description: str) -> None:
        """Publish what is said once: the robot's description and the fixed transform."""
        message = self._graph.message(topics.ROBOT_DESCRIPTION.type)
        message.data = description
        self._description.publish(message)
        if self._fixed_odom:
            static = self._graph.message(topics.TF_STATIC.type)
            set_stamp(self._odom_transform.header.stamp, time)
            static.transforms = [self._odom_transform]
            self._tf_static.publish(static)

    def publish(self, snapshot: Snapshot) -> None:
        """Publish everything of one instant."""
        time, motion, actuators = snapshot.time, snapshot.motion, snapshot.actuators
        if self._tf.subscription_count():
            self._publish_transforms(snapshot)
        if self._odom.subscription_count():
            set_stamp(self._odom_message.header.stamp, time)
            set_odometry(self._odom_message, snapshot.odom, motion, snapshot.odom_variance)
            self._odom.publish(self._odom_message)
        if self._truth.subscription_count():
            set_stamp(self._truth_message.header.stamp, time)
            set_odometry(self._truth_message, snapshot.truth, motion, (0.0, 0.0))
            self._truth.publish(self._truth_message)
        if self._twist.subscription_count():
            set_stamp(self._twist_message.header.stamp, time)
            set_twist(self._twist_message.twist, motion)
            self._twist.publish(self._twist_message)
        self._joints.publish(time, snapshot.joints.positions, snapshot.joints.velocities)
        self._references.publish(time, actuators.reference_positions, actuators.reference_velocities)
        self._actuators.publish(time, actuators.positions, actuators.velocities)

    def _publish_transforms(self, snapshot: Snapshot) -> None:
        set_stamp(self._base_transform.header.stamp, snapshot.time)
        set_transform(self._base_transform.transform, snapshot.odom)
        if snapshot.map_to_odom is not None:
            set_stamp(self._odom_transform.header.stamp, snapshot.time)
            set_transform(self._odom_transform.transform, snapshot.map_to_odom)
        self._tf.publish(self._tf_message)

    def _announce(self, topic: topics.Topic) -> tuple[Publisher, Any]:
        return self._graph.publisher(topic.name, topic.type, topic.qos), self._graph.message(topic.type)

    def _odometry(self, topic: topics.Topic, frame: str) -> tuple[Publisher, Any]:
        publisher, message = self._announce(topic)
        message.header.frame_id = frame
        message.child_frame_id = self._frames.base_link
        exact_covariance(message.pose.covariance)
        exact_covariance(message.twist.covariance)
        return publisher, message

    def _transform(self, parent: str, child: str) -> Any:
        message = self._graph.message("geometry_msgs/msg/TransformStamped")
        message.header.frame_id = parent
        message.child_frame_id = child
        set_transform(message.transform, Pose())
        return message


class ClockOutput:
    """The topic that tells other nodes the time."""

    def __init__(self, graph: Graph) -> None:
        """Announce the topic."""
        topic = topics.CLOCK
        self._publisher = graph.publisher(topic.name, topic.type, topic.qos)
        self._message = graph.message(topic.type)

    def publish(self, time: int) -> None:
        """Tell the time [ns]."""
        set_stamp(self._message.clock, time)
        self._publisher.publish(self._message)
