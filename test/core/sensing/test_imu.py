"""The inertial measurement unit: closed forms of specific force, and both ways to set its noise."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.geometry import Transform, Vector, axes, into_body, into_world, quaternion
from vds_gz.core.parameters.declaration import ParameterError
from vds_gz.core.sensing.body import BodyState
from vds_gz.core.sensing.sensors.imu import Imu, ImuModel, noise_models, true_motion
from vds_gz.core.world.geodesy import GRAVITY

SILENT = Imu(angular_velocity_white_noise=0.0, linear_acceleration_white_noise=0.0)


def reading(state: BodyState, gravity: Vector = GRAVITY, **parameters: object):
    return ImuModel(replace(SILENT, **parameters), "imu", 0).measure(state, gravity)


def test_the_specific_force_at_rest_points_up():
    seen = reading(BodyState(0, Transform()), xyz=(1.0, 2.0, 3.0))
    assert seen.linear_acceleration == (0.0, 0.0, 9.8)
    assert seen.angular_velocity == (0.0, 0.0, 0.0)


def test_on_a_slope_the_specific_force_has_a_part_ahead():
    """The vehicle is pitched up by 0.2 rad."""
    seen = reading(BodyState(0, Transform(orientation=quaternion(0.0, -0.2, 1.0))))
    assert seen.linear_acceleration == pytest.approx((9.8 * math.sin(0.2), 0.0, 9.8 * math.cos(0.2)))


def test_a_mount_turns_the_axes():
    state = BodyState(0, Transform(), angular_velocity=(0.0, 0.0, 0.5))
    seen = reading(state, rpy=(math.pi / 2, 0.0, 0.0))
    assert seen.linear_acceleration == pytest.approx((0.0, 9.8, 0.0))
    assert seen.angular_velocity == pytest.approx((0.0, 0.5, 0.0))


def test_the_lever_arm_adds_to_the_centripetal_acceleration():
    """On a circle of radius 10 m at 0.3 rad/s, a unit 2 m further out measures 0.3^2 * 12 to the left."""
    orientation = quaternion(0.0, 0.0, 0.7)
    inward = axes(orientation)[1]
    state = BodyState(
        0,
        Transform(orientation=orientation),
        angular_velocity=(0.0, 0.0, 0.3),
        acceleration=tuple(0.3**2 * 10.0 * part for part in inward),
    )
    assert reading(state, xyz=(0.0, -2.0, 0.0)).linear_acceleration == pytest.approx((0.0, 0.09 * 12.0, 9.8))


def test_an_angular_acceleration_accelerates_a_unit_ahead_sideways():
    state = BodyState(0, Transform(), angular_acceleration=(0.0, 0.0, 0.4))
    assert reading(state, xyz=(3.0, 0.0, 0.0)).linear_acceleration == pytest.approx((0.0, 1.2, 9.8))


small = st.floats(-1.0, 1.0)
vectors = st.tuples(small, small, small)


@given(vectors, vectors, vectors, vectors)
def test_the_specific_force_is_the_second_derivative_of_the_position_minus_gravity(angles, turn, spin, place):
    """The derivative is computed by differences, for a constant angular acceleration in the body's axes."""
    step = 1e-3

    def rotation(orientation) -> np.ndarray:
        return np.column_stack(axes(orientation))

    def skew(v) -> np.ndarray:
        return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])

    start = quaternion(*angles)
    r0, w, dw = rotation(start), skew(turn), skew(spin)
    # R' = R w, R'' = R (w w + dw): the Taylor expansion of the rotation to the second order.
    positions = [r0 @ (np.eye(3) + w * t + 0.5 * (w @ w + dw) * t * t) @ place for t in (-step, 0.0, step)]
    acceleration = (positions[0] - 2.0 * positions[1] + positions[2]) / step**2
    state = BodyState(0, Transform(orientation=start), angular_velocity=turn, angular_acceleration=spin)
    expected = into_body(start, tuple(acceleration - np.array(GRAVITY)))
    assert true_motion(state, place, GRAVITY)[1] == pytest.approx(expected, abs=1e-6)


def test_orientation_may_be_relative_to_the_first_one():
    model = ImuModel(replace(SILENT, rpy=(0.1, 0.2, 0.3), orientation_reference_frame="start"), "imu", 0)
    first = model.measure(BodyState(0, Transform(orientation=quaternion(0.0, 0.0, 1.0))), GRAVITY)
    assert first.orientation == pytest.approx((0.0, 0.0, 0.0, 1.0))
    model = ImuModel(replace(SILENT, orientation_reference_frame="start"), "imu", 0)
    model.measure(BodyState(0, Transform(orientation=quaternion(0.0, 0.0, 1.0))), GRAVITY)
    second = model.measure(BodyState(1, Transform(orientation=quaternion(0.0, 0.0, 1.5))), GRAVITY)
    assert second.orientation == pytest.approx(quaternion(0.0, 0.0, 0.5))


@pytest.mark.parametrize(
    ("frame", "up"), [("ENU", (0.0, 0.0, 1.0)), ("NED", (0.0, 0.0, -1.0)), ("NWU", (0.0, 0.0, 1.0))]
)
def test_at_rest_orientation_and_acceleration_agree(frame: str, up: Vector):
    """In the axes of the reference frame, the specific force points up, also on a slope and with a mount."""
    state = BodyState(0, Transform(orientation=quaternion(0.05, -0.1, 1.0)))
    seen = reading(state, rpy=(0.3, 0.2, 0.1), orientation_reference_frame=frame)
    force = into_world(seen.orientation, seen.linear_acceleration)
    assert force == pytest.approx([9.8 * part for part in up], abs=1e-9)


def test_east_is_where_the_world_says():
    """With the world's x axis to the north, a vehicle along it has a yaw of 90 degrees in ENU, and 0 in NWU."""
    state = BodyState(0, Transform())
    for frame, yaw in {"ENU": 0.5 * math.pi, "NWU": 0.0}.items():
        model = ImuModel(replace(SILENT, orientation_reference_frame=frame), "imu", 0)
        seen = model.measure(state, GRAVITY, 0.5 * math.pi)
        assert seen.orientation == pytest.approx(quaternion(0.0, 0.0, yaw))


def test_the_world_gives_the_gravity():
    assert reading(BodyState(0, Transform()), (0.0, 0.0, -1.62)).linear_acceleration == (0.0, 0.0, 1.62)


def test_noise_has_the_spread_of_its_parameters():
    model = ImuModel(Imu(), "imu", 3)
    states = [BodyState(k * 50_000_000, Transform()) for k in range(20_000)]
    readings = [model.measure(state, GRAVITY) for state in states]
    turns = np.array([reading.angular_velocity for reading in readings])
    forces = np.array([reading.linear_acceleration for reading in readings])
    assert turns.std(axis=0) == pytest.approx([2e-4] * 3, rel=0.03)
    assert forces.std(axis=0) == pytest.approx([0.017] * 3, rel=0.03)
    assert forces.mean(axis=0) == pytest.approx(np.array([0.0, 0.0, 9.8]), abs=5.0 * 0.017 / math.sqrt(20_000))


def test_kalibrs_parameters_give_the_same_noise():
    rate = 200.0
    ours = Imu(
        rate=rate,
        angular_velocity_white_noise=1.7e-4 * math.sqrt(rate),
        linear_acceleration_white_noise=2e-3 * math.sqrt(rate),
        angular_velocity_random_walk=2e-5,
        linear_acceleration_random_walk=3e-3,
    )
    kalibrs = Imu(
        rate=rate,
        gyroscope_noise_density=1.7e-4,
        accelerometer_noise_density=2e-3,
        gyroscope_random_walk=2e-5,
        accelerometer_random_walk=3e-3,
    )
    assert noise_models(ours) == noise_models(kalibrs)


@pytest.mark.parametrize(
    ("kalibr", "ours"),
    [
        ("gyroscope_noise_density", "angular_velocity_white_noise"),
        ("accelerometer_noise_density", "linear_acceleration_white_noise"),
        ("gyroscope_random_walk", "angular_velocity_random_walk"),
        ("accelerometer_random_walk", "linear_acceleration_random_walk"),
    ],
)
def test_both_parameters_of_one_noise_are_refused(kalibr, ours):
    with pytest.raises(ParameterError, match=f"'{kalibr}' and '{ours}' are 0.001 and 0.002; .* only one of them"):
        Imu(**{kalibr: 0.001, ours: 0.002})


def test_noise_restarts_when_time_jumps_back():
    noisy = Imu(angular_velocity_random_walk=1e-3, linear_acceleration_bias_stddev=0.1, measure_orientation=True)
    model = ImuModel(noisy, "imu", 1)
    states = [BodyState(k * 50_000_000, Transform(orientation=quaternion(0.0, 0.0, 0.1 * k + 0.3))) for k in range(20)]
    runs = [[model.measure(state, GRAVITY) for state in states] for _ in range(2)]
    assert runs[0] == runs[1]


def test_equal_runs_give_equal_bits():
    noisy = Imu(angular_velocity_random_walk=1e-3, linear_acceleration_bias_stddev=0.1)
    states = [BodyState(k * 50_000_000, Transform(), angular_velocity=(0.0, 0.0, 0.01 * k)) for k in range(50)]
    runs = []
    for seed in (1, 1, 2):
        model = ImuModel(noisy, "imu", seed)
        runs.append([model.measure(state, GRAVITY) for state in states])
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]
