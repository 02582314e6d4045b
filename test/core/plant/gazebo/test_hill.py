"""A car on a hill in a real Gazebo: attitude in all messages, and motion by gravity."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from helpers.gazebo import Driver, preset, vehicle
from helpers.processes import need_messages
from helpers.stepped import STEP, Stepped

from vds_gz.autoware.command_types import CONTROL_COMMAND
from vds_gz.core.geometry import GRAVITY, Attitude, Pose, Quaternion, Vector, angles, quaternion, slope_acceleration
from vds_gz.core.plant.gazebo.gazebo_server import Server, populated
from vds_gz.core.ros.messages.fields import stamp_ns
from vds_gz.core.share import share
from vds_gz.programs.interface import topics

pytestmark = pytest.mark.gazebo

#: Start [m] and slope [rad] of the ramp in the world ``outdoor``, which rises along x.
FOOT, SLOPE = 10.0, math.radians(6.0)

CAR = preset("autoware_delay_car")
NOISE = ("odom_walk_velocity_translation", "odom_walk_velocity_rotation")
NOISE += ("map_sample_noise_translation", "map_sample_noise_rotation")


@pytest.fixture
def hill(partition: str) -> Iterator[None]:
    server = Server(populated(share("worlds", "outdoor.sdf"), [vehicle(CAR, x=-5.0)])[1])
    yield
    server.stop()


def release(driver: Driver, seconds: float) -> None:
    """Command no acceleration for a duration of simulated time [s]."""

    def fill(message: Any) -> None:
        message.longitudinal.acceleration = 0.0

    driver.hold(CONTROL_COMMAND.topic, fill, seconds)


def put(driver: Driver, position: Vector, orientation: Quaternion) -> None:
    def fill(message: Any) -> None:
        at, turn = message.pose.pose.position, message.pose.pose.orientation
        at.x, at.y, at.z = position
        turn.x, turn.y, turn.z, turn.w = orientation

    driver.probe.send(topics.INITIALPOSE, fill)


def tilt(pose: Any) -> tuple[float, float, float]:
    """Roll, pitch and heading of a pose or a transform."""
    q = getattr(pose, "orientation", None) or pose.rotation
    return angles((q.x, q.y, q.z, q.w))


@need_messages("autoware_control_msgs")
def test_a_car_rolls_down_a_hill(hill: None, start: Callable[..., Any], driver: Driver):
    exact = [part for name in NOISE for part in ("-p", f"localization.{name}:=0.0")]
    file = str(share("config", "autoware_delay_car.yaml"))
    start("--params-file", file, "-p", "backend:=gazebo", "-p", "simulate_localization:=true", *exact)
    driver.probe.listen(topics.ODOM, topics.TF)
    driver.until_says("no command yet")
    release(driver, 1.0)
    assert abs(driver.speed()) < 1e-3  # on the plain
    driver.until_says("timed out")  # now it brakes

    put(driver, (20.0, 0.5, math.tan(SLOPE) * 10.0), quaternion(0.0, SLOPE, math.pi))  # on the ramp, looking down
    driver.probe.until(lambda: driver.at()[0] > FOOT, "the car on the ramp")
    driver.probe.serve(0.5)
    standing = driver.probe.next(topics.GROUND_TRUTH).pose.pose
    assert standing.position.z == pytest.approx(math.tan(SLOPE) * 10.0, abs=0.01)
    assert tilt(standing)[:2] == pytest.approx((0.0, SLOPE), abs=2e-3)
    driver.probe.serve(1.0)
    later = driver.probe.next(topics.GROUND_TRUTH).pose.pose
    assert later.position.z == pytest.approx(standing.position.z, abs=1e-3)  # it holds
    assert later.position.x == pytest.approx(standing.position.x, abs=1e-2)

    release(driver, 2.0)
    rolling = driver.probe.received[topics.GROUND_TRUTH.name][-1]
    position, twist = rolling.pose.pose.position, rolling.twist.twist
    way = math.hypot(position.x - later.position.x, position.z - later.position.z)
    assert way > 1.0
    assert twist.linear.x**2 / (2.0 * way) == pytest.approx(slope_acceleration(SLOPE), rel=0.02)
    assert position.z == pytest.approx(math.tan(SLOPE) * (position.x - FOOT), abs=0.02)
    assert (twist.linear.y, twist.linear.z) == pytest.approx((0.0, 0.0), abs=0.02)
    assert_one_pose(driver)


def test_a_car_is_placed_tilted_in_the_air_falls_and_is_reset(partition: str):
    car = Stepped(preset("ackermann_car"))
    car.plant.set_pose(Pose(3.0, 1.0, 0.5), Attitude(0.5, 0.2, -0.1))
    car.run(2)
    motion, attitude = car.stands()
    assert (motion.x, motion.y, motion.heading) == pytest.approx((3.0, 1.0, 0.5), abs=1e-3)
    assert (attitude.z, attitude.roll, attitude.pitch) == pytest.approx((0.5, 0.2, -0.1), abs=1e-3)
    assert (motion.v_x, attitude.v_z) == pytest.approx((0.0, 0.0), abs=0.1)  # a placement is no motion
    car.run(100)
    # It has fallen freely for 0.1 s; the velocity is in its own axes.
    assert car.stands()[1].v_z == pytest.approx(-0.1 * GRAVITY * math.cos(0.2) * math.cos(0.1), rel=0.03)
    body = car.plant.body(car.plant.vehicle.time - STEP)
    assert body.velocity == pytest.approx((0.0, 0.0, -0.1 * GRAVITY), abs=0.03)
    assert body.acceleration == pytest.approx((0.0, 0.0, -GRAVITY), abs=0.1)
    assert body.angular_velocity == pytest.approx((0.0, 0.0, 0.0), abs=1e-3)
    car.run(1500)
    attitude = car.stands()[1]
    assert (attitude.z, attitude.roll, attitude.pitch) == pytest.approx((0.0, 0.0, 0.0), abs=5e-3)
    car.plant.reset()
    car.run(2)
    motion, attitude = car.stands()
    assert (motion.x, motion.y, motion.heading, attitude.z) == pytest.approx((0.0, 0.0, 0.0, 0.0), abs=1e-3)


def assert_one_pose(driver: Driver) -> None:
    """``ground_truth`` is ``map -> odom -> base_link``, and ``odom`` is ``odom -> base_link``."""
    received = driver.probe.received
    truth = {stamp_ns(message.header.stamp): message.pose.pose for message in received[topics.GROUND_TRUTH.name]}
    odom = {stamp_ns(message.header.stamp): message.pose.pose for message in received[topics.ODOM.name]}
    compared = 0
    for message in received[topics.TF.name]:
        outer, inner = message.transforms
        time = stamp_ns(inner.header.stamp)
        if time not in truth or time not in odom:
            continue
        planes = [Pose(t.translation.x, t.translation.y, tilt(t)[2]) for t in (outer.transform, inner.transform)]
        both, true, measured = planes[0].then(planes[1]), truth[time], odom[time]
        assert outer.transform.translation.z == outer.transform.rotation.x == outer.transform.rotation.y == 0.0
        assert inner.transform.translation.z == true.position.z == measured.position.z
        assert (both.x, both.y) == pytest.approx((true.position.x, true.position.y), abs=1e-9)
        for pose in (true, measured):
            assert tilt(pose)[:2] == pytest.approx(tilt(inner.transform)[:2], abs=1e-9)
        assert math.cos(both.heading - tilt(true)[2]) == pytest.approx(1.0, abs=1e-12)
        compared += 1
    assert compared > 50
