"""launch/nav2.launch.py: that its parts fit each other and, where Nav2 is installed, a drive through the hall."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
import yaml

from vds_gz.parameters.load import load
from vds_gz.parameters.node import NodeParameters
from vds_gz.ros.parameter_yaml import read_parameter_file
from vds_gz.share import share
from vds_gz.vehicle.catalogue import models

#: Vehicles by the name of their parameters for Nav2.
VEHICLES = {"differential": "indoor_robot", "ackermann": "scaled_car"}

#: The middle of the door of the hall's room, and a place inside it [m].
DOOR, ROOM = (4.1, 4.0), (7.0, 4.0)


def nav2(name: str) -> dict:
    return yaml.safe_load(share("config", "nav2", f"{name}.yaml").read_text(encoding="utf-8"))


def controller(name: str, which: str) -> dict:
    return nav2(name)["controller_server"]["ros__parameters"][which]


def vehicle(name: str) -> NodeParameters:
    values = read_parameter_file(str(share("config", f"{VEHICLES[name]}.yaml")), "/sim_node")
    return load(values, {model: one.parameters for model, one in models().items()})


def hall() -> np.ndarray:
    """The map as true where it is free, its first row at the bottom."""
    magic, size, greatest, pixels = share("config", "nav2", "hall.pgm").read_bytes().split(b"\n", 3)
    assert (magic, greatest) == (b"P5", b"255")
    width, height = map(int, size.split())
    return np.frombuffer(pixels, dtype=np.uint8).reshape(height, width)[::-1] > 250


def free(x: float, y: float) -> bool:
    data = yaml.safe_load(share("config", "nav2", "hall.yaml").read_text(encoding="utf-8"))
    column = int((x - data["origin"][0]) / data["resolution"])
    row = int((y - data["origin"][1]) / data["resolution"])
    return bool(hall()[row, column])


def test_the_map_is_what_its_script_draws(tmp_path):
    script = tmp_path / "make_map.py"
    script.write_bytes(share("config", "nav2", "make_map.py").read_bytes())
    subprocess.run([sys.executable, str(script)], check=True)
    for name in ("hall.pgm", "hall.yaml"):
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
    planner = nav2("ackermann")["planner_server"]["ros__parameters"]["GridBased"]
    assert mppi["AckermannConstraints"]["min_turning_r"] == mppi["Ackermann"]["min_turning_r"] > radius
    assert planner["minimum_turning_radius"] >= mppi["Ackermann"]["min_turning_r"]
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


# ---------------------------------------------------------------------- with ROS


@pytest.fixture
def nav2_is_installed() -> bool:
    pytest.importorskip("launch_ros", reason="needs ROS 2 (launch_ros)")
    from vds_gz.launching import installed

    return installed("nav2_bt_navigator")


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
def test_a_drive_into_the_room(nav2_is_installed, domain, name):
    """Send a goal behind the door with the command line, as a user does."""
    if not nav2_is_installed:
        pytest.skip("needs Nav2 (ros-<distribution>-navigation2)")
    nodes = subprocess.Popen(["ros2", "launch", "vds_gz", "nav2.launch.py", f"vehicle:={name}"])
    try:
        position = f"{{x: {ROOM[0]}, y: {ROOM[1]}}}"
        pose = f"{{header: {{frame_id: map}}, pose: {{position: {position}, orientation: {{w: 1.0}}}}}}"
        action = ["/navigate_to_pose", "nav2_msgs/action/NavigateToPose"]
        goal = ["ros2", "action", "send_goal", *action, f"{{pose: {pose}}}"]
        done = subprocess.run(goal, capture_output=True, text=True, timeout=180)
        assert "SUCCEEDED" in done.stdout, done.stdout + done.stderr
    finally:
        nodes.send_signal(2)
        nodes.wait(timeout=60)
