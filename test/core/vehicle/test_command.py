"""Which command holds at which time."""

import dataclasses
import math
import pickle
import sys

import numpy as np
import pytest

from vds_gz.core.errors import ArgumentError
from vds_gz.core.vehicle.command import (
    ACKERMANN,
    DRIVE,
    FIELDS,
    KINDS,
    MAXIMUM,
    NEVER,
    SPEED,
    STEERING,
    STOP,
    TWIST,
    Command,
    CommandKind,
    ackermann,
    fault,
    twist,
)
from vds_gz.core.vehicle.differential import DIFFERENTIAL
from vds_gz.core.vehicle.schedule import COMMAND, check, fields_of, timed_out_records
from vds_gz.core.vehicle.vehicle import NANOSECONDS as SECOND
from vds_gz.core.vehicle.vehicle import CommandQueue, TimedCommand, Vehicle


@pytest.fixture
def queue() -> CommandQueue:
    return CommandQueue()


def speed(value: float, acceleration: float = math.inf) -> Command:
    return Command(SPEED, v_x=value, acceleration=acceleration)


def steering(value: float, rate: float = math.inf) -> Command:
    return Command(STEERING, steering_angle=value, steering_rate=rate)


def test_an_empty_queue_gives_the_default_command(queue):
    assert queue.at(0) == Command()
    assert queue.next_change == NEVER


def test_a_command_holds_from_its_arrival_to_its_expiry(queue):
    queue.enter(TimedCommand(twist(1.0, 0.5, 0.2), 10, 30))
    assert queue.at(9).v_x == 0.0
    assert queue.next_change == 10
    assert queue.at(10) == twist(1.0, 0.5, 0.2)
    assert queue.next_change == 30
    assert queue.at(29).v_x == 1.0
    late = queue.at(30)
    assert (late.v_x, late.v_y, late.yaw_rate) == (0.0, 0.0, 0.0)
    assert queue.next_change == NEVER


def test_the_last_command_to_arrive_wins_over_any_kind(queue):
    queue.enter(TimedCommand(twist(1.0, 0.0, 0.2), 10, 100))
    queue.enter(TimedCommand(ackermann(2.0, 0.3), 20, 100))
    queue.enter(TimedCommand(twist(3.0, 0.0, 0.1), 20, 100))
    assert queue.at(15).kind == TWIST
    assert queue.at(25) == twist(3.0, 0.0, 0.1)


def test_a_new_command_renews_the_time_out(queue):
    queue.enter(TimedCommand(twist(1.0, 0.0, 0.0), 0, 30))
    queue.enter(TimedCommand(twist(1.0, 0.0, 0.0), 20, 50))
    assert queue.at(20).v_x == 1.0
    assert queue.at(49).v_x == 1.0
    assert queue.at(50).v_x == 0.0


def test_a_command_that_claims_to_be_older_than_its_predecessor_still_wins_over_it(queue):
    queue.enter(TimedCommand(twist(1.0, 0.0, 0.0), 20, 100))
    queue.enter(TimedCommand(twist(2.0, 0.0, 0.0), 10, 100))
    assert queue.at(15).v_x == 0.0
    assert queue.at(20).v_x == 2.0


def test_a_command_that_has_expired_on_arrival_stops_the_vehicle(queue):
    queue.enter(TimedCommand(twist(1.0, 0.0, 0.0), 0, 100))
    assert queue.at(0).v_x == 1.0
    queue.enter(TimedCommand(twist(2.0, 0.0, 0.0), 50, 40))
    assert queue.at(50).v_x == 0.0


def test_the_same_command_is_the_same_object_while_nothing_changes(queue):
    queue.enter(TimedCommand(twist(1.0, 0.0, 0.0), 0, 100))
    assert queue.at(0) is queue.at(99)


def test_speed_and_steering_that_arrive_separately_make_one_command(queue):
    queue.enter(TimedCommand(speed(1.5, 2.0), 0, 100))
    queue.enter(TimedCommand(steering(0.3, 0.5), 10, 100))
    held = queue.at(10)
    assert held.kind == ACKERMANN
    assert (held.v_x, held.acceleration, held.steering_angle, held.steering_rate) == (1.5, 2.0, 0.3, 0.5)


@pytest.mark.parametrize(("speeds", "angles", "between"), [(50, 80, (0.0, 0.3)), (80, 50, (1.5, 0.0))])
def test_each_half_has_its_own_time_out(queue, speeds, angles, between):
    queue.enter(TimedCommand(speed(1.5), 0, speeds))
    queue.enter(TimedCommand(steering(0.3), 0, angles))
    assert (queue.at(49).v_x, queue.at(49).steering_angle) == (1.5, 0.3)
    assert (queue.at(50).v_x, queue.at(50).steering_angle) == between
    assert queue.next_change == 80
    assert (queue.at(80).v_x, queue.at(80).steering_angle) == (0.0, 0.0)


def test_a_half_replaces_its_half_of_a_whole_ackermann_command(queue):
    queue.enter(TimedCommand(ackermann(2.0, 0.4), 0, 100))
    queue.enter(TimedCommand(steering(-0.1), 10, 200))
    assert (queue.at(10).v_x, queue.at(10).steering_angle) == (2.0, -0.1)
    assert (queue.at(100).v_x, queue.at(100).steering_angle) == (0.0, -0.1)


@pytest.mark.parametrize(("half", "v_x", "angle"), [(speed(1.5), 1.5, 0.0), (steering(0.3), 0.0, 0.3)])
def test_a_half_ends_a_twist_and_the_other_half_is_zero(queue, half, v_x, angle):
    queue.enter(TimedCommand(twist(2.0, 0.0, 0.7), 0, 100))
    assert queue.at(0).v_x == 2.0
    queue.enter(TimedCommand(half, 10, 100))
    held = queue.at(10)
    assert (held.kind, held.v_x, held.yaw_rate, held.steering_angle) == (ACKERMANN, v_x, 0.0, angle)


def test_a_twist_ends_both_halves(queue):
    queue.enter(TimedCommand(speed(1.5), 0, 100))
    queue.enter(TimedCommand(steering(0.3), 0, 50))
    queue.enter(TimedCommand(twist(2.0, 0.0, 0.7), 10, 90))
    assert queue.at(60) == twist(2.0, 0.0, 0.7)


def test_a_timed_out_command_leaves_no_limits_behind(queue):
    queue.enter(TimedCommand(ackermann(2.0, 0.4, steering_rate=0.01, acceleration=0.1), 0, 50))
    assert queue.at(0).acceleration == 0.1
    late = queue.at(50)
    assert (late.v_x, late.steering_angle) == (0.0, 0.0)
    assert (late.acceleration, late.steering_rate) == (math.inf, math.inf)


def test_clearing_forgets_the_command_that_holds_and_those_that_wait(queue):
    queue.enter(TimedCommand(twist(1.0, 0.0, 0.0), 0, 1000))
    queue.enter(TimedCommand(twist(2.0, 0.0, 0.0), 50, 1000))
    queue.at(0)
    queue.clear()
    assert queue.at(100) == Command()
    assert queue.next_change == NEVER


def test_a_shorter_delay_moves_no_command_before_it_was_sent(queue):
    queue.enter(TimedCommand(twist(1.0, 0.0, 0.0), 90, 1000, sent=10))
    queue.enter(TimedCommand(twist(2.0, 0.0, 0.0), 500, 1000, sent=500))
    queue.limit_delay(20)
    assert [queue.at(time).v_x for time in (29, 30, 499, 500)] == [0.0, 1.0, 1.0, 2.0]


@pytest.mark.parametrize("made", [0, 7 * SECOND])
def test_a_time_out_that_was_infinite_for_a_while_counts_from_the_command(made):
    vehicle = Vehicle(DIFFERENTIAL, DIFFERENTIAL.parameters(), max_command_age=1.0, start=made)
    vehicle.enter(twist(1.0, 0.0, 0.0), made)
    vehicle.advance(made + SECOND // 2)
    vehicle.configure_commands(math.inf, 0.0)
    vehicle.configure_commands(1.0, 0.0)
    speeds = []
    for tenths in (9, 11):
        vehicle.advance(made + tenths * SECOND // 10)
        speeds.append(vehicle.command.v_x)
    assert speeds == [1.0, 0.0]


def test_a_rate_or_an_acceleration_of_zero_or_less_means_as_fast_as_possible():
    assert ackermann(1.0, 0.1) == ackermann(1.0, 0.1, -1.0, -2.0)
    assert ackermann(1.0, 0.1).steering_rate == math.inf
    assert ackermann(1.0, 0.1, 0.5, 2.0).acceleration == 2.0


@pytest.mark.parametrize("field", ["v_x", "v_y", "yaw_rate", "steering_angle"])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e300, -1e300, sys.float_info.max])
def test_nan_infinite_and_huge_numbers_are_faults(field, value):
    message = fault(dataclasses.replace(Command(), **{field: value}))
    assert message.startswith(f"{field} is ")
    assert "finite" in message


@pytest.mark.parametrize("field", ["steering_rate", "acceleration"])
@pytest.mark.parametrize("value", [math.nan, -1.0, -math.inf])
def test_negative_limits_and_nan_are_faults(field, value):
    message = fault(dataclasses.replace(Command(), **{field: value}))
    assert message == f"{field} is {value:g}; it must be a number of at least 0"


def test_nan_limits_of_a_message_are_faults_and_do_not_mean_unlimited():
    assert fault(ackermann(1.0, 0.0, math.nan, 0.0)).startswith("steering_rate")
    assert fault(ackermann(1.0, 0.0, 0.0, math.nan)).startswith("acceleration")


@pytest.mark.parametrize(
    "command",
    [Command(), twist(1.0, -2.0, 3.0), twist(MAXIMUM, -MAXIMUM, MAXIMUM), ackermann(5e-324, -0.5, 0.1, 0.2)],
)
def test_commands_within_bounds_have_no_fault(command):
    assert fault(command) == ""


# ---------------------------------------------------------------------- the table


@pytest.fixture
def throttle():
    """A kind of another package, without a gear, that stops after its time-out; unregistered afterwards."""
    yield CommandKind(1000, "throttle", ("accel_pedal", "brake_pedal"), stops=True)
    del KINDS[1000]


def test_a_kind_of_another_package_is_its_number_and_is_found_by_it(throttle):
    assert throttle == 1000
    assert KINDS[Command(throttle).kind].name == "throttle"
    assert pickle.loads(pickle.dumps(throttle)).fields == throttle.fields
    assert (throttle.references, throttle.quantities) == ((), ("accel", "brake"))
    assert not KINDS[throttle].geared
    assert fault(Command(throttle, accel_pedal=0.5)) == ""


def test_a_kind_of_another_package_stops_after_its_time_out_in_the_queue_and_in_records(throttle, queue):
    command = Command(throttle, accel_pedal=0.5, acceleration=2.0)
    queue.enter(TimedCommand(command, 10, 30))
    assert queue.at(29) == command
    late = queue.at(30)
    assert (late.kind, late.accel_pedal, late.acceleration) == (STOP, 0.5, math.inf)
    records = np.array([fields_of(command)], COMMAND)
    assert Command(*timed_out_records(records)[0].item()) == late


@pytest.mark.parametrize("kind", [kind for kind in KINDS.values() if kind.part == "whole"], ids=lambda kind: kind.name)
def test_the_queue_and_records_time_out_alike(kind, queue):
    numbers = {name: 0.1 * (k + 1) for k, name in enumerate(FIELDS) if name != "gear"}
    command = Command(kind, gear=DRIVE, **numbers)
    queue.enter(TimedCommand(command, 0, 10))
    late = queue.at(10)
    assert Command(*timed_out_records(np.array([fields_of(command)], COMMAND))[0].item()) == late
    assert all(getattr(late, name) in (getattr(Command(), name), getattr(command, name)) for name in FIELDS)
    assert {late.v_x, late.v_y, late.yaw_rate, late.steering_angle} == {0.0}


@pytest.mark.parametrize(
    ("number", "name", "fields", "options", "said"),
    [
        (0, "radio", ("v_x",), {}, r"'radio' \(0\): there is a kind 'twist' \(0\) already"),
        (1001, "twist", ("v_x",), {}, r"'twist' \(1001\): there is a kind 'twist' \(0\) already"),
        (1001, "radio", ("speed",), {}, "'radio': 'speed' cannot be a field; the fields are v_x, "),
        (1001, "radio", ("v_x", "slope"), {"stops": True}, "'radio': 'slope' cannot be a field; the fields are v_x, "),
        (1001, "radio", ("v_x",), {"part": "wheels"}, "part is 'wheels'; it must be one of whole, speed, "),
    ],
)
def test_a_taken_number_or_name_and_an_unknown_field_or_part_are_refused(number, name, fields, options, said):
    with pytest.raises(ArgumentError, match=said):
        CommandKind(number, name, fields, **options)
    assert 1001 not in KINDS


@pytest.mark.parametrize(
    ("fields", "options", "lasting"),
    [
        (("accel_pedal", "brake_pedal"), {}, "accel_pedal and brake_pedal"),
        (("v_x", "target_acceleration"), {}, "target_acceleration"),
        (("v_x", "steering_angle"), {"part": "speed"}, "steering_angle"),
        (("accel_pedal",), {"part": "speed", "stops": True}, "accel_pedal"),
    ],
)
def test_a_kind_whose_fields_would_act_after_the_time_out_is_refused(fields, options, lasting):
    with pytest.raises(ArgumentError, match=f"'radio': {lasting} would keep acting after the time-out"):
        CommandKind(1001, "radio", fields, **options)
    assert 1001 not in KINDS


def test_the_same_kind_may_be_made_again():
    assert CommandKind(0, "twist", ("v_x", "v_y", "yaw_rate")).fields == TWIST.fields


def test_a_command_of_an_unknown_kind_is_a_fault():
    assert fault(Command(99)).startswith("kind is 99; it must be one of 0 (twist), 1 (ackermann)")
    with pytest.raises(ArgumentError, match="command 0: kind is 99"):
        check(np.array([fields_of(Command(99))], COMMAND), np.array([0]))
