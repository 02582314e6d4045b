"""With neutral actuators the joints get what the robot's own plugin commands them, at every step.

The plugins are written down here as gz-sim computes them: a speed limiter, then wheel speeds and angles of hinges.
"""

import math

import numpy as np
import pytest
from helpers import robot_files as robots
from hypothesis import given, settings
from hypothesis import strategies as st

from vds_gz.core.vehicle.command import twist
from vds_gz.core.vehicle.make_vehicle import make_vehicle
from vds_gz.tools.adopt.write import adopt

STEP = 0.001
COMMANDS = st.lists(
    st.tuples(st.floats(-2.0, 2.0), st.floats(-1.0, 1.0), st.floats(-2.0, 2.0), st.integers(1, 80)),
    min_size=1,
    max_size=4,
)


def driven(tmp_path_factory, text, commands):
    """The joint states of the adopted vehicle at the end of each command."""
    folder = tmp_path_factory.mktemp("robot")
    (folder / "robot.sdf").write_text(text, encoding="utf-8")
    adoption = adopt(folder / "robot.sdf", folder / "out")[0]
    vehicle = make_vehicle(adoption.parameters, moves=False)
    names = [joint.name for joint in vehicle.model.joints(vehicle.parameters)]
    time = 0
    for v_x, v_y, yaw_rate, steps in commands:
        vehicle.enter(twist(v_x, v_y, yaw_rate), time)
        time += steps * 1_000_000
        vehicle.advance(time)
        states = vehicle.model.joint_states(vehicle.coefficients, vehicle.state)
        yield dict(zip(names, zip(states.positions, states.velocities, strict=True), strict=True))


def limited(commands, velocity, acceleration):
    """The command after a limiter of velocity and acceleration, at the end of each command."""
    last = np.zeros(3)
    for v_x, v_y, yaw_rate, steps in commands:
        wanted = np.clip([v_x, v_y, yaw_rate], -np.array(velocity), velocity)
        change = np.array(acceleration) * STEP * steps
        last = last + np.clip(wanted - last, -change, change)
        yield last


@given(COMMANDS)
@settings(max_examples=10, deadline=None)
def test_diff_drive(tmp_path_factory, commands):
    bounds = {"linear_velocity": 0.8, "angular_velocity": 1.2, "linear_acceleration": 1.5, "angular_acceleration": 3.0}
    body = robots.DIFF + "".join(
        f"<{end}_{name}>{sign * value}</{end}_{name}>"
        for name, value in bounds.items()
        for end, sign in (("max", 1.0), ("min", -1.0))
    )
    ours = driven(tmp_path_factory, robots.sdf(robots.diff_drive(body)), commands)
    for states, (v_x, _, yaw_rate) in zip(ours, limited(commands, (0.8, 9.0, 1.2), (1.5, 9.0, 3.0)), strict=True):
        assert states["wheel_left_joint"][1] == pytest.approx((v_x - 0.2 * yaw_rate) / robots.RADIUS, abs=1e-9)
        assert states["wheel_right_joint"][1] == pytest.approx((v_x + 0.2 * yaw_rate) / robots.RADIUS, abs=1e-9)


@given(COMMANDS)
@settings(max_examples=10, deadline=None)
def test_mecanum_drive(tmp_path_factory, commands):
    text = robots.sdf(robots.plugin(robots.GZ, "mecanum-drive", "MecanumDrive", robots.MECANUM), robots.FOUR)
    ours = driven(tmp_path_factory, text, commands)
    for states, (v_x, v_y, yaw_rate, _) in zip(ours, commands, strict=True):
        turn = yaw_rate * 0.5 * (0.5 + 0.6)
        expected = {
            "front_left": v_x - v_y - turn,
            "front_right": v_x + v_y + turn,
            "rear_left": v_x + v_y - turn,
            "rear_right": v_x - v_y + turn,
        }
        for corner, speed in expected.items():
            assert states[f"wheel_{corner}_joint"][1] == pytest.approx(speed / robots.RADIUS, abs=1e-9)


def turning_radius(v_x, yaw_rate, base, limit):
    """The radius that AckermannSteering drives [m]."""
    smallest = base / math.sin(limit)
    if abs(yaw_rate) < 0.001:
        return 1e9
    radius = v_x / yaw_rate
    return math.copysign(max(abs(radius), smallest), radius)


def test_the_ends_of_a_steering_are_the_plugins(tmp_path_factory):
    text = robots.sdf_car(robots.plugin(robots.GZ, "ackermann-steering", "AckermannSteering", robots.ACKERMANN))
    for yaw_rate in (0.3, -0.3, 5.0, -5.0):
        *_, states = driven(tmp_path_factory, text, [(0.5, 0.0, yaw_rate, 900)] * 3)
        radius = turning_radius(0.5, yaw_rate, 0.6, 0.5)
        assert states["steering_left"][0] == pytest.approx(math.atan(0.6 / (radius - 0.2)), abs=1e-6)
        assert states["steering_right"][0] == pytest.approx(math.atan(0.6 / (radius + 0.2)), abs=1e-6)
        slope = 0.5 * 0.6 / radius / 0.6
        assert states["fixed_wheel_left_joint"][1] == pytest.approx(0.5 * (1 - 0.5 * slope) / robots.RADIUS, abs=1e-5)
