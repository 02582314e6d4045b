"""Properties that the bicycle, the differential and the omni vehicle share."""

import dataclasses

import pytest
from helpers.driving import (
    MILLISECOND,
    differentials,
    fixed_drive_bicycles,
    joints_of,
    omnis,
    steered_drive_bicycles,
    twists,
)
from hypothesis import assume, given
from hypothesis import strategies as st

from vds_gz.core.vehicle.bicycle import BICYCLE
from vds_gz.core.vehicle.command import twist
from vds_gz.core.vehicle.differential import DIFFERENTIAL
from vds_gz.core.vehicle.omni import OMNI
from vds_gz.core.vehicle.vehicle import Vehicle

MIRRORED = {"left": "right", "right": "left"}


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
