"""Properties that the bicycle, the differential and the omni vehicle share."""

import dataclasses
import math

import pytest
from helpers.driving import (
    IDEAL_DRIVE,
    MILLISECOND,
    SECOND,
    differentials,
    driven,
    fixed_drive_bicycles,
    ideal_bicycle,
    joints_of,
    omnis,
    steered_drive_bicycles,
    twists,
)
from hypothesis import assume, given
from hypothesis import strategies as st

from vds_gz.core.parameters.actuator_parameters import SteeringParameters
from vds_gz.core.parameters.vehicles import BicycleParameters, DifferentialParameters, OmniParameters
from vds_gz.core.vehicle.bicycle import BICYCLE
from vds_gz.core.vehicle.command import twist
from vds_gz.core.vehicle.differential import DIFFERENTIAL
from vds_gz.core.vehicle.omni import OMNI
from vds_gz.core.vehicle.vehicle import Vehicle

MIRRORED = {"left": "right", "right": "left"}

#: Steering that turns all the way round, of a drive on the steered wheel, and with stops, of one on the fixed axle.
STEERED, FIXED = (
    [
        BicycleParameters(
            drive_on_steered_wheel=steered,
            reverse=reverse,
            steering_actuator=SteeringParameters(max_position=0.0 if steered else 1.2),
        )
        for reverse in (False, True)
    ]
    for steered in (True, False)
)
IDEAL_DIFFERENTIAL = DifferentialParameters(drive_actuators=IDEAL_DRIVE)
IDEAL_OMNI = OmniParameters(drive_actuators=IDEAL_DRIVE)

AHEAD, BACK, IN_PLACE = [(1.0, 0.0, -0.4)], [(-0.8, 0.0, 0.3)], [(0.0, 0.0, 0.5), (0.0, 0.0, -0.5)]
LATERAL = [(0.0, 0.8, 0.0), (0.5, -0.4, 0.3)]


@pytest.mark.parametrize(
    ("model", "parameters", "commands"),
    [
        *((BICYCLE, p, AHEAD + BACK) for p in FIXED),
        *((BICYCLE, p, AHEAD + BACK + IN_PLACE) for p in STEERED),
        (DIFFERENTIAL, DifferentialParameters(), AHEAD + BACK + IN_PLACE),
        *(
            (OMNI, OmniParameters(roller_pattern=pattern, base_link_offset=offset), AHEAD + BACK + IN_PLACE + LATERAL)
            for pattern, offset in (("o", 0.0), ("x", 0.6))
        ),
    ],
)
def test_commands_are_tracked_in_steady_state(model, parameters, commands):
    for command in commands:
        motion = driven(model, parameters, twist(*command), 8.0).motion()
        assert (motion.v_x, motion.v_y, motion.yaw_rate) == pytest.approx(command, abs=1e-6)


@pytest.mark.parametrize(
    ("model", "parameters", "command"),
    [
        *((BICYCLE, p, (0.0, 1.0, 0.0)) for p in STEERED + FIXED),
        *((BICYCLE, p, (0.0, 0.0, 0.5)) for p in FIXED),
        (DIFFERENTIAL, DifferentialParameters(), (0.0, 1.0, 0.0)),
    ],
)
def test_commands_that_a_vehicle_cannot_follow_move_nothing(model, parameters, command):
    assert dataclasses.astuple(driven(model, parameters, twist(*command), 2.0).motion()) == (0.0,) * 6


@pytest.mark.parametrize(
    ("model", "parameters", "v", "w"),
    [
        (BICYCLE, ideal_bicycle(), 1.0, 0.5),
        (BICYCLE, ideal_bicycle(reverse=True), 1.0, -0.25),
        (BICYCLE, ideal_bicycle(drive_on_steered_wheel=True), -0.5, 0.4),
        (BICYCLE, ideal_bicycle(drive_on_steered_wheel=True, reverse=True), 1.0, 0.5),
        (DIFFERENTIAL, IDEAL_DIFFERENTIAL, 1.0, -0.4),
    ],
)
def test_the_turning_circle_has_the_commanded_radius(model, parameters, v, w):
    vehicle = Vehicle(model, parameters, max_command_age=1e6)
    vehicle.enter(twist(v, 0.0, w), 0)
    for quarter in range(1, 5):
        vehicle.advance(round(quarter * 0.5 * math.pi / abs(w) * SECOND))
        motion = vehicle.motion()
        assert math.hypot(motion.x, motion.y - v / w) == pytest.approx(abs(v / w), rel=1e-6)
    assert abs(motion.heading) == pytest.approx(2.0 * math.pi, abs=abs(w) * 1e-3)


@pytest.mark.parametrize(
    ("model", "parameters", "command"),
    [
        (BICYCLE, ideal_bicycle(four_wheel_drive=True), (50.0, 0.0, 20.0)),
        (DIFFERENTIAL, IDEAL_DIFFERENTIAL, (50.0, 0.0, 20.0)),
        (OMNI, IDEAL_OMNI, (50.0, 30.0, 20.0)),
    ],
)
def test_without_a_limit_nothing_is_scaled(model, parameters, command):
    motion = driven(model, parameters, twist(*command), 0.01).motion()
    assert (motion.v_x, motion.v_y, motion.yaw_rate) == pytest.approx(command)


@pytest.mark.parametrize("offset", [0.8, -0.5])
@pytest.mark.parametrize(
    ("model", "parameters"),
    [
        (BICYCLE, ideal_bicycle()),
        (BICYCLE, ideal_bicycle(drive_on_steered_wheel=True)),
        (DIFFERENTIAL, IDEAL_DIFFERENTIAL),
    ],
)
def test_pose_and_twist_are_those_of_base_link(model, parameters, offset):
    moved, plain = (
        driven(model, dataclasses.replace(parameters, base_link_offset=x), twist(1.0, 0.0, 0.4), 2.0).motion()
        for x in (offset, 0.0)
    )
    assert (moved.heading, moved.v_x, moved.yaw_rate) == (plain.heading, plain.v_x, plain.yaw_rate)
    assert moved.v_y == pytest.approx(offset * 0.4)
    assert moved.x == pytest.approx(plain.x + offset * math.cos(plain.heading))
    assert moved.y == pytest.approx(plain.y + offset * math.sin(plain.heading))


def drive_through(model, p, commands) -> Vehicle:
    vehicle = Vehicle(model, p)
    for command in commands:
        vehicle.enter(command, vehicle.time)
        vehicle.advance(vehicle.time + 40 * MILLISECOND)
    return vehicle


@pytest.mark.parametrize(
    ("model", "parameters"),
    [
        (BICYCLE, st.one_of(fixed_drive_bicycles, steered_drive_bicycles)),
        (DIFFERENTIAL, differentials),
        (OMNI, omnis),
    ],
)
@given(st.data(), st.lists(twists, min_size=1, max_size=4))
def test_mirrored_commands_give_the_mirrored_motion(model, parameters, data, commands):
    p = data.draw(parameters)
    left = drive_through(model, p, commands)
    right = drive_through(model, p, [twist(u.v_x, -u.v_y, -u.yaw_rate) for u in commands])
    motion, mirrored = left.motion(), right.motion()
    # At half a turn from a reference both ways are equally long, and rounding decides.
    assume(abs(motion.v_x - mirrored.v_x) < 1e-6)
    assert dataclasses.astuple(mirrored) == pytest.approx(
        (motion.x, -motion.y, -motion.heading, motion.v_x, -motion.v_y, -motion.yaw_rate), abs=1e-9
    )
    for name, (position, velocity) in joints_of(left).items():
        side = next((side for side in MIRRORED if side in name), "")
        twin = joints_of(right)[name.replace(side, MIRRORED[side]) if side else name]
        sign = -1.0 if "steering" in name else 1.0
        assert twin == pytest.approx((sign * position, sign * velocity), abs=1e-7)


@pytest.mark.parametrize(
    ("model", "parameters"), [(BICYCLE, fixed_drive_bicycles), (DIFFERENTIAL, differentials), (OMNI, omnis)]
)
@given(st.data(), st.lists(twists, min_size=1, max_size=4))
def test_driving_backwards_is_the_mirror_of_driving_forwards(model, parameters, data, commands):
    always = {"allow_reverse": True} if model is BICYCLE else {}
    p = dataclasses.replace(data.draw(parameters), base_link_offset=0.0, **always)
    ahead = drive_through(model, p, commands).motion()
    back = drive_through(model, p, [twist(-u.v_x, u.v_y, -u.yaw_rate) for u in commands]).motion()
    assert dataclasses.astuple(back) == pytest.approx(
        (-ahead.x, ahead.y, -ahead.heading, -ahead.v_x, ahead.v_y, -ahead.yaw_rate), abs=1e-9
    )


@pytest.mark.parametrize(("model", "parameters"), [(DIFFERENTIAL, differentials), (OMNI, omnis)])
@given(st.data(), twists)
def test_joint_velocities_are_the_changes_of_the_joint_positions(model, parameters, data, command):
    vehicle = Vehicle(model, data.draw(parameters))
    vehicle.enter(command, 0)
    for _ in range(15):
        vehicle.advance(vehicle.time + 8 * MILLISECOND)
        last = joints_of(vehicle)
        vehicle.advance(vehicle.time + MILLISECOND)
        for name, (position, velocity) in joints_of(vehicle).items():
            assert (position - last[name][0]) / 1e-3 == pytest.approx(velocity, abs=1e-7)
