"""From the joystick's axes to commands, and the times of commands, without processes, graphs and clocks."""

from __future__ import annotations

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.parameters.declaration import ParameterError, describe
from vds_gz.core.parameters.teleop import (
    AngularScales,
    JoystickParameters,
    KeyParameters,
    LinearAxes,
    LinearScales,
    load,
)
from vds_gz.core.parameters.yaml_reader import read_parameter_file
from vds_gz.core.share import share
from vds_gz.programs.teleop.driver_commands import STANDSTILL, STOPS
from vds_gz.programs.teleop.joystick import JoyError, JoystickController, Mode, drive, without_dead_zone

MS = 1_000_000
FREE = JoystickParameters(require_enable_button=False)
CONTROLLERS = sorted(share("config", "joystick").glob("*.yaml"), key=lambda file: file.stem)

positions = st.floats(-1.0, 1.0)
scales = st.floats(-20.0, 20.0)
angles = st.floats(-math.pi, math.pi)


@st.composite
def layouts(draw):
    return JoystickParameters(
        require_enable_button=False,
        enable_turbo_button=1,
        dead_zone=draw(st.floats(0.0, 0.9)),
        axis_linear=LinearAxes(x=1, y=2),
        scale_linear=LinearScales(draw(scales), draw(scales)),
        scale_linear_turbo=LinearScales(draw(scales), draw(scales)),
        scale_angular=AngularScales(draw(scales)),
        scale_angular_turbo=AngularScales(draw(scales)),
        scale_steering=draw(angles),
        scale_steering_turbo=draw(angles),
        scale_reverse=draw(st.floats(0.0, 1.0)),
        inverted_reverse=draw(st.booleans()),
    )


@given(layouts(), st.lists(positions, min_size=3, max_size=3), st.booleans())
def test_commands_stay_within_their_scales(layout, axes, turbo):
    command = drive(layout, axes, [0, int(turbo)])
    linear = layout.scale_linear_turbo if turbo else layout.scale_linear
    angular = layout.scale_angular_turbo if turbo else layout.scale_angular
    assert abs(command.v_x) <= abs(linear.x) * (layout.scale_reverse if command.v_x < 0.0 else 1.0)
    assert abs(command.v_y) <= abs(linear.y)
    assert abs(command.yaw_rate) <= abs(angular.yaw)
    assert abs(command.steering_angle) <= abs(layout.scale_steering_turbo if turbo else layout.scale_steering)


@given(positions, st.floats(0.0, 0.9), st.floats(-1e-6, 1e-6))
def test_the_dead_zone_is_continuous_odd_and_reaches_both_ends(value, zone, little):
    here = without_dead_zone(value, zone)
    assert abs(here - without_dead_zone(value + little, zone)) <= 1.1e-5 + abs(little) / (1.0 - zone)
    assert without_dead_zone(-value, zone) == -here
    assert abs(here) <= abs(value) + 1e-12
    assert without_dead_zone(1.0, zone) == 1.0
    assert without_dead_zone(zone, zone) == 0.0


@given(positions, positions, st.floats(0.0, 0.9))
def test_the_position_beyond_the_dead_zone_is_monotonic(first, second, zone):
    low, high = sorted((first, second))
    assert without_dead_zone(low, zone) <= without_dead_zone(high, zone)


@pytest.mark.parametrize(
    ("scales_", "axes", "v_x", "angle"),
    [
        ({"dead_zone": 0.0, "scale_steering": 0.6}, [0.5, 0.0, 0.0, -0.25], -0.25, 0.3),
        ({"scale_linear": LinearScales(x=-2.0)}, [0.0, 0.0, 0.0, 1.0], -2.0, 0.0),  # turned round
        ({"scale_reverse": 0.0}, [0.0, 0.0, 0.0, -1.0], 0.0, 0.0),  # forbidden
        ({}, [0.0, math.nan, math.nan, 1.0, math.inf], 1.0, 0.0),  # axes without a use
    ],
)
def test_sticks_are_scaled_to_speed_and_steering_angle(scales_, axes, v_x, angle):
    """Axis 0 times the maximum steering angle, axis 3 times the maximum speed."""
    command = drive(dataclasses.replace(FREE, **scales_), axes, [])
    assert (command.v_x, command.steering_angle) == (v_x, angle)


def test_inverted_reverse_turns_as_a_car():
    layout = dataclasses.replace(FREE, inverted_reverse=True, scale_reverse=0.5, scale_angular=AngularScales(yaw=2.0))
    back, ahead = (drive(layout, [1.0, 0.0, 0.0, x], []) for x in (-1.0, 1.0))
    assert (back.v_x, back.yaw_rate) == (-0.5, -2.0)
    assert (ahead.v_x, ahead.yaw_rate) == (1.0, 2.0)
    assert back.steering_angle == ahead.steering_angle == 0.5


@pytest.mark.parametrize(("buttons", "speed"), [([0, 0], None), ([1, 0], 1.0), ([0, 1], 2.0), ([1, 1], 2.0)])
def test_a_button_enables_driving(buttons, speed):
    command = drive(JoystickParameters(enable_turbo_button=1), [0.0, 0.0, 0.0, 1.0], buttons)
    assert (command and command.v_x) == speed


@given(st.lists(st.floats(), max_size=6), st.lists(st.integers(-(2**31), 2**31 - 1), max_size=4))
def test_any_message_is_a_finite_command_or_none_or_refused(axes, buttons):
    layout = JoystickParameters(enable_button=1, enable_turbo_button=2)
    fits = len(axes) > 3 and len(buttons) > 2 and all(abs(axes[i]) <= 1.01 for i in (0, 3))
    if not fits:
        with pytest.raises(JoyError, match=r"needed|must be within -1 and 1"):
            drive(layout, axes, buttons)
        return
    command = drive(layout, axes, buttons)
    assert command is None or all(math.isfinite(value) for value in dataclasses.astuple(command))


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1.02, -32768.0])
def test_an_invalid_position_is_refused(bad):
    with pytest.raises(JoyError, match=r"axis 3 \(axis_linear.x\) is .*; it must be within -1 and 1"):
        drive(FREE, [0.0, 0.0, 0.0, bad], [])


# ---------------------------------------------------------------------- times of commands


def driven(parameters=FREE, now=0):
    pilot = JoystickController(parameters)
    pilot.joy([0.0, 0.0, 0.0, 1.0], [1], now)
    return pilot


def commands(pilot, begin, end):
    return [command for moment in range(begin, end, MS) if (command := pilot.due(moment)) is not None]


def test_a_held_stick_sends_commands_at_the_publish_rate():
    pilot = driven(dataclasses.replace(FREE, publish_rate=50.0, joy_timeout=2.0))
    sent = commands(pilot, 0, 1000 * MS)
    assert len(sent) == 50
    assert {command.v_x for command in sent} == {1.0}


def test_before_the_first_message_there_is_silence():
    pilot = JoystickController(FREE)
    assert commands(pilot, 0, 2000 * MS) == []
    assert pilot.mode is Mode.WAITING
    assert pilot.seconds_until_due(0) == math.inf


@pytest.mark.parametrize(
    ("stop", "mode"),
    [
        (lambda pilot: None, Mode.LOST),
        (lambda pilot: pilot.joy([0.0, 0.0, 0.0, 1.0], [0], 100 * MS), Mode.RELEASED),
        (lambda pilot: pilot.joy([0.0], [1], 100 * MS), Mode.REFUSED),
        (lambda pilot: pilot.joy([0.0, 0.0, 0.0, math.nan], [1], 100 * MS), Mode.REFUSED),
        (lambda pilot: pilot.joy([0.0, 0.0, 0.0, 1.0], [], 100 * MS), Mode.REFUSED),
        (lambda pilot: pilot.stop(Mode.LOST, "unplugged", 100 * MS), Mode.LOST),
    ],
)
def test_every_stop_is_sent_a_few_times_and_then_nothing(stop, mode):
    pilot = driven(JoystickParameters())
    assert {command.v_x for command in commands(pilot, 0, 100 * MS)} == {1.0}
    stop(pilot)
    sent = commands(pilot, 100 * MS, 2000 * MS)
    assert sent[-STOPS:] == [STANDSTILL] * STOPS
    assert STANDSTILL not in sent[:-STOPS]
    assert pilot.mode is mode
    assert not pilot.moving


def test_a_stop_does_not_wait_for_the_next_period():
    pilot = driven(JoystickParameters(publish_rate=1.0))
    assert pilot.due(0).v_x == 1.0
    pilot.joy([0.0, 0.0, 0.0, 1.0], [0], 50 * MS)
    assert pilot.due(50 * MS) == STANDSTILL


def test_a_stop_is_not_sent_again_for_another_reason():
    pilot = driven(JoystickParameters())
    pilot.joy([0.0, 0.0, 0.0, 1.0], [0], 0)
    commands(pilot, 0, 200 * MS)
    pilot.joy([], [], 200 * MS)
    assert pilot.mode is Mode.REFUSED
    assert commands(pilot, 200 * MS, 2000 * MS) == []


@given(
    st.lists(
        st.tuples(st.integers(0, 700), st.sampled_from([[0.0] * 4, [1.0] * 4, [math.nan] * 4, [0.0]]), st.booleans()),
        max_size=12,
    )
)
def test_motion_needs_a_recent_valid_message_with_the_button(story):
    parameters = JoystickParameters(publish_rate=100.0, joy_timeout=0.3)
    pilot, now, good = JoystickController(parameters), 0, None
    for pause, axes, held in story:
        for _ in range(0, pause, 5):
            now += 5 * MS
            command = pilot.due(now)
            if command is not None and command != STANDSTILL:
                assert good is not None
                assert now - good <= 300 * MS
        pilot.joy(axes, [int(held)], now)
        good = now if held and axes == [1.0] * 4 else None


# ---------------------------------------------------------------------- parameters and files


@pytest.mark.parametrize("file", CONTROLLERS, ids=lambda file: file.stem)
def test_a_controllers_file_sets_every_parameter(file):
    overrides = read_parameter_file(str(file), "/car/joystick_teleop")
    parameters = load(overrides, JoystickParameters())
    given_names = {override.name for override in overrides}
    assert {parameter.name for parameter in describe(parameters)} - given_names == {"frame", "use_sim_time"}
    assert parameters.require_enable_button


def test_there_is_a_file_for_each_controller():
    assert {"xbox", "ps4", "ps5", "generic"} <= {file.stem for file in CONTROLLERS}
    xbox = load(read_parameter_file(str(share("config", "joystick", "xbox.yaml")), "/n"), JoystickParameters())
    assert (xbox.axis_angular.yaw, xbox.axis_linear.x) == (0, 3)


def test_every_parameter_in_a_controllers_file_has_a_comment():
    for file in CONTROLLERS:
        lines = [line for line in file.read_text(encoding="utf-8").splitlines() if ": " in line.partition("#")[0]]
        assert all("#" in line for line in lines), file.stem


def test_driving_needs_some_button():
    with pytest.raises(ParameterError, match="'enable_button' is -1; it must be a button"):
        JoystickParameters(enable_button=-1)


@pytest.mark.parametrize("group", [JoystickParameters, KeyParameters])
def test_every_parameter_is_described(group):
    for parameter in describe(group()):
        assert parameter.doc
        assert parameter.check(parameter.default) == parameter.default
