"""Autoware's models on the graph: pedals, gears and reports, and other commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from helpers.processes import need_messages

from vds_gz.autoware.command_types import CONTROL_COMMAND, GEAR_COMMAND, NEW_PEDAL_COMMAND, PEDAL_COMMAND
from vds_gz.autoware.vehicle.reports import ACTUATION_STATUS, GEAR_STATUS, STEERING_STATUS, VELOCITY_STATUS
from vds_gz.programs.interface import topics
from vds_gz.programs.interface.model_reports import topic_of

DRIVE, REVERSE = 2, 20

pytestmark = [pytest.mark.graph, need_messages("autoware_vehicle_msgs", "autoware_control_msgs", "tier4_vehicle_msgs")]


def pedals(probe: Any, package: str, accel: float, brake: float, steer: float, until: Callable[[], Any]) -> None:
    """Hold the pedals until a condition is met."""

    def fill(message: Any) -> None:
        actuation = message.actuation if package == "tier4" else message.actuation_command
        actuation.accel_cmd, actuation.brake_cmd, actuation.steer_cmd = accel, brake, steer

    topic = (PEDAL_COMMAND if package == "tier4" else NEW_PEDAL_COMMAND).topic
    probe.hold(topic, fill, until, f"the effect of throttle {accel} and brake {brake}")


def speed(probe: Any) -> float:
    return float(probe.next(topics.TWIST_ACTUAL).twist.linear.x)


def test_pedals_and_gears_drive_the_vehicle(start, probe):
    start("-p", "model:=actuation_cmd_vgr")
    probe.listen(
        topics.TWIST_ACTUAL,
        topic_of(VELOCITY_STATUS),
        topic_of(STEERING_STATUS),
        topic_of(GEAR_STATUS),
        topic_of(ACTUATION_STATUS["tier4"]),
    )
    steering, pressed = topic_of(STEERING_STATUS), topic_of(ACTUATION_STATUS["tier4"])

    def drives() -> bool:
        return (
            probe.next(topic_of(VELOCITY_STATUS)).longitudinal_velocity > 0.3
            and probe.next(steering).steering_tire_angle > 0.02
            and probe.next(pressed).status.accel_status > 0.1
        )

    pedals(probe, "tier4", 0.5, 0.0, 2.0, drives)
    assert probe.next(topic_of(GEAR_STATUS)).report == DRIVE
    pedals(probe, "tier4", 0.0, 0.8, 0.0, lambda: speed(probe) == pytest.approx(0.0, abs=0.05))
    reverse = lambda: probe.next(topic_of(GEAR_STATUS)).report == REVERSE  # noqa: E731
    probe.hold(GEAR_COMMAND.topic, lambda message: setattr(message, "command", REVERSE), reverse, "the reverse gear")
    pedals(probe, "tier4", 0.5, 0.0, 0.0, lambda: speed(probe) < -0.3)


def test_newer_pedal_messages_of_autoware_are_accepted(start, probe):
    pytest.importorskip("rosbags", reason="the installed autoware_vehicle_msgs may be older")
    start("-p", "model:=actuation_cmd", "-p", "actuation_messages:=autoware")
    probe.listen(topics.TWIST_ACTUAL)
    pedals(probe, "autoware", 0.5, 0.0, 0.0, lambda: speed(probe) > 0.3)


def test_a_vehicle_follows_a_control_command(start, probe):
    start("-p", "model:=delay_steer_acc_geared")
    probe.listen(topics.TWIST_ACTUAL, topic_of(STEERING_STATUS))

    def fill(message: Any) -> None:
        message.longitudinal.acceleration = 1.0
        message.lateral.steering_tire_angle = 0.2

    def turns() -> bool:
        return probe.next(topic_of(STEERING_STATUS)).steering_tire_angle == pytest.approx(0.2, abs=0.02)

    probe.hold(CONTROL_COMMAND.topic, fill, lambda: speed(probe) > 1.0 and turns(), "the speed and the angle")


def test_a_twist_drives_a_vehicle_with_pedals(start, probe):
    quick = ("-p", "be_reference_clock:=true", "-p", "speed_factor:=4.0", "-p", "command_timeout:=1000.0")
    start("-p", "model:=actuation_cmd_mechanical", *quick)
    probe.listen(topics.TWIST_ACTUAL)

    def fill(message: Any) -> None:
        message.linear.x, message.angular.z = 2.0, 0.1

    def follows() -> bool:
        wanted = pytest.approx(2.0, rel=0.1)
        return bool(probe.steadily(topics.TWIST_ACTUAL, lambda message: message.twist.linear.x == wanted))

    probe.hold(topics.TWIST_REFERENCE, fill, follows, "a steady speed")


def test_bad_pedals_and_gears_are_refused(start, probe):
    node = start("-p", "model:=actuation_cmd")
    probe.listen(topics.TWIST_ACTUAL, topics.DIAGNOSTICS)
    pedals(probe, "tier4", float("nan"), 0.0, 0.0, lambda: probe.diagnosed("refused on actuation_cmd"))
    refused = lambda: probe.diagnosed("refused on gear_cmd")  # noqa: E731
    probe.hold(GEAR_COMMAND.topic, lambda message: setattr(message, "command", 99), refused, "a refusal")
    assert speed(probe) == 0.0
    assert node.stop() == 0
    assert "must be a code of autoware_vehicle_msgs/GearCommand" in node.output
