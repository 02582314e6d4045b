"""Tables: columns of commands and of channels."""

import numpy as np
import pytest
from helpers.guest import needs_autoware, of_guest

from vds_gz.core.errors import RecordingError
from vds_gz.core.vehicle.command import ACKERMANN, DRIVE, REVERSE, TWIST
from vds_gz.programs.commandlog.csv_table import kind_of
from vds_gz.tools.study.identify.problem.unknowns import set_up
from vds_gz.tools.study.reading.signal_table import read_actuation_csv, read_csv
from vds_gz.tools.study.recording import SignalError

CONTROL = of_guest("vds_gz.autoware.vehicle.command_kinds:CONTROL")


def table(path, head, *rows):
    path.write_text("\n".join([head, *rows]) + "\n")
    return path


def test_every_column_has_its_channel(tmp_path):
    head = "time,v_x_command,yaw_rate_command,v_x,x,y,heading,imu_yaw_rate,wheel_left_joint_velocity,arm_position,note"
    signals = read_csv(table(tmp_path / "log.csv", head, *(f"{t},1,0,1,2,3,{h},5,6,7,8" for t, h in [(0, 3), (1, -3)])))
    result = {channel.name: (channel.quantity, channel.joint, channel.source) for channel in signals.channels}
    assert result == {
        "v_x": ("v_x", "", "v_x"),
        "x": ("x", "", "pose"),
        "y": ("y", "", "pose"),
        "heading": ("heading", "", "pose"),
        "imu_yaw_rate": ("yaw_rate", "", "imu"),
        "wheel_left_joint_velocity": ("joint_velocity", "wheel_left_joint", "wheel_left_joint_velocity"),
        "arm_position": ("joint_position", "arm", "arm_position"),
    }
    [heading] = (channel for channel in signals.channels if channel.quantity == "heading")
    assert heading.series.value == pytest.approx([3.0, 2.0 * np.pi - 3.0]), "without a jump of a turn"
    assert heading.unit == "rad"


@pytest.mark.parametrize(
    ("head", "kind", "fields"),
    [
        ("v_x_command,v_y_command,yaw_rate_command", TWIST, {"v_x": 1.0, "v_y": 2.0, "yaw_rate": 3.0, "gear": DRIVE}),
        (
            "v_x_command,steering_command,steering_rate_limit,acceleration_limit",
            ACKERMANN,
            {"v_x": 1.0, "steering_angle": 2.0, "steering_rate": 3.0, "acceleration": 4.0},
        ),
        *(
            (
                "v_x_command,steering_command,acceleration_command",
                control,
                {"v_x": 1.0, "steering_angle": 2.0, "target_acceleration": 3.0, "gear": DRIVE},
            )
            for control in CONTROL
        ),
    ],
)
def test_commands_are_records_of_the_commanded_quantities(tmp_path, head, kind, fields):
    count = head.count(",") + 1
    rows = [",".join(["0.5", *map(str, range(1, count + 1)), "1"])]
    commands = read_csv(table(tmp_path / "log.csv", f"time,{head},v_x", *rows)).commands
    assert commands.time.tolist() == [0.5]
    assert commands.records["kind"] == [kind]
    assert {name: commands.records[name][0] for name in fields} == fields


def test_numbers_that_change_at_different_times_hold_until_they_change(tmp_path):
    rows = ("0,1,,,0", "1,,0.5,,0", "2,,,20,0", "3,2,0,2,0")
    head = "time,v_x_command,steering_command,gear,v_x"
    commands = read_csv(table(tmp_path / "log.csv", head, *rows)).commands
    assert commands.records["v_x"].tolist() == [1.0, 1.0, 1.0, 2.0]
    assert commands.records["steering_angle"].tolist() == [0.0, 0.5, 0.5, 0.0]
    assert commands.records["gear"].tolist() == [DRIVE, DRIVE, REVERSE, DRIVE]


def test_a_limit_of_zero_is_none(tmp_path):
    path = table(tmp_path / "log.csv", "time,v_x_command,steering_command,acceleration_limit,v_x", "0,1,1,0,0")
    assert read_csv(path).commands.records["acceleration"].tolist() == [np.inf]


@needs_autoware
def test_pedals_are_commands_too(tmp_path):
    path = table(tmp_path / "log.csv", "time,accel,brake,wheel,v_x", "0,0.1,0.2,0.3,0", "1,0.4,0,0,1")
    records = read_actuation_csv(path).commands.records
    assert set(records["kind"]) == set(of_guest("vds_gz.autoware.vehicle.command_kinds:PEDALS"))
    assert records[["accel_pedal", "brake_pedal", "steering_command"]].tolist() == [(0.1, 0.2, 0.3), (0.4, 0.0, 0.0)]


def test_gaps_split_a_recording_but_a_stopped_sensor_does_not(tmp_path):
    times = [0.1 * k for k in range(100) if not 40 <= k < 70]
    rows = [f"{t:.1f},1,{'' if 1.0 < t < 3.0 else 1}" for t in times]
    signals = read_csv(table(tmp_path / "log.csv", "time,v_x_command,v_x", *rows))
    assert signals.pieces == [(0.0, 3.9), (7.0, 9.9)]
    assert "gaps split the recording into 2 pieces: 0.00 to 3.90 s, 7.00 to 9.90 s" in signals.findings


def test_a_message_shows_the_beginning_of_a_long_cell(tmp_path):
    path = table(tmp_path / "log.csv", "time,v_x_command,v_x", f"0,1,{'x' * 200_000}")
    with pytest.raises(
        RecordingError, match=r"log\.csv, line 2, column 'v_x': 'x{40}\.\.\.' must be a number or empty"
    ):
        read_csv(path)


@pytest.mark.parametrize(
    ("quantities", "kind"),
    [
        (["v_x"], TWIST),
        (["v_x", "yaw_rate", "gear"], TWIST),
        (["v_x", "yaw_rate", "acceleration"], TWIST),
        (["v_x", "steering"], ACKERMANN),
        *((["v_x", "steering", "gear"], control) for control in CONTROL),
        *((["v_x", "steering", "yaw_rate", "acceleration"], control) for control in CONTROL),
    ],
)
def test_the_kind_of_a_command_follows_from_its_quantities(quantities, kind):
    assert kind_of(quantities) == kind


@pytest.mark.parametrize("column", ["gear", "acceleration_command"])
def test_a_robot_commanded_by_velocities_is_identified_despite_a_gear_or_an_acceleration(tmp_path, column):
    rows = (f"{0.02 * k:.2f},{k // 50},{k // 50},1" for k in range(200))
    signals = read_csv(table(tmp_path / "log.csv", f"time,v_x_command,v_x,{column}", *rows))
    setup = set_up([signals], vehicle=None, wheel_base=None, fit=(), priors={})
    assert (setup.family.model.name, setup.kind) == ("differential", TWIST)


def test_recordings_of_one_fit_need_commands_of_one_kind(tmp_path):
    rows = [f"{0.02 * k:.2f},{k // 50},{k // 50},{k // 70},{k // 70}" for k in range(200)]
    heads = ("steering_command,steering", "yaw_rate_command,steering")
    both = [
        read_csv(table(tmp_path / f"{k}.csv", f"time,v_x_command,v_x,{head}", *rows)) for k, head in enumerate(heads)
    ]
    with pytest.raises(SignalError, match="recording 1 are of the kind 'ackermann', those of recording 2 'twist'"):
        set_up(both, vehicle=None, wheel_base=None, fit=(), priors={})


@pytest.mark.parametrize("step", [0.0, 1e-6])
def test_times_that_do_not_advance_or_are_not_seconds_are_refused(tmp_path, step):
    rows = [f"{1e5 + step * k!r},{k % 7},{k % 5}" for k in range(40)]
    with pytest.raises(SignalError, match=r"column 'time' spans .* s in 40 rows; it must be in s and increase"):
        read_csv(table(tmp_path / "log.csv", "time,v_x_command,v_x", *rows))
