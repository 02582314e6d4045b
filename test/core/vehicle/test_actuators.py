"""The actuators against closed forms and against a plain reading of their specification."""

import dataclasses
import math
from itertools import pairwise

import pytest
from helpers.driving import IDEAL_DRIVE, IDEAL_STEERING, drives, free_steerings
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.parameters.actuator_parameters import DriveParameters, SteeringParameters
from vds_gz.core.vehicle import actuators
from vds_gz.core.vehicle.actuators import resized_line, wrap

DT = 1e-3
offsets = st.one_of(st.just(0.0), st.floats(-0.5, 0.5))
#: Dead time [s], step [s], steps until a step input shows.
DEAD_TIMES = [
    (0.0, DT, 0),
    (1e-4, DT, 1),
    (5e-4, DT, 1),
    (1e-3, DT, 1),
    (1.4e-3, DT, 2),
    (0.07, DT, 70),
    (0.1, DT, 100),
    (0.2, DT, 200),
    (0.3, DT, 300),
    (0.7, DT, 700),
    (4.3, DT, 4300),
    (6.5, DT, 6500),
    (0.2, 1 / 300, 60),
    (0.2, 1 / 999.5, 200),
    (0.05, 0.02, 3),
]


def run_drive(p: DriveParameters, references, dt=DT, rates=None) -> list[float]:
    """Velocity after each step."""
    c = actuators.drive_coefficients(p, dt)
    s = actuators.drive_at_rest(c)
    velocities = []
    for i, reference in enumerate(references):
        actuators.step_drive(c, s, reference, rates[i] if rates else math.inf)
        velocities.append(s.velocity)
    return velocities


def run_steering(p: SteeringParameters, references, dt=DT, rates=None) -> list[float]:
    """Angle after each step."""
    c = actuators.steering_coefficients(p, dt)
    s = actuators.steering_at_rest(c)
    angles = []
    for i, reference in enumerate(references):
        actuators.step_steering(c, s, reference, rates[i] if rates else math.inf)
        angles.append(s.angle)
    return angles


def ideal_drive(**changes) -> DriveParameters:
    return dataclasses.replace(IDEAL_DRIVE, **changes)


def ideal_steering(**changes) -> SteeringParameters:
    return dataclasses.replace(IDEAL_STEERING, **changes)


@pytest.fixture(params=["drive", "steering"])
def kind(request):
    """(run, parameters of an ideal actuator with some changes), for both actuators."""
    return {"drive": (run_drive, ideal_drive), "steering": (run_steering, ideal_steering)}[request.param]


# Dead time


@pytest.mark.parametrize(("dead_time", "dt", "steps"), DEAD_TIMES)
def test_a_step_shows_after_the_dead_time_and_not_one_step_later(kind, dead_time, dt, steps):
    run, ideal = kind
    out = run(ideal(dead_time=dead_time), [1.0] * (steps + 3), dt)
    assert out == [0.0] * steps + [1.0] * 3


def test_the_output_is_the_input_moved_by_the_dead_time(kind):
    run, ideal = kind
    wave = [math.sin(0.37 * k) for k in range(500)]
    out = run(ideal(dead_time=0.123), wave)
    assert out[:123] == [0.0] * 123
    assert out[123:] == pytest.approx(wave[:-123], abs=1e-15)


# Lag


@pytest.mark.parametrize("dt", [1e-4, 1e-3, 1 / 300, 0.02])
@pytest.mark.parametrize("time_constant", [1e-3, 0.05, 0.4, 3.0])
def test_the_lag_is_the_exact_exponential(kind, time_constant, dt):
    run, ideal = kind
    out = run(ideal(time_constant=time_constant), [1.0] * 300 + [-0.5] * 300, dt)
    for n in (1, 2, 10, 100, 300):
        assert out[n - 1] == pytest.approx(1.0 - math.exp(-n * dt / time_constant), rel=1e-12)
    for n in (1, 10, 300):
        expected = -0.5 + (out[299] + 0.5) * math.exp(-n * dt / time_constant)
        assert out[299 + n] == pytest.approx(expected, abs=1e-12)


# Rate limits


@pytest.mark.parametrize(
    ("run", "limited"),
    [(run_drive, ideal_drive(max_acceleration=2.0)), (run_steering, ideal_steering(max_velocity=2.0))],
)
def test_an_actuator_changes_with_its_rate_and_arrives_without_overshoot(run, limited):
    out = run(limited, [-1.0] * 600)
    assert out[:500] == pytest.approx([-2.0 * DT * (k + 1) for k in range(500)], rel=1e-12)
    assert set(out[500:]) == {-1.0}


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_deceleration_holds_towards_standstill_and_acceleration_beyond_it(sign):
    p = ideal_drive(max_acceleration=1.0, max_deceleration=4.0)
    out = run_drive(p, [sign] * 1100 + [-sign] * 1400)
    braking = out[1100 : 1100 + 249]
    assert braking == pytest.approx([sign * (1.0 - 4.0 * DT * (k + 1)) for k in range(249)], abs=1e-12)
    backwards = out[1100 + 250 : 1100 + 1250]
    assert backwards == pytest.approx([-sign * DT * (k + 1) for k in range(1000)], abs=1e-12)
    assert out[-1] == -sign


def test_the_step_that_crosses_standstill_brakes_first_and_accelerates_for_its_rest():
    # 3 mm/s to lose with 4 m/s^2 take three quarters of a step; the last quarter gains 1 m/s^2 * 0.25 ms.
    p = ideal_drive(max_acceleration=1.0, max_deceleration=4.0)
    out = run_drive(p, [0.003] * 4 + [-1.0])
    assert out[3] == 0.003
    assert out[4] == pytest.approx(-0.00025, abs=1e-15)


def test_a_deceleration_alone_leaves_the_acceleration_unlimited():
    out = run_drive(ideal_drive(max_deceleration=1.0), [0.002, 0.0, -1.0, -1.0, -7.0, 7.0])
    assert out == pytest.approx([0.002, 0.001, 0.0, -1.0, -7.0, -6.999])


def test_the_rate_limit_comes_after_the_lag():
    # The lag would start with 1 / 0.1 = 10 m/s^2; it asks for less than 2 m/s^2 when 0.2 m/s are left.
    out = run_drive(ideal_drive(time_constant=0.1, max_acceleration=2.0), [1.0] * 1000)
    assert out[:350] == pytest.approx([2.0 * DT * (k + 1) for k in range(350)], rel=1e-9)
    late = [1.0 - v for v in out[450:]]
    assert all(b / a == pytest.approx(math.exp(-DT / 0.1), rel=1e-9) for a, b in pairwise(late[:300]))


@pytest.mark.parametrize("big", [1e3, -1e3])
def test_limits_of_zero_are_no_limits(big):
    assert run_drive(ideal_drive(), [big, -big]) == [big, -big]
    wide = ideal_steering(max_position=2e3)
    assert run_steering(wide, [big, -big]) == [big, -big]


# Limits of a single command


@pytest.mark.parametrize(
    ("run", "limited"),
    [
        (run_drive, ideal_drive(dead_time=0.1, max_acceleration=4.0)),
        (run_steering, ideal_steering(dead_time=0.1, max_velocity=4.0)),
    ],
)
def test_a_commands_own_rate_acts_after_the_dead_time_with_its_reference(run, limited):
    out = run(limited, [1.0] * 600, rates=[0.5] * 50 + [2.0] * 50 + [math.inf] * 500)
    reached = [0.0, 0.5 * 0.05, (0.5 + 2.0) * 0.05, (0.5 + 2.0 + 4.0) * 0.05]
    assert [out[k] for k in (99, 149, 199, 249)] == pytest.approx(reached)


def test_a_rate_limit_of_zero_in_a_command_holds_the_actuator():
    assert run_drive(ideal_drive(), [1.0, 0.0, -1.0], rates=[math.inf, 0.0, 0.0]) == [1.0, 1.0, 1.0]
    assert run_steering(ideal_steering(), [1.0, 0.0, -1.0], rates=[math.inf, 0.0, 0.0]) == [1.0, 1.0, 1.0]


# Steering all the way round


def test_a_steering_without_stops_takes_the_short_way_round():
    p = ideal_steering(max_velocity=1.0)
    out = run_steering(p, [1.5] * 1600 + [3.0] * 1600 + [-3.0] * 1600)
    assert out[3199] == 3.0
    assert out[-1] == pytest.approx(2.0 * math.pi - 3.0)
    assert all(3.0 <= angle <= 2.0 * math.pi - 3.0 + 1e-12 for angle in out[3200:])


def test_a_steering_without_stops_can_go_round_and_round():
    goals = [2.0 * k for k in range(20)]
    out = run_steering(ideal_steering(time_constant=0.01), [wrap(goal) for goal in goals for _ in range(500)])
    assert out[-1] == pytest.approx(goals[-1], abs=1e-9)


def test_the_lag_of_a_steering_without_stops_works_on_the_short_way():
    p = ideal_steering(time_constant=0.05)
    c = actuators.steering_coefficients(p, DT)
    s = actuators.steering_at_rest(c)
    s.angle = 3.0
    gap = 2.0 * math.pi - 6.0
    for _ in range(50):
        actuators.step_steering(c, s, -3.0, math.inf)
    assert s.angle == pytest.approx(3.0 + gap * (1.0 - math.exp(-1.0)), rel=1e-12)


def test_a_steering_with_stops_goes_the_long_way_back_and_never_wraps():
    p = ideal_steering(max_velocity=5.0, max_position=3.1)
    out = run_steering(p, [3.0] * 1000 + [-3.0] * 2000)
    assert out[999] == 3.0
    assert out[-1] == -3.0
    assert out[1000:2200] == sorted(out[1000:2200], reverse=True)


def test_a_steerings_rate_is_the_change_of_its_angle():
    c = actuators.steering_coefficients(SteeringParameters(dead_time=0.01), DT)
    s = actuators.steering_at_rest(c)
    before = 0.0
    for k in range(300):
        actuators.step_steering(c, s, 0.4 if k < 150 else -0.1, math.inf)
        assert s.rate == pytest.approx((s.angle - before) / DT, abs=1e-9)
        before = s.angle


# Gain, offset, dead band, slow share, backlash


def test_gain_and_offset_act_before_saturation():
    p = ideal_drive(gain=0.8, offset=0.1, max_velocity=1.0)
    assert run_drive(p, [0.0, 1.0, 2.0, -1.0]) == pytest.approx([0.1, 0.9, 1.0, -0.7])
    p = ideal_steering(gain=0.5, offset=-0.1, max_position=0.3)
    assert run_steering(p, [0.0, 0.4, -1.0]) == pytest.approx([-0.1, 0.1, -0.3])


def test_references_below_the_dead_band_count_as_zero():
    p = ideal_drive(dead_band=0.2)
    assert run_drive(p, [0.19, 0.2, -0.19, -0.3]) == [0.0, 0.2, 0.0, -0.3]


def test_the_slow_share_of_a_response_comes_with_its_own_time_constant():
    p = ideal_drive(slow_share=0.2, slow_time_constant=0.5)
    out = run_drive(p, [1.0] * 1000)
    assert out == pytest.approx([1.0 - 0.2 * math.exp(-DT * (k + 1) / 0.5) for k in range(1000)], abs=1e-9)


def test_a_slow_share_that_is_set_in_steady_motion_does_not_change_the_speed():
    without, with_share = (
        actuators.drive_coefficients(ideal_drive(slow_share=share, slow_time_constant=0.5), DT) for share in (0.0, 0.3)
    )
    s = actuators.drive_at_rest(without)
    for _ in range(10_000):
        actuators.step_drive(without, s, 2.0, math.inf)
    actuators.step_drive(with_share, s, 2.0, math.inf)
    assert s.velocity == pytest.approx(2.0, abs=1e-6)


def test_a_wheel_stays_while_its_actuator_crosses_the_backlash():
    p = ideal_steering(backlash=0.1)
    out = run_steering(p, [0.04, 0.2, 0.16, 0.1, 0.02])
    assert out == pytest.approx([0.0, 0.15, 0.15, 0.15, 0.07])


@pytest.mark.parametrize("reference", [-0.0, 0.0, 0.1, 1e-300, -0.7])
def test_default_gain_offset_and_dead_band_change_no_bit_not_even_of_minus_zero(reference):
    drive = actuators.drive_coefficients(ideal_drive(), DT)
    steering = actuators.steering_coefficients(ideal_steering(), DT)
    for c in (drive, steering):
        assert actuators.static_response(c, reference).hex() == reference.hex()


@given(drives, free_steerings, offsets, st.floats(-2.0, 2.0))
def test_an_actuator_at_a_velocity_or_an_angle_keeps_it(drive, steering, offset, value):
    c = actuators.drive_coefficients(dataclasses.replace(drive, offset=offset, dead_band=0.0, max_velocity=0.0), DT)
    s = actuators.drive_at(c, value)
    d = actuators.steering_coefficients(
        dataclasses.replace(steering, offset=offset, dead_band=0.0, max_position=0.0), DT
    )
    t = actuators.steering_at(d, value)
    for _ in range(3):
        actuators.step_drive(c, s, actuators.steady_reference(c, value), math.inf)
        actuators.step_steering(d, t, actuators.steady_reference(d, value), math.inf)
    assert (s.velocity, t.angle) == pytest.approx((value, value), abs=1e-12)


# Over random parameters and references

histories = st.lists(st.tuples(st.floats(-6.0, 6.0), st.integers(1, 60)), min_size=1, max_size=8).map(
    lambda parts: [value for value, steps in parts for _ in range(steps)]
)
steps_of_time = st.sampled_from([1e-3, 1 / 300, 1 / 999.5])
rate_limits = st.one_of(st.just(math.inf), st.floats(0.1, 10.0))


def delayed(values, dead_time, dt, default):
    """The newest value that is at least ``dead_time`` old, at the beginning of each step."""
    out = []
    for k in range(len(values)):
        old_enough = [j for j in range(k + 1) if j * dt <= k * dt - dead_time + 1e-6 * dt]
        out.append(values[old_enough[-1]] if old_enough else default)
    return out


def target_of(p, reference):
    """The target of an actuator for a delayed reference, before saturation."""
    return p.gain * (reference if abs(reference) >= p.dead_band else 0.0) + p.offset


@given(drives, offsets, histories, steps_of_time, rate_limits)
def test_a_drive_does_what_its_specification_says(p, offset, references, dt, own_rate):
    p = dataclasses.replace(p, offset=offset)
    velocity = slow = 0.0
    references = references[:150]
    acceleration = p.max_acceleration or math.inf
    deceleration = p.max_deceleration or acceleration
    out = run_drive(p, references, dt, [own_rate] * len(references))
    rates = delayed([own_rate] * len(references), p.dead_time, dt, math.inf)
    for k, reference in enumerate(delayed(references, p.dead_time, dt, 0.0)):
        target = target_of(p, reference)
        if p.max_velocity:
            target = max(-p.max_velocity, min(target, p.max_velocity))
        slow += (1.0 - math.exp(-dt / p.slow_time_constant)) * (target - slow)
        target += p.slow_share * (slow - target)
        gain = 1.0 - math.exp(-dt / p.time_constant) if p.time_constant else 1.0
        goal = velocity + gain * (target - velocity)
        rise, fall = min(acceleration, rates[k]), min(deceleration, rates[k])
        if goal * velocity >= 0.0:
            limit = rise if abs(goal) > abs(velocity) else fall
            velocity += max(-limit * dt, min(goal - velocity, limit * dt))
        else:
            to_stand = abs(velocity) / fall
            if to_stand >= dt:
                velocity -= math.copysign(fall * dt, velocity)
            else:
                velocity = math.copysign(min(abs(goal), rise * (dt - to_stand)), goal)
        assert out[k] == pytest.approx(velocity, abs=1e-9)
        velocity = out[k]


@given(free_steerings, offsets, histories, steps_of_time, rate_limits)
def test_a_steering_does_what_its_specification_says(p, offset, references, dt, own_rate):
    p = dataclasses.replace(p, offset=offset)
    position = angle = 0.0
    references = references[:150]
    out = run_steering(p, references, dt, [own_rate] * len(references))
    rates = delayed([own_rate] * len(references), p.dead_time, dt, math.inf)
    for k, reference in enumerate(delayed(references, p.dead_time, dt, 0.0)):
        target = target_of(p, reference)
        if p.max_position:
            gap = max(-p.max_position, min(target, p.max_position)) - position
        else:
            gap = math.remainder(target - position, 2.0 * math.pi)
        gain = 1.0 - math.exp(-dt / p.time_constant) if p.time_constant else 1.0
        most = min(p.max_velocity or math.inf, rates[k]) * dt
        position += max(-most, min(gain * gap, most))
        angle = max(position - p.backlash / 2.0, min(angle, position + p.backlash / 2.0))
        assert out[k] == pytest.approx(angle, abs=1e-9)


# Helpers


@pytest.mark.parametrize("angle", [0.0, 1.0, -3.0, 3.2, -3.2, 9.0, -9.0, 100.0, 1e5])
def test_a_wrapped_angle_points_the_same_way_within_half_a_turn(angle):
    assert wrap(angle) == pytest.approx(math.remainder(angle, 2.0 * math.pi), abs=1e-9)


@pytest.mark.parametrize("angle", [math.pi, -math.pi])
def test_a_wrapped_half_turn_keeps_its_sign(angle):
    assert wrap(angle) == angle


def test_a_longer_line_repeats_its_oldest_entry_and_a_shorter_one_keeps_the_newest():
    ring = [30.0, 40.0, 10.0, 20.0]  # the oldest at index 2
    assert resized_line(ring, 2, 3) == [10.0, 20.0, 30.0, 40.0]
    assert resized_line(ring, 2, 5) == [10.0, 10.0, 10.0, 20.0, 30.0, 40.0]
    assert resized_line(ring, 2, 1) == [30.0, 40.0]
    assert resized_line(ring, 2, 0) == [40.0]


@pytest.mark.parametrize("dead_time", [0.0, 0.001, 0.1])
def test_the_newest_reference_is_known_before_it_acts(dead_time):
    c = actuators.drive_coefficients(ideal_drive(dead_time=dead_time), DT)
    s = actuators.drive_at_rest(c)
    for k in range(250):
        actuators.step_drive(c, s, float(k), math.inf)
        assert actuators.newest_reference(c, s) == k
