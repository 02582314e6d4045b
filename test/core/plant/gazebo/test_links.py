"""The links from outside Gazebo, with a process that imitates Gazebo's topics."""

from __future__ import annotations

import math
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from helpers import fake_world
from helpers.gazebo import Driver
from helpers.processes import Program

from vds_gz.core.description.gz_topics import actuators, joint_state
from vds_gz.core.plant.gazebo.links.bindings import bindings_fault
from vds_gz.core.plant.gazebo.links.ros_links import JOINT_STATES
from vds_gz.core.sensing.sensors.wheel_encoder import STREAM, WheelEncoder
from vds_gz.programs.interface import topics

with_bindings = pytest.mark.skipif(bool(bindings_fault()), reason=bindings_fault() or "-")

#: Slow, because test_a_hidden_lag_is_found_and_explained covers this link by default.
SLOW_CONTROL = pytest.param("ros2_control", marks=pytest.mark.slow)

CAR = ("-p", "backend:=gazebo", "-p", "model_params.bicycle.track_steered:=1.2")


class World:
    def __init__(self, link: str, lag: float) -> None:
        command = [sys.executable, str(Path(fake_world.__file__)), link, str(lag)]
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
def imitate(domain: int, partition: str) -> Iterator[Callable[..., World]]:
    worlds: list[World] = []

    def start_world(link: str = "bridge", lag: float = 0.0) -> World:
        worlds.append(World(link, lag))
        return worlds[-1]

    yield start_world
    for world in worlds:
        world.stop()


@pytest.mark.parametrize("link", [pytest.param("transport", marks=with_bindings), "bridge", SLOW_CONTROL])
def test_the_joints_obey(link: str, start: Callable[..., Program], imitate: Callable[..., World], driver: Driver):
    imitate(link)
    start(*CAR, "-p", f"gazebo.link:={link}")
    driver.until_says("no command yet")
    driver.drive(1.0, 4.0, yaw_rate=0.1)
    joints = driver.probe.next(topics.JOINT_STATES)
    states = dict(zip(joints.name, zip(joints.position, joints.velocity, strict=True), strict=True))
    assert states["fixed_wheel_left_joint"][1] == pytest.approx((1.0 - 0.06) / 0.25, rel=0.05)
    assert states["steering_left"][0] == pytest.approx(0.16, abs=0.03)
    assert driver.speed() == pytest.approx(1.0, rel=0.1)
    assert math.isfinite(float(driver.values()["lag of the wheel joints [s]"])), "not known"


@pytest.mark.parametrize("link", [pytest.param("transport", marks=with_bindings), "bridge"])
def test_the_node_follows_pauses_resets_and_restarts(
    link: str, start: Callable[..., Program], imitate: Callable[..., World], driver: Driver
):
    node = start(*CAR, "-p", f"gazebo.link:={link}", "-p", "gazebo.command_rate:=50")
    driver.until_says("waiting for Gazebo")
    world = imitate(link)
    driver.until_says("no command yet")
    driver.drive(1.0, 2.0)
    assert driver.speed() > 0.8

    time.sleep(0.008)  # between two ticks, of which there is one in 16 ms
    world.tell("p")
    driver.until_says("Gazebo is paused")
    driver.probe.serve(1.1)
    world.tell("r")
    driver.probe.until(lambda: abs(driver.speed()) < 5e-3, "a vehicle at rest, because its command is too old")

    driver.drive(1.0, 1.0)
    world.tell("z")
    driver.probe.until(lambda: "time jumped back" in node.output, "the node's notice")
    driver.probe.serve(0.5)
    assert max(map(abs, driver.wheels())) < 1e-6

    world.stop()
    driver.until_says("Gazebo stopped responding")
    imitate(link)
    driver.until_says("no command yet")
    assert max(map(abs, driver.wheels())) < 1e-6
    driver.drive(1.0, 2.0)
    assert driver.speed() > 0.3
    assert node.stop() == 0
    assert "Traceback" not in node.output


def test_a_hidden_lag_is_found_and_explained(
    start: Callable[..., Program], imitate: Callable[..., World], driver: Driver
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


@pytest.mark.parametrize("link", ["bridge", SLOW_CONTROL])
def test_a_node_that_is_killed_leaves_no_wheel_turning(
    link: str, start: Callable[..., Program], imitate: Callable[..., World], driver: Driver
):
    joints = topics.Topic(JOINT_STATES if link == "ros2_control" else joint_state("vehicle"), topics.JOINT_STATES.type)
    imitate(link)
    node = start(*CAR, "-p", f"gazebo.link:={link}")
    driver.until_says("no command yet")
    driver.probe.listen(joints)
    driver.drive(1.0, 1.5, yaw_rate=0.1)

    def standing() -> bool:
        message = driver.probe.next(joints)
        return max(map(abs, message.velocity)) < 1e-6

    assert not standing()
    node.process.kill()
    driver.probe.until(standing, "wheels that stand")
    steering = dict(zip(*(getattr(driver.probe.next(joints), field) for field in ("name", "position")), strict=True))
    assert steering["steering_left"] > 0.1  # as it was


def test_a_node_that_ends_by_itself_sends_nothing_afterwards(
    start: Callable[..., Program], imitate: Callable[..., World], driver: Driver
):
    commands = topics.Topic(actuators("vehicle"), "actuator_msgs/msg/Actuators")
    imitate("bridge")
    node = start(*CAR, "-p", "gazebo.link:=bridge")
    driver.until_says("no command yet")
    driver.probe.listen(commands)
    driver.drive(1.0, 1.5)
    assert node.stop() == 0
    driver.probe.until_quiet(commands)
    standing = [max(map(abs, message.velocity)) == 0.0 for message in driver.probe.received[commands.name]]
    assert standing[-2:] == [False, True]  # its last message, and none of its watchdog


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "parameter 'gazebo.world' is empty"),
        (["-p", "gazebo.world:=fake"], "the program 'gz' is not in the PATH"),
    ],
)
def test_requests_that_cannot_be_sent_are_reported(
    arguments: list[str],
    words: str,
    start: Callable[..., Program],
    imitate: Callable[..., World],
    driver: Driver,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("PATH", "/nowhere")
    imitate("bridge")
    node = start(*CAR, "-p", "gazebo.link:=bridge", *arguments)
    driver.until_says("no command yet")
    for service, fields in ((topics.PAUSE, {"data": True}), (topics.RESET, {})):
        answer = driver.call(service, **fields)
        assert not answer.success
        assert words in answer.message
    driver.put(1.0, 2.0, 0.0)
    driver.probe.until(lambda: f"the vehicle was not moved: {words}" in node.output, "the node's notice")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["gazebo.link:=system"], "runs inside Gazebo"),
        (["gazebo.link:=bridge", "be_reference_clock:=true"], "ros_gz_bridge publishes /clock"),
        (["gazebo.joint_names:=a"], "ours=theirs"),
        (["gazebo.link:=telepathy"], "one of auto, transport, bridge, ros2_control, system"),
    ],
)
def test_contradictory_parameters_are_refused_at_start(start: Callable[..., Program], arguments: list[str], words: str):
    options = [part for argument in arguments for part in ("-p", argument)]
    node = start("-p", "backend:=gazebo", *options)
    assert node.process.wait(20.0) == 2
    node.stop()
    assert words in node.output


def test_the_node_simulates_sensors_without_a_gazebo_side(
    start: Callable[..., Program], imitate: Callable[..., World], driver: Driver
):
    """It simulates wheel encoders, and leaves the IMU to Gazebo."""
    imitate()
    start(
        *(*CAR, "-p", "gazebo.link:=bridge"),
        *("-p", "sensors.wheels.type:=wheel_encoder", "-p", "sensors.unit.type:=imu"),
    )
    probe, encoder = driver.probe, topics.Topic(STREAM.topic("wheels"), STREAM.ros_type)
    driver.until_says("no command yet")
    probe.listen(encoder)
    driver.drive(1.0, 2.0)
    counted = probe.received[encoder.name]
    angles = [message.position[0] for message in counted]
    assert angles == sorted(angles)
    resolution = WheelEncoder().resolution
    assert all(angle == pytest.approx(round(angle / resolution) * resolution) for angle in angles)
    joints = probe.next(topics.JOINT_STATES)
    assert list(counted[-1].name) == [name for name in joints.name if "wheel" in name]
    wheel = joints.position[list(joints.name).index(counted[-1].name[0])]
    assert 1.0 < wheel - 0.5 < probe.next(encoder).position[0] < wheel + 2.0
    assert any(name.endswith("/wheels/wheel_angles") for name in probe.graph.offers())
    assert not any(name.endswith("/unit/data") for name in probe.graph.offers())
