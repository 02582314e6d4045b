"""Vehicles that follow one recording's commands and are read at instants, against one stepped by the interpreter."""

import dataclasses
import math
import re
from operator import attrgetter

import numpy as np
import pytest
from helpers.guest import needs_autoware, of_guest
from helpers.random_vehicles import RANDOM, random_command
from hypothesis import given, settings
from hypothesis import strategies as st

from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.actuator_parameters import DriveParameters, SteeringParameters
from vds_gz.core.parameters.vehicles import BicycleParameters, DifferentialParameters
from vds_gz.core.vehicle.bicycle import BICYCLE
from vds_gz.core.vehicle.command import DRIVE, REVERSE, Command, SteadyMotion, ackermann, four_wheel_steering, twist
from vds_gz.core.vehicle.differential import DIFFERENTIAL
from vds_gz.core.vehicle.four_wheel_steering import FOUR_WHEEL_STEERING
from vds_gz.core.vehicle.omni import OMNI
from vds_gz.core.vehicle.schedule import COMMAND, command_records, fields_of
from vds_gz.core.vehicle.swerve import SWERVE

pytest.importorskip("numba")
from helpers.sampling import sampled

from vds_gz.tools.fleet import lanes
from vds_gz.tools.fleet.program import lane_program
from vds_gz.tools.fleet.sampled import EXACT, Calibrations, Readings, SampledDrive, Simulations, calibrate

DT = 1e-3
VEHICLES = 70
END = 240

STRUCTS = dataclasses.replace(BICYCLE, lanes=False)
IN_LANES = [BICYCLE, DIFFERENTIAL, OMNI, SWERVE]
BOTH = pytest.mark.parametrize("model", [BICYCLE, STRUCTS], ids=["lanes", "structs"])


def records_of(commands) -> np.ndarray:
    return np.array([fields_of(command) for command in commands], COMMAND)


def readings_of(terms, names, count) -> Readings:
    """Readings of terms (step, name, reading, weight)."""
    terms = sorted(terms, key=lambda term: term[0])
    steps, number, reading, weights = zip(*terms, strict=True)
    return Readings(
        np.array(steps),
        tuple(names),
        np.array([names.index(n) for n in number]),
        np.array(reading),
        np.array(weights),
        count,
    )


def random_readings(names, random, count=40) -> Readings:
    """Terms of random weights, several a reading, from the start on."""
    terms = [(0, names[0], 0, 1.0), (END, names[-1], count - 1, -0.5)]
    terms += [
        (int(random.integers(0, END)), names[random.integers(len(names))], int(random.integers(count)), random.normal())
        for _ in range(3 * count)
    ]
    return readings_of(terms, names, count)


def calibrated(command: Command, calibrations: Calibrations) -> Command:
    v_x, v_y, yaw_rate, steering_angle, offset = calibrations
    return dataclasses.replace(
        command,
        v_x=command.v_x * v_x,
        v_y=command.v_y * v_y,
        yaw_rate=command.yaw_rate * yaw_rate,
        steering_angle=command.steering_angle * steering_angle + offset,
        rear_steering_angle=command.rear_steering_angle * steering_angle,
    )


def interpreted(model, parameters, commands, begins, readings, calibrations=EXACT, state=None) -> list[float]:
    """The readings of one vehicle."""
    c = model.coefficients(parameters, DT)
    s = model.at_rest(c) if state is None else state
    read = [0.0] * readings.count
    values = [attrgetter(name) for name in readings.numbers]
    term = entered = 0
    u = Command()
    for done in range(END + 1):
        while term < len(readings.steps) and readings.steps[term] == done:
            read[readings.reading[term]] += float(readings.weights[term]) * values[readings.number[term]](s)
            term += 1
        while entered < len(begins) and begins[entered] <= done:
            u = calibrated(commands[entered], calibrations)
            model.set_references(c, s, u)
            entered += 1
        model.step(c, s, u)
    return read


def random_begins(count, random) -> np.ndarray:
    """The first at 0, others anywhere, two of them at once, the last one after everything that is read."""
    return np.sort([0, *random.integers(1, END, count - 3).tolist(), END // 2, END // 2, END + 7])[:count]


def scaled(random) -> Calibrations:
    return Calibrations(*random.uniform(0.8, 1.2, (4, VEHICLES)), random.uniform(-0.05, 0.05, VEHICLES))


def one_of(calibrations: Calibrations, i: int) -> Calibrations:
    return Calibrations(*(float(values[i]) for values in calibrations))


@pytest.mark.parametrize("model", [*IN_LANES, STRUCTS], ids=["bicycle", "differential", "omni", "swerve", "structs"])
@pytest.mark.parametrize("seed", [1, 2])
def test_readings_are_those_of_interpreted_vehicles_to_the_bit(model, seed):
    random = np.random.default_rng(seed)
    parameters = [RANDOM[model.name](random) for _ in range(VEHICLES)]
    begins = random_begins(9, random)
    commands = [random_command(IN_LANES[0] if model is STRUCTS else model, random) for _ in begins]
    names = ["v_x", "yaw_rate", "x", "heading"]
    names += ["drive.velocity", "steering.angle"] if model.name == "bicycle" else []
    readings, calibrations = random_readings(names, random), scaled(random)
    read = sampled(model, parameters, records_of(commands), begins, readings, calibrations=calibrations)
    assert read.shape == (readings.count, VEHICLES)
    for i, p in enumerate(parameters):
        assert read[:, i].tolist() == interpreted(model, p, commands, begins, readings, one_of(calibrations, i))
    assert len(np.unique(read[-1])) > VEHICLES // 2


@pytest.mark.slow
def test_calibrations_hold_for_both_axles():
    random = np.random.default_rng(4)
    parameters = [FOUR_WHEEL_STEERING.parameters()] * VEHICLES
    begins = random_begins(9, random)
    commands = [four_wheel_steering(*random.uniform(-0.4, 0.4, 3)) for _ in begins]
    readings = random_readings(["v_y", "steering_front.angle", "steering_rear.angle"], random)
    factors = scaled(random)
    read = sampled(FOUR_WHEEL_STEERING, parameters, records_of(commands), begins, readings, calibrations=factors)
    for i, p in enumerate(parameters):
        expected = interpreted(FOUR_WHEEL_STEERING, p, commands, begins, readings, one_of(factors, i))
        assert read[:, i].tolist() == expected


def varied(model, random):
    """A model's parameters, numbers of its actuators changed."""
    p = model.parameters()
    changed = {
        field.name: getattr(p, field.name) * random.uniform(0.5, 2.0)
        for field in dataclasses.fields(p)
        if field.name.endswith(("time_constant", "time_delay", "rate_lim"))
    }
    return dataclasses.replace(p, **changed, compatibility=str(random.choice(["physical", "autoware"])))


def random_input(model, random) -> Command:
    """A command of a driver, or of a model's own inputs."""
    from vds_gz.autoware.vehicle.command_kinds import CONTROL, DIRECT, PEDALS

    kind = random.choice([PEDALS if PEDALS in model.accepts else DIRECT, CONTROL])
    return Command(
        kind,
        v_x=random.uniform(-2, 4),
        steering_angle=random.uniform(-0.5, 0.5),
        target_acceleration=random.uniform(-2, 2),
        accel_pedal=random.uniform(0, 0.5),
        brake_pedal=random.uniform(0, 0.3) * random.integers(2),
        steering_command=random.uniform(-0.5, 0.5),
        gear=int(random.choice([DRIVE, DRIVE, REVERSE])),
        slope=random.uniform(-0.2, 0.2),
    )


MODELS = {name: model for cars in of_guest("helpers.autoware_cars:MODELS") for name, model in cars.items()}
LAGGING = [model for cars in of_guest("helpers.autoware_cars:LAGGING") for model in cars]

#: The one that another test needs too; each model compiles its own program.
USUAL = ("delay_steer_vel",)


@pytest.mark.parametrize("name", [pytest.param(key, marks=[] if key in USUAL else pytest.mark.slow) for key in MODELS])
def test_readings_of_autowares_models_are_those_of_interpreted_vehicles(name):
    model, random = MODELS[name], np.random.default_rng(3)
    parameters = [varied(model, random) for _ in range(6)]
    begins = random_begins(7, random)
    commands = [random_input(model, random) for _ in begins]
    readings = random_readings(["v_x", "steering.angle", "yaw_rate", "x", "drive.input", "acceleration"], random)
    calibrations = Calibrations(*random.uniform(0.8, 1.2, (4, 6)), 0.01)
    read = sampled(model, parameters, records_of(commands), begins, readings, calibrations=calibrations)
    for i, p in enumerate(parameters):
        own = Calibrations(*(float(values[i]) for values in calibrations[:4]), 0.01)
        assert read[:, i].tolist() == interpreted(model, p, commands, begins, readings, own)
    assert np.isfinite(read).all()
    assert (model not in LAGGING) or len(np.unique(read[0:-1], axis=1).T) > 3


@BOTH
def test_vehicles_start_in_the_states_that_are_given(model):
    random = np.random.default_rng(4)
    parameters = [RANDOM["bicycle"](random) for _ in range(VEHICLES)]
    starts = []
    for p in parameters:
        motion = SteadyMotion(v_x=random.uniform(-1, 1), steering_angle=random.uniform(-0.3, 0.3))
        starts.append(model.at(model.coefficients(p, DT), motion))
        starts[-1].x, starts[-1].heading = 3.0, random.uniform(-3, 3)
    begins, commands = np.array([0, 120]), [ackermann(1.0, 0.3, 0.5, 0.5), twist(-0.5, 0.0, 0.1)]
    readings = random_readings(["drive.velocity", "steering.angle", "x", "y", "v_x"], random)
    read = sampled(model, parameters, records_of(commands), begins, readings, starts=starts)
    for i, (p, state) in enumerate(zip(parameters, starts, strict=True)):
        assert read[:, i].tolist() == interpreted(model, p, commands, begins, readings, state=state)


@needs_autoware
def test_a_start_in_motion_fills_the_dead_time_of_autowares_models():
    from vds_gz.autoware.vehicle.command_kinds import CONTROL

    model = MODELS["delay_steer_vel"]
    readings = readings_of([(0, "v_x", 0, 1.0), (300, "v_x", 1, 1.0), (440, "v_x", 2, 1.0)], ["v_x"], 3)
    # As many entries, and so the same program, as of the vehicles above.
    p = dataclasses.replace(model.parameters(), vel_time_delay=0.3, steer_time_delay=0.3)
    starts = [model.at(model.coefficients(p, DT), SteadyMotion(v_x)) for v_x in (2.0, 3.0)]
    commands = command_records(kind=CONTROL, v_x=0.0)
    read = sampled(model, [p] * 2, commands, np.array([0]), readings, starts=starts)
    assert read[:2].tolist() == [[2.0, 3.0]] * 2
    assert (read[2] < [1.9, 2.9]).all()


def test_flags_and_dead_times_may_differ_between_vehicles_whatever_the_command():
    random = np.random.default_rng(5)
    base = BicycleParameters()
    parameters = [
        dataclasses.replace(
            base,
            allow_reverse=bool(k & 1),
            drive_on_steered_wheel=bool(k & 2),
            drive_actuator=dataclasses.replace(base.drive_actuator, dead_time=0.01 * k, max_acceleration=float(k % 3)),
            steering_actuator=dataclasses.replace(base.steering_actuator, max_position=0.0 if k & 2 and k & 4 else 1.0),
        )
        for k in range(8)
    ]
    commands, begins = [twist(-1.0, 0.0, 0.4), twist(1.0, 0.0, 0.4)], np.array([0, 150])
    readings = random_readings(["v_x", "yaw_rate"], random)
    read = sampled(BICYCLE, parameters, records_of(commands), begins, readings)
    assert [read[:, k].tolist() for k in range(8)] == [
        interpreted(BICYCLE, p, commands, begins, readings) for p in parameters
    ]


@BOTH
def test_between_steps_and_in_time_derivatives(model):
    """A drive with a maximum acceleration only: v = a t, so that samples and derivatives have closed forms."""
    ramp = DriveParameters(dead_time=0.0, time_constant=0.0, max_acceleration=2.0, max_velocity=0.0)
    p = BicycleParameters(drive_actuator=ramp, steering_actuator=SteeringParameters(dead_time=0.0))
    terms = [(10, "v_x", 0, 0.25), (11, "v_x", 0, 0.75), (20, "v_x", 1, -1.0 / DT), (21, "v_x", 1, 1.0 / DT)]
    terms += [(30, "v_x", 2, -1.0 / (10 * DT)), (40, "v_x", 2, 1.0 / (10 * DT))]
    read = sampled(model, [p], command_records(v_x=9.0), np.array([0]), readings_of(terms, ["v_x"], 4))
    assert read[:, 0] == pytest.approx([2.0 * 10.75 * DT, 2.0, 2.0, 0.0], rel=1e-12, abs=0.0)


STEPS = st.integers(0, END)
CHANGES = st.tuples(STEPS, st.floats(-3, 3), st.floats(-2, 2))
TERMS = st.tuples(STEPS, st.sampled_from(["v_x", "yaw_rate", "y"]), st.integers(0, 4), st.floats(-9, 9))


@given(st.lists(CHANGES, min_size=1, max_size=12), st.lists(TERMS, max_size=30), st.integers(0, 10**6), st.booleans())
@settings(max_examples=25, deadline=None)
def test_any_events_in_any_order(changes, terms, seed, structs):
    random = np.random.default_rng(seed)
    parameters = [RANDOM["bicycle"](random) for _ in range(3)]
    begins = np.sort([0, *(step for step, *_ in changes[1:])])
    commands = [twist(v_x, 0.0, yaw_rate) for _, v_x, yaw_rate in changes]
    readings = readings_of([*terms, (END, "v_x", 0, 1.0)], ["v_x", "yaw_rate", "y"], 5)
    read = sampled(STRUCTS if structs else BICYCLE, parameters, records_of(commands), begins, readings)
    for i, p in enumerate(parameters):
        assert read[:, i].tolist() == interpreted(BICYCLE, p, commands, begins, readings)


EVENTS = st.tuples(st.lists(CHANGES, min_size=1, max_size=6), st.lists(TERMS, max_size=9))


@given(st.lists(EVENTS, min_size=1, max_size=9), st.integers(1, 40), st.integers(0, 10**6), st.booleans())
@settings(max_examples=25, deadline=None)
def test_recordings_side_by_side_are_read_as_each_by_itself(recordings, vehicles, seed, structs):
    """A block may hold vehicles of several recordings, and a recording may fill several blocks."""
    random, model = np.random.default_rng(seed), STRUCTS if structs else BICYCLE
    parameters = [RANDOM["bicycle"](random) for _ in range(vehicles)]
    coefficients = [model.coefficients(p, DT) for p in parameters]
    drives = []
    for changes, terms in recordings:
        begins = np.sort([0, *(step for step, *_ in changes[1:])])
        commands = records_of([twist(v_x, 0.0, yaw_rate) for _, v_x, yaw_rate in changes])
        readings = readings_of([*terms, (END // 2, "v_x", 0, 1.0)], ["v_x", "yaw_rate", "y"], 5)
        motion = SteadyMotion(v_x=random.uniform(-1, 1), steering_angle=random.uniform(-0.3, 0.3))
        starts = [model.at(c, motion) for c in coefficients] if random.random() < 0.7 else None
        drives.append(SampledDrive(commands, begins, readings, starts))
    calibrations = Calibrations(v_x=random.uniform(0.8, 1.2, vehicles))
    together = Simulations(model, [RANDOM["bicycle"](random) for _ in range(vehicles)])
    together.read([drive._replace(starts=None) for drive in drives], calibrations)
    together.configure(parameters)
    for _ in range(2):  # the second time with vehicles that have driven
        for drive, read in zip(drives, together.read(drives, calibrations), strict=True):
            alone = Simulations(model, parameters).read([drive], calibrations)[0]
            assert read.tobytes() == alone.tobytes()


def test_parameters_of_another_number_or_model_are_refused():
    vehicles = Simulations(BICYCLE, [BicycleParameters()] * 2)
    with pytest.raises(ArgumentError, match="parameters of 3 vehicles; give those of 2"):
        vehicles.configure([BicycleParameters()] * 3)
    with pytest.raises(ArgumentError, match="DifferentialParameters"):
        vehicles.configure([DifferentialParameters()] * 2)


def test_what_is_never_read_is_zero_and_nothing_at_all_can_be_read():
    readings = Readings(np.zeros(0, int), (), np.zeros(0, int), np.zeros(0, int), np.zeros(0), 3)
    for model in (BICYCLE, STRUCTS):
        read = sampled(model, [BicycleParameters()] * 2, command_records(v_x=1.0), np.array([0]), readings)
        assert read.tolist() == [[0.0, 0.0]] * 3


def test_a_command_is_passed_on_completely():
    """Every field, including those that are added to commands later."""
    numbers = {field.name: 2 + k for k, field in enumerate(dataclasses.fields(Command))}
    received = Command()
    calibrate(received, Command(**numbers), np.array([[1.0], [1.0], [1.0], [1.0], [0.0]]), 0)
    assert received == Command(**numbers)


ONE = readings_of([(1, "v_x", 0, 1.0)], ["v_x"], 1)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"parameters": []}, "parameters of 0 vehicles"),
        ({"parameters": [DifferentialParameters()]}, "parameters at 0 are DifferentialParameters; .* has Bicycle"),
        ({"step_rate": 0.0}, "step_rate is 0; it must be"),
        ({"begins": np.array([1])}, "1 commands, which begin at 1 steps, 1 first; .* the first one must be 0"),
        ({"begins": np.array([0, 1])}, "1 commands, which begin at 2 steps"),
        ({"commands": command_records(v_x=[1.0, 1.0, 1.0]), "begins": np.array([0, 5, 4])}, "must not decrease"),
        (
            {"calibrations": Calibrations(v_x=[1.0, 2.0, 3.0])},
            r"'v_x' is \[1.0, 2.0, 3.0\]; it must be 1 .* of 2 vehicles",
        ),
        ({"calibrations": Calibrations(v_y=math.nan)}, "'v_y' .* finite"),
        ({"starts": []}, "0 starts and 2 vehicles; there must be one for each"),
        ({"readings": dataclasses.replace(ONE, numbers=("drive",))}, "no real number 'drive'; it has drive.velocity"),
    ],
)
@BOTH
def test_contradictory_arguments_are_refused(model, changed, message):
    arguments = {"parameters": [BicycleParameters()] * 2, "commands": command_records(v_x=1.0), "begins": np.array([0])}
    arguments |= {"readings": ONE} | changed
    with pytest.raises(ArgumentError, match=message):
        sampled(model, **arguments)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"steps": np.array([-1])}, "steps of readings must not decrease, nor be negative"),
        ({"number": np.array([1])}, "'number' of readings is 1 to 1; it must be 0 to 0"),
        ({"reading": np.array([-1])}, "'reading' of readings is -1 to -1; it must be 0 to 0"),
        ({"weights": np.ones(2)}, "terms of readings have shapes"),
    ],
)
def test_readings_that_contradict_each_other_are_refused(changed, message):
    with pytest.raises(ArgumentError, match=message):
        dataclasses.replace(ONE, **changed)


@pytest.mark.parametrize(
    "model",
    [pytest.param(model, id=model.name, marks=[] if model is DIFFERENTIAL else pytest.mark.slow) for model in IN_LANES],
)
def test_sampled_lanes_are_vectorized(model, monkeypatch, tmp_path):
    """A compiler that no longer vectorizes gives no warning and steps vehicle by vehicle."""
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))
    made = []
    monkeypatch.setattr(lanes, "lane_program", lambda *plan: made.append(lane_program.__wrapped__(*plan)) or made[0])
    sampled(model, [model.parameters()] * 3, command_records(v_x=1.0), np.array([0]), ONE)
    (code,) = made[0].inspect_asm().values()
    body = code[: code.index(".Lfunc_end0")]
    assert len(re.findall(r"\bv?(?:add|sub|mul|div)pd\b", body)) > 50
    # The loop over readings has a second version, for arrays that overlap.
    assert set(re.findall(r"\bv?(?:add|sub|div|sqrt)sd\b", body)) <= {"addsd", "vaddsd"}
