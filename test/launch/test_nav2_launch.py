"""launch/nav2.launch.py: that its parts fit each other and, where Nav2 is installed, a drive through the hall."""

from __future__ import annotations

import math
import os
import re
import runpy
import subprocess
import sys
from contextlib import nullcontext

import numpy as np
import pytest
import yaml
from helpers.launch_files import launch_arguments
from helpers.tools import tool

from vds_gz.core.configuration import LIDAR
from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.conversion import load
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.parameters.yaml_reader import read_parameter_file
from vds_gz.core.sensing.sensor_types import SensorTypes
from vds_gz.core.share import share
from vds_gz.core.vehicle.catalogue import models

#: Vehicles by the name of their parameters for Nav2.
VEHICLES = {"differential": "indoor_robot", "ackermann": "scaled_car"}

#: The centre of the door of the hall's room, and a place in the room [m].
DOOR, ROOM = (4.1, 4.0), (7.0, 4.0)


def nav2(name: str) -> dict:
    return yaml.safe_load(share("config", "nav2", f"{name}.yaml").read_text(encoding="utf-8"))


def controller(name: str, which: str) -> dict:
    return nav2(name)["controller_server"]["ros__parameters"][which]


def vehicle(name: str) -> NodeParameters:
    values = read_parameter_file(str(share("config", f"{VEHICLES[name]}.yaml")), "/sim_node")
    return load(values, models(), SensorTypes())


def hall() -> np.ndarray:
    """The map, true where it is free; the first row is the bottom one."""
    magic, size, maximum, pixels = share("config", "nav2", "map.pgm").read_bytes().split(b"\n", 3)
    assert (magic, maximum) == (b"P5", b"255")
    width, height = map(int, size.split())
    return np.frombuffer(pixels, dtype=np.uint8).reshape(height, width)[::-1] > 250


def free(x: float, y: float) -> bool:
    data = yaml.safe_load(share("config", "nav2", "map.yaml").read_text(encoding="utf-8"))
    column = int((x - data["origin"][0]) / data["resolution"])
    row = int((y - data["origin"][1]) / data["resolution"])
    return bool(hall()[row, column])


@pytest.mark.parametrize("name", VEHICLES)
def test_mppi_begins_from_its_own_commands_where_a_lag_asks_for_it(name):
    """See ``vds_gz.tools.study.identify.exports``: a lag T leaves ``ax_max * model_dt / T`` of the acceleration."""
    mppi, parameters = controller(name, "FollowPath"), vehicle(name).vehicle
    drive = getattr(parameters, "drive_actuators", None) or parameters.drive_actuator
    assert mppi.get("open_loop", False) == (drive.time_constant > mppi["model_dt"])


def test_the_map_is_what_its_script_draws(tmp_path):
    tool("make_nav2_map").main(tmp_path)
    for name in ("map.pgm", "map.yaml"):
        assert (tmp_path / name).read_bytes() == share("config", "nav2", name).read_bytes()


def test_the_hall_is_closed_and_has_free_places_to_start_and_to_go():
    image = hall()
    assert not image[0].any()
    assert not image[-1].any()
    assert not image[:, 0].any()
    assert not image[:, -1].any()
    assert free(0.0, 0.0)
    assert free(*DOOR)
    assert free(*ROOM)


@pytest.mark.parametrize("name", VEHICLES)
def test_controllers_ask_for_what_the_vehicle_can(name):
    parameters = vehicle(name).vehicle
    drive = parameters.drive_actuator if name == "ackermann" else parameters.drive_actuators
    mppi, pursuit = controller(name, "FollowPath"), controller(name, "PurePursuit")
    assert mppi["vx_max"] <= drive.max_velocity
    assert pursuit["desired_linear_vel"] == pursuit["max_linear_vel"] <= drive.max_velocity
    assert mppi["model_dt"] == 1.0 / nav2(name)["controller_server"]["ros__parameters"]["controller_frequency"]
    assert mppi[mppi["motion_model"]]["plugin"].startswith("mppi::")


def test_the_car_is_never_asked_to_turn_more_sharply_than_it_can():
    car = vehicle("ackermann").vehicle
    radius = car.wheel_base / math.tan(car.steering_actuator.max_position)
    mppi = controller("ackermann", "FollowPath")
    planners = nav2("ackermann")["planner_server"]["ros__parameters"]
    assert mppi["AckermannConstraints"]["min_turning_r"] == mppi["Ackermann"]["min_turning_r"] > radius
    for planner in planners["planner_plugins"]:
        assert planners[planner]["minimum_turning_radius"] >= mppi["Ackermann"]["min_turning_r"]
    assert not controller("ackermann", "PurePursuit")["use_rotate_to_heading"]
    assert "spin" not in nav2("ackermann")["behavior_server"]["ros__parameters"]["behavior_plugins"]


@pytest.mark.parametrize("name", VEHICLES)
def test_the_footprint_covers_the_wheels(name):
    parameters = vehicle(name).vehicle
    radius = parameters.tire_diameter / 2.0
    track = parameters.track_fixed if name == "ackermann" else parameters.track
    front = parameters.wheel_base if name == "ackermann" else 0.0
    costmaps = nav2(name)
    corners = {costmaps[one][one]["ros__parameters"]["footprint"] for one in ("local_costmap", "global_costmap")}
    assert len(corners) == 1
    points = np.array(yaml.safe_load(corners.pop()))
    assert points[:, 0].max() >= front + radius
    assert points[:, 0].min() <= -radius
    assert points[:, 1].max() == -points[:, 1].min() >= track / 2.0


@pytest.mark.parametrize("name", VEHICLES)
def test_costmaps_and_amcl_take_the_scan_of_the_launch_file(name):
    parameters = nav2(name)
    for one in ("local_costmap", "global_costmap"):
        costmap = parameters[one][one]["ros__parameters"]
        assert costmap["plugins"] == ["static_layer", "obstacle_layer", "inflation_layer"]
        assert costmap["obstacle_layer"]["scan"]["topic"] == "/scan"
        assert costmap["obstacle_layer"]["scan"]["max_obstacle_height"] > LIDAR["xyz"][2]
    assert parameters["amcl"]["ros__parameters"]["scan_topic"] == "scan"


# ---------------------------------------------------------------------- with ROS


@pytest.fixture
def nav2_is_installed() -> bool:
    pytest.importorskip("launch_ros", reason="needs ROS 2 (launch_ros)")
    from vds_gz.programs.launching.actions import installed

    return installed("nav2_bt_navigator")


STAND_IN = """#!{python}
import sys
import rclpy

rclpy.init(args=sys.argv)
node = rclpy.create_node("{name}", automatically_declare_parameters_from_overrides=True)
try:
    rclpy.spin(node)
except (KeyboardInterrupt, rclpy.executors.ExternalShutdownException):
    pass
"""

SERVERS = {
    "map_server": "nav2_map_server",
    "amcl": "nav2_amcl",
    "planner_server": "nav2_planner",
    "controller_server": "nav2_controller",
    "behavior_server": "nav2_behaviors",
    "bt_navigator": "nav2_bt_navigator",
    "lifecycle_manager": "nav2_lifecycle_manager",
}
PLUGINS = (
    "nav2_costmap_2d",
    "nav2_mppi_controller",
    "nav2_navfn_planner",
    "nav2_regulated_pure_pursuit_controller",
    "nav2_smac_planner",
)


@pytest.fixture
def stand_ins(tmp_path, monkeypatch):
    """Nodes with the names of Nav2's nodes that take their parameters and do nothing."""
    pytest.importorskip("rclpy", reason="needs ROS 2 (rclpy)")
    index = tmp_path / "share" / "ament_index" / "resource_index" / "packages"
    index.mkdir(parents=True)
    for package in (*SERVERS.values(), *PLUGINS):
        (index / package).touch()
        (tmp_path / "share" / package).mkdir()
    for name, package in SERVERS.items():
        program = tmp_path / "lib" / package / name
        program.parent.mkdir(parents=True)
        program.write_text(STAND_IN.format(python=sys.executable, name=name), encoding="utf-8")
        program.chmod(0o755)
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{tmp_path}{os.pathsep}{os.environ['AMENT_PREFIX_PATH']}")


def parameters_of(node: str) -> dict:
    """The parameters of a running node, as `ros2 param dump` has them."""
    dump = subprocess.run(["ros2", "param", "dump", node], capture_output=True, text=True, timeout=60, check=True)
    return yaml.safe_load(dump.stdout)[node]["ros__parameters"]


def state_of(node: str) -> str:
    """The state of a lifecycle node, as `ros2 lifecycle get` has it; empty where there is none."""
    get = subprocess.run(["ros2", "lifecycle", "get", node], capture_output=True, text=True, timeout=60, check=False)
    return get.stdout.strip()


@pytest.mark.ros
@pytest.mark.parametrize(
    ("name", "model", "localization"), [("differential", "DiffDrive", "exact"), ("ackermann", "Ackermann", "amcl")]
)
def test_all_nodes_get_their_parameters_and_the_vehicle_its_commands(
    stand_ins, domain, ears, name, model, localization
):
    """ROS reads this package's files for Nav2, and commands on cmd_vel reach the vehicle."""
    from geometry_msgs.msg import TwistStamped
    from nav_msgs.msg import Odometry
    from sensor_msgs.msg import LaserScan

    listener, servers = ears(), [server for server in SERVERS if server != "amcl" or localization == "amcl"]
    command = ["ros2", "launch", "vds_gz", "nav2.launch.py", f"vehicle:={name}", "cmd_vel:=twist_stamped"]
    launched = subprocess.Popen(
        [*command, "reference_clock:=true", f"localization:={localization}", "x:=0.5"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        everybody = {*servers, "sim_node", "robot_state_publisher"}
        listener.until(lambda: everybody <= set(listener.node.get_node_names()), "all nodes")
        given = parameters_of("/controller_server")
        assert given["use_sim_time"]
        assert given["enable_stamped_cmd_vel"]
        assert given["FollowPath"]["motion_model"] == model
        assert parameters_of("/map_server")["yaml_filename"].endswith("config/nav2/map.yaml")
        assert parameters_of("/lifecycle_manager")["node_names"] == servers[:-1]
        assert parameters_of("/sim_node")["localization"]["style"] == (
            "external" if localization == "amcl" else "continuous"
        )
        if localization == "amcl":
            given = parameters_of("/amcl")
            assert given["set_initial_pose"]
            assert given["initial_pose"] == {"x": 0.5, "y": 0.0, "yaw": 0.0}
        if name == "ackermann":
            tree = parameters_of("/bt_navigator")["default_nav_to_pose_bt_xml"]
            assert tree.endswith(
                "nav2_bt_navigator/behavior_trees/navigate_w_replanning_only_if_path_becomes_invalid.xml"
            )

        message = TwistStamped()
        message.twist.linear.x = 0.3
        moving = lambda: listener.hear(Odometry, "/odom").twist.twist.linear.x > 0.2  # noqa: E731
        listener.say(message, "/cmd_vel", moving, "moving")
        nearest = min(listener.hear(LaserScan, "/scan").ranges)
        assert 1.0 < nearest < 3.0  # the shelf behind and the pillars of the map, from where it starts
    finally:
        launched.send_signal(2)
        try:
            output, _ = launched.communicate(timeout=60)
        finally:
            launched.kill()
    assert launched.returncode == 0
    clean = set(re.findall(r"\[(\w+)-\d+\]: process has finished cleanly", output))
    assert clean == {*everybody, "initialpose"}, output


@pytest.fixture
def launch_file() -> dict:
    pytest.importorskip("launch_ros", reason="needs ROS 2 (launch_ros)")
    return runpy.run_path(str(share("launch", "nav2.launch.py")))


def with_defaults(**given: str) -> dict[str, str]:
    return {name: item["default"] for name, item in launch_arguments()["nav2.launch.py"].items()} | given


@pytest.fixture
def own_file(tmp_path) -> str:
    """A vehicle that another node localizes, in its own world."""
    tree = yaml.safe_load(share("config", "indoor_robot.yaml").read_text(encoding="utf-8"))
    own = {"world": "track", "localization": {"style": "external"}}
    tree["sim_node"]["ros__parameters"] |= own
    (tmp_path / "own.yaml").write_text(yaml.safe_dump(tree), encoding="utf-8")
    return str(tmp_path / "own.yaml")


@pytest.mark.ros
@pytest.mark.parametrize(("given", "world"), [("", "track"), ("hall", "hall"), ("none", "")])
def test_the_world_of_the_vehicles_file_stays_unless_the_argument_sets_another(launch_file, own_file, given, world):
    arguments = with_defaults(params_file=own_file, world=given)
    parameters = launch_file["make_vehicle"](arguments, stamped=False).parameters()
    assert parameters.world == world
    assert bool(parameters.sensors) == bool(world)


@pytest.mark.ros
@pytest.mark.parametrize("localization", ["exact", "noisy", "amcl_style", "amcl"])
def test_the_argument_localization_outweighs_the_file(launch_file, own_file, localization):
    arguments = with_defaults(params_file=own_file, localization=localization)
    parameters = launch_file["make_vehicle"](arguments, stamped=False).parameters()
    assert parameters.fixed_odom == (localization == "exact")
    assert parameters.localization.external == (localization == "amcl")


@pytest.mark.ros
@pytest.mark.parametrize(("localization", "refused"), [("amcl", True), ("amcl_style", True), ("noisy", False)])
def test_a_vehicle_that_initialpose_does_not_move_starts_nowhere_else(launch_file, tmp_path, localization, refused):
    own = tmp_path / "own.yaml"
    own.write_text("sim_node: {ros__parameters: {localization: {amcl: {initialpose: amcl}}}}", encoding="utf-8")
    arguments = with_defaults(params_file=str(own), localization=localization, x="2.0")
    vehicle = launch_file["make_vehicle"](arguments, stamped=False)
    with pytest.raises(ArgumentError, match="x, y, yaw are 2, 0, 0, but") if refused else nullcontext():
        vehicle.set_initial_pose()


@pytest.mark.ros
@pytest.mark.parametrize(("sensors", "world", "refused"), [("{}", "none", "none"), ("{imu: {type: imu}}", "", "imu")])
def test_amcl_needs_a_scan(launch_file, tmp_path, sensors, world, refused):
    own = tmp_path / "own.yaml"
    own.write_text(f"sim_node: {{ros__parameters: {{model: omni, sensors: {sensors}}}}}", encoding="utf-8")
    arguments = with_defaults(params_file=str(own), localization="amcl", world=world)
    vehicle = launch_file["make_vehicle"](arguments, stamped=False)
    with pytest.raises(ArgumentError, match=f"sensors are: {refused}; list one"):
        launch_file["wanted_servers"]("amcl", vehicle.parameters())


@pytest.mark.ros
def test_amcl_is_started_only_if_it_is_selected(launch_file, own_file):
    """A file that says 'external' leaves the localization to whatever the user starts."""
    for localization in ("amcl", ""):
        arguments = with_defaults(params_file=own_file, localization=localization)
        vehicle = launch_file["make_vehicle"](arguments, stamped=False)
        assert vehicle.parameters().localization.external
        programs = [program for _, program in launch_file["wanted_servers"](localization, vehicle.parameters())]
        assert ("amcl" in programs) == (localization == "amcl")


@pytest.mark.ros
@pytest.mark.parametrize("text", ["nan", "inf", "two"])
def test_the_start_must_be_a_number(launch_file, text):
    with pytest.raises(ArgumentError, match=f"launch argument 'x' is '{text}'; it must be a finite number"):
        launch_file["make_vehicle"](with_defaults(x=text), stamped=False)


@pytest.mark.ros
def test_missing_packages_are_named(nav2_is_installed, domain):
    if nav2_is_installed:
        pytest.skip("Nav2 is installed")
    done = subprocess.run(["ros2", "launch", "vds_gz", "nav2.launch.py"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "nav2.launch.py needs the ROS packages nav2_map_server," in done.stdout + done.stderr
    assert "-navigation2" in done.stdout + done.stderr


@pytest.mark.ros
@pytest.mark.parametrize("name", VEHICLES)
def test_a_drive_into_the_room(nav2_is_installed, domain, ears, name):
    """Send a goal behind the door with the command line, as a user does."""
    if not nav2_is_installed:
        pytest.skip("needs Nav2 (ros-<distribution>-navigation2)")
    nodes = subprocess.Popen(["ros2", "launch", "vds_gz", "nav2.launch.py", f"vehicle:={name}"])
    try:
        ears().until(lambda: state_of("/bt_navigator") == "active [3]", "an active bt_navigator")
        position = f"{{x: {ROOM[0]}, y: {ROOM[1]}}}"
        pose = f"{{header: {{frame_id: map}}, pose: {{position: {position}, orientation: {{w: 1.0}}}}}}"
        action = ["/navigate_to_pose", "nav2_msgs/action/NavigateToPose"]
        goal = ["ros2", "action", "send_goal", *action, f"{{pose: {pose}}}"]
        done = subprocess.run(goal, capture_output=True, text=True, timeout=180)
        assert "SUCCEEDED" in done.stdout, done.stdout + done.stderr
    finally:
        nodes.send_signal(2)
        try:
            nodes.wait(timeout=60)
        finally:
            nodes.kill()
