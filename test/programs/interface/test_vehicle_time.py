"""A driver stamps commands by the vehicle's clock, and reports why there are no subscribers."""

from __future__ import annotations

import time
from typing import Any

import pytest
from helpers.processes import PATIENCE

from vds_gz.core.parameters.teleop import JoystickParameters
from vds_gz.core.ros.messages.fields import stamp_ns
from vds_gz.core.ros.program_shell import StopRequest
from vds_gz.programs.interface import topics
from vds_gz.programs.interface.vehicle_status import CLOCK, COMMAND_TOPICS, SUFFIX, SYSTEM_CLOCK, VehicleTime
from vds_gz.programs.nodes.joystick_teleop import JoystickTeleop

REFERENCE = ("-p", "be_reference_clock:=true", "-p", "model:=omni")

#: Log of ten seconds at 1 m/s, with 20 commands a second.
LOG = "time,v_x,v_y,yaw_rate\n" + "".join(f"{i / 20},1.0,0.0,0.0\n" for i in range(201))


def known(probe: Any, *arguments: Any) -> VehicleTime:
    clock = VehicleTime(probe.graph, *arguments)
    clock.follow(["/twist_stamped_reference"], lambda: True)
    probe.until(lambda: clock.now() is not None, "the vehicle's time")
    return clock


def age_of_command(probe: Any, topic: topics.Topic) -> float:
    """How old the stamp of the last command is by the last /clock [s]."""
    stamp = stamp_ns(probe.received[topic.name][-1].header.stamp)
    return (stamp_ns(probe.received["/clock"][-1].clock) - stamp) * 1e-9


@pytest.mark.parametrize("arguments", [(), ("-p", "model:=omni")])
def test_a_vehicle_on_the_systems_time_gets_stamps_of_that_time(start, probe, arguments):
    start(*arguments)
    assert_of_the_system(known(probe, None))


def assert_of_the_system(clock: VehicleTime) -> None:
    """Its stamps lie between readings of the system's time."""
    before = time.time_ns()
    stamp = clock.stamp()
    assert before - 1e6 <= stamp <= time.time_ns() + 1e6


def test_a_vehicle_that_gives_the_time_gets_stamps_of_its_time(start, probe):
    start(*REFERENCE)
    probe.listen(topics.CLOCK)
    probe.until(lambda: probe.received["/clock"])
    clock = known(probe, None)
    # The two may differ by the order in which messages arrive; both are far from the system's time.
    probe.until(lambda: abs(clock.stamp() - stamp_ns(probe.next(topics.CLOCK).clock)) <= 2e7, "the vehicle's stamps")


def test_use_sim_time_overrides_the_report(start, probe):
    start(*REFERENCE)
    clock = known(probe, False)
    probe.until(lambda: "sim_node" in clock.vehicles())
    assert_of_the_system(clock)
    simulated = known(probe, True)
    assert simulated.stamp() < 10**12


def test_without_a_report_stamps_are_of_the_systems_time(probe):
    clock = known(probe, None)
    assert_of_the_system(clock)
    assert "no vehicle reports itself" in clock.vehicles()


@pytest.mark.parametrize("clock", ["", "clock", "/1abc", "//clock", "/cl ock", "a\nb"])
def test_a_report_with_an_invalid_clock_is_ignored(probe, clock):
    """Reports may hold any text; subscribing to such a topic would end the driver with an error."""
    driver = VehicleTime(probe.graph, None)
    driver.follow(["/twist_reference"], lambda: True)

    def fill(message: Any) -> None:
        for name, topic in (("car/sim_node", clock), ("van/sim_node", SYSTEM_CLOCK)):
            status = probe.graph.message("diagnostic_msgs/msg/DiagnosticStatus")
            status.name = f"{name}{SUFFIX}"
            for key, value in ((COMMAND_TOPICS, "/twist_reference"), (CLOCK, topic)):
                pair = probe.graph.message("diagnostic_msgs/msg/KeyValue")
                pair.key, pair.value = key, value
                status.values.append(pair)
            message.status.append(status)

    probe.hold(topics.DIAGNOSTICS, fill, lambda: "van" in driver.vehicles())
    assert "car" not in driver.vehicles()
    assert_of_the_system(driver)


def test_a_log_is_sent_at_the_pace_of_the_vehicles_clock(start, run, probe, tmp_path):
    (tmp_path / "log.csv").write_text(LOG)
    start(*REFERENCE, "-p", "speed_factor:=2.0")
    probe.listen(topics.CLOCK, topics.TWIST_STAMPED_REFERENCE, topics.TWIST_ACTUAL, topics.DIAGNOSTICS)
    probe.until(lambda: probe.received["/diagnostics"])
    driver = run("vds_gz.cli.drive", str(tmp_path / "log.csv"), "--as", "twist_stamped", "--loop")
    probe.until(lambda: len(probe.received["twist_stamped_reference"]) > 30)
    probe.until(lambda: abs(age_of_command(probe, topics.TWIST_STAMPED_REFERENCE)) < 0.5, "a stamp of that clock")
    probe.until(lambda: probe.received["twist_actual"][-1].twist.linear.x > 0.5)
    commands = probe.received["twist_stamped_reference"]

    def span() -> float:
        """Simulated time from the first to the last of the latest 20 commands [s]."""
        return (stamp_ns(commands[-1].header.stamp) - stamp_ns(commands[-20].header.stamp)) * 1e-9

    probe.until(lambda: span() == pytest.approx(19 / 20, abs=0.1), "the log's pace, by the vehicle's clock")
    assert driver.stop() == 0


def test_without_a_subscriber_the_error_lists_the_vehicles(start, run, probe, tmp_path):
    (tmp_path / "log.csv").write_text(LOG)
    start("-r", "__ns:=/car", "-p", "use_sim_time:=true")
    probe.listen(topics.DIAGNOSTICS)
    probe.until(lambda: probe.received["/diagnostics"])
    driver = run("vds_gz.cli.drive", str(tmp_path / "log.csv"), "--wait", "5")
    assert driver.process.wait(PATIENCE) == 1
    driver.stop()
    assert "no one listens to '/twist_reference'" in driver.output
    assert "'/car/sim_node' (waiting for /clock" in driver.output
    assert "'/car/twist_reference'" in driver.output


def test_a_joystick_stamps_by_the_vehicles_clock(start, probe):
    start(*REFERENCE)
    probe.listen(topics.CLOCK, topics.TWIST_STAMPED_REFERENCE, topics.TWIST_ACTUAL)
    parameters = JoystickParameters(output="twist_stamped", require_enable_button=False)
    teleop = JoystickTeleop(probe.graph, parameters, None, StopRequest())
    joy = probe.graph.message("sensor_msgs/msg/Joy")
    joy.axes, joy.buttons = [0.0, 0.0, 0.0, 1.0], [0]
    probe.until(teleop.time.now)

    def moves() -> bool:
        teleop._on_joy(joy, time.monotonic_ns())
        return bool(probe.received["twist_actual"]) and probe.received["twist_actual"][-1].twist.linear.x > 0.3

    probe.until(moves, "the vehicle's motion")
    probe.until(lambda: abs(age_of_command(probe, topics.TWIST_STAMPED_REFERENCE)) < 0.5, "a stamp of that clock")
