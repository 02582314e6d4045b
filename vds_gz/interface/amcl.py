"""What AMCL sends: ``map -> odom`` at every scan, and its pose at every update."""

from __future__ import annotations

import math

from vds_gz.geometry import Pose
from vds_gz.interface import topics
from vds_gz.interface.outputs import FrameNames
from vds_gz.ros.graph import Graph
from vds_gz.ros.messages.packed import PackedTopic
from vds_gz.sensing.amcl import Scan
from vds_gz.vehicle.vehicle import NANOSECONDS


class AmclOutput:
    """The transform and the topic of AMCL."""

    def __init__(self, graph: Graph, frames: FrameNames, transform_tolerance: float) -> None:
        """Announce the topics.

        Args:
            graph: Where to publish.
            frames: Names of the frames.
            transform_tolerance: How far transforms are dated into the future [s].
        """
        self._ahead = round(transform_tolerance * NANOSECONDS)
        self._transform = _transform(graph, frames)
        self._pose = _pose(graph, frames)

    def publish(self, scan: Scan) -> None:
        """Send the transform of a scan, and the pose where it brought an update."""
        if scan.estimate is not None:
            pose, variances = scan.estimate
            # Latched, for later subscribers.
            self._pose.publish(scan.time, (*_planar(pose), *variances))
        if self._transform.subscribed():
            self._transform.publish(scan.time + self._ahead, _planar(scan.map_to_odom))


def _transform(graph: Graph, frames: FrameNames) -> PackedTopic:
    message = graph.message(topics.TF.type)
    one = graph.message("geometry_msgs/msg/TransformStamped")
    one.header.frame_id, one.child_frame_id = frames.map, frames.odom
    message.transforms = [one]
    place = "transforms[0].transform"
    numbers = [f"{place}.translation.{axis}" for axis in "xy"] + [f"{place}.rotation.{part}" for part in "zw"]
    return PackedTopic(graph, topics.TF, message, ["transforms[0].header.stamp"], numbers)


def _pose(graph: Graph, frames: FrameNames) -> PackedTopic:
    message = graph.message(topics.AMCL_POSE.type)
    message.header.frame_id = frames.map
    numbers = [f"pose.pose.position.{axis}" for axis in "xy"] + [f"pose.pose.orientation.{part}" for part in "zw"]
    numbers += [f"pose.covariance[{index}]" for index in (0, 7, 35)]
    return PackedTopic(graph, topics.AMCL_POSE, message, ["header.stamp"], numbers)


def _planar(pose: Pose) -> tuple[float, float, float, float]:
    return pose.x, pose.y, math.sin(0.5 * pose.heading), math.cos(0.5 * pose.heading)
