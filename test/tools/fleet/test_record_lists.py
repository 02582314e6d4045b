"""Models with lists of records, full and empty, in every engine: the same bits as interpreted."""

import copy
import dataclasses
import math
import pickle

import numpy as np
import pytest
from helpers.listed_wheels import LISTED, ListedParameters

from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.actuator_parameters import DriveParameters
from vds_gz.core.vehicle.command import twist
from vds_gz.core.vehicle.schedule import command_records
from vds_gz.core.vehicle.vehicle import Vehicle

pytest.importorskip("numba")

from vds_gz.core.vehicle.compiled import CompiledVehicle
from vds_gz.tools.conformance.declared import CHECKS
from vds_gz.tools.fleet.fleet import Fleet
from vds_gz.tools.fleet.sampled import Readings, SampledDrive, Simulations

DT, STEPS, NANOSECONDS = 1e-3, 90, 10**9
COMMANDS = [twist(1.0, 0.0, 0.4), twist(0.6, 0.0, -1.5), twist(-0.8, 0.0, 0.2)]

#: No caster, and some.
CASTERS = pytest.mark.parametrize("casters", [(), (-0.5, -1.25)], ids=["an empty list", "two lists"])
MODELS = pytest.mark.parametrize("lanes", [True, False], ids=["lanes", "structs"])


def model_of(lanes: bool):
    return dataclasses.replace(LISTED, lanes=lanes)


def vehicle(k: int, casters=(), wheels=(0.6, 0.1, -0.5)) -> ListedParameters:
    """Vehicle ``k`` of a fleet, with a dead time of its own."""
    drive = DriveParameters(dead_time=0.013 * (k % 4), time_constant=0.02 * k, max_acceleration=3.0)
    return ListedParameters(wheel_y=wheels, caster_x=casters, drive_actuators=drive)


def interpreted(parameters: ListedParameters, commands=COMMANDS, state=None):
    """The state after commands, with the oldest entries of dead times first."""
    c = LISTED.coefficients(parameters, DT)
    s = LISTED.at_rest(c) if state is None else copy.deepcopy(state)
    for u in commands:
        LISTED.set_references(c, s, u)
        for _ in range(STEPS):
            LISTED.step(c, s, u)
    LISTED.resize(c, s)
    return s


def driven(fleet: Fleet, commands=COMMANDS) -> list:
    for u in commands:
        fleet.commands[:] = u
        fleet.advance(STEPS)
    states = [fleet.state(k) for k in range(len(fleet))]
    for state, group in zip(states, fleet.vehicles.parameters, strict=True):
        LISTED.resize(LISTED.coefficients(group, DT), state)
    return states


@CASTERS
@MODELS
def test_fleets_are_the_interpreted_vehicles_to_the_bit(lanes, casters):
    group = [vehicle(k, casters) for k in range(7)]
    expected = [interpreted(parameters) for parameters in group]
    assert all(state.x != 0.0 for state in expected)
    fleet = Fleet(model_of(lanes), group)
    assert driven(fleet) == expected
    for copied in (copy.deepcopy(fleet), pickle.loads(pickle.dumps(fleet))):
        copied.advance(1)
    assert [fleet.state(k).x for k in range(7)] == [state.x for state in expected]


@CASTERS
def test_a_compiled_vehicle_is_the_interpreted_one_to_the_bit(casters):
    compiled, plain = (
        kind(LISTED, vehicle(3, casters), max_command_age=math.inf) for kind in (CompiledVehicle, Vehicle)
    )
    for either in (compiled, plain):
        for k, u in enumerate(COMMANDS):
            either.enter(u, k * STEPS * NANOSECONDS // 1000)
    times = [50_000_000, 130_000_000, 270_000_000]
    pairs = zip(compiled.sample(times), plain.sample(times), strict=True)
    seen = [([(wheel.roll, wheel.turns) for wheel in s.wheels], s.x, t.x) for s, t in pairs]
    assert all(x == y for _, x, y in seen)
    assert seen[0][0] != seen[1][0]
    assert compiled.state == plain.state
    compiled.state = plain.state
    assert compiled.state == plain.state


@MODELS
def test_columns_are_those_of_each_record(lanes):
    fleet = Fleet(model_of(lanes), [vehicle(k, (-0.5,)) for k in range(3)])
    states = driven(fleet)
    assert len(fleet.states) == 3
    for k in range(3):
        wheel = fleet.states.wheels[k]
        assert wheel.drive.velocity.tolist() == [state.wheels[k].drive.velocity for state in states]
        assert wheel.turns.tolist() == [state.wheels[k].turns for state in states]
    assert fleet.states.casters[0].sideways.astype(bool).tolist() == [state.casters[0].sideways for state in states]
    fleet.states.wheels[1].roll[2] = 7.0
    assert fleet.state(2).wheels[1].roll == 7.0
    with pytest.raises(ArgumentError, match="'wheels' is a list of 3 records; set a field of one"):
        fleet.states.wheels = 1.0
    assert Fleet(model_of(lanes), [vehicle(0)]).states.casters == ()


@CASTERS
@MODELS
def test_a_vehicle_is_replaced_and_put_into_a_state(lanes, casters):
    fleet = Fleet(model_of(lanes), [vehicle(k, casters) for k in range(4)])
    driven(fleet, COMMANDS[:1])
    replaced = vehicle(7, casters)
    fleet.reset(2, [dataclasses.replace(replaced, wheel_y=(0.8, 0.15, -0.4))])
    moving = LISTED.at(LISTED.coefficients(vehicle(1, casters), DT), twist(0.7, 0.0, 0.3))
    fleet.set_state(1, moving)
    states = driven(fleet, COMMANDS[1:2])
    assert states[0] == interpreted(vehicle(0, casters), COMMANDS[:2])
    assert states[1] == interpreted(vehicle(1, casters), COMMANDS[1:2], moving)
    assert states[2] == interpreted(dataclasses.replace(replaced, wheel_y=(0.8, 0.15, -0.4)), COMMANDS[1:2])


@CASTERS
@MODELS
def test_samples_are_numbers_of_records(lanes, casters):
    group = [vehicle(k, casters) for k in range(3)]
    names = ("wheels[0].drive.velocity", "wheels[2].roll", "x")
    steps = np.array([0, 40, 40, 120, 250])
    readings = Readings(steps, names, np.array([0, 1, 0, 1, 2]), np.arange(5), np.ones(5), 5)
    commands = command_records(v_x=[u.v_x for u in COMMANDS], yaw_rate=[u.yaw_rate for u in COMMANDS])
    begins = np.array([0, STEPS, 2 * STEPS])
    simulations = Simulations(model_of(lanes), group)
    for _ in range(2):  # the second time with copies at rest again
        (numbers,) = simulations.read([SampledDrive(commands, begins, readings)])
        for k, parameters in enumerate(group):
            c = LISTED.coefficients(parameters, DT)
            s, read = LISTED.at_rest(c), []
            for step in range(251):
                read += [
                    (s.wheels[0].drive.velocity, s.wheels[2].roll, s.x)[readings.number[term]]
                    for term in np.flatnonzero(steps == step)
                ]
                u = COMMANDS[min(step // STEPS, 2)]
                LISTED.set_references(c, s, u)
                LISTED.step(c, s, u)
            assert numbers[:, k].tolist() == read
    simulations.configure(group[::-1])
    (turned,) = simulations.read([SampledDrive(commands, begins, readings)])
    assert turned.tolist() == numbers[:, ::-1].tolist()


@MODELS
def test_lists_of_other_lengths_are_refused(lanes):
    for other in (vehicle(1, wheels=(0.5, -0.5)), vehicle(1, (1.0,))):
        with pytest.raises(ArgumentError, match=r"list '(wheels|casters)' has \d entries"):
            Fleet(model_of(lanes), [vehicle(0), other])
    fleet = Fleet(model_of(lanes), [vehicle(0), vehicle(1)])
    for longer in (vehicle(0, wheels=(0.5, -0.5)), vehicle(0, (1.0,))):
        with pytest.raises(ArgumentError, match=r"list '(wheels|casters)' has \d entries"):
            fleet.reset(0, [longer])
    state = LISTED.at_rest(LISTED.coefficients(vehicle(0, (1.0,)), DT))
    with pytest.raises(ArgumentError, match="has 1 entries in 'casters'; it must have 0"):
        fleet.set_state(0, state)
    assert driven(fleet) == [interpreted(vehicle(0)), interpreted(vehicle(1))]


@pytest.mark.parametrize("kind", [Vehicle, CompiledVehicle])
@pytest.mark.parametrize(
    ("other", "message"),
    [
        (vehicle(0, wheels=(0.6, 0.1, -0.5, -0.6)), "give the state 4 'wheels', and the vehicle has 3"),
        (vehicle(0, (1.0,)), "give the state 1 'casters', and the vehicle has 0"),
    ],
    ids=["more", "the first"],
)
def test_a_vehicle_keeps_its_number_of_records(kind, other, message):
    car = kind(LISTED, vehicle(0))
    with pytest.raises(ArgumentError, match=message):
        car.configure(other)
    assert car.parameters == vehicle(0)
    car.configure(vehicle(1))
    assert len(car.state.wheels[2].drive.references) == 14


def test_a_stop_stops_the_drives_of_all_records():
    s = interpreted(vehicle(1))
    assert all(wheel.drive.velocity != 0.0 for wheel in s.wheels)
    LISTED.stop(LISTED.coefficients(vehicle(1), DT), s, 0.0)
    assert [wheel.drive.velocity for wheel in s.wheels] == [0.0, 0.0, 0.0]


def other_forms(c, s, u):
    """Lists and records by other names, in several loops; indices that are computed before the program runs."""
    wheels = s.wheels
    first, last = wheels[0], wheels[-1]
    for k in range(1, len(wheels)):
        wheel = wheels[k]
        wheel.roll += first.roll * 0.5 + u.v_x
    for k in range(len(c.wheels) - 1):
        wheel, own = s.wheels[k], c.wheels[k + 1]
        s.y += own.y * wheel.roll
        wheel.turns += k
    last.roll += moment(c, s, 1) + moment(c, s, k=len(c.wheels) - 1) + 0.25 * k
    for k in range(len(c.casters)):
        for i in range(2):
            s.casters[k].path[i] += last.roll * (i + 1)


def moment(c, s, k):
    return c.wheels[k].y * s.wheels[k].roll


@CASTERS
@MODELS
def test_other_forms_are_the_interpreted_ones_to_the_bit(lanes, casters):
    model = dataclasses.replace(model_of(lanes), moving=(other_forms,))
    group = [vehicle(k, casters) for k in range(3)]
    fleet = Fleet(model, group)
    fleet.commands.v_x = [0.1, 0.2, 0.3]
    fleet.advance(5)
    for k, parameters in enumerate(group):
        c = model.coefficients(parameters, DT)
        s, u = model.at_rest(c), twist(0.1 * (k + 1) if k < 2 else 0.3, 0.0, 0.0)
        model.set_references(c, s, u)
        for _ in range(5):
            model.step(c, s, u)
        state = fleet.state(k)
        assert ([w.roll for w in state.wheels], state.y) == ([w.roll for w in s.wheels], s.y)
        assert [w.turns for w in state.wheels] == [w.turns for w in s.wheels] == [0, 5, 0]
        assert state.casters == s.casters


def guarded(c, s, u):
    """An empty list: entries that no run reads, and an index that a condition allows."""
    k = int(u.v_x)
    if len(c.casters) > 0:
        s.x += s.casters[0].path[0]
    for i in range(len(c.casters)):
        s.x += s.casters[i].path[k]
    s.y += one_or_two(c, True) + c.wheels[0].y


def one_or_two(c, flag):
    return 1.0 if flag is True and len(c.wheels) == 3 else 2.0


@CASTERS
@MODELS
def test_conditions_on_lengths_and_flags_are_the_interpreted_ones(lanes, casters):
    fleet = Fleet(dataclasses.replace(model_of(lanes), moving=(guarded,)), [vehicle(0, casters)])
    s = fleet.state(0)
    for caster in s.casters:
        caster.path[:] = 3.0, 4.0
    fleet.set_state(0, s)
    fleet.advance(1)
    guarded(LISTED.coefficients(vehicle(0, casters), DT), s, twist(0.0, 0.0, 0.0))
    assert (fleet.state(0).x, fleet.state(0).y) == (s.x, s.y) == (9.0 if casters else 0.0, 1.6)


def record_after_its_loop(c, s, u):
    for k in range(len(c.wheels)):
        wheel = s.wheels[k]
        wheel.roll += 1.0
    s.x += wheel.roll


def each_record(c, s, u):
    for wheel in s.wheels:
        wheel.roll += 1.0


def numbered_records(c, s, u):
    for k, wheel in enumerate(s.wheels):
        wheel.roll += k


def computed_record(c, s, u):
    s.wheels[int(u.v_x)].roll += 1.0


def left_loop(c, s, u):
    for k in range(len(c.wheels)):
        if s.wheels[k].roll > 1.0:
            break


def list_as_an_argument(c, s, u):
    s.x += total(s.wheels)


def total(wheels):
    return wheels[0].roll


def changed_index(c, s, u):
    s.x += next_roll(s, 0)


def next_roll(s, k):
    k += 1
    return s.wheels[k].roll


@pytest.mark.parametrize(
    ("phase", "at", "line", "reason"),
    [
        (each_record, each_record, 1, "no records and arrays as values"),
        (numbered_records, numbered_records, 1, "no records and arrays as values"),
        (computed_record, computed_record, 1, "a record has a computed index"),
        (left_loop, left_loop, 2, "a record has a computed index"),
        (list_as_an_argument, list_as_an_argument, 1, "no records and arrays as values"),
        (changed_index, next_roll, 0, "parameter 'k' gets a known whole number, such as an index"),
        (record_after_its_loop, record_after_its_loop, 4, "record lasts for one round of its loop: wheel"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_lanes_cannot_do_with_a_list_is_refused_with_file_and_line(phase, at, line, reason):
    fleet = Fleet(dataclasses.replace(model_of(True), moving=(phase,)), [vehicle(0)])
    with pytest.raises(ArgumentError, match=rf"{__file__}:{at.__code__.co_firstlineno + line}: .*{reason}"):
        fleet.advance(1)


@pytest.mark.parametrize("name", [name for name in CHECKS if name != "drawing"])
def test_the_model_passes_the_check(name):
    assert list(CHECKS[name](model_of(True), np.random.default_rng(1))) == []
