"""The node that sends Nav2 goals and watches what becomes of them, for ``bench/nav2.py``. Needs ROS 2 and Nav2."""

from __future__ import annotations

import math
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import rclpy
from action_msgs.msg import GoalStatus
from geometry_msgs.msg import PoseStamped
from lifecycle_msgs.msg import State
from lifecycle_msgs.srv import GetState
from nav2_msgs.action import NavigateToPose
from nav2_msgs.srv import ManageLifecycleNodes
from nav_msgs.msg import Odometry
from nav_msgs.msg import Path as PathMessage
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.action import ActionClient
from rclpy.duration import Duration
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.time import Time
from std_msgs.msg import String
from tf2_ros import Buffer, TransformException, TransformListener

from vds_gz.core.ros.messages.fields import yaw_of

#: Where the approach of a goal begins [m] from it.
APPROACH = 0.5

#: How long a goal may take, and how long the vehicle is watched after it [s].
PATIENCE, AFTER = 180.0, 2.0


@dataclass
class Drive:
    """What was seen of one goal; lengths in m, times in s, angles in rad.

    Attributes:
        goal: x, y, heading.
        reached: Nav2 says so.
        seconds: From sending it.
        recoveries: As Nav2 counts them.
        passed: How far it went past the goal: along the line from where it came within ``APPROACH`` of it.
        off_path: Maximum distance to the path that was then planned, up to there.
        mislocated: Maximum distance from where it was to where it was held to be; None without one.
        misheaded: The same of the heading.
        track: Seconds, x, y of the truth, ten times a second.
    """

    goal: tuple[float, float, float]
    reached: bool = False
    seconds: float = math.nan
    recoveries: int = 0
    passed: float = 0.0
    off_path: float = 0.0
    mislocated: float | None = None
    misheaded: float | None = None
    track: list[tuple[float, float, float]] = field(default_factory=list)


@contextmanager
def watching(**selected: str) -> Iterator[Watcher]:
    """A watcher that selects plugins while this runs; then its node leaves, else they would go to the next Nav2 too."""
    rclpy.init(args=[])
    try:
        watcher = Watcher(**selected)
        try:
            yield watcher
        finally:
            watcher.node.destroy_node()
    finally:
        rclpy.shutdown()


class Watcher:
    """A node that sends goals and watches what becomes of them."""

    def __init__(self, **selected: str) -> None:
        """Select plugins, by what they are: controller, planner."""
        self.node = rclpy.create_node("nav2_bench")
        self._client = ActionClient(self.node, NavigateToPose, "navigate_to_pose")
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._selectors = []
        for kind, name in selected.items():
            self._selectors.append(self.node.create_publisher(String, f"{kind}_selector", latched))
            self._selectors[-1].publish(String(data=name))
        self.node.create_subscription(Odometry, "ground_truth", self._on_truth, 50)
        self.node.create_subscription(PathMessage, "plan", self._on_plan, 5)
        self._tf = Buffer()
        self._listener = TransformListener(self._tf, self.node)
        self._drive: Drive | None = None
        self._start = 0.0
        self._plan = np.empty((0, 2))
        self._approach: np.ndarray | None = None

    def until(self, done: Any, seconds: float) -> bool:
        """Listen until that is so, or the time is up."""
        end = time.monotonic() + seconds
        while not done() and time.monotonic() < end:
            rclpy.spin_once(self.node, timeout_sec=0.1)
        return bool(done())

    def ready(self, launch: subprocess.Popen[bytes]) -> None:
        """Wait until Nav2 takes goals; a busy machine may need a second try to bring it up."""
        state = self.node.create_client(GetState, "bt_navigator/get_state")
        manager = self.node.create_client(ManageLifecycleNodes, "lifecycle_manager/manage_nodes")
        for command in ("", "RESET", "STARTUP", "RESET", "STARTUP"):
            if command:
                request = ManageLifecycleNodes.Request()
                request.command = getattr(ManageLifecycleNodes.Request, command)
                self.until(manager.call_async(request).done, 60.0)
            end = time.monotonic() + (0.0 if command == "RESET" else 40.0)
            while time.monotonic() < end:
                if launch.poll() is not None:
                    raise RuntimeError(f"nav2.launch.py has ended with exit code {launch.returncode}; its log says why")
                response = state.call_async(GetState.Request())
                self.until(response.done, 2.0)
                if response.done() and response.result().current_state.id == State.PRIMARY_STATE_ACTIVE:
                    return
        raise RuntimeError("bt_navigator did not become active")

    def set_parameters(self, values: dict[str, float]) -> None:
        """Set parameters of the vehicle."""
        request = SetParametersAtomically.Request(
            parameters=[Parameter(name, value=value).to_parameter_msg() for name, value in values.items()]
        )
        client = self.node.create_client(SetParametersAtomically, "sim_node/set_parameters_atomically")
        if not client.wait_for_service(10.0):
            raise RuntimeError(f"no service {client.srv_name} in 10 s; the log of nav2.launch.py says why")
        response = client.call_async(request)
        if not self.until(response.done, 10.0):
            raise RuntimeError(f"no response of {client.srv_name} in 10 s; the log of nav2.launch.py says why")
        if not response.result().result.successful:
            raise RuntimeError(f"sim_node did not take {values}: {response.result().result.reason}")

    def drive(self, goal: tuple[float, float, float]) -> Drive:
        """Send a goal and watch until it is over, and a little longer."""
        x, y, heading = goal[0], goal[1], math.radians(goal[2])
        request = NavigateToPose.Goal()
        request.pose = PoseStamped()
        request.pose.header.frame_id = "map"
        request.pose.pose.position.x, request.pose.pose.position.y = x, y
        request.pose.pose.orientation.z, request.pose.pose.orientation.w = math.sin(heading / 2), math.cos(heading / 2)
        drive = Drive((x, y, heading))
        self._plan, self._approach, self._start, self._drive = np.empty((0, 2)), None, time.monotonic(), drive

        def on_feedback(message: Any) -> None:
            drive.recoveries = message.feedback.number_of_recoveries

        accepted = self._client.send_goal_async(request, on_feedback)
        if not self.until(accepted.done, 30.0):
            raise RuntimeError(f"Nav2 did not respond to the goal {goal} in 30 s; the log of nav2.launch.py says why")
        if not accepted.result().accepted:
            raise RuntimeError(f"Nav2 rejected the goal {goal}; the log of nav2.launch.py says why")
        result = accepted.result().get_result_async()
        self.until(result.done, PATIENCE)
        drive.seconds = time.monotonic() - self._start
        drive.reached = result.done() and result.result().status == GoalStatus.STATUS_SUCCEEDED
        if not result.done():
            accepted.result().cancel_goal_async()
        self.until(lambda: False, AFTER)
        self._drive = None
        return drive

    def _on_plan(self, message: PathMessage) -> None:
        self._plan = np.array([(pose.pose.position.x, pose.pose.position.y) for pose in message.poses])

    def _on_truth(self, message: Odometry) -> None:
        drive, pose = self._drive, message.pose.pose
        if drive is None:
            return
        here = np.array([pose.position.x, pose.position.y])
        now = time.monotonic() - self._start
        if not drive.track or now - drive.track[-1][0] >= 0.1:
            drive.track.append((round(now, 2), *(round(float(c), 3) for c in here)))
        to_go = np.array(drive.goal[:2]) - here
        if self._approach is None and np.hypot(*to_go) <= APPROACH:
            self._approach = to_go / np.hypot(*to_go)
        if self._approach is not None:
            drive.passed = max(drive.passed, float(-to_go @ self._approach))
        elif len(self._plan) > 1:
            drive.off_path = max(drive.off_path, distance(here, self._plan))
        self._compare(drive, message, here)

    def _compare(self, drive: Drive, truth: Odometry, here: np.ndarray) -> None:
        stamp, heading = Time.from_msg(truth.header.stamp), yaw_of(truth.pose.pose.orientation)
        try:
            found = self._tf.lookup_transform("map", truth.child_frame_id, stamp, Duration(seconds=0.0)).transform
        except TransformException:
            return  # the localization's word for this instant is still on its way
        there = np.array([found.translation.x, found.translation.y])
        drive.mislocated = max(drive.mislocated or 0.0, float(np.hypot(*(here - there))))
        turn = heading - yaw_of(found.rotation)
        drive.misheaded = max(drive.misheaded or 0.0, abs(math.remainder(turn, 2.0 * math.pi)))


def distance(point: np.ndarray, path: np.ndarray) -> float:
    """From a point to a line through points [m]."""
    legs, at = np.diff(path, axis=0), point - path[:-1]
    along = np.clip((at * legs).sum(axis=1) / np.maximum((legs**2).sum(axis=1), 1e-12), 0.0, 1.0)
    return float(np.hypot(*(at - along[:, None] * legs).T).min())
