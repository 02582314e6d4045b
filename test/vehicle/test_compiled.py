"""The compiled vehicle and the compiled fleet against the interpreted source: the same bits."""

import dataclasses
import math

import numpy as np
import pytest
from helpers.driving import MILLISECOND, SECOND, driven, joints_of, snapshot

from vds_gz.parameters.actuators import DriveParameters, SteeringParameters
from vds_gz.parameters.vehicles import BicycleParameters, DifferentialParameters, OmniParameters
from vds_gz.vehicle.bicycle import BICYCLE
from vds_gz.vehicle.command import ackermann, twist
from vds_gz.vehicle.differential import DIFFERENTIAL
from vds_gz.vehicle.omni import OMNI
from vds_gz.vehicle.vehicle import Vehicle

pytest.importorskip("numba")
from vds_gz.vehicle.compiled import (
    CompiledVehicle,
    Fleet,
    compiled_run,
    read_record,
    record_type,
    records,
    write_record,
)

DT = 1e-3
#: Steps with one command, and how many commands.
STEPS, COMMANDS = 60, 6
VEHICLES = 30


def some(random, low, high):
    """A number of a range, or now and then 0."""
    return 0.0 if random.random() < 0.2 else random.uniform(low, high)


def random_drive(random) -> DriveParameters:
    return DriveParameters(
        dead_time=random.integers(0, 100) * 1e-3,
        time_constant=some(random, 1e-3, 0.5),
        max_velocity=some(random, 0.5, 5.0),
        max_acceleration=some(random, 1.0, 50.0),
        max_deceleration=some(random, 1.0, 50.0),
    )


def random_bicycle(random) -> BicycleParameters:
    steered_drive = bool(random.random() < 0.5)
    flags = {
        name: bool(random.random() < 0.5)
        for name in ("reverse", "allow_reverse", "center_at_standstill", "parallel_steering")
    }
    return BicycleParameters(
        wheel_base=random.uniform(0.5, 3.0),
        base_link_offset=random.uniform(-1.0, 1.0),
        drive_on_steered_wheel=steered_drive,
        four_wheel_drive=not steered_drive and bool(random.random() < 0.5),
        track_fixed=some(random, 0.2, 2.0),
        track_steered=some(random, 0.2, 2.0),
        max_wheel_velocity=some(random, 0.5, 5.0),
        drive_actuator=random_drive(random),
        steering_actuator=SteeringParameters(
            dead_time=random.integers(0, 100) * 1e-3,
            time_constant=some(random, 1e-3, 0.2),
            max_velocity=some(random, 1.0, 20.0),
            max_position=some(random, 0.3, 3.5) if steered_drive else random.uniform(0.3, 1.4),
        ),
        **flags,
    )


def random_differential(random) -> DifferentialParameters:
    return DifferentialParameters(
        track=random.uniform(0.2, 2.0), tire_diameter=random.uniform(0.1, 1.0), drive_actuators=random_drive(random)
    )


def random_omni(random) -> OmniParameters:
    return OmniParameters(
        base_link_offset=random.uniform(-1.0, 1.0),
        wheel_base=random.uniform(1.2, 2.0),
        track=random.uniform(0.3, 1.0),
        roller_pattern="ox"[random.integers(2)],
        drive_actuators=random_drive(random),
    )


def random_command(model, random):
    if model is BICYCLE and random.random() < 0.5:
        return ackermann(random.uniform(-4, 4), random.uniform(-2, 2), some(random, 0.1, 5), some(random, 0.1, 20))
    return twist(random.uniform(-4, 4), random.uniform(-4, 4), random.uniform(-3, 3))


@pytest.fixture(
    scope="module",
    params=[(BICYCLE, random_bicycle), (DIFFERENTIAL, random_differential), (OMNI, random_omni)],
    ids=["bicycle", "differential", "omni"],
)
def runs(request):
    """(fleet, one by one compiled, interpreted): final states of many random vehicles after the same commands."""
    model, random_parameters = request.param
    random = np.random.default_rng(7)
    parameters = [random_parameters(random) for _ in range(VEHICLES)]
    fleet, single = Fleet(model, parameters), Fleet(model, parameters)
    run = compiled_run(model.step)
    coefficients, states, commands = (
        part.view(np.ndarray) for part in (single.coefficients, single.states, single.commands)
    )
    plain = [model.coefficients(p, DT) for p in parameters]
    interpreted = [model.at_rest(c) for c in plain]
    for _ in range(COMMANDS):
        for i in range(VEHICLES):
            command = random_command(model, random)
            write_record(fleet.commands[i], command)
            write_record(single.commands[i], command)
            run(coefficients[i : i + 1], states[i : i + 1], commands[i : i + 1], STEPS)
            for _ in range(STEPS):
                model.step(plain[i], interpreted[i], command)
        fleet.advance(STEPS)
    return [
        [dataclasses.asdict(state) for state in group]
        for group in (unpacked(model, plain, fleet), unpacked(model, plain, single), interpreted)
    ]


def unpacked(model, coefficients, fleet) -> list:
    """The states of a fleet as plain objects."""
    states = [model.at_rest(c) for c in coefficients]
    for record, state in zip(fleet.states, states, strict=True):
        read_record(record, state)
    return states


def test_the_interpreted_vehicles_moved(runs):
    assert all(math.isfinite(state["x"]) for state in runs[2])
    assert sum(state["x"] != 0.0 and state["heading"] != 0.0 for state in runs[2]) > VEHICLES // 2


def test_a_compiled_vehicle_is_the_interpreted_one_to_the_bit(runs):
    _, single, interpreted = runs
    assert single == interpreted


def test_a_compiled_fleet_of_different_vehicles_is_the_interpreted_one_to_the_bit(runs):
    fleet, _, interpreted = runs
    assert fleet == interpreted


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


def test_a_compiled_vehicle_can_be_placed_reset_stopped_and_configured_like_the_interpreted_one(both):
    slower = dataclasses.replace(both[0].parameters, drive_actuator=DriveParameters(dead_time=0.35, max_velocity=0.5))
    results = []
    for vehicle in both:
        seen = []
        vehicle.enter(twist(1.0, 0.0, 0.3), 0)
        vehicle.advance(600 * MILLISECOND)
        vehicle.set_pose(3.0, 4.0, 1.0)
        seen.append(vehicle.motion())
        vehicle.configure(slower)
        vehicle.advance(900 * MILLISECOND)
        seen.append(vehicle.motion())
        vehicle.stand_still(SECOND)
        vehicle.advance(1100 * MILLISECOND)
        seen.append(vehicle.motion())
        vehicle.enter(twist(-1.0, 0.0, 0.0), vehicle.time)
        vehicle.advance(2 * SECOND)
        seen.append(vehicle.motion())
        vehicle.reset(0)
        seen.append(vehicle.motion())
        results.append((seen, snapshot(vehicle)))
    assert results[0] == results[1]
    placed, later, stopped, reversing, new = results[1][0]
    assert (placed.x, placed.y) == pytest.approx((3.0, 4.0))
    assert later.x != placed.x
    assert stopped.v_x == 0.0
    assert reversing.v_x < 0.0
    assert (new.x, new.v_x) == (0.3, 0.0)


def test_a_compiled_vehicle_that_something_else_moves_turns_its_actuators_only():
    p = BicycleParameters(
        drive_actuator=DriveParameters(dead_time=0.0), steering_actuator=SteeringParameters(dead_time=0.0)
    )
    vehicle = CompiledVehicle(BICYCLE, p, moves=False)
    vehicle.enter(twist(1.0, 0.0, 0.2), 0)
    vehicle.advance(500 * MILLISECOND)
    expected = driven(BICYCLE, p, twist(1.0, 0.0, 0.2), 0.5, moves=False)
    assert snapshot(vehicle) == snapshot(expected)
    assert vehicle.motion().x == 0.0
    assert vehicle.motion().v_x > 0.0


def test_every_vehicle_of_a_fleet_has_a_dead_time_of_its_own():
    dead_times = [0.0, 0.005, 0.5, 0.05]
    ideal = DriveParameters(time_constant=0.0, max_acceleration=0.0)
    fleet = Fleet(
        DIFFERENTIAL,
        [DifferentialParameters(drive_actuators=dataclasses.replace(ideal, dead_time=dead)) for dead in dead_times],
    )
    assert len(fleet) == 4
    fleet.commands.v_x = 1.0
    done = 0
    for steps, moving in ((1, 1), (5, 1), (6, 2), (50, 2), (51, 3), (500, 3), (501, 4)):
        fleet.advance(steps - done)
        done = steps
        assert sum(v == 1.0 for v in fleet.states.v_x) == moving


def test_a_fleet_of_nothing_is_refused():
    with pytest.raises(ValueError, match="fleet has 0 vehicles"):
        Fleet(DIFFERENTIAL, [])


def test_a_record_has_the_fields_of_its_class_and_room_for_the_longest_line():
    p = DifferentialParameters()
    short = DIFFERENTIAL.at_rest(DIFFERENTIAL.coefficients(p, 0.1))
    long = DIFFERENTIAL.at_rest(DIFFERENTIAL.coefficients(p, 1e-3))
    kind = record_type([short, long])
    assert list(kind.names) == [field.name for field in dataclasses.fields(short)]
    assert kind["left"]["references"].shape == (201,)
    assert kind["left"]["head"] == np.int64


def test_whole_numbers_for_reals_are_the_reals_that_they_stand_for():
    whole = BicycleParameters(wheel_base=2, base_link_offset=1, drive_actuator=DriveParameters(max_acceleration=2))
    ones = [dataclasses.replace(whole), dataclasses.replace(whole, wheel_base=2.5, base_link_offset=0.75)]
    coefficients = records([BICYCLE.coefficients(one, 0.001) for one in ones])
    assert coefficients.signed_wheelbase.tolist() == [2.0, 2.5]
    assert coefficients.base_link_offset.tolist() == [1.0, 0.75]
    vehicles = [Vehicle(BICYCLE, whole), CompiledVehicle(BICYCLE, whole)]
    for vehicle in vehicles:
        vehicle.enter(twist(1.0, 0.0, 0.3), 0)
        vehicle.advance(SECOND)
        vehicle.configure(ones[1])
        vehicle.advance(2 * SECOND)
    assert vehicles[1].motion() == vehicles[0].motion()


def test_what_is_written_into_a_record_comes_back_from_it():
    vehicle = driven(DIFFERENTIAL, DifferentialParameters(), twist(1.0, 0.0, 0.4), 0.7)
    copy = DIFFERENTIAL.at_rest(vehicle.coefficients)
    read_record(records([vehicle.state])[0], copy)
    assert dataclasses.asdict(copy) == snapshot(vehicle)
    assert type(copy.left.head) is int
    assert type(copy.x) is float
