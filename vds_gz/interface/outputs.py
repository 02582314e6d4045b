"""What goes out at every publish instant, where somebody listens."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from vds_gz.geometry.attitude import Attitude
from vds_gz.geometry.se2 import Pose
from vds_gz.geometry.so3 import quaternion
from vds_gz.interface import topics
from vds_gz.interface.conversions import EXACT, exact_covariance, set_stamp
from vds_gz.ros.graph import Graph
from vds_gz.ros.messages.packed import PackedMessage, Place
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
        motion: Where base_link truly is and how it moves; ``odom_motion``: how it is measured to move.
        truth: Pose of base_link in the map.
        odom: Pose of base_link in the odometry's frame, with the variances of position and heading [m^2, rad^2].
        map_to_odom: The odometry's frame in the map; None where it is fixed.
        attitude: How base_link stands out of the plane; None where it never does. Localization errs in the plane only,
            so it is the same in both frames.
    """

    time: int
    motion: Motion
    odom_motion: Motion
    truth: Pose
    odom: Pose
    odom_variance: tuple[float, float]
    map_to_odom: Pose | None
    joints: JointStates
    actuators: ActuatorStates
    attitude: Attitude | None = None


class _Output:
    """A topic whose messages differ in their stamps and some numbers only."""

    def __init__(
        self, graph: Graph, topic: topics.Topic, message: Any, stamps: Sequence[Any], numbers: Sequence[Place]
    ) -> None:
        self._publisher = graph.publisher(topic.name, topic.type, topic.qos)
        self._message = PackedMessage(graph, topic.type, message, stamps, numbers)
        self.topic = self._publisher.topic
        self.heard = self._publisher.subscription_count

    def send(self, time: int, values: Sequence[float]) -> None:
        self._message.write(time, values)
        self._publisher.publish_raw(self._message.data)


class Outputs:
    """All topics that go out at the publish rate, and the latched ones."""

    def __init__(
        self,
        graph: Graph,
        frames: Frames,
        joints: Sequence[str],
        actuators: Sequence[str],
        fixed_odom: bool,
        flat: bool = True,
    ) -> None:
        """Announce the topics.

        Args:
            graph: Where to publish.
            frames: Names of the frames.
            joints: Names of the joints.
            actuators: Names of the actuators.
            fixed_odom: The odometry's frame lies fixed in the map.
            flat: base_link never leaves the plane, and snapshots have no attitude.
        """
        self._graph = graph
        self._frames = frames
        self._fixed_odom = fixed_odom
        self._flat = flat
        self._twist = self._make_twist()
        self._odom = self._make_odometry(topics.ODOM, frames.odom)
        self._truth = self._make_odometry(topics.GROUND_TRUTH, frames.map)
        self._joints = self._make_joints(topics.JOINT_STATES, joints)
        self._references = self._make_joints(topics.ACTUATOR_REFERENCES, actuators)
        self._actuators = self._make_joints(topics.ACTUATOR_STATES, actuators)
        self._tf = self._make_transforms()
        self._description = self._publisher(topics.ROBOT_DESCRIPTION)
        self._tf_static = self._publisher(topics.TF_STATIC)

    def publish_latched(self, time: int, description: str) -> None:
        """Publish what is said once: the robot's description and the fixed transform."""
        message = self._graph.message(topics.ROBOT_DESCRIPTION.type)
        message.data = description
        self._description.publish(message)
        if self._fixed_odom:
            static = self._graph.message(topics.TF_STATIC.type)
            static.transforms = [self._transform(self._frames.map, self._frames.odom)]
            set_stamp(static.transforms[0].header.stamp, time)
            self._tf_static.publish(static)

    def publish(self, snapshot: Snapshot) -> None:
        """Publish everything of one instant."""
        time, motion, joints, actuators = snapshot.time, snapshot.motion, snapshot.joints, snapshot.actuators
        attitude = snapshot.attitude
        if self._tf.heard():
            self._tf.send(time, _transform_values(snapshot.odom, snapshot.map_to_odom, attitude))
        if self._odom.heard():
            variance = snapshot.odom_variance
            self._odom.send(time, _odometry_values(snapshot.odom, snapshot.odom_motion, variance, attitude))
        if self._truth.heard():
            self._truth.send(time, _odometry_values(snapshot.truth, motion, (0.0, 0.0), attitude))
        if self._twist.heard():
            self._twist.send(time, (motion.v_x, motion.v_y, motion.yaw_rate))
        if self._joints.heard():
            self._joints.send(time, (*joints.positions, *joints.velocities))
        if self._references.heard():
            self._references.send(time, (*actuators.reference_positions, *actuators.reference_velocities))
        if self._actuators.heard():
            self._actuators.send(time, (*actuators.positions, *actuators.velocities))

    def _publisher(self, topic: topics.Topic) -> Any:
        return self._graph.publisher(topic.name, topic.type, topic.qos)

    def _make_twist(self) -> _Output:
        topic = topics.TWIST_ACTUAL
        message = self._graph.message(topic.type)
        message.header.frame_id = self._frames.base_link
        return _Output(self._graph, topic, message, [message.header.stamp], _twist_places(message.twist))

    def _make_odometry(self, topic: topics.Topic, frame: str) -> _Output:
        message = self._graph.message(topic.type)
        message.header.frame_id = frame
        message.child_frame_id = self._frames.base_link
        exact_covariance(message.pose.covariance)
        exact_covariance(message.twist.covariance)
        pose = message.pose.pose
        places: list[Place] = [
            *_pose_places(pose.position, pose.orientation, self._flat),
            *((message.pose.covariance, index) for index in (0, 7, 35)),
            *_twist_places(message.twist.twist, self._flat),
        ]
        return _Output(self._graph, topic, message, [message.header.stamp], places)

    def _make_joints(self, topic: topics.Topic, names: Sequence[str]) -> _Output:
        message = self._graph.message(topic.type)
        message.name = list(names)
        message.position, message.velocity = self._graph.numbers(len(names)), self._graph.numbers(len(names))
        places: list[Place] = [
            (values, i) for values in (message.position, message.velocity) for i in range(len(names))
        ]
        return _Output(self._graph, topic, message, [message.header.stamp], places)

    def _make_transforms(self) -> _Output:
        frames, topic = self._frames, topics.TF
        message = self._graph.message(topic.type)
        message.transforms = [self._transform(frames.odom, frames.base_link)]
        if not self._fixed_odom:
            message.transforms = [self._transform(frames.map, frames.odom), *message.transforms]
        places: list[Place] = []
        for moving in message.transforms:
            transform = moving.transform
            # The odometry's frame lies flat in the map, always.
            flat = self._flat or moving.child_frame_id == frames.odom
            places += _pose_places(transform.translation, transform.rotation, flat)
        return _Output(self._graph, topic, message, [one.header.stamp for one in message.transforms], places)

    def _transform(self, parent: str, child: str) -> Any:
        message = self._graph.message("geometry_msgs/msg/TransformStamped")
        message.header.frame_id = parent
        message.child_frame_id = child
        return message


def _pose_places(position: Any, orientation: Any, flat: bool) -> list[Place]:
    if flat:
        return [(position, "x"), (position, "y"), (orientation, "z"), (orientation, "w")]
    return [*((position, axis) for axis in "xyz"), *((orientation, part) for part in "xyzw")]


def _twist_places(twist: Any, flat: bool = True) -> list[Place]:
    places: list[Place] = [(twist.linear, "x"), (twist.linear, "y"), (twist.angular, "z")]
    return places if flat else [*places, (twist.linear, "z"), (twist.angular, "x"), (twist.angular, "y")]


def _odometry_values(
    pose: Pose, motion: Motion, variance: tuple[float, float], attitude: Attitude | None
) -> tuple[float, ...]:
    position, heading = EXACT + variance[0], EXACT + variance[1]
    values = (*_pose_values(pose, attitude), position, position, heading, motion.v_x, motion.v_y, motion.yaw_rate)
    return values if attitude is None else (*values, attitude.v_z, attitude.roll_rate, attitude.pitch_rate)


def _transform_values(odom: Pose, map_to_odom: Pose | None, attitude: Attitude | None) -> tuple[float, ...]:
    if map_to_odom is None:
        return _pose_values(odom, attitude)
    return *_pose_values(map_to_odom, None), *_pose_values(odom, attitude)


def _pose_values(pose: Pose, attitude: Attitude | None) -> tuple[float, ...]:
    """Position and quaternion, or what of them is not 0 in the plane."""
    if attitude is None:
        return pose.x, pose.y, math.sin(0.5 * pose.heading), math.cos(0.5 * pose.heading)
    return pose.x, pose.y, attitude.z, *quaternion(attitude.roll, attitude.pitch, pose.heading)


class ClockOutput:
    """The topic that tells other nodes the time."""

    def __init__(self, graph: Graph) -> None:
        """Announce the topic."""
        message = graph.message(topics.CLOCK.type)
        self._output = _Output(graph, topics.CLOCK, message, [message.clock], [])
        self.topic = self._output.topic

    def publish(self, time: int) -> None:
        """Tell the time [ns]."""
        self._output.send(time, ())
