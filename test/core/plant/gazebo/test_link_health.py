"""A node beside a real Gazebo server that starts, pauses, resets, dies and returns."""

from __future__ import annotations

import math
import signal
import time
from dataclasses import replace
from threading import Event
from typing import Any

import pytest
from helpers.gazebo import control, preset, vehicle
from helpers.ros_gz import need

from vds_gz.cli.gazebo import environment, in_step
from vds_gz.core.description import gz_topics as topics
from vds_gz.core.plant.gazebo.links import bindings
from vds_gz.programs.interface import topics as ros_topics

pytestmark = pytest.mark.gazebo

NODE = ("-p", "backend:=gazebo", "-p", "model:=differential", "-p", "gazebo.link:=transport")
CAR = {"model": "differential"}


@pytest.fixture
def robot():
    return vehicle(preset("vds_defaults", **CAR))


def test_the_node_may_start_first_and_gazebo_may_die_and_return(start, serve, driver, robot):
    node = start(*NODE)
    driver.until_says("waiting for Gazebo")
    first = serve(robot)
    driver.until_says("no command yet")
    driver.drive(0.5, 3.0)
    assert driver.speed() == pytest.approx(0.5, rel=0.05)

    first.process.kill()
    driver.until_says("Gazebo stopped responding")
    serve(robot)
    # The last command is discarded. Nothing may move before a new one.
    driver.until_says("no command yet")
    assert max(map(abs, driver.wheels())) < 1e-3
    assert math.hypot(*driver.at()) < 1e-3
    driver.drive(0.5, 3.0)
    assert driver.speed() == pytest.approx(0.5, rel=0.05)
    assert node.stop() == 0
    assert "Traceback" not in node.output


def test_commands_are_too_old_after_a_pause(start, serve, driver, robot):
    serve(robot)
    start(*NODE)
    driver.until_says("no command yet")
    driver.drive(0.5, 3.0)
    control("pause: true")
    driver.until_says("Gazebo is paused")
    driver.probe.serve(1.5)
    before = driver.probe.received[ros_topics.GROUND_TRUTH.name][-1].pose.pose.position.x
    control("pause: false")
    driver.serve(3.0)
    # The remaining motion is that of the dead time of 0.2 s and of braking at 1 m/s^2 with lag.
    assert driver.speed() == pytest.approx(0.0, abs=5e-3)
    assert driver.at()[0] - before < 0.5 * 0.2 + 0.5 * 0.2 + 0.5**2 / 2 + 0.03
    driver.drive(0.5, 2.0)
    assert driver.speed() == pytest.approx(0.5, rel=0.05)


def test_the_node_follows_a_reset_of_gazebo(start, serve, driver, robot):
    serve(robot)
    node = start(*NODE)
    driver.until_says("no command yet")
    driver.drive(0.5, 3.0)
    assert driver.at()[0] > 0.5
    control("reset: {all: true}")
    driver.probe.until(lambda: "time jumped back" in node.output, "the node's notice")
    # Messages from before the reset may arrive late.
    driver.probe.until(lambda: math.hypot(*driver.at()) < 0.01, "the vehicle where it began")
    driver.probe.serve(0.5)
    assert max(map(abs, driver.wheels())) < 1e-3
    assert math.hypot(*driver.at()) < 0.01
    speeds = [message.twist.linear.x for message in driver.probe.received[ros_topics.TWIST_ACTUAL.name]]
    assert -0.05 < min(speeds) < max(speeds) < 0.55
    driver.drive(0.5, 2.0)
    assert driver.speed() == pytest.approx(0.5, rel=0.05)


def test_a_missing_model_and_missing_joints_are_reported(start, serve, driver, robot):
    serve(robot)
    node = start(*NODE, "-p", "gazebo.model:=robot")
    driver.until_says("nothing reports where model 'robot' is")
    assert node.stop() == 0
    node = start(*NODE, "-p", "gazebo.joint_names:=wheel_left_joint=left_wheel")
    said = driver.until_says("has no joint 'left_wheel'")
    assert "'wheel_left_joint'" in said
    assert "gazebo.joint_names" in said
    assert node.stop() == 0


def test_a_node_that_is_killed_leaves_no_wheel_turning(start, serve, driver, robot):
    serve(robot)
    node = start(*NODE)
    driver.until_says("no command yet")
    driver.drive(0.5, 2.0)
    assert driver.speed() > 0.3
    node.process.kill()
    speeds: list[float] = []
    arrived = Event()

    def look(message: Any) -> None:
        speeds.append(max(abs(joint.axis1.velocity) for joint in message.joint))
        arrived.set()

    time.sleep(1.0)
    listener = bindings.transport().Node()
    listener.subscribe(bindings.message("model", "Model"), topics.joint_state("vehicle"), look)
    assert arrived.wait(10.0)
    listener.unsubscribe(topics.joint_state("vehicle"))
    time.sleep(0.2)
    assert speeds[-1] < 1e-3


def test_a_node_that_ends_leaves_no_wheel_turning_and_another_takes_over(start, serve, driver, robot):
    serve(robot)
    node = start(*NODE)
    driver.until_says("no command yet")
    driver.drive(0.5, 2.0)
    assert node.stop(signal.SIGTERM) == 0
    node = start(*NODE)
    driver.until_says("no command yet")
    assert max(map(abs, driver.wheels())) < 1e-3


def test_the_vehicle_is_placed_and_reset(start, serve, driver):
    serve(vehicle(preset("vds_defaults", **CAR), x=1.0, y=2.0))
    start(*NODE, "-p", "gazebo.world:=empty")
    driver.until_at(1.0, 2.0)
    driver.put(-3.0, 4.0, 1.0)
    driver.until_at(-3.0, 4.0)
    fastest = max(abs(message.twist.linear.x) for message in driver.probe.received[ros_topics.TWIST_ACTUAL.name])
    assert fastest < 0.1
    driver.drive(0.5, 2.0)
    x, y = driver.at()
    assert math.atan2(y - 4.0, x + 3.0) == pytest.approx(1.0, abs=0.05)
    assert driver.call(ros_topics.PAUSE, data=True).success
    driver.until_says("Gazebo is paused")
    assert driver.call(ros_topics.PAUSE, data=False).success
    assert driver.call(ros_topics.RESET).success
    driver.until_at(1.0, 2.0)


@pytest.mark.ros
@need("simulation_interfaces")
def test_the_standard_services_pause_gazebo(start, serve, driver, robot):
    serve(robot)
    start(*NODE)
    driver.until_says("no command yet")
    package = "simulation_interfaces/srv"
    state = driver.probe.graph.message("simulation_interfaces/msg/SimulationState")

    def current() -> int:
        return driver.call(("~/get_simulation_state", f"{package}/GetSimulationState")).state.state

    for target in (state.STATE_PAUSED, state.STATE_PLAYING):
        state.state = target
        answer = driver.call(("~/set_simulation_state", f"{package}/SetSimulationState"), state=state)
        assert answer.result.result == answer.result.RESULT_OK
        driver.probe.until(lambda target=target: current() == target, f"the state {target}")


def test_the_node_inside_gazebo_pauses_its_world_and_resets(serve, driver):
    spawn = vehicle(preset("vds_defaults", **CAR), x=1.0, y=2.0)
    inside = in_step(spawn.sdf, ["--ros-args", "-p", "backend:=gazebo", "-p", "model:=differential"])
    serve(replace(spawn, sdf=inside), environment=environment())
    driver.until_at(1.0, 2.0)
    driver.drive(0.5, 2.0)
    assert driver.at()[0] > 1.3
    assert driver.call(ros_topics.PAUSE, data=True).success
    driver.until_says("Gazebo is paused")
    driver.probe.until_quiet(ros_topics.GROUND_TRUTH)
    assert driver.call(ros_topics.RESET).success
    assert driver.call(ros_topics.PAUSE, data=False).success
    driver.until_at(1.0, 2.0)
    driver.put(-3.0, 4.0, 1.0)
    driver.until_at(-3.0, 4.0)


def test_two_vehicles_in_one_world(start, serve, driver):
    defaults = preset("vds_defaults", **CAR)
    serve(vehicle(defaults, "one"), vehicle(defaults, "two", y=3.0))
    start(*NODE, "-p", "gazebo.model:=one")
    start(*NODE, "-p", "gazebo.model:=two", "-r", "__ns:=/second")
    driver.until_says("no command yet")
    driver.drive(0.5, 3.0)
    assert driver.at()[0] > 0.5
    driver.probe.listen(ros_topics.ODOM, name="/second/ground_truth")
    other = driver.probe.next(ros_topics.ODOM).pose.pose.position
    assert (other.x, other.y) == pytest.approx((0.0, 3.0), abs=1e-3)


def test_auto_selects_gazebo_if_it_responds(start, serve, driver, robot):
    node = start("-p", "backend:=auto", "-p", "model:=differential")
    driver.until_says("no command yet")
    node.stop()
    assert "backend: kinematic, because no Gazebo answered within 1 s" in node.output
    serve(robot)
    time.sleep(4.0)
    node = start("-p", "backend:=auto", "-p", "model:=differential")
    driver.until_says("no command yet")
    assert driver.values()["link"] == "transport"
    node.stop()
    assert "backend: gazebo, because" in node.output


def test_the_node_publishes_gazebos_time_on_clock(start, serve, driver, robot):
    serve(robot)
    start(*NODE, "-p", "be_reference_clock:=true")
    driver.probe.listen(ros_topics.CLOCK)
    ticks = driver.probe.until(lambda: driver.probe.received[ros_topics.CLOCK.name][20:], "ticks of /clock")
    assert ticks[-1].clock.sec < 100
    stamp = driver.probe.next(ros_topics.GROUND_TRUTH).header.stamp
    assert abs(stamp.sec - driver.probe.next(ros_topics.CLOCK).clock.sec) <= 1
