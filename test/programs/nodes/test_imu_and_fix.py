"""IMU and satellite receiver of a node without Gazebo, in a world: a real process, real messages."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from helpers.stamps import assert_on_the_grid

from vds_gz.core.ros.messages.fields import stamp_ns
from vds_gz.programs.interface import topics

IMU = topics.Topic("unit/data", "sensor_msgs/msg/Imu")
FIX = topics.Topic("gps/fix", "sensor_msgs/msg/NavSatFix")


def test_imu_and_fix_of_a_robot_that_turns_in_place_outdoors(start, probe):
    """A unit 0.5 m ahead of the axis measures 0.5 w^2 backwards, and gravity."""
    parameters = {
        "model": "differential",
        "world": "outdoor",
        "sensors.unit.type": "imu",
        "sensors.unit.rate": 100.0,
        "sensors.unit.xyz": [0.5, 0.0, 0.2],
        "sensors.unit.angular_velocity_white_noise": 0.0,
        "sensors.unit.linear_acceleration_white_noise": 0.0,
        "sensors.gps.type": "gnss",
        "sensors.gps.rate": 20.0,
        "sensors.gps.horizontal_std_noise": 0.0,
        "sensors.gps.vertical_std_noise": 0.0,
    }
    start(*itertools.chain.from_iterable(("-p", f"{name}:={value}") for name, value in parameters.items()))
    probe.listen(IMU, FIX)

    def turn(message: Any) -> None:
        message.angular.z = 1.0

    units, fixes = probe.received[IMU.name], probe.received[FIX.name]

    def turns() -> bool:
        if len(units) < 100 or len(fixes) < 20:
            return False
        spin, force = units[-1].angular_velocity, units[-1].linear_acceleration
        return (spin.x, spin.y, spin.z) == pytest.approx((0.0, 0.0, 1.0), abs=0.01) and (
            (force.x, force.y, force.z) == pytest.approx((-0.5 * spin.z**2, 0.0, 9.8), abs=0.02)
        )

    probe.hold(topics.TWIST_REFERENCE, turn, turns, "what a unit measures that turns with 1 rad/s")
    for received, period in ((units, 10_000_000), (fixes, 50_000_000)):
        assert_on_the_grid([stamp_ns(message.header.stamp) for message in received], period)
    fix = fixes[-1]
    assert (fix.latitude, fix.longitude) == pytest.approx((48.8566, 0.0), abs=1e-7)
    assert fix.altitude == pytest.approx(100.0, abs=0.5)
