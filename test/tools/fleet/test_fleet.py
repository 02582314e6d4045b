"""A fleet, in lanes or as an array of structs, against the interpreted source: the same bits."""

import copy
import dataclasses
import math
import os
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
from helpers.random_vehicles import RANDOM, random_command

from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.actuator_parameters import DriveParameters
from vds_gz.core.parameters.vehicles import BicycleParameters, DifferentialParameters
from vds_gz.core.vehicle.actuators import drive_at_rest
from vds_gz.core.vehicle.bicycle import BICYCLE
from vds_gz.core.vehicle.command import ackermann, twist
from vds_gz.core.vehicle.differential import DIFFERENTIAL, DifferentialState
from vds_gz.core.vehicle.omni import OMNI
from vds_gz.core.vehicle.swerve import SWERVE
from vds_gz.core.vehicle.vehicle import Vehicle

pytest.importorskip("numba")
from helpers.compiled_steps import compiled_run

from vds_gz.core.vehicle.compiled import read_record, records
from vds_gz.tools.fleet.fleet import Fleet
from vds_gz.tools.fleet.program import lane_program

DT = 1e-3
#: Number of steps with one command, and of commands.
STEPS, COMMANDS = 60, 4
VEHICLES = 335

MODELS = [BICYCLE, DIFFERENTIAL, OMNI, SWERVE]


def without_lanes(model):
    """The model, running as structs."""
    return dataclasses.replace(model, lanes=False)


#: The quickest model represents all where each model compiles its own program.
QUICKEST = pytest.mark.parametrize(
    "model",
    [pytest.param(item, id=item.name, marks=[] if item is DIFFERENTIAL else pytest.mark.slow) for item in MODELS],
)

FLEETS = pytest.mark.parametrize("model", [BICYCLE, without_lanes(BICYCLE)], ids=["lanes", "structs"])


def histories(model, count: int, seed: int):
    """Parameters of random vehicles, and the commands of each in turn."""
    random = np.random.default_rng(seed)
    parameters = [RANDOM[model.name](random) for _ in range(count)]
    return parameters, [[random_command(model, random) for _ in parameters] for _ in range(COMMANDS)]


def interpreted(model, parameters, commands) -> list:
    """States of vehicles after commands, one vehicle after the other, oldest entries of dead times first."""
    states = []
    for i, p in enumerate(parameters):
        c = model.coefficients(p, DT)
        s = model.at_rest(c)
        for row in commands:
            model.set_references(c, s, row[i])
            for _ in range(STEPS):
                model.step(c, s, row[i])
        model.resize(c, s)
        states.append(s)
    return states


def compiled(model, parameters, commands) -> list:
    """The same states by compiled steps."""
    run = compiled_run(model.step, model.set_references)
    every = [model.coefficients(p, DT) for p in parameters]
    states = [model.at_rest(c) for c in every]
    c, s = (records(samples).view(np.ndarray) for samples in (every, states))
    for i, own in enumerate(zip(*commands, strict=True)):
        run(c[i : i + 1], s[i : i + 1], own, np.full(len(own), STEPS))
    for one, state, record in zip(every, states, s, strict=True):
        read_record(record, state)
        model.resize(one, state)
    return states


def fleet_of(model, parameters, commands) -> Fleet:
    """A fleet after the same commands."""
    fleet = Fleet(model, parameters)
    for row in commands:
        for i, command in enumerate(row):
            fleet.commands[i] = command
        fleet.advance(STEPS // 2)
        fleet.advance(STEPS - STEPS // 2)
    return fleet


def states_of(fleet: Fleet) -> list:
    """All states, oldest entries of dead times first."""
    states = [fleet.state(i) for i in range(len(fleet))]
    for state in states:
        for record in (state, *getattr(state, "modules", ())):
            for line in (getattr(record, field.name) for field in dataclasses.fields(record)):
                if not hasattr(line, "references"):
                    continue
                line.references = [*line.references[line.head :], *line.references[: line.head]]
                line.rates = [*line.rates[line.head :], *line.rates[: line.head]]
                line.head = 0
    return states


@pytest.fixture(scope="module", params=MODELS, ids=[model.name for model in MODELS])
def runs(request):
    """(model, parameters, commands, interpreted states): many random vehicles."""
    parameters, commands = histories(request.param, VEHICLES, 7)
    return request.param, parameters, commands, interpreted(request.param, parameters, commands)


def test_the_interpreted_vehicles_moved(runs):
    states = runs[3]
    assert all(math.isfinite(state.x) for state in states)
    assert sum(state.x != 0.0 and state.heading != 0.0 for state in states) > VEHICLES // 2


def test_lanes_are_the_interpreted_vehicles_to_the_bit(runs):
    model, parameters, commands, states = runs
    assert states_of(fleet_of(model, parameters, commands)) == states


def test_an_array_of_structs_is_the_interpreted_vehicles_to_the_bit(runs):
    model, parameters, commands, states = runs
    some = [row[:60] for row in commands]
    assert states_of(fleet_of(without_lanes(model), parameters[:60], some)) == states[:60]


def test_compiled_vehicles_are_the_interpreted_ones_to_the_bit(runs):
    model, parameters, commands, states = runs
    assert compiled(model, parameters[:60], [row[:60] for row in commands]) == states[:60]


@QUICKEST
def test_equal_vehicles_are_the_interpreted_ones_to_the_bit(model):
    """Flags that all share are constants, equal dead times are copied, and no command limits a rate."""
    parameters, commands = histories(model, 1, 11)
    parameters, commands = (
        parameters * 70,
        [[dataclasses.replace(row[0], acceleration=math.inf, steering_rate=math.inf)] * 70 for row in commands],
    )
    expected = interpreted(model, parameters[:1], commands)
    assert states_of(fleet_of(model, parameters, commands)) == expected * 70


def test_a_limit_that_comes_later_acts_from_its_own_step():
    p = BicycleParameters(drive_actuator=DriveParameters(dead_time=0.05, max_acceleration=0.0, time_constant=0.0))
    commands = [[twist(1.0, 0.0, 0.1)], [ackermann(-1.0, 0.2, 0.5, 0.5)], [twist(2.0, 0.0, 0.0)], [ackermann(0.3, 0.1)]]
    assert states_of(fleet_of(BICYCLE, [p], commands)) == interpreted(BICYCLE, [p], commands)


PROGRAM = """
import sys
import test_fleet as t

parameters, commands = t.histories(t.BICYCLE, 100, 5)
assert t.states_of(t.fleet_of(t.BICYCLE, parameters, commands)) == t.interpreted(t.BICYCLE, parameters, commands)
print([state.x.hex() for state in t.interpreted(t.BICYCLE, parameters, commands)])
"""


def test_other_variants_of_the_c_librarys_functions_give_the_same_bits(tmp_path):
    """glibc chooses among those with and without fused multiply-add by the processor."""
    path = os.pathsep.join([os.path.dirname(__file__), *sys.path])
    outputs = []
    for tunables in ("", "glibc.cpu.hwcaps=-FMA,-AVX2,-FMA4,-AVX2_Usable,-FMA_Usable"):
        environment = os.environ | {"PYTHONPATH": path, "GLIBC_TUNABLES": tunables}
        outputs.append(subprocess.check_output([sys.executable, "-c", PROGRAM], env=environment, text=True))
    assert outputs[0] == outputs[1]


def test_a_fleet_holds_its_commands_like_a_vehicle_without_a_time_out():
    p, command = DifferentialParameters(), twist(0.5, 0.0, 1.0)
    fleet = Fleet(DIFFERENTIAL, [p])
    fleet.commands[:] = command
    fleet.advance(3000)
    headings = []
    for options in ({"max_command_age": math.inf}, {}):
        vehicle = Vehicle(DIFFERENTIAL, p, **options)
        vehicle.enter(command, 0)
        vehicle.advance(3_000_000_000)
        headings.append(vehicle.motion().heading)
    assert fleet.states.heading[0] == headings[0]
    assert headings[1] < 0.6 * headings[0]


def test_every_vehicle_of_a_fleet_has_its_own_dead_time():
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


@FLEETS
def test_a_vehicle_can_be_copied_and_put_back_to_its_start_while_the_others_go_on(model):
    parameters, commands = histories(BICYCLE, 70, 3)
    fleet, other = fleet_of(model, parameters, commands), fleet_of(model, parameters, commands)
    before = fleet.state(66)
    fleet.reset([3, 66])
    assert states_of(fleet)[66] == BICYCLE.at_rest(BICYCLE.coefficients(parameters[66], DT))
    fleet.set_state(66, before)
    fleet.set_state(3, other.state(3))
    fleet.advance(STEPS)
    other.advance(STEPS)
    assert states_of(fleet) == states_of(other)


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda fleet: pickle.loads(pickle.dumps(fleet))], ids=["copy", "pickle"]
)
@FLEETS
def test_a_copy_of_a_fleet_continues_as_the_fleet_does_without_changing_it(model, copied):
    parameters, commands = histories(BICYCLE, 70, 3)
    fleet = fleet_of(model, parameters, commands)
    other = copied(fleet)
    before = states_of(fleet)
    other.commands.v_x = fleet.commands.v_x + 0.5
    other.advance(STEPS)
    assert states_of(fleet) == before
    assert states_of(other) != before
    fleet.commands.v_x = other.commands.v_x
    fleet.advance(STEPS)
    assert states_of(fleet) == states_of(other)


@FLEETS
@pytest.mark.parametrize("dead_time", [0.0, 0.03, 0.9], ids=["none", "shorter", "longer than any before"])
def test_a_vehicle_is_replaced_with_other_parameters_while_the_others_go_on(model, dead_time):
    parameters, commands = histories(BICYCLE, 70, 3)
    replaced = [
        dataclasses.replace(
            p,
            wheel_base=1.5 * p.wheel_base,
            drive_actuator=dataclasses.replace(p.drive_actuator, dead_time=dead_time),
            steering_actuator=dataclasses.replace(p.steering_actuator, dead_time=0.5 * dead_time, time_constant=0.2),
        )
        for p in (parameters[3], parameters[66])
    ]
    fleet, untouched = fleet_of(model, parameters, commands), fleet_of(model, parameters, commands)
    fleet.reset([3, 66], replaced)
    for row in commands:
        for i, command in enumerate(row):
            fleet.commands[i] = untouched.commands[i] = command
        fleet.advance(STEPS)
        untouched.advance(STEPS)
    states, others = states_of(fleet), states_of(untouched)
    expected = interpreted(BICYCLE, replaced, [[row[3], row[66]] for row in commands])
    assert [states[3], states[66]] == expected
    assert all(states[i] == others[i] for i in range(70) if i not in (3, 66))
    fleet.reset(3)
    assert fleet.state(3) == BICYCLE.at_rest(BICYCLE.coefficients(replaced[0], DT))


def test_parameters_that_do_not_fit_a_fleet_are_refused():
    fleet = Fleet(BICYCLE, [BicycleParameters()] * 3)
    with pytest.raises(ArgumentError, match="parameters of 1 vehicles; give those of 2"):
        fleet.reset([0, 1], [BicycleParameters()])
    before = fleet.state(2)
    with pytest.raises(ArgumentError, match=r"'parallel_steering' is True for vehicle 2; in this fleet it is False"):
        fleet.reset(2, [BicycleParameters(wheel_base=3.0, parallel_steering=True)])
    fleet.commands[2] = ackermann(1.0, 0.2)
    other = Fleet(BICYCLE, [BicycleParameters()])
    other.commands[0] = ackermann(1.0, 0.2)
    for one in (fleet, other):
        one.advance(STEPS * 10)
    assert before == BICYCLE.at_rest(BICYCLE.coefficients(BicycleParameters(), DT))
    assert fleet.state(2) == other.state(0)


@FLEETS
def test_columns_are_views_that_are_set_for_all_or_for_some(model):
    fleet = Fleet(model, [BicycleParameters()] * 5)
    fleet.commands[1:3] = ackermann(1.0, 0.2)
    fleet.commands.v_y = 0.5
    fleet.states.drive.velocity[4] = 1.5
    assert fleet.commands.kind.tolist() == [0, 1, 1, 0, 0]
    assert fleet.commands.v_x.tolist() == [0.0, 1.0, 1.0, 0.0, 0.0]
    assert fleet.commands.v_y.tolist() == [0.5] * 5
    assert fleet.state(4).drive.velocity == 1.5
    assert len(fleet.states) == 5
    assert "yaw_rate" in dir(fleet.states)
    with pytest.raises(AttributeError, match="no field 'speed'; there are kind, v_x,"):
        fleet.commands.speed = 1.0
    with pytest.raises(ArgumentError, match=r"'drive' has fields .*velocity"):
        fleet.states.drive = 1.0
    with pytest.raises(IndexError, match="no vehicle 5; the fleet has 5"):
        fleet.state(5)
    with pytest.raises(ArgumentError, match="views of a fleet's numbers and cannot be copied"):
        copy.deepcopy(fleet.states)


@pytest.mark.parametrize(
    ("parameters", "options", "message"),
    [
        ([], {}, "fleet has 0 vehicles"),
        ([BicycleParameters(), DifferentialParameters()], {}, "parameters at 1 are DifferentialParameters; .*Bicycle"),
        ([BicycleParameters()], {"step_rate": 0.0}, "step_rate is 0; it must be a finite number greater than 0"),
        ([BicycleParameters()], {"step_rate": math.nan}, "step_rate is nan"),
    ],
)
@FLEETS
def test_invalid_fleets_are_refused(model, parameters, options, message):
    with pytest.raises(ArgumentError, match=message):
        Fleet(model, parameters, **options)


@FLEETS
def test_invalid_numbers_of_steps_are_refused_and_change_nothing(model):
    fleet = Fleet(model, [BicycleParameters()])
    for steps in (-5, 1.5):
        with pytest.raises(ArgumentError, match=f"steps is {steps}; it must be a whole number, at least 0"):
            fleet.advance(steps)
    assert fleet.state(0) == model.at_rest(model.coefficients(BicycleParameters(), DT))


@FLEETS
def test_a_state_of_another_model_or_of_other_dead_times_is_refused(model):
    late = DriveParameters(dead_time=0.5)
    fleet = Fleet(model, [BicycleParameters(), BicycleParameters(drive_actuator=late)])
    before = fleet.state(0), fleet.state(1)
    with pytest.raises(ArgumentError, match=r"vehicle 0 has 501 entries in 'drive.references'; it must have 201"):
        fleet.set_state(0, before[1])
    with pytest.raises(ArgumentError, match=r"vehicle 1 has 201 entries in 'drive.references'; it must have 501"):
        fleet.set_state(1, before[0])
    with pytest.raises(ArgumentError, match="vehicle 1 is given as DifferentialState; it must be BicycleState"):
        fleet.set_state(-1, Fleet(DIFFERENTIAL, [DifferentialParameters()]).state(0))
    assert (fleet.state(0), fleet.state(1)) == before


@dataclasses.dataclass(slots=True)
class WatchedState(DifferentialState):
    """A state with a flag that changes."""

    fast: bool = False


def watch(c, s, u) -> None:
    s.fast = s.v_x > 0.5


def test_flags_in_a_state_may_change():
    watched = dataclasses.replace(
        DIFFERENTIAL,
        at_rest=lambda c: WatchedState(drive_at_rest(c.drive), drive_at_rest(c.drive)),
        moving=(*DIFFERENTIAL.moving, watch),
    )
    at_once = DriveParameters(dead_time=0.0, time_constant=0.01, max_acceleration=0.0)
    parameters = [DifferentialParameters(drive_actuators=at_once)] * 2
    commands = [[twist(2.0, 0.0, 0.1), twist(0.2, 0.0, 0.1)]] * COMMANDS
    states = states_of(fleet_of(watched, parameters, commands))
    assert states == interpreted(watched, parameters, commands)
    assert [state.fast for state in states] == [True, False]


FORK = """
import os, signal
from vds_gz import DIFFERENTIAL, DifferentialParameters, Fleet

fleet = Fleet(DIFFERENTIAL, [DifferentialParameters()] * 256)
fleet.advance(1000)
child = os.fork()
if child == 0:
    signal.alarm(60)
    fleet.advance(1000)
    os._exit(0)
print(os.waitpid(child, 0)[1])
"""


def test_a_forked_process_uses_its_own_threads():
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "NUMBA_NUM_THREADS": "2"}
    assert subprocess.check_output([sys.executable, "-c", FORK], env=environment, text=True) == "0\n"


@QUICKEST
def test_lanes_are_vectorized(model, monkeypatch, tmp_path):
    """A compiler that no longer vectorizes gives no warning and steps vehicle by vehicle."""
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))
    lane_program.cache_clear()
    fleet = Fleet(model, [model.parameters()] * 3)
    fleet.advance(1)
    (code,) = fleet.vehicles.program().inspect_asm().values()
    body = code[: code.index(".Lfunc_end0")]
    assert len(re.findall(r"\bv?(?:add|sub|mul|div)pd\b", body)) > 50
    assert not re.findall(r"\bv?(?:add|sub|mul|div|sqrt)sd\b", body)
