"""The links over ROS topics, with a process in Gazebo's place that speaks them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from gazebo_support import Driver

from vds_gz.ros import topics

CAR = ("-p", "backend:=gazebo", "-p", "model_params.bicycle.track_steered:=1.2")


class World:
    def __init__(self, link: str, lag: float) -> None:
        command = [sys.executable, str(Path(__file__).with_name("fake_world.py")), link, str(lag)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE)

    def tell(self, letter: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(letter.encode())
        self.process.stdin.flush()

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


@pytest.fixture
def imitate(domain: int) -> Iterator[Callable[..., World]]:
    worlds: list[World] = []

    def start_world(link: str = "bridge", lag: float = 0.0) -> World:
        worlds.append(World(link, lag))
        return worlds[-1]

    yield start_world
    for world in worlds:
        world.stop()


@pytest.mark.parametrize("link", ["bridge", "ros2_control"])
def test_the_joints_obey(link: str, start: Callable[..., object], imitate: Callable[..., World], driver: Driver):
    imitate(link)
    start(*CAR, "-p", f"gazebo.link:={link}")
    driver.until_says("no command yet")
    driver.drive(1.0, 4.0, yaw_rate=0.1)
    joints = driver.probe.next(topics.JOINT_STATES)
    states = dict(zip(joints.name, zip(joints.position, joints.velocity, strict=True), strict=True))
    assert states["fixed_wheel_left_joint"][1] == pytest.approx((1.0 - 0.06) / 0.25, rel=0.05)
    assert states["steering_left"][0] == pytest.approx(0.16, abs=0.03)
    assert driver.speed() == pytest.approx(1.0, rel=0.1)
    assert abs(float(driver.values()["lag of the wheel joints [s]"])) < 0.01


def test_it_lives_with_what_a_server_does(start: Callable[..., object], imitate: Callable[..., World], driver: Driver):
    node = start(*CAR, "-p", "gazebo.link:=bridge")
    driver.until_says("waiting for Gazebo")
    world = imitate()
    driver.until_says("no command yet")
    driver.drive(1.0, 3.0)
    assert driver.speed() > 0.8

    world.tell("p")
    driver.until_says("Gazebo is paused")
    driver.probe.serve(1.5)
    world.tell("r")
    driver.probe.serve(3.0)
    assert driver.speed() == pytest.approx(0.0, abs=5e-3)

    driver.drive(1.0, 2.0)
    world.tell("z")
    driver.probe.until(lambda: "time jumped back" in node.output, "the node's notice")
    driver.probe.serve(0.5)
    assert max(map(abs, driver.wheels())) < 1e-6

    world.stop()
    driver.until_says("Gazebo has gone")
    imitate()
    driver.until_says("no command yet")
    assert max(map(abs, driver.wheels())) < 1e-6
    driver.drive(1.0, 2.0)
    assert driver.speed() > 0.5
    assert node.stop() == 0
    assert "Traceback" not in node.output


def test_a_hidden_lag_is_found_and_explained(
    start: Callable[..., object], imitate: Callable[..., World], driver: Driver
):
    imitate("ros2_control", 0.1)  # as gz_ros2_control is shipped
    start(*CAR, "-p", "gazebo.link:=ros2_control")
    driver.until_says("no command yet")
    for _ in range(3):
        driver.drive(1.0, 0.7, yaw_rate=0.2)
        driver.drive(1.0, 0.7, yaw_rate=-0.2)
    driver.drive(1.0, 1.2)
    said = driver.until_says("follow", "late")
    assert "position_proportional_gain" in said
    assert float(driver.values()["lag of the steering joints [s]"]) == pytest.approx(0.1, rel=0.15)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["gazebo.link:=system"], "runs inside Gazebo"),
        (["gazebo.link:=bridge", "be_reference_clock:=true"], "ros_gz_bridge publishes /clock"),
        (["gazebo.joint_names:=a"], "ours=theirs"),
        (["gazebo.link:=telepathy"], "one of auto, transport, bridge, ros2_control, system"),
    ],
)
def test_what_cannot_be_is_refused_at_once(start: Callable[..., object], arguments: list[str], words: str):
    given = [part for argument in arguments for part in ("-p", argument)]
    node = start("-p", "backend:=gazebo", *given)
    assert node.process.wait(20.0) == 2
    node.stop()
    assert words in node.output
