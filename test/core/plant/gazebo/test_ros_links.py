"""The links bridge and ros2_control with a real Gazebo, ros_gz_bridge and gz_ros2_control."""

from __future__ import annotations

import time
from threading import Event
from typing import Any

import pytest
from helpers.gazebo import Driver, preset, vehicle
from helpers.ros_gz import bridge, controlled, need, spawn_controllers

from vds_gz.core.description import gz_topics as gazebo_topics
from vds_gz.core.plant.gazebo.links import bindings
from vds_gz.programs.interface import topics

__all__ = ["bridge"]

pytestmark = [pytest.mark.ros, pytest.mark.gazebo, need("ros_gz_bridge")]

CAR = ("-p", "backend:=gazebo", "-p", "gazebo.world:=empty", "-p", "use_sim_time:=true")

with_ros2_control = need("gz_ros2_control", "controller_manager", "forward_command_controller")


@pytest.fixture(params=["bridge", pytest.param("ros2_control", marks=with_ros2_control)])
def link(request: Any, start: Any, serve: Any, bridge: Any, tmp_path: Any) -> Any:
    """Gazebo, the bridge and a node, over one of the links; returns the node."""
    parameters = preset("vds_defaults")
    node = start(*CAR, "-p", f"gazebo.link:={request.param}")
    bridge()
    if request.param == "bridge":
        serve(vehicle(parameters))
    else:
        serve(controlled(parameters, tmp_path, 1.0, 1000))
        spawn_controllers(parameters)
    return node


class Truth:
    """Position and speed of the vehicle, from Gazebo."""

    def __init__(self) -> None:
        self.position = (0.0, 0.0)
        self.speed = 0.0
        self._heard = Event()
        self._node = bindings.node()
        self._topic = gazebo_topics.odometry("vehicle")
        self._node.subscribe(bindings.message("odometry", "Odometry"), self._topic, self._take)
        assert self._heard.wait(20.0)

    def _take(self, message: Any) -> None:
        self.position = (message.pose.position.x, message.pose.position.y)
        self.speed = message.twist.linear.x
        self._heard.set()

    def close(self) -> None:
        self._node.unsubscribe(self._topic)
        time.sleep(0.2)


def test_the_vehicle_drives_is_placed_pauses_and_stops(link: Any, driver: Driver):
    driver.until_says("no command yet")
    truth = Truth()
    driver.probe.listen(topics.CLOCK, topics.ODOM)

    driver.drive(1.0, 4.0, yaw_rate=0.2)
    twist = driver.probe.next(topics.TWIST_ACTUAL).twist
    assert twist.linear.x == pytest.approx(1.0, rel=0.02)
    assert twist.angular.z == pytest.approx(0.2, rel=0.02)
    assert abs(float(driver.values()["lag of the steering joints [s]"])) < 0.01
    assert not any("late" in report.message for report in driver.reports())

    driver.probe.until(lambda: abs(driver.speed()) < 1e-4, "the vehicle at rest, without commands")
    odom = driver.probe.next(topics.ODOM)
    assert (odom.pose.pose.position.x, odom.pose.pose.position.y) == pytest.approx(truth.position, abs=1e-3)
    assert truth.position[0] > 2.0
    clocks = [message.clock for message in driver.probe.received[topics.CLOCK.name]]
    assert len(clocks) > 500
    assert abs(clocks[-1].sec - odom.header.stamp.sec) <= 1

    driver.put(-3.0, 4.0, 1.0)
    driver.until_at(-3.0, 4.0)
    assert driver.call(topics.PAUSE, data=True).success
    driver.until_says("Gazebo is paused")
    assert driver.call(topics.PAUSE, data=False).success
    driver.until_says("timed out")
    assert driver.call(topics.RESET).success
    driver.until_at(0.0, 0.0)

    driver.drive(1.0, 2.0)
    assert truth.speed > 0.5
    link.process.kill()
    end = time.monotonic() + 20.0
    while abs(truth.speed) > 1e-3 and time.monotonic() < end:
        time.sleep(0.05)
    print(f"stopped after {time.monotonic() - end + 20.0:.2f} s")
    assert truth.speed == pytest.approx(0.0, abs=1e-3)
    truth.close()


@with_ros2_control
def test_the_lag_of_gz_ros2_control_as_shipped_is_found(
    start: Any, serve: Any, bridge: Any, driver: Driver, tmp_path: Any
):
    parameters = preset("vds_defaults")
    start(*CAR, "-p", "gazebo.link:=ros2_control")
    bridge()
    serve(controlled(parameters, tmp_path, 0.1, 100))
    spawn_controllers(parameters)
    driver.until_says("no command yet")
    for _ in range(3):
        driver.drive(1.0, 0.7, yaw_rate=0.2)
        driver.drive(1.0, 0.7, yaw_rate=-0.2)
    driver.drive(1.0, 1.2)
    said = driver.until_says("steering joints follow", "late")
    assert "position_proportional_gain" in said
    assert float(driver.values()["lag of the steering joints [s]"]) == pytest.approx(0.1, rel=0.15)
