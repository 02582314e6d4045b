"""The single-track car on tyres: closed forms of vehicle dynamics, conservation, limits, standstill."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vds_gz.core.errors import VdsGzError
from vds_gz.core.parameters.actuator_parameters import DriveParameters, SteeringParameters
from vds_gz.core.parameters.vehicles import SingleTrackParameters
from vds_gz.core.vehicle.command import ACKERMANN, Command, SteadyMotion, ackermann
from vds_gz.core.vehicle.single_track import SINGLE_TRACK, driving_force, forces
from vds_gz.core.vehicle.tires import magic_formula
from vds_gz.tools.conformance.samples import random_commands, random_parameters

G = 9.81
DT = 1e-3
IDEAL_DRIVE = DriveParameters(dead_time=0.0, time_constant=0.0, max_velocity=0.0, max_acceleration=0.0)
IDEAL_STEERING = SteeringParameters(dead_time=0.0, time_constant=0.0, max_velocity=0.0, max_position=1.4)
CAR = SingleTrackParameters(
    wheel_base=2.6,
    cg_distance=1.4,
    cg_height=0.5,
    mass=1200.0,
    yaw_inertia=1800.0,
    cornering_stiffness_fixed=20.0,
    cornering_stiffness_steered=15.0,
    drive_actuator=IDEAL_DRIVE,
    steering_actuator=IDEAL_STEERING,
)
#: No force along the wheels.
COASTING = dataclasses.replace(CAR, drive_gives_acceleration=True)
COAST = Command(ACKERMANN, acceleration=0.0)


class Run:
    """A car that is driven step by step."""

    def __init__(self, parameters=CAR, speed=0.0, angle=0.0, dt=DT):
        self.c = SINGLE_TRACK.coefficients(parameters, dt)
        self.s = SINGLE_TRACK.at(self.c, SteadyMotion(speed, steering_angle=angle))
        self.parameters = parameters

    def go(self, command, seconds=DT):
        SINGLE_TRACK.set_references(self.c, self.s, command)
        for _ in range(round(seconds / self.c.dt)):
            SINGLE_TRACK.step(self.c, self.s, command)
        return self.s

    @property
    def energy(self) -> float:
        """Kinetic energy per mass."""
        b = self.s.body
        return 0.5 * (b.v_x**2 + b.v_y**2 + self.c.inertia_per_mass * b.yaw_rate**2)


def set_motion(run, v_x, v_y, yaw_rate):
    """Set the velocity of a car's body, and that of its drive."""
    body = run.s.body
    body.v_x, body.v_y, body.yaw_rate = v_x, v_y, yaw_rate
    run.s.drive.velocity = v_x


def understeer(p) -> float:
    """Steering angle per lateral acceleration, beyond that of the wheel base [rad s^2/m]."""
    return (1.0 / p.cornering_stiffness_steered - 1.0 / p.cornering_stiffness_fixed) / G


# ---------------------------------------------------------------------- closed forms


@pytest.mark.parametrize("speed", [5.0, 15.0, 30.0])
@pytest.mark.parametrize(("fixed", "steered"), [(20.0, 15.0), (15.0, 15.0), (18.0, 20.0)])
@pytest.mark.parametrize("small_angles", [False, True])
def test_steady_state_has_the_understeer_gradient_of_its_tyres(fixed, steered, speed, small_angles):
    p = dataclasses.replace(
        CAR, cornering_stiffness_fixed=fixed, cornering_stiffness_steered=steered, small_angles=small_angles
    )
    angle = 1e-3
    expected = speed * angle / (p.wheel_base + understeer(p) * speed**2)
    start = Run(p, speed, angle)
    assert start.s.yaw_rate == pytest.approx(expected, rel=1e-3)
    run = Run(p, speed)
    run.go(ackermann(speed, angle), 3.0)
    assert run.s.yaw_rate == pytest.approx(start.s.yaw_rate, rel=1e-4)
    assert run.s.v_x == pytest.approx(speed, rel=1e-6)
    assert run.s.v_y == pytest.approx(start.s.v_y, rel=1e-4, abs=1e-9)


def test_at_the_characteristic_speed_a_car_turns_half_as_fast_as_without_slip_and_no_faster_at_any_other():
    speed = math.sqrt(CAR.wheel_base / understeer(CAR))
    gains = [Run(CAR, factor * speed, 1e-3).s.yaw_rate / 1e-3 for factor in (0.9, 1.0, 1.1)]
    assert gains[1] == pytest.approx(0.5 * speed / CAR.wheel_base, rel=1e-3)
    assert gains[1] == max(gains)


@pytest.mark.parametrize(("factor", "grows"), [(0.9, False), (1.1, True)])
def test_beyond_its_critical_speed_an_oversteering_car_spins_by_itself(factor, grows):
    p = dataclasses.replace(CAR, cornering_stiffness_fixed=14.0)
    speed = factor * math.sqrt(-p.wheel_base / understeer(p))
    run = Run(p, speed)
    run.s.body.yaw_rate = 1e-4
    run.go(ackermann(speed, 0.0), 1.0)
    first = abs(run.s.yaw_rate)
    run.go(ackermann(speed, 0.0), 1.0)
    assert (abs(run.s.yaw_rate) > first) == grows


@pytest.mark.parametrize("speed", [10.0, 20.0, 40.0])
def test_yaw_response_has_natural_frequency_and_damping_of_theory(speed):
    """Coefficients of the second-order equation of a free yaw motion, of the linear single-track model."""
    p, run = COASTING, Run(COASTING, speed)
    front, rear = p.wheel_base - p.cg_distance, p.cg_distance
    steered = p.cornering_stiffness_steered * p.mass * G * rear / p.wheel_base
    fixed = p.cornering_stiffness_fixed * p.mass * G * front / p.wheel_base
    damping = (steered + fixed) / (p.mass * speed)
    damping += (front**2 * steered + rear**2 * fixed) / (p.yaw_inertia * speed)
    stiffness = steered * fixed * p.wheel_base**2 / (p.mass * p.yaw_inertia * speed**2)
    stiffness += (rear * fixed - front * steered) / p.yaw_inertia
    run.s.body.yaw_rate = 1e-3
    rates = np.array([run.go(COAST).yaw_rate for _ in range(400)])
    first, second = (rates[2:] - rates[:-2]) / (2.0 * DT), (rates[2:] - 2.0 * rates[1:-1] + rates[:-2]) / DT**2
    fitted = np.linalg.lstsq(np.column_stack((first, rates[1:-1])), -second, rcond=None)[0]
    assert fitted == pytest.approx([damping, stiffness], rel=1e-3)


def test_on_the_skid_circle_lateral_acceleration_ends_at_friction_times_gravity():
    run = Run(dataclasses.replace(CAR, four_wheel_drive=True, cornering_stiffness_steered=20.0), 10.0)
    largest = 0.0
    for angle in np.linspace(0.0, 0.35, 60):
        s = run.go(ackermann(10.0, float(angle)), 0.25)
        largest = max(largest, s.v_x * s.yaw_rate)
    limit = CAR.friction * G
    assert 0.95 * limit < largest < limit


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(
    ("axle", "share"),
    [
        ({"four_wheel_drive": True}, lambda p, h: 1.0),
        ({}, lambda p, h: (p.wheel_base - p.cg_distance) / (p.wheel_base - h)),
        ({"drive_on_steered_wheel": True}, lambda p, h: p.cg_distance / (p.wheel_base + h)),
    ],
)
def test_driven_axles_push_with_the_friction_of_their_load_and_all_wheels_brake(axle, share, sign):
    p = dataclasses.replace(CAR, **axle)
    height = p.friction * p.cg_height * sign  # in reverse the load goes the other way
    run = Run(p, 10.0 * sign)
    before = run.s.v_x
    after = run.go(ackermann(1e3 * sign, 0.0)).v_x
    assert abs(after - before) / DT == pytest.approx(p.friction * G * share(p, height), rel=1e-9)
    run = Run(p, 10.0 * sign)
    assert abs(run.go(ackermann(0.0, 0.0)).v_x - before) / DT == pytest.approx(p.friction * G, rel=1e-9)


@pytest.mark.parametrize("angle", [0.0, math.pi])
def test_all_wheels_brake_also_where_the_driven_wheel_is_turned_round(angle):
    wheel = dataclasses.replace(IDEAL_STEERING, max_position=0.0)
    run = Run(dataclasses.replace(CAR, drive_on_steered_wheel=True, steering_actuator=wheel), -10.0, angle)
    s = run.go(ackermann(0.0, angle))
    assert (s.v_x + 10.0) / DT == pytest.approx(CAR.friction * G, rel=1e-9)


@given(st.floats(-9.0, 9.0), st.floats(-math.pi, math.pi), st.booleans(), st.booleans())
def test_each_axle_stays_within_the_friction_of_its_load_at_any_steering_angle(speed, angle, reverse, all_brake):
    wheel = dataclasses.replace(IDEAL_STEERING, max_position=0.0)
    p = dataclasses.replace(CAR, drive_on_steered_wheel=True, reverse=reverse, brakes_on_all_wheels=all_brake)
    run = Run(dataclasses.replace(p, steering_actuator=wheel))
    c, body, along = run.c, run.s.body, math.cos(angle)
    grip = p.friction * G
    push, shared = driving_force(c, body, grip, speed, 1e3 * math.copysign(1.0, angle), 0.0, 1.0, along)
    f = forces(c, run.s, p.friction, G, push, shared, along)
    load = c.load_steered - push * along * c.load_transfer
    assert abs(push) > 0.5 * grip * min(c.load_steered, 1.0 - c.load_steered)
    assert math.hypot(f.drive_force_steered, f.grip_steered) <= grip * load * (1.0 + 1e-9)
    assert math.hypot(f.drive_force_fixed, f.grip_fixed) <= grip * (1.0 - load) * (1.0 + 1e-9)


def test_only_the_driven_axle_brakes_where_the_others_have_no_brake():
    p = dataclasses.replace(CAR, brakes_on_all_wheels=False)
    share = (p.wheel_base - p.cg_distance) / (p.wheel_base + p.friction * p.cg_height)
    slowed = 10.0 - Run(p, 10.0).go(ackermann(0.0, 0.0)).v_x
    assert slowed / DT == pytest.approx(p.friction * G * share, rel=1e-9)


@given(st.floats(-math.pi / 2.0, math.pi / 2.0), st.floats(0.1, 1e3), st.floats(1.0, 2.0), st.floats(-10.0, 1.0))
@example(math.pi / 6.0, 1.0, 1.0, 0.0)
@example(-math.pi / 2.0, 1e3, 2.0, 0.0)
def test_tyre_curve_is_the_magic_formula_within_1e_9_of_friction(slip, slope, shape, curvature):
    c = Run(dataclasses.replace(CAR, tire_shape=shape, tire_curvature=curvature)).c
    x = slope * slip
    exact = math.sin(shape * math.atan(x - curvature * (x - math.atan(x))))
    share = magic_formula(math.sin(slip), math.cos(slip), slope, c)[0]
    assert share == pytest.approx(exact, rel=0.0, abs=1e-9)


# ---------------------------------------------------------------------- properties

speeds = st.floats(-20.0, 20.0)


@given(speeds, speeds, st.floats(-5.0, 5.0), st.floats(-1.3, 1.3), st.booleans(), st.booleans(), st.floats(-5.0, 0.9))
def test_a_car_that_coasts_never_gains_energy(v_x, v_y, yaw_rate, angle, reverse, steered, curvature):
    """Also while its wheels are turned, and where it comes to rest."""
    p = dataclasses.replace(COASTING, reverse=reverse, drive_on_steered_wheel=steered, tire_curvature=curvature)
    run = Run(p)
    set_motion(run, v_x, v_y, yaw_rate)
    energy = run.energy
    for k in range(60):
        u = dataclasses.replace(COAST, steering_angle=angle * (1.0 if k > 20 else -1.0))
        run.go(u)
        assert run.energy <= energy * (1.0 + 1e-12) + 1e-15
        energy = run.energy


@given(speeds, speeds, st.floats(-3.0, 3.0), st.floats(-1.3, 1.3), st.floats(-20.0, 20.0))
def test_the_tyres_together_never_exceed_friction(v_x, v_y, yaw_rate, angle, reference):
    run = Run(CAR)
    set_motion(run, v_x, v_y, yaw_rate)
    b = run.s.body
    run.s.steering.angle = angle
    for _ in range(20):
        before, heading = complex(b.v_x, b.v_y), run.s.heading
        run.go(ackermann(reference, angle))
        turned = complex(b.v_x, b.v_y) * complex(math.cos(run.s.heading - heading), math.sin(run.s.heading - heading))
        if run.energy > 0.5 * CAR.blend_speed**2:
            assert abs(turned - before) / DT <= CAR.friction * G * 1.001


@given(st.floats(-0.2, 0.2), st.floats(-0.6, 0.6), st.booleans(), st.booleans())
def test_near_standstill_a_car_moves_as_the_bicycle_without_slip(speed, angle, reverse, steered):
    p = dataclasses.replace(CAR, reverse=reverse, drive_on_steered_wheel=steered)
    run = Run(p)
    s = run.go(ackermann(speed, angle), 0.15)
    wheel_base = -p.wheel_base if reverse else p.wheel_base
    assert s.v_x == pytest.approx(speed, abs=1e-4)
    assert s.v_y == pytest.approx(0.0, abs=1e-12)
    assert s.yaw_rate == pytest.approx(s.v_x * math.tan(angle) / wheel_base, abs=1e-12)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_from_rest_to_speed_and_back_nothing_jumps(sign):
    slow = DriveParameters(dead_time=0.0, time_constant=0.0, max_velocity=0.0, max_acceleration=1.0)
    run = Run(dataclasses.replace(CAR, drive_actuator=slow))
    motions = []
    for reference in (3.0 * sign, 0.0):
        for _ in range(4000):
            s = run.go(ackermann(reference, 0.3))
            motions.append((s.v_x, s.v_y, s.yaw_rate))
    motions = np.array(motions)
    assert abs(np.diff(motions, axis=0)).max() < 2e-3
    assert motions[-1].tolist() == [0.0, 0.0, 0.0]


def test_a_car_at_rest_stays_in_place_to_the_bit_while_the_wheels_turn():
    run = Run()
    for angle in (1.0, -1.0, 0.3):
        s = run.go(ackermann(0.0, angle), 0.1)
    assert (s.x, s.y, s.heading, s.v_x, s.v_y, s.yaw_rate, s.roll_steered_left) == (0.0,) * 7


@pytest.mark.parametrize("slope", [-1.5, 1.5])
def test_a_drive_that_holds_its_speed_stands_on_a_slope_as_long_as_tyres_grip(slope):
    run = Run()
    run.s.road_slope, run.s.road_bank = slope, 0.5
    s = run.go(ackermann(0.0, 0.0), 1.0)
    assert abs(s.x) < 1e-9
    assert s.y == 0.0


@pytest.mark.parametrize("along", [-1.0, 0.0, 1.0])
@pytest.mark.parametrize("steer", [0.0, 0.3])
def test_a_car_at_rest_slides_where_the_road_is_steeper_than_its_friction_and_nowhere_else(along, steer):
    """Along and across its heading; at 0.733 rad friction and weight are in balance."""
    for angle in (0.72, 0.74, 1.0):
        run = Run()
        run.go(ackermann(0.0, steer), 0.01)
        pull = G * math.sin(angle)
        run.s.road_slope, run.s.road_bank = pull * along, pull * (1.0 - abs(along))
        s = run.go(ackermann(0.0, steer), 0.05)
        speed = math.hypot(s.body.v_x, s.body.v_y)
        if angle == 0.72:
            s = run.go(ackermann(0.0, steer), 1.0)
            assert max(map(abs, (s.x, s.y, s.heading))) < (1e-12 if steer == 0.0 else 1e-5)
        elif steer == 0.0 or along == 0.0:
            expected = pull - CAR.friction * G * math.cos(angle)
            assert speed / 0.05 == pytest.approx(expected, rel=1e-3 if steer == 0.0 else 0.05)
        else:
            assert speed > 1e-3


@pytest.mark.parametrize("lag", [0.0, 0.3])
@pytest.mark.parametrize("slope", [-6.0, 6.0])
def test_all_wheels_hold_a_car_on_a_slope_that_is_too_steep_for_the_driven_ones(slope, lag):
    p = dataclasses.replace(CAR, drive_actuator=dataclasses.replace(IDEAL_DRIVE, time_constant=lag))
    run = Run(p, 1.0)
    run.go(ackermann(0.0, 0.0), 8.0 * lag + 0.5)
    run.s.road_slope = slope
    before = run.s.x
    assert abs(run.go(ackermann(0.0, 0.0), 1.0).x - before) < 1e-3 * lag + 1e-9


def test_a_drive_that_gives_a_force_is_slowed_down_by_slope_drag_and_rolling_resistance():
    p = dataclasses.replace(COASTING, drag=0.4, rolling_resistance=0.015)
    run = Run(p, 20.0)
    run.s.road_slope = -0.5
    s = run.go(COAST)
    expected = -0.5 - 0.4 * 20.0**2 / p.mass - 0.015 * G
    assert (s.v_x - 20.0) / DT == pytest.approx(expected, rel=1e-3)


def test_a_banked_road_pulls_a_moving_car_to_its_side():
    run = Run(CAR, 10.0)
    run.s.road_bank = 0.5
    s = run.go(ackermann(10.0, 0.0), 2.0)
    assert s.y > 0.1


def test_a_drive_holds_its_speed_in_a_curve_and_a_force_does_not():
    held, forced = Run(CAR, 10.0), Run(COASTING, 10.0)
    assert held.go(ackermann(10.0, 0.1), 2.0).v_x == pytest.approx(10.0, abs=1e-4)
    assert forced.go(dataclasses.replace(COAST, steering_angle=0.1), 2.0).v_x < 9.9


def test_wheels_roll_with_their_contact_points():
    """Without slip as in the bicycle; with slip at the part of the contact's velocity along the wheel."""
    s = Run(CAR, 10.0, 0.1).s
    assert s.speed_fixed_right - s.speed_fixed_left == pytest.approx(s.yaw_rate * CAR.track_fixed)
    contact = s.v_y + CAR.wheel_base * s.yaw_rate
    middle = s.v_x * math.cos(0.1) + contact * math.sin(0.1)
    assert 0.5 * (s.speed_steered_left + s.speed_steered_right) == pytest.approx(middle, rel=1e-3)


def slalom(p, dt):
    """The state of a car at the end of a slalom of 5 s, at and beyond the limit of grip."""
    run = Run(p, 20.0, dt=dt)
    for k in range(5):
        reference = Command(ACKERMANN, 20.0, steering_angle=0.05 if k % 2 else -0.05)
        reference.acceleration = 0.0 if p.drive_gives_acceleration else math.inf
        s = run.go(reference, 1.0)
    return np.array([s.x, s.y, s.heading, s.v_y, s.yaw_rate])


@pytest.mark.parametrize("p", [COASTING, CAR], ids=["coasting", "holding its speed"])
def test_a_slalom_with_steps_of_1_ms_equals_that_with_steps_of_a_tenth(p):
    p = dataclasses.replace(p, steering_actuator=dataclasses.replace(IDEAL_STEERING, max_velocity=0.5))
    assert abs(slalom(p, 1e-3) / slalom(p, 1e-4) - 1.0).max() < 3e-7


def test_a_centre_of_gravity_outside_the_axles_is_refused():
    with pytest.raises(VdsGzError, match="cg_distance"):
        dataclasses.replace(CAR, cg_distance=2.7)


# ---------------------------------------------------------------------- random vehicles


@pytest.mark.parametrize(
    ("count", "interpreted"), [(50, 20), pytest.param(10_000, 200, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_random_cars_stay_finite_with_bounded_energy_and_equal_bits_in_all_engines(count, interpreted):
    """The friction of the road changes too; at the end slopes and banks add energy."""
    pytest.importorskip("numba")
    from vds_gz.tools.fleet.lanes import Lanes
    from vds_gz.tools.fleet.structs import Structs

    random = np.random.default_rng(count)
    cars = [random_parameters(SINGLE_TRACK, random, 4.0) for _ in range(count)]
    orders = [random_commands(SINGLE_TRACK, p, 5, random) for p in cars]
    fleets = Lanes(SINGLE_TRACK, cars, DT), Structs(SINGLE_TRACK, cars, DT)
    runs = [Run(p) for p in cars[:interpreted]]
    for run in runs:
        run.s = SINGLE_TRACK.at_rest(run.c)
    fastest = np.array([2.0 + 2.0 * (SINGLE_TRACK.limits(p).speed or 4.0) for p in cars])
    slopes = [np.zeros((2, count))] * 4 + [random.uniform(-7.0, 7.0, (2, count))]
    for row, (slope, bank) in zip(zip(*orders, strict=True), slopes, strict=True):
        friction = np.where(random.random(count) < 0.3, math.inf, random.uniform(0.0, 1.5, count))
        for fleet in fleets:
            fleet.states.road_friction, fleet.states.road_slope, fleet.states.road_bank = friction, slope, bank
            for k, u in enumerate(row):
                fleet.commands[k] = u
            fleet.advance(600)
        for run, u, *road in zip(runs, row, friction.tolist(), slope.tolist(), bank.tolist(), strict=False):
            run.s.road_friction, run.s.road_slope, run.s.road_bank = road
            run.go(u, 0.6)
        for name in ("x", "y", "heading", "v_x", "v_y", "yaw_rate", "roll_steered_left"):
            lanes, structs = (np.array(getattr(fleet.states, name)) for fleet in fleets)
            assert np.isfinite(lanes).all(), name
            assert (lanes == structs).all(), name
            assert lanes[:interpreted].tolist() == [getattr(run.s, name) for run in runs], name
        body = fleets[0].states.body
        gyration = np.array([p.yaw_inertia / p.mass for p in cars])
        speeds = np.sqrt(body.v_x**2 + body.v_y**2 + gyration * body.yaw_rate**2)
        assert (speeds <= 2.0 * fastest).all() or slope.any()
