"""Autoware's models on the graph: pedals, gears and reports, and all other commands too."""

from __future__ import annotations

from typing import Any

import pytest

from vds_gz.interface import topics

DRIVE, REVERSE = 2, 20


def pedals(probe: Any, package: str, accel: float, brake: float, steer: float, seconds: float) -> None:
    def fill(message: Any) -> None:
        actuation = message.actuation if package == "tier4" else message.actuation_command
        actuation.accel_cmd, actuation.brake_cmd, actuation.steer_cmd = accel, brake, steer

    probe.send(topics.ACTUATION_CMD[package], fill, seconds=seconds)


def test_pedals_and_gears_drive_the_vehicle(start, probe):
    start("-p", "model:=actuation_cmd_vgr")
    probe.listen(
        topics.TWIST_ACTUAL,
        topics.VELOCITY_STATUS,
        topics.STEERING_STATUS,
        topics.GEAR_STATUS,
        topics.ACTUATION_STATUS["tier4"],
    )
    pedals(probe, "tier4", 0.5, 0.0, 2.0, 1.5)
    moving = probe.next(topics.VELOCITY_STATUS).longitudinal_velocity
    assert moving > 0.3
    assert probe.next(topics.STEERING_STATUS).steering_tire_angle > 0.02
    assert probe.next(topics.GEAR_STATUS).report == DRIVE
    assert probe.next(topics.ACTUATION_STATUS["tier4"]).status.accel_status > 0.1
    pedals(probe, "tier4", 0.0, 0.8, 0.0, 2.5)
    assert probe.next(topics.TWIST_ACTUAL).twist.linear.x == pytest.approx(0.0, abs=0.05)
    probe.send(topics.GEAR_CMD, lambda message: setattr(message, "command", REVERSE))
    probe.until(lambda: probe.next(topics.GEAR_STATUS).report == REVERSE)
    pedals(probe, "tier4", 0.5, 0.0, 0.0, 1.5)
    assert probe.next(topics.TWIST_ACTUAL).twist.linear.x < -0.3


def test_newer_messages_of_autoware_are_understood(start, probe):
    pytest.importorskip("rosbags", reason="the installed autoware_vehicle_msgs may be older")
    start("-p", "model:=actuation_cmd", "-p", "actuation_messages:=autoware")
    probe.listen(topics.TWIST_ACTUAL)
    pedals(probe, "autoware", 0.5, 0.0, 0.0, 1.5)
    assert probe.next(topics.TWIST_ACTUAL).twist.linear.x > 0.3


def test_a_control_command_is_obeyed(start, probe):
    start("-p", "model:=delay_steer_acc_geared")
    probe.listen(topics.TWIST_ACTUAL, topics.STEERING_STATUS)

    def fill(message: Any) -> None:
        message.longitudinal.acceleration = 1.0
        message.lateral.steering_tire_angle = 0.2

    probe.send(topics.CONTROL_CMD, fill, seconds=2.0)
    assert probe.next(topics.TWIST_ACTUAL).twist.linear.x > 1.0
    assert probe.next(topics.STEERING_STATUS).steering_tire_angle == pytest.approx(0.2, abs=0.02)


def test_a_twist_drives_a_vehicle_with_pedals(start, probe):
    start("-p", "model:=actuation_cmd_mechanical", "-p", "be_reference_clock:=true", "-p", "speed_factor:=4.0")
    probe.listen(topics.TWIST_ACTUAL)

    def fill(message: Any) -> None:
        message.linear.x, message.angular.z = 2.0, 0.1

    probe.send(topics.TWIST_REFERENCE, fill, every=0.05, seconds=3.0)
    assert probe.next(topics.TWIST_ACTUAL).twist.linear.x == pytest.approx(2.0, rel=0.1)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 1e300])
def test_bad_pedals_and_gears_are_refused(start, probe, bad):
    node = start("-p", "model:=actuation_cmd")
    probe.listen(topics.TWIST_ACTUAL, topics.DIAGNOSTICS)
    pedals(probe, "tier4", bad, 0.0, 0.0, 0.0)
    probe.send(topics.GEAR_CMD, lambda message: setattr(message, "command", 99))
    probe.until(lambda: "refused on gear_cmd" in str(probe.next(topics.DIAGNOSTICS)))
    assert probe.next(topics.TWIST_ACTUAL).twist.linear.x == 0.0
    assert node.stop() == 0
    assert "must be a code of autoware_vehicle_msgs/GearCommand" in node.output
