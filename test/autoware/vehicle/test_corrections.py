"""The corrections of ``compatibility: physical``: each holds there, and does not hold with ``autoware``."""

from __future__ import annotations

import dataclasses
import itertools
import math

import pytest
from helpers.autoware_cars import GUARDED, LAGGING, MENDED, NEUTRAL, REVERSE, WITH_PEDALS, Car
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from vds_gz.autoware.parameters.car_parameters import MechanicalParameters
from vds_gz.autoware.vehicle.state import actuation_status, put
from vds_gz.core.vehicle.command import PARK

#: With ``autoware`` a test must fail; its example need not be the simplest.
QUICK = settings(max_examples=20, phases=[Phase.generate], report_multiple_bugs=False)

ACCELERATED = [model for model in LAGGING if not model.name.endswith("vel")]

STEERABLE = dataclasses.replace(MechanicalParameters(), poly_d=0.0, poly_e=0.0, poly_f=0.0)

manoeuvres = st.lists(
    st.tuples(
        st.sampled_from((0.0, 0.2, 0.7, 1.0)),
        st.sampled_from((0.0, 0.0, 0.3)),
        st.sampled_from((0, 1, 2, 2, 20, 22, 23)),
        st.sampled_from((0.0, -1.0, 2.0)),
    ),
    min_size=3,
    max_size=6,
)


@MENDED
@pytest.mark.parametrize("model", GUARDED, ids=lambda model: model.name)
def test_gear_change_never_makes_the_speed_jump(model, compatibility):
    """No command changes the speed faster than the limit of the acceleration allows."""

    @QUICK
    @given(manoeuvres)
    def check(manoeuvre):
        car = Car(model.name, compatibility=compatibility, dt=0.01)
        before = 0.0

        def check_step(car):
            nonlocal before
            assert abs(car.v - before) <= car.parameters.vel_rate_lim * car.c.dt * 1.0001
            before = car.v

        for accel, brake, gear, slope in manoeuvre:
            car.go(1.0, accel * (1.0 if car.c.drive.uses_map else 7.0), brake, 0.0, gear, slope, check_step)

    check()


@MENDED
@pytest.mark.parametrize("model", GUARDED, ids=lambda model: model.name)
def test_gear_change_brakes_to_a_stop(model, compatibility):
    """A car at 5 m/s in reverse gear brakes gradually and stops."""
    car = Car(model.name, compatibility=compatibility)
    put(car.c, car.s, 0.0, 0.0, 0.0, 5.0)
    car.go(0.5, gear=REVERSE)
    assert 0.5 < car.v < 5.0
    car.go(2.0, gear=REVERSE, brake=0.5)
    assert car.v == 0.0


@MENDED
@pytest.mark.parametrize("slope", [10.0, -10.0])
@pytest.mark.parametrize("model", ACCELERATED, ids=lambda model: model.name)
def test_acceleration_is_bounded(model, compatibility, slope):
    """Neither a slope nor a factor takes the acceleration of the drive or the car beyond its limit."""
    scale = {"debug_acc_scaling_factor": 3.0} if hasattr(model.parameters, "debug_acc_scaling_factor") else {}
    if model.name.endswith("map_acc_geared"):
        scale = {"vel_rate_lim": 0.5}
    car = Car(model.name, compatibility=compatibility, **scale)

    def check_step(car):
        limit = car.parameters.vel_rate_lim
        assert abs(car.s.drive_acceleration) <= limit
        if "wo_fall" not in car.model.name:
            assert abs(car.s.acceleration) <= limit

    car.go(1.0, 7.0 if slope > 0.0 or scale else 0.0, 0.0, 0.0, 2, slope, check_step)
    car.go(0.5, 0.0, 0.0, 0.0, 20, slope, check_step)


@MENDED
def test_torque_delay_delays(compatibility):
    """A steering that has moved already responds to a new command only after the delay."""
    slow = dataclasses.replace(MechanicalParameters(), torque_delay_time=0.1)
    pair = [Car("actuation_cmd_mechanical", compatibility=compatibility, mechanical_params=slow) for _ in range(2)]
    for car in pair:
        car.go(1.0, steer=3.0)
    pair[0].go(0.099, steer=3.0)
    pair[1].go(0.099, steer=-3.0)
    assert pair[0].angle == pair[1].angle
    pair[0].go(0.01, steer=3.0)
    pair[1].go(0.01, steer=-3.0)
    assert pair[0].angle != pair[1].angle


@MENDED
@QUICK
@given(command=st.floats(-12.0, 12.0), speed=st.floats(1.0, 20.0))
def test_steering_map_is_read_at_the_tire_angle(compatibility, command, speed):
    """At any speed, the steering rate is that of the map at the tyre angle: straight ahead, and at 0.3 rad."""
    car = Car("actuation_cmd_steer_map", compatibility=compatibility, steer_time_delay=0.0)
    put(car.c, car.s, 0.0, 0.0, 0.0, speed)
    car.go(0.001, steer=command)
    assert car.s.steering.rate == pytest.approx(0.045 * command, abs=1e-3)
    put(car.c, car.s, 0.0, 0.0, 0.0, speed, 0.3)
    car.go(0.001, steer=command)
    assert car.s.steering.rate == pytest.approx(0.045 * command - 0.12 * 0.3, abs=1e-3)


@MENDED
def test_steering_map_without_command_centres(compatibility):
    """A car at speed with no command goes straight on; in Autoware's simulator it steers to the stop."""
    car = Car("actuation_cmd_steer_map", compatibility=compatibility)
    put(car.c, car.s, 0.0, 0.0, 0.0, 10.0, 0.05)
    car.go(5.0, accel=0.1)
    assert 0.0 < car.angle < 0.05


@MENDED
@QUICK
@given(brake=st.floats(0.05, 0.7))
def test_brake_status_is_the_brake(compatibility, brake):
    """While the car brakes steadily, the pedal that it reports is the one that is pressed."""
    car = Car("actuation_cmd", compatibility=compatibility, dt=0.005)
    put(car.c, car.s, 0.0, 0.0, 0.0, 40.0)
    car.go(1.2, brake=brake)
    assert actuation_status(car.c, car.s).brake == pytest.approx(brake, abs=0.02)


@MENDED
@QUICK
@given(offset=st.floats(-0.6, 0.6))
def test_friction_holds_at_rest(compatibility, offset):
    """A torque below the friction does not move tyres at rest."""
    m = dataclasses.replace(MechanicalParameters(), poly_h=offset)
    car = Car("actuation_cmd_mechanical", compatibility=compatibility, mechanical_params=m)
    car.go(0.2)
    assert car.angle == 0.0


@MENDED
def test_dead_zone_takes_the_torque_and_not_the_motion(compatibility):
    """A steering that turns goes on by its inertia while its torque is small: w = w0 exp(-D t / J)."""
    free = dataclasses.replace(STEERABLE, dead_zone_threshold=1e3, friction=0.0, stiffness=0.0)
    car = Car("actuation_cmd_mechanical", compatibility=compatibility, mechanical_params=free)
    car.go(0.01)
    m = car.s.steering.mechanism
    m.rate = 0.2
    car.go(0.4)
    assert m.in_dead_zone
    assert m.rate == pytest.approx(0.2 * math.exp(-0.4 * free.damping / free.inertia), rel=1e-9)
    assert car.angle == pytest.approx((0.2 - m.rate) * free.inertia / free.damping, rel=1e-9)


@MENDED
def test_dead_zone_is_taken_from_the_torque(compatibility):
    """From rest, a torque beyond the dead zone turns as one without a dead zone that is smaller by the threshold."""
    mechanics = dataclasses.replace(
        STEERABLE, kp=0.0, ki=0.0, kd=0.0, ff_gain=0.0, poly_h=3.0, friction=0.5, torque_delay_time=0.0
    )
    ends = []
    for torque, threshold in ((3.0, 1.2), (1.8, 0.0)):
        m = dataclasses.replace(mechanics, poly_h=torque, dead_zone_threshold=threshold)
        car = Car("actuation_cmd_mechanical", compatibility=compatibility, mechanical_params=m)
        ends.append(car.go(1.0).angle)
    assert ends[0] == pytest.approx(ends[1], rel=1e-12)
    assert ends[1] > 0.0


@MENDED
def test_the_angle_depends_continuously_on_the_dead_zone(compatibility):
    """A threshold that differs by little gives angles that differ by little, wherever the steering turns round."""
    ends, step = [], 0.004
    for count in range(100):
        m = dataclasses.replace(MechanicalParameters(), dead_zone_threshold=count * step)
        car = Car("actuation_cmd_mechanical", compatibility=compatibility, mechanical_params=m, dt=0.005)
        ends.append([car.go(0.4, steer=command).angle for command in (3.0, 2.9, 2.7, 3.1, 2.5)])
    for angles, next_angles in itertools.pairwise(ends):
        assert angles == pytest.approx(next_angles, abs=0.02 * step)


def test_without_dead_zone_and_friction_it_is_autowares_steering():
    """Corrections act through dead zone, friction, torque delay and rate limit; without these nothing differs."""
    plain = dataclasses.replace(
        STEERABLE, dead_zone_threshold=0.0, friction=0.0, torque_delay_time=0.0, rate_limit=1e3, poly_h=0.0
    )
    pair = [
        Car("actuation_cmd_mechanical", compatibility=compatibility, mechanical_params=plain)
        for compatibility in ("physical", "autoware")
    ]
    for command in (0.0, 4.0, -3.0, 0.1, 0.0):
        angles = [car.go(0.6, steer=command, gear=PARK).angle for car in pair]
        assert angles[0] == pytest.approx(angles[1], abs=1e-9)
    assert abs(angles[0]) > 0.0


@MENDED
@QUICK
@given(command=st.floats(0.02, 8.0))
def test_left_and_right_are_symmetric(compatibility, command):
    """From rest, a steering with symmetric power steering responds equally to both sides."""
    even = dataclasses.replace(STEERABLE, poly_b=0.0, poly_h=0.0, dead_zone_threshold=0.05)
    pair = [
        Car("actuation_cmd_mechanical", compatibility=compatibility, mechanical_params=even, dt=0.005) for _ in range(2)
    ]
    pair[0].go(0.3, steer=command)
    pair[1].go(0.3, steer=-command)
    assert pair[0].angle == -pair[1].angle


@MENDED
def test_command_rate_is_limited(compatibility):
    """The angle that the controller follows moves no faster than the limit, also after the first step."""
    slow = dataclasses.replace(MechanicalParameters(), rate_limit=0.1, poly_a=0.0, poly_c=0.0)
    car = Car("actuation_cmd_mechanical", compatibility=compatibility, mechanical_params=slow)
    for step in range(1, 50):
        car.go(0.001, steer=8.0)
        assert car.s.steering.mechanism.error <= step * 0.1 * 0.001 + 1e-3


@MENDED
@pytest.mark.parametrize("dt", [0.033, 0.05, 0.06])
@pytest.mark.parametrize("name", ["delay_steer_vel", "delay_steer_acc_geared", "actuation_cmd"])
def test_steering_does_not_overshoot(compatibility, name, dt):
    """A first-order lag does not overshoot, also with steps as long as its time constant or longer."""
    car = Car(name, compatibility=compatibility, dt=dt, steer_time_constant=0.03, steer_rate_lim=100.0)

    def check_step(car):
        assert car.angle <= 0.2 + 1e-12

    car.go(2.0, steer=0.2, each=check_step)
    assert car.angle == pytest.approx(0.2, abs=1e-3)


@MENDED
@pytest.mark.parametrize("model", WITH_PEDALS, ids=lambda model: model.name)
def test_maps_are_read_in_reverse_too(model, compatibility):
    """With the same pedals a car gets as fast backwards as forwards."""
    forwards = Car(model.name, compatibility=compatibility, dt=0.01).go(15.0, accel=0.5)
    backwards = Car(model.name, compatibility=compatibility, dt=0.01).go(15.0, accel=0.5, gear=REVERSE)
    assert backwards.v == pytest.approx(-forwards.v)


@MENDED
@pytest.mark.parametrize("speed", [0.0, 5.0, 20.0])
def test_coasting_is_the_end_of_the_accelerator(compatibility, speed):
    """A hardly pressed pedal acts like a released one: the car creeps, or the engine drags."""
    ends = []
    for accel in (0.0, 1e-9):
        car = Car("actuation_cmd", compatibility=compatibility)
        put(car.c, car.s, 0.0, 0.0, 0.0, speed)
        ends.append(car.go(1.0, accel=accel).v)
    assert ends[0] == pytest.approx(ends[1], abs=1e-6)


@MENDED
@pytest.mark.parametrize("speed", [5.0, -5.0])
def test_neutral_rolls(compatibility, speed):
    """In neutral the engine does nothing; slope and brake do, and the brake holds at rest."""
    car = Car("actuation_cmd", compatibility=compatibility)
    put(car.c, car.s, 0.0, 0.0, 0.0, speed)
    car.go(1.0, accel=1.0, gear=NEUTRAL)
    assert car.v == pytest.approx(speed)
    car.go(1.0, gear=NEUTRAL, slope=math.copysign(1.0, speed))
    assert abs(car.v) > 5.5
    car.go(6.0, gear=NEUTRAL, brake=0.5, slope=1.0)
    assert car.v == 0.0


@MENDED
def test_released_accelerator_has_its_own_time_constant(compatibility):
    """The lag is that of the brake only while the brake is pressed."""
    car = Car("actuation_cmd", compatibility=compatibility, accel_time_delay=0.0, brake_time_constant=5.0)
    car.go(2.0, accel=0.8)
    car.go(0.5)
    assert car.s.acceleration < 0.0


@MENDED
@pytest.mark.parametrize("name", ["delay_steer_acc", "delay_steer_acc_geared", "delay_steer_acc_geared_wo_fall_guard"])
def test_end_stops_hold(compatibility, name):
    """No factor turns the tyres beyond their end stops."""
    car = Car(name, compatibility=compatibility, debug_steer_scaling_factor=2.0, steer_lim=0.5)
    car.go(3.0, steer=0.5)
    assert car.angle == pytest.approx(0.5)
    assert car.angle <= 0.5


@MENDED
@pytest.mark.parametrize("model", LAGGING, ids=lambda model: model.name)
def test_put_clears_earlier_commands(model, compatibility):
    """A car that is placed stands as if it had never been driven."""
    delays = {field.name: 0.2 for field in dataclasses.fields(model.parameters) if field.name.endswith("_time_delay")}
    car = Car(model.name, compatibility=compatibility, **delays)
    car.go(1.0, accel=1.0, steer=0.5)
    put(car.c, car.s, 1.0, 2.0, 0.0)
    fresh = Car(model.name, compatibility=compatibility, **delays)
    put(fresh.c, fresh.s, 1.0, 2.0, 0.0)
    for placed in (car, fresh):
        placed.go(0.15)
    assert (car.v, car.angle) == (fresh.v, fresh.angle)
