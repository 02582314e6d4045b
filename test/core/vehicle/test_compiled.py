"""The compiled vehicle against the interpreted source: the same bits."""

import dataclasses
import math

import numpy as np
import pytest
from helpers.driving import MILLISECOND, SECOND, driven, joints_of, snapshot
from helpers.guest import needs_autoware, of_guest
from hypothesis import given, settings
from hypothesis import strategies as st

from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.actuator_parameters import DriveParameters, SteeringParameters
from vds_gz.core.parameters.vehicles import BicycleParameters, DifferentialParameters
from vds_gz.core.vehicle.bicycle import BICYCLE
from vds_gz.core.vehicle.body_limits import limit_velocity
from vds_gz.core.vehicle.command import (
    ACKERMANN,
    SPEED,
    TWIST,
    Command,
    CommandKind,
    ackermann,
    twist,
)
from vds_gz.core.vehicle.differential import DIFFERENTIAL, split
from vds_gz.core.vehicle.vehicle import Vehicle

pytest.importorskip("numba")
from vds_gz.core.vehicle.compiled import (
    TOGETHER,
    CompiledVehicle,
    compiled_schedule,
    read_record,
    record_type,
    records,
)
from vds_gz.core.vehicle.schedule import command_records

P = BicycleParameters()


@pytest.fixture
def both():
    """(interpreted, compiled) vehicle of the same parameters."""
    p = BicycleParameters(
        base_link_offset=0.3, drive_on_steered_wheel=True, steering_actuator=SteeringParameters(max_position=0.0)
    )
    return Vehicle(BICYCLE, p), CompiledVehicle(BICYCLE, p)


def test_a_compiled_vehicle_takes_commands_time_outs_and_cuts_of_time_like_the_interpreted_one(both):
    for vehicle in both:
        for k in range(12):
            vehicle.enter(twist(math.sin(k), 0.0, math.cos(k)), k * 211 * MILLISECOND + 12_345)
        vehicle.enter(ackermann(1.0, 0.4, 0.3, 0.5), 2700 * MILLISECOND)
        for time in range(0, 5 * SECOND, 77_777_777):
            vehicle.advance(time)
    assert both[0].time == both[1].time
    assert snapshot(both[1]) == snapshot(both[0])
    assert both[1].motion() == both[0].motion()
    assert joints_of(both[1]) == joints_of(both[0])
    assert both[0].motion().x != 0.0


def test_commands_that_change_later_act_as_they_were_when_entered(both):
    for vehicle in both:
        command = twist(0.0, 0.0, 0.0)
        for k in range(TOGETHER + 7):
            command.v_x, command.yaw_rate = math.sin(k), math.cos(k)
            vehicle.enter(command, vehicle.time)
            vehicle.advance(vehicle.time + MILLISECOND)
    assert snapshot(both[1]) == snapshot(both[0])
    assert both[0].motion().x != 0.0


def test_a_record_has_the_fields_of_its_class_and_room_for_the_longest_line():
    p = DifferentialParameters()
    short = DIFFERENTIAL.at_rest(DIFFERENTIAL.coefficients(p, 0.1))
    long = DIFFERENTIAL.at_rest(DIFFERENTIAL.coefficients(p, 1e-3))
    kind = record_type([short, long])
    assert list(kind.names) == [field.name for field in dataclasses.fields(short)]
    assert kind["left"]["references"].shape == (201,)
    assert kind["left"]["head"] == np.int64


def test_most_dead_times_share_one_compiled_program():
    compiled_schedule.cache_clear()
    for dead_time in (0.0, 0.1, 0.255):
        p = BicycleParameters(drive_actuator=DriveParameters(dead_time=dead_time))
        vehicle = CompiledVehicle(BICYCLE, p)
        vehicle.enter(twist(1.0, 0.0, 0.2), 0)
        vehicle.advance(SECOND)
        assert vehicle.motion().x > 0.0
        assert compiled_schedule.cache_info().currsize == 1


def test_integers_for_reals_are_stored_as_reals():
    whole = BicycleParameters(wheel_base=2, base_link_offset=1, drive_actuator=DriveParameters(max_acceleration=2))
    both = [whole, dataclasses.replace(whole, wheel_base=2.5, base_link_offset=0.75)]
    coefficients = records([BICYCLE.coefficients(parameters, 0.001) for parameters in both])
    assert coefficients.signed_wheelbase.tolist() == [2.0, 2.5]
    assert coefficients.base_link_offset.tolist() == [1.0, 0.75]
    vehicles = [Vehicle(BICYCLE, whole), CompiledVehicle(BICYCLE, whole)]
    for vehicle in vehicles:
        vehicle.enter(twist(1.0, 0.0, 0.3), 0)
        vehicle.advance(SECOND)
        vehicle.configure(both[1])
        vehicle.advance(2 * SECOND)
    assert vehicles[1].motion() == vehicles[0].motion()


def test_a_state_that_is_written_into_a_record_is_read_back():
    vehicle = driven(DIFFERENTIAL, DifferentialParameters(), twist(1.0, 0.0, 0.4), 0.7)
    copy = DIFFERENTIAL.at_rest(vehicle.coefficients)
    read_record(records([vehicle.state])[0], copy)
    assert dataclasses.asdict(copy) == snapshot(vehicle)
    assert type(copy.left.head) is int
    assert type(copy.x) is float


WHOLE = st.builds(
    lambda kind, v, turn, rate, gear: Command(
        kind, v, 0.1 * v, turn, 0.5 * turn, steering_rate=rate, acceleration=2.0 * rate, gear=gear
    ),
    st.sampled_from([TWIST, ACKERMANN, *of_guest("vds_gz.autoware.vehicle.command_kinds:PEDALS")]),
    st.floats(-3, 3),
    st.floats(-1, 1),
    st.sampled_from([0.5, math.inf]),
    st.sampled_from([2, 20]),
)


@given(
    st.lists(st.tuples(st.integers(-5_000_000, 900_000_000), WHOLE), min_size=1, max_size=12),
    st.integers(0, 500_000_000),
    st.sampled_from([0.0, 0.05, 0.1234567, math.inf]),
    st.sampled_from([1000.0, 333.0]),
)
@settings(max_examples=100)
def test_commands_as_arrays_act_like_commands_entered_one_by_one(timed, more, age, rate):
    times, commands = zip(*sorted(timed, key=lambda pair: pair[0]), strict=True)
    end = max(times[-1], 0) + more
    vehicles = [CompiledVehicle(BICYCLE, P, step_rate=rate, max_command_age=age) for _ in range(2)]
    for vehicle in vehicles:
        vehicle.enter(twist(1.0, 0.0, 0.1), 0)
        vehicle.advance(100_300_000)
    one_by_one, at_once = vehicles
    for command, time in zip(commands, times, strict=True):
        one_by_one.enter(command, time)
    one_by_one.advance(end)
    names = [field.name for field in dataclasses.fields(Command)]
    columns = {name: [getattr(command, name) for command in commands] for name in names}
    at_once.follow(command_records(**columns), np.array(times), end)
    for _ in range(2):
        assert at_once.steps == one_by_one.steps
        assert snapshot(at_once) == snapshot(one_by_one)
        for vehicle in vehicles:
            vehicle.advance(end + 400_000_000)


def test_commands_as_arrays_that_cannot_be_followed_are_refused():
    vehicle = CompiledVehicle(BICYCLE, P)
    speeds = command_records(v_x=[1.0, 2.0])
    for commands, times, end, message in (
        (speeds, [0], 0, "2 commands and 1 times"),
        (speeds, [5, 4], 9, "time 1 is 4 ns, and the one before it 5 ns; times must not decrease"),
        (speeds, [0, 5], 4, "end is 4 ns, before the last command at 5 ns"),
        (command_records(v_x=[1.0, math.nan]), [0, 1], 2, "command 1: v_x is nan"),
        (command_records(v_x=1.0, gear=99), [0], 2, "command 0: gear is 99"),
        (command_records(kind=SPEED, v_x=1.0), [0], 2, r"command 0 \(kind 2, gear 2\) is a gear, half a command"),
    ):
        with pytest.raises(ArgumentError, match=message):
            vehicle.follow(commands, np.array(times), end)
    assert vehicle.steps == 0


@needs_autoware
def test_gears_and_waiting_commands_also_affect_commands_as_arrays():
    from vds_gz.autoware.vehicle.command_kinds import CONTROL, control

    gears = command_records(kind=[CONTROL, TWIST], v_x=1.0, gear=[20, 2])
    speeds = command_records(v_x=[1.0, 1.0])
    for before, commands, times in (([], gears, [0, 100]), ([(twist(0.0, 0.0, 0.0), 500)], speeds, [100, 200])):
        one_by_one, at_once = (CompiledVehicle(BICYCLE, P) for _ in range(2))
        for vehicle in (one_by_one, at_once):
            for command, time in before:
                vehicle.enter(command, time * MILLISECOND)
        for record, time in zip(commands.tolist(), times, strict=True):
            one_by_one.enter(Command(*record), time * MILLISECOND)
        one_by_one.advance(600 * MILLISECOND)
        at_once.follow(commands, np.array(times) * MILLISECOND, 600 * MILLISECOND)
        for vehicle in (one_by_one, at_once):
            vehicle.enter(control(1.0, 1.0, 0.0), 600 * MILLISECOND)
            vehicle.advance(700 * MILLISECOND)
        assert at_once.command == one_by_one.command
        assert snapshot(at_once) == snapshot(one_by_one)


def test_jitter_is_the_same_for_commands_as_arrays():
    commands, times = [twist(0.1 * k, 0.0, 0.2) for k in range(30)], [k * 20 * MILLISECOND for k in range(30)]
    single = Vehicle(DIFFERENTIAL, DifferentialParameters(), dead_time_jitter=0.1, seed=5)
    for command, time in zip(commands, times, strict=True):
        single.enter(command, time)
    single.advance(SECOND)
    together = CompiledVehicle(DIFFERENTIAL, DifferentialParameters(), dead_time_jitter=0.1, seed=5)
    columns = {"kind": TWIST, "v_x": [command.v_x for command in commands], "yaw_rate": 0.2}
    together.follow(command_records(**columns), np.array(times), SECOND)
    assert together.motion() == single.motion()


#: A kind of another package, and a model that takes it.
THROTTLE = CommandKind(2000, "kart throttle", ("accel_pedal",), stops=True)


def throttled(c, s, u):
    limit_velocity(c.body, s.body, u.accel_pedal if u.kind == THROTTLE else 0.0, 0.0, 0.0)
    split(c, s)


KART = dataclasses.replace(DIFFERENTIAL, name="kart", accepts=frozenset((THROTTLE,)), set_references=throttled)


def test_a_kind_of_another_package_drives_compiled_and_interpreted_vehicles_alike():
    p = DifferentialParameters()
    plain, fast, followed = (kind(KART, p, max_command_age=0.5) for kind in (Vehicle, CompiledVehicle, CompiledVehicle))
    positions, times = [0.2, 0.4, 0.6], np.array([0, 300, 2000]) * MILLISECOND
    for vehicle in (plain, fast):
        for pedal, time in zip(positions, times.tolist(), strict=True):
            vehicle.enter(Command(THROTTLE, accel_pedal=pedal), time)
    followed.follow(command_records(kind=THROTTLE, accel_pedal=positions), times, 2500 * MILLISECOND)
    speeds = []
    for time in (700, 1900, 2500):
        plain.advance(time * MILLISECOND)
        fast.advance(time * MILLISECOND)
        speeds.append(plain.motion().v_x)
        assert snapshot(fast) == snapshot(plain)
    assert snapshot(followed) == snapshot(plain)
    assert min(speeds[0], speeds[2]) > 0.2
    assert abs(speeds[1]) < 0.05  # timed out
