"""A replay of Autoware's vehicles: its reports are those of the node, and its commands have gears."""

import math

import numpy as np
import pytest
from helpers.bag_files import raw_messages as messages

from vds_gz.autoware.vehicle.reports import ACTUATION_STATUS, GEAR_STATUS, STEERING_STATUS, VELOCITY_STATUS
from vds_gz.autoware.vehicle.state import actuation_status, steering_report
from vds_gz.core.configuration import parameters_of
from vds_gz.core.errors import RecordingError, UnknownTypeError
from vds_gz.core.parameters.declaration import Override
from vds_gz.core.parameters.yaml_reader import read_parameter_file
from vds_gz.core.ros.messages.fields import stamp_ns
from vds_gz.core.ros.messages.message_types import open_types
from vds_gz.core.sensing.localization import MeasurementNoise
from vds_gz.core.share import share
from vds_gz.core.vehicle.make_vehicle import make_vehicle
from vds_gz.programs.commandlog import command_log
from vds_gz.programs.commandlog.command_log import write_csv
from vds_gz.programs.interface import topics
from vds_gz.programs.interface.commands import Gear
from vds_gz.programs.interface.model_reports import topic_of
from vds_gz.tools.study.compare.sources import commands_of
from vds_gz.tools.study.offline.offline_replay import BEGIN, Replay
from vds_gz.tools.study.offline.replay_bag import write_mcap
from vds_gz.tools.study.reading import recorded_run


def autoware_log(folder, kind):
    """A table of commands with a gear that changes."""
    names = {
        "control": "velocity,acceleration,steering_tire_angle",
        "pedals": "accel_pedal,brake_pedal,steering_command",
    }
    rows = [(0.04 * k, 0.4 + 0.2 * math.sin(k), 0.1 * (k % 3), 0.1 * math.cos(0.1 * k)) for k in range(100)]
    lines = [",".join(map(repr, (*row, 2 if k < 60 else 20))) for k, row in enumerate(rows)]
    path = folder / f"{kind}.csv"
    path.write_text("\n".join([f"time,{names[kind]},gear", *lines]) + "\n")
    return path


def autoware_car(package="tier4"):
    overrides = read_parameter_file(str(share("config", "autoware_car.yaml")), "/sim_node")
    overrides += [Override("measurement_noise.add_measurement_noise", True), Override("actuation_messages", package)]
    return parameters_of(overrides)


def needs(type_name):
    """Skip where a message package that is installed does not have this type."""
    try:
        open_types().new(type_name)
    except UnknownTypeError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize(("kind", "package"), [("pedals", "tier4"), ("pedals", "autoware"), ("control", "tier4")])
def test_reports_and_commands_are_those_of_the_node(tmp_path, kind, package):
    if package == "autoware":
        needs("autoware_vehicle_msgs/msg/ActuationReportStamped")
    parameters, path, output = autoware_car(package), autoware_log(tmp_path, kind), tmp_path / "out.mcap"
    log = command_log.read(path)
    write_mcap(Replay(command_log.stream(path), parameters, compiled=False), output, parameters, lambda amount: None)
    result = messages(output)

    vehicle = make_vehicle(parameters, start=BEGIN)
    noise, single = MeasurementNoise(parameters.measurement_noise), np.float32
    entries = list(zip(log.times, log.commands, strict=True))
    expected = []
    for k in range(len(result["/odom"])):
        now = BEGIN + 20_000_000 * k
        while entries and BEGIN + round(entries[0][0] * 1e9) <= now:
            moment, command = entries.pop(0)
            vehicle.enter(log.type.as_sent(command).command(), BEGIN + round(moment * 1e9))
        vehicle.advance(now)
        c, s, motion = vehicle.coefficients, vehicle.state, vehicle.motion()
        _, speed, steering = noise.of(motion.pose, motion.v_x, steering_report(c, s))
        velocity = single(speed), single(s.yaw_rate)
        expected.append((now, *velocity, single(steering), s.drive.gear, actuation_status(c, s)))
    types = {"velocity_status": topic_of(VELOCITY_STATUS), "steering_status": topic_of(STEERING_STATUS)}
    types |= {"gear_status": topic_of(GEAR_STATUS), "actuation_status": topic_of(ACTUATION_STATUS[package])}
    codecs = {name: open_types().codec(topic.type) for name, topic in types.items()}
    sent = [[codecs[name].decode(bytearray(data)) for data in result[f"/{name}"]] for name in types]
    for (velocity, steering, gear, actuation), row in zip(zip(*sent, strict=True), expected, strict=True):
        stamps = [stamp_ns(one) for one in (velocity.header.stamp, steering.stamp, gear.stamp, actuation.header.stamp)]
        assert stamps == [row[0]] * 4
        assert (velocity.longitudinal_velocity, velocity.heading_rate) == row[1:3]
        assert (velocity.header.frame_id, velocity.lateral_velocity) == ("base_link", 0.0)
        assert (steering.steering_tire_angle, gear.report) == row[3:5]
        told = vars(actuation.status if package == "tier4" else actuation.actuation_report)
        assert [told[f"{field}_{'status' if package == 'tier4' else 'report'}"] for field in row[5]._fields] == [
            *row[5]
        ]
    assert (result["/gear_status"][0][12], result["/gear_status"][-1][12]) == (2, 20)

    again = command_log.read(output)
    assert again.kind == ({"tier4": "pedals", "autoware": "autoware_pedals"}[package] if kind == "pedals" else kind)
    assert again.times == pytest.approx(log.times, abs=1e-9)
    assert list(again.commands) == [log.type.as_sent(command) for command in log.commands]


def test_a_recording_with_gears_is_compared_with_its_own_model(tmp_path):
    parameters, path, output = autoware_car(), autoware_log(tmp_path, "pedals"), tmp_path / "out.mcap"
    write_mcap(Replay(command_log.stream(path), parameters, compiled=False), output, parameters, lambda amount: None)
    run, log = recorded_run.read(output), command_log.read(path)
    again = commands_of(run, output)
    assert again.times == pytest.approx(log.times, abs=1e-9)
    assert again.commands == log.commands
    assert len(run.command_times) == len(log.times) - 2


def test_the_odometry_is_as_noisy_as_the_velocity_report(tmp_path):
    parameters, path, output = autoware_car(), autoware_log(tmp_path, "control"), tmp_path / "out.mcap"
    write_mcap(Replay(command_log.stream(path), parameters, compiled=False), output, parameters, lambda amount: None)
    types, result = open_types(), messages(output)

    def decoded(name, kind):
        return [types.codec(kind).decode(bytearray(data)) for data in result[name]]

    odometry = [message.twist.twist.linear.x for message in decoded("/odom", topics.ODOM.type)]
    reported = [
        message.longitudinal_velocity for message in decoded("/velocity_status", topic_of(VELOCITY_STATUS).type)
    ]
    true = [message.twist.twist.linear.x for message in decoded("/ground_truth", topics.ODOM.type)]
    assert odometry == pytest.approx(reported, abs=1e-6)
    assert max(abs(np.subtract(odometry, true))) > 1e-4


def test_a_table_of_commands_with_gears_is_written_and_read(tmp_path):
    log = command_log.read(autoware_log(tmp_path, "pedals"))
    assert [command for command in log.commands if isinstance(command, Gear)] == [Gear(2), Gear(20)]
    write_csv(log, tmp_path / "again.csv")
    assert command_log.read(tmp_path / "again.csv") == log
    (tmp_path / "wrong.csv").write_text("time,accel_pedal,brake_pedal,steering_command,gear\n0,0,0,0,2.5\n")
    with pytest.raises(RecordingError, match=r"column 'gear': 2\.5 must be a whole number from 0 to 24"):
        command_log.read(tmp_path / "wrong.csv")
