"""Nav2 itself driving a vehicle: ``python bench/nav2.py --help``, in a shell where ROS 2 and Nav2 are.

Starts ``nav2.launch.py``, sends goals one after the other and watches: was each reached, how long did it take, how many
recoveries did it need, how far was the vehicle from its path, how far did it pass the goal, and how far was it from
where its localization held it to be. A table is printed; ``--json`` keeps all that was seen.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
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

from vds_gz.configuration import parameters_of_file
from vds_gz.errors import VdsGzError
from vds_gz.interface.conversions import yaw_of
from vds_gz.parameters.declaration import describe
from vds_gz.share import share

#: The parameter file of each vehicle of nav2.launch.py.
VEHICLES = {"differential": "indoor_robot", "ackermann": "scaled_car"}

#: The controllers of config/nav2, by the names of their plugins there.
CONTROLLERS = {"FollowPath": "MPPI", "PurePursuit": "Regulated Pure Pursuit"}

#: x [m], y [m], heading [degrees]: through the door into the room and back, and around the shelves.
GOALS = (
    *((7.0, 4.0, 0.0), (8.5, 3.0, 90.0), (5.5, 5.0, 180.0), (-5.0, 1.6, 180.0), (-8.9, 0.0, -90.0)),
    *((-5.0, -2.8, 0.0), (3.5, -3.0, 0.0), (7.0, -2.0, 90.0), (-5.0, 4.6, 180.0), (0.0, 0.0, 0.0)),
)

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
        mislocated: Maximum distance from where it was to where it was held to be; None where nobody said so.
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
        self._plan = np.array([(one.pose.position.x, one.pose.position.y) for one in message.poses])

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


def actuator_values(file: Path, **options: tuple[str, float | None]) -> dict[str, float]:
    """Parameters of all actuators of a vehicle that get the values that are given.

    Args:
        file: Its parameter file.
        options: By the last part of a parameter's name, the option that sets it, and its value, if it has one.

    Raises:
        VdsGzError: No actuator has such a parameter, or it cannot have the value.
    """
    parameters = parameters_of_file(file)
    actuators = [one for one in describe(parameters.vehicle) if re.search(r"_actuators?\.\w+$", one.name)]
    found = {}
    for name, (option, value) in options.items():
        if value is None:
            continue
        named = [one for one in actuators if one.name.endswith(f".{name}")]
        if not named:
            there = ", ".join(one.name for one in actuators) or "none"
            raise VdsGzError(
                f"{option} is {value:g}, and no actuator of {file} has the parameter '{name}'; there are: {there}"
            )
        for one in named:
            one.check(value, option)
            found[f"model_params.{parameters.model}.{one.name}"] = value
    return found


@contextmanager
def launched(arguments: list[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Nav2 and the vehicle while this runs."""
    with log.open("w", encoding="utf-8") as output:
        command = ["ros2", "launch", "vds_gz", "nav2.launch.py", *arguments]
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            yield process
        finally:
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(30.0)
            with suppress(ProcessLookupError):  # what is left of its nodes would take part in the next run
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def tour(options: argparse.Namespace, file: Path, controller: str, values: dict[str, float]) -> list[Drive]:
    """Drive to each goal with one Nav2 and a vehicle of a file, with these parameters."""
    log = Path(tempfile.mkdtemp(prefix="nav2_bench_"), "log")
    print(f"log: {log}", file=sys.stderr)
    with launched([f"vehicle:={options.vehicle}", f"params_file:={file.resolve()}", *options.launch], log) as launch:
        rclpy.init(args=[])
        try:
            return drive_all(launch, options, controller, values)
        finally:
            rclpy.shutdown()


def drive_all(
    launch: subprocess.Popen[bytes], options: argparse.Namespace, controller: str, values: dict[str, float]
) -> list[Drive]:
    """Drive to each goal with a Nav2 that is being started, and a vehicle with these parameters."""
    selected = {"controller": controller}
    if (options.vehicle, controller) == ("ackermann", "PurePursuit"):
        selected["planner"] = "Forwards"  # it cannot shunt
    watcher = Watcher(**selected)
    watcher.ready(launch)
    watcher.set_parameters(values)
    drives = []
    for goal in options.goal or GOALS[: options.goals]:
        drives.append(watcher.drive(goal))
        print(row(drives[-1]), flush=True)
    watcher.node.destroy_node()  # else what it selected still goes to the next Nav2
    return drives


def localization(drives: list[Drive]) -> str:
    """By how much it was wrong at most."""
    metres = [one.mislocated for one in drives if one.mislocated is not None]
    radians = [one.misheaded for one in drives if one.misheaded is not None]
    return f"{max(metres):.3f} m, {math.degrees(max(radians)):.1f}°" if metres else "(there was none)"


HEADER = """| goal | reached | time [s] | recoveries | off the path [m] | past the goal [m] | localization off by |
| --- | --- | --- | --- | --- | --- | --- |"""


def row(one: Drive) -> str:
    """A line of the table."""
    x, y, heading = one.goal
    return (
        f"| {x:g}, {y:g}, {math.degrees(heading):.0f}° | {'yes' if one.reached else '**no**'} | {one.seconds:.1f} "
        f"| {one.recoveries} | {one.off_path:.2f} | {one.passed:.2f} "
        f"| {localization([one])} |"
    )


def summary(drives: list[Drive]) -> str:
    """All drives of a tour in a line."""
    recoveries, seconds = sum(one.recoveries for one in drives), sum(one.seconds for one in drives)
    farthest, passed = max(one.off_path for one in drives), max(one.passed for one in drives)
    return (
        f"{sum(one.reached for one in drives)} of {len(drives)} reached, {recoveries} recoveries, {seconds:.0f} s, "
        f"at most {farthest:.2f} m off the path and {passed:.2f} m past the goal, localization off by at most "
        f"{localization(drives)}"
    )


def main() -> int:
    """Run it; 0 if each goal was reached, else 1."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vehicle", choices=[*VEHICLES], default="differential")
    parser.add_argument("--params-file", type=Path, help="the vehicle's parameter file; default: of --vehicle")
    parser.add_argument(
        "--controllers", nargs="+", default=[*CONTROLLERS], help="as Nav2's file names them; default: %(default)s"
    )
    parser.add_argument(
        "--dead-times", nargs="+", type=float, default=[None], help="of all actuators [s]; default: as in its file"
    )
    parser.add_argument("--time-constant", type=float, help="of all actuators [s]; default: as in the vehicle's file")
    parser.add_argument(
        "--goals", type=int, choices=range(1, len(GOALS) + 1), default=len(GOALS), help="how many of the goals"
    )
    parser.add_argument(
        *("--goal", "-g"), nargs=3, type=float, action="append", metavar=("X", "Y", "DEGREES"), help="one of your own"
    )
    parser.add_argument("--json", type=Path, help="where to keep what was seen")
    parser.add_argument("--launch", nargs="+", default=[], help="of nav2.launch.py, as localization:=amcl map:=...")
    options = parser.parse_args()
    ours = not any(one.startswith("nav2_params_file:=") for one in options.launch)
    if ours and (unknown := {*options.controllers} - {*CONTROLLERS}):
        parser.error(f"our files for Nav2 have no controller '{min(unknown)}'; they have {', '.join(CONTROLLERS)}")
    vehicle = str(options.params_file or options.vehicle)
    file = options.params_file or share("config", f"{VEHICLES[options.vehicle]}.yaml")
    lag = "--time-constant", options.time_constant
    try:
        values = [
            actuator_values(file, dead_time=("--dead-times", one), time_constant=lag) for one in options.dead_times
        ]
    except VdsGzError as error:
        parser.error(str(error))
    os.environ.setdefault("ROS_DOMAIN_ID", str(os.getpid() % 100 + 1))
    runs = []
    for controller, (dead_time, own) in itertools.product(
        options.controllers, zip(options.dead_times, values, strict=True)
    ):
        of = "" if dead_time is None else f", dead time {dead_time:g} s"
        name = CONTROLLERS.get(controller, controller)
        print(f"\n{vehicle}, {name}{of}\n\n{HEADER}", flush=True)
        drives = tour(options, file, controller, own)
        print(f"\n{summary(drives)}", flush=True)
        run = {
            "vehicle": vehicle,
            "launch": options.launch,
            "controller": name,
            "dead_time": dead_time,
        }
        runs.append({**run, "drives": [asdict(one) for one in drives]})
        if options.json:
            options.json.write_text(json.dumps(runs), encoding="utf-8")
    return 0 if all(one["reached"] for run in runs for one in run["drives"]) else 1


if __name__ == "__main__":
    raise SystemExit(main())
