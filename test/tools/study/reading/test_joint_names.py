"""Joints are known by the names of other robots, by side and axle."""

import numpy as np
import pytest

from vds_gz.core.configuration import parameters_of_file, preset_file
from vds_gz.core.vehicle.catalogue import models
from vds_gz.tools.study.reading.joint_names import joints_by_name, place_of, with_joints_of
from vds_gz.tools.study.reading.signal_table import read_csv
from vds_gz.tools.study.recording import MeasuredChannel, Recording, Series

TIME = np.arange(5.0)


def of(preset):
    """Model and parameters of a preset."""
    parameters = parameters_of_file(preset_file(preset))
    return models()[parameters.model], parameters.vehicle


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("left_wheel_joint", ("", "left", False)),
        ("front_left_wheel", ("front", "left", False)),
        ("rear_right_wheel_joint", ("rear", "right", False)),
        ("base_to_backRightWheel", ("rear", "right", False)),
        ("wheel_fl", ("front", "left", False)),
        ("lr_wheel_joint", ("rear", "left", False)),
        ("drivewhl_l_joint", ("", "left", False)),
        ("right", ("", "right", False)),
        ("front_left_steer_joint", ("front", "left", True)),
        ("left_arm_joint", None),
        ("caster_left_wheel_joint", None),
        ("left_to_right_wheel", None),
        ("head_pan", None),
    ],
)
def test_a_name_says_the_place_of_a_wheel_or_a_hinge(name: str, place):
    assert place_of(name) == place


@pytest.mark.parametrize(
    ("preset", "names"),
    [
        ("indoor_robot", {"left_wheel": "wheel_left_joint", "front_left_wheel": "wheel_left_joint"}),
        ("indoor_robot", {"rear_right_wheel_joint": "wheel_right_joint", "wheel_right_joint": "wheel_right_joint"}),
        ("ackermann_car", {"rear_left_wheel": "fixed_wheel_left_joint", "fr_wheel": "steered_wheel_right_joint"}),
        ("ackermann_car", {"left_steering_hinge_joint": "steering_left"}),
        ("forklift", {"front_right_wheel": "fixed_wheel_right_joint", "rear_wheel": "steered_wheel_joint"}),
        ("swerve_robot", {"back_left_wheel": "wheel_rear_left_joint", "rl_steer": "steering_rear_left"}),
    ],
)
def test_a_name_means_the_joint_of_its_side_and_axle(preset: str, names):
    assert joints_by_name(list(names), *of(preset)) == names


@pytest.mark.parametrize(
    ("preset", "name"),
    [("ackermann_car", "left_wheel"), ("indoor_robot", "arm_joint"), ("forklift", "steering_wheel")],
)
def test_a_name_that_may_mean_several_joints_or_none_means_none(preset: str, name: str):
    assert joints_by_name([name], *of(preset)) == {}


def recording(**values):
    further = [
        MeasuredChannel(f"joints {joint}", "joint_velocity", "/joints", Series(TIME, TIME * value), joint)
        for joint, value in values.items()
    ]
    return Recording(further=further)


def test_wheels_of_one_side_are_their_mean_and_a_finding_says_what_was_taken_and_what_was_not():
    known = with_joints_of(
        recording(front_left_wheel=1.0, rear_left_wheel=3.0, right_wheel=2.0, lift=9.0), *of("indoor_robot")
    )
    assert {channel.name: channel.series.value[1] for channel in known.further} == {
        "joints wheel_left_joint": 2.0,
        "joints right_wheel": 2.0,
    }
    assert [channel.joint for channel in known.further] == ["wheel_left_joint", "wheel_right_joint"]
    taken, left_out = known.findings
    assert "front_left_wheel as wheel_left_joint, rear_left_wheel as wheel_left_joint, right_wheel as wheel_ri" in taken
    assert left_out.startswith("joints lift: left out")
    assert "wheel_left_joint, wheel_right_joint, or such as front_left_wheel" in left_out


def test_the_vehicles_own_names_say_nothing():
    ours = recording(wheel_left_joint=1.0, wheel_right_joint=1.0)
    assert with_joints_of(ours, *of("indoor_robot")) is ours


def test_a_column_of_a_wheel_without_a_quantity_is_reported(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("time,v_x_command,v_x,front_left_wheel,right_wheel_velocity,note\n0,1,1,1,1,1\n1,1,1,1,1,1\n")
    [finding] = read_csv(path).findings
    assert finding.startswith("columns front_left_wheel are not read; those of joints end in _velocity [rad/s]")
