"""The outputs at the publish rate, the latched ones, and those of AMCL."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from vds_gz.core.description.urdf_reader import UrdfJoint
from vds_gz.core.geometry import Attitude, Pose, quaternion
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.ros.graph import Graph, Message, Publisher, Topic
from vds_gz.core.ros.messages.fields import EXACT, exact_covariance, set_stamp
from vds_gz.core.ros.messages.packed import PackedTopic
from vds_gz.core.vehicle.vehicle import NANOSECONDS, Motion
from vds_gz.core.vehicle.vehicle_model import Actuator, ActuatorState, JointStates
from vds_gz.programs.interface import topics

if TYPE_CHECKING:
    from vds_gz.core.sensing.amcl import Scan
    from vds_gz.core.sensing.estimate import StateEstimate


@dataclass(frozen=True, slots=True)
class FrameNames:
    """Names of the frames, prefix included."""

    map: str
    odom: str
    base: str
    prefix: str = ""

    @classmethod
    def of(cls, parameters: NodeParameters) -> FrameNames:
        """The frames of a node's parameters."""
        prefix = parameters.frame_prefix
        return cls(
            prefix + parameters.map_frame, prefix + parameters.odom_frame, prefix + parameters.base_frame, prefix
        )


class Snapshot(NamedTuple):
    """The vehicle at one instant. A tuple, because a replay has very many of them."""

    time: int  # simulated time [ns]
    motion: Motion  # true pose of base_link in the map, and its velocity
    estimate: StateEstimate | None  # the vehicle's own estimate; None where its odometry is exact
    joints: JointStates  # all of them, in the model's order; empty if no output needs them
    actuators: Sequence[ActuatorState]  # likewise
    reports: Sequence[Sequence[float]] = ()  # the numbers of each report of the vehicle's model
    # Attitude of base_link out of the plane; None for a vehicle that stays in it. Localization only errs in the plane,
    # so it is the same in both frames.
    attitude: Attitude | None = None


class Output(PackedTopic):
    """A topic of the vehicle's state."""

    def __init__(
        self,
        graph: Graph,
        topic: Topic,
        message: Message,
        stamps: Sequence[str],
        numbers: Sequence[str],
        values: Callable[[Snapshot], Sequence[float]],
    ) -> None:
        super().__init__(graph, topic, message, stamps, numbers)
        self.values = values


class Outputs:
    """All topics that go out at the publish rate, and the latched ones."""

    def __init__(
        self,
        graph: Graph,
        frames: FrameNames,
        joints: Sequence[str],
        actuators: Sequence[Actuator],
        fixed_odom: bool,
        flat: bool = True,
        localized_elsewhere: bool = False,
        publish_tf: bool = True,
        knows_pose: bool = True,
    ) -> None:
        self._graph = graph
        self._frames = frames
        self._fixed_odom = fixed_odom
        self._flat = flat
        self._localizes = not fixed_odom and not localized_elsewhere
        names = [actuator.name for actuator in actuators]
        self.joints: Output | None = None
        self.references = self._make_joints(
            topics.ACTUATOR_REFERENCES,
            names,
            lambda now: [s.reference_position for s in now.actuators] + [s.reference_velocity for s in now.actuators],
        )
        self.states = self._make_joints(
            topics.ACTUATOR_STATES,
            names,
            lambda now: [state.position for state in now.actuators] + [state.velocity for state in now.actuators],
        )
        self.outputs: tuple[Output, ...] = (self._make_twist(), self.references, self.states)
        self._description: Publisher | None = None
        self._tf_static: list[Publisher] = []
        if not knows_pose:
            return
        self.joints = self._make_joints(
            topics.JOINT_STATES, joints, lambda now: (*now.joints.positions, *now.joints.velocities)
        )
        self.outputs = (
            *([self._make_transforms()] if publish_tf else []),
            self._make_odometry(topics.ODOM, frames.odom, _measured),
            self._make_odometry(topics.GROUND_TRUTH, frames.map, _true),
            *self.outputs,
            self.joints,
        )
        latched = [topics.ROBOT_DESCRIPTION, *([topics.TF_STATIC] if publish_tf else [])]
        self._description, *self._tf_static = [graph.publisher(topic.name, topic.type, topic.qos) for topic in latched]

    def publish_latched(self, time: int, description: str, mounts: Iterable[UrdfJoint] = ()) -> None:
        """Publish the latched messages: the robot's description and the fixed transforms."""
        if self._description is None:
            return
        message = self._graph.message(topics.ROBOT_DESCRIPTION.type)
        message.data = description
        self._description.publish(message)
        frames = self._frames
        transforms = [_transform(self._graph, frames.map, frames.odom)] if self._fixed_odom else []
        transforms += map(self._mount, mounts)
        for publisher in self._tf_static if transforms else []:
            static = self._graph.message(topics.TF_STATIC.type)
            static.transforms = transforms
            for transform in transforms:
                set_stamp(transform.header.stamp, time)
            publisher.publish(static)

    def _make_twist(self) -> Output:
        topic = topics.TWIST_ACTUAL
        message = self._graph.message(topic.type)
        message.header.frame_id = self._frames.base
        values = attrgetter("motion.v_x", "motion.v_y", "motion.yaw_rate")
        return Output(self._graph, topic, message, ["header.stamp"], _twist_paths("twist"), values)

    def _make_odometry(self, topic: Topic, frame: str, values: Callable[[Snapshot], Sequence[float]]) -> Output:
        message = self._graph.message(topic.type)
        message.header.frame_id = frame
        message.child_frame_id = self._frames.base
        exact_covariance(message.pose.covariance)
        exact_covariance(message.twist.covariance)
        numbers = [
            *_pose_paths("pose.pose.position", "pose.pose.orientation", self._flat),
            *_twist_paths("twist.twist", self._flat),
        ]
        if topic is topics.ODOM:
            numbers += [*_COVARIANCE, "twist.covariance[0]"]
        return Output(self._graph, topic, message, ["header.stamp"], numbers, values)

    def _make_joints(self, topic: Topic, names: Sequence[str], values: Callable[[Snapshot], Sequence[float]]) -> Output:
        message = self._graph.message(topic.type)
        message.name = list(names)
        message.position, message.velocity = self._graph.numbers(len(names)), self._graph.numbers(len(names))
        numbers = [f"{field}[{i}]" for field in ("position", "velocity") for i in range(len(names))]
        return Output(self._graph, topic, message, ["header.stamp"], numbers, values)

    def _make_transforms(self) -> Output:
        frames, topic = self._frames, topics.TF
        # The odometry's frame is always level in the map.
        moving = [(frames.odom, frames.base, self._flat)]
        if self._localizes:
            moving.insert(0, (frames.map, frames.odom, True))
        message = self._graph.message(topic.type)
        message.transforms = [_transform(self._graph, parent, child) for parent, child, _ in moving]
        places = [f"transforms[{i}]" for i in range(len(moving))]
        numbers = chain.from_iterable(
            _pose_paths(f"{place}.transform.translation", f"{place}.transform.rotation", flat)
            for place, (_, _, flat) in zip(places, moving, strict=True)
        )
        stamps = [f"{place}.header.stamp" for place in places]
        values = _transform_values if self._localizes else _odom_values
        return Output(self._graph, topic, message, stamps, list(numbers), values)

    def _mount(self, joint: UrdfJoint) -> Message:
        prefix = self._frames.prefix
        message = _transform(self._graph, prefix + joint.parent, prefix + joint.child)
        at, turn = message.transform.translation, message.transform.rotation
        at.x, at.y, at.z = joint.origin.position
        turn.x, turn.y, turn.z, turn.w = joint.origin.orientation
        return message


def _transform(graph: Graph, parent: str, child: str) -> Message:
    message = graph.message("geometry_msgs/msg/TransformStamped")
    message.header.frame_id, message.child_frame_id = parent, child
    return message


_VARIANCES = [f"pose.covariance[{index}]" for index in (0, 7, 35)]

#: Places of a :class:`~vds_gz.core.sensing.drift.PoseCovariance`, in its order, in a 6x6 matrix, which is symmetric.
_COVARIANCE = [*_VARIANCES, *(f"pose.covariance[{index}]" for index in (1, 6, 5, 30, 11, 31))]


def _pose_paths(position: str, orientation: str, flat: bool) -> list[str]:
    """Paths of the numbers of a pose that vary: all of them, or in the plane those of :func:`_pose_values`."""
    axes, parts = ("xy", "zw") if flat else ("xyz", "xyzw")
    return [*(f"{position}.{axis}" for axis in axes), *(f"{orientation}.{part}" for part in parts)]


def _twist_paths(twist: str, flat: bool = True) -> list[str]:
    paths = [f"{twist}.linear.x", f"{twist}.linear.y", f"{twist}.angular.z"]
    return paths if flat else [*paths, f"{twist}.linear.z", f"{twist}.angular.x", f"{twist}.angular.y"]


def _measured(now: Snapshot) -> Sequence[float]:
    """The odometry, with its errors and their covariance."""
    estimate = now.estimate
    if estimate is None:
        return (*_true(now), *_EXACT_VALUES)
    values = _odometry_values(estimate.T_odom_base, estimate.speed, now.motion, now.attitude)
    xx, yy, yaw, xy, x_yaw, y_yaw = estimate.odom_covariance
    cross = xy, xy, x_yaw, x_yaw, y_yaw, y_yaw
    return (*values, EXACT + xx, EXACT + yy, EXACT + yaw, *cross, EXACT + estimate.speed_variance)


#: Covariances of an exact odometry, in the order of :func:`_measured`.
_EXACT_VALUES = (EXACT, EXACT, EXACT, *([0.0] * 6), EXACT)


def _true(now: Snapshot) -> Sequence[float]:
    return _odometry_values(now.motion, now.motion.v_x, now.motion, now.attitude)


def _odometry_values(pose: Pose | Motion, speed: float, motion: Motion, attitude: Attitude | None) -> tuple[float, ...]:
    if attitude is None:  # the usual case
        half = 0.5 * pose.heading
        return pose.x, pose.y, math.sin(half), math.cos(half), speed, motion.v_y, motion.yaw_rate
    rates = attitude.v_z, attitude.roll_rate, attitude.pitch_rate
    return (*_pose_values(pose, attitude), speed, motion.v_y, motion.yaw_rate, *rates)


def _odom_values(now: Snapshot) -> Sequence[float]:
    return _pose_values(now.estimate.T_odom_base if now.estimate else now.motion, now.attitude)


def _transform_values(now: Snapshot) -> Sequence[float]:
    assert now.estimate is not None
    assert now.estimate.T_map_odom is not None
    return (*_pose_values(now.estimate.T_map_odom, None), *_odom_values(now))


def _pose_values(pose: Pose | Motion, attitude: Attitude | None) -> tuple[float, ...]:
    """Position and quaternion; without an attitude only x, y, and z and w of the quaternion."""
    if attitude is None:
        return pose.x, pose.y, math.sin(0.5 * pose.heading), math.cos(0.5 * pose.heading)
    return pose.x, pose.y, attitude.z, *quaternion(attitude.roll, attitude.pitch, pose.heading)


class AmclOutput:
    """The transform and the topic of AMCL."""

    def __init__(self, graph: Graph, frames: FrameNames, transform_tolerance: float, publish_tf: bool) -> None:
        self._ahead = round(transform_tolerance * NANOSECONDS)
        self._transform: PackedTopic | None = None
        if publish_tf:
            message = graph.message(topics.TF.type)
            message.transforms = [_transform(graph, frames.map, frames.odom)]
            numbers = _pose_paths("transforms[0].transform.translation", "transforms[0].transform.rotation", flat=True)
            self._transform = PackedTopic(graph, topics.TF, message, ["transforms[0].header.stamp"], numbers)
        message = graph.message(topics.AMCL_POSE.type)
        message.header.frame_id = frames.map
        numbers = _pose_paths("pose.pose.position", "pose.pose.orientation", flat=True) + _VARIANCES
        self._pose = PackedTopic(graph, topics.AMCL_POSE, message, ["header.stamp"], numbers)

    def publish(self, scan: Scan) -> None:
        """Send the transform of a scan, and the pose where it brought an update."""
        if scan.T_map_base is not None:
            variances = (EXACT + variance for variance in scan.variances)
            # Latched, for later subscribers.
            self._pose.publish(scan.time, (*_pose_values(scan.T_map_base, None), *variances))
        if self._transform and self._transform.subscribed():
            self._transform.publish(scan.time + self._ahead, _pose_values(scan.T_map_odom, None))
