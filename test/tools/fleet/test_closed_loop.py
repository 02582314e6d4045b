"""Vehicles under control along a path: the same bits whichever way they run, and what control theory says."""

import dataclasses
import math
import re

import numpy as np
import pytest
from helpers.guest import needs_autoware
from helpers.random_vehicles import RANDOM, some
from hypothesis import given, settings
from hypothesis import strategies as st

from vds_gz.core.configuration import load_parameters
from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.actuator_parameters import DriveParameters, SteeringParameters
from vds_gz.core.parameters.controller_parameters import (
    ControllerParameters,
    LqrParameters,
    PurePursuitParameters,
    StanleyParameters,
)
from vds_gz.core.parameters.declaration import LARGEST, SMALLEST
from vds_gz.core.parameters.vehicles import BicycleParameters, DifferentialParameters
from vds_gz.core.vehicle.bicycle import BICYCLE
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.command import ACKERMANN, TWIST, Command
from vds_gz.core.vehicle.differential import DIFFERENTIAL
from vds_gz.core.vehicle.omni import OMNI
from vds_gz.core.vehicle.trigonometry import direction
from vds_gz.tools.fleet.path import Path

pytest.importorskip("numba")
from vds_gz.tools.fleet import lanes
from vds_gz.tools.fleet.callback import ControllerError
from vds_gz.tools.fleet.closed_loop import ClosedLoop
from vds_gz.tools.fleet.controllers import CONTROLLERS, controlled_vehicle, regulator
from vds_gz.tools.fleet.fleet import Fleet
from vds_gz.tools.fleet.program import lane_program
from vds_gz.tools.fleet.tracking import FINISHED, LEFT, Course, Tracking, track

RATE, STEPS, DT = 50.0, 20, 1e-3
VEHICLES, PERIODS = 70, 90


def circle(radius: float) -> Path:
    """A circle to the left, from the origin."""
    angles = np.linspace(0.0, 2.0 * math.pi, 100)[:-1]
    return Path.from_points([(radius * math.sin(a), radius - radius * math.cos(a)) for a in angles], closed=True)


SINE = Path.from_points([(x, 0.8 * math.sin(x)) for x in np.linspace(0.0, 4.0, 25)])
STRAIGHT = Path.from_points([(0.0, 0.0), (500.0, 0.0)], spacing=0.5)
CIRCLE = circle(5.0)

IDEAL_DRIVE = DriveParameters(dead_time=0.0, time_constant=0.0, max_velocity=0.0, max_acceleration=0.0)


def ideal_bicycle(**steering: float) -> BicycleParameters:
    """A bicycle without other dead times, lags and limits than those in ``steering``."""
    none = {"dead_time": 0.0, "time_constant": 0.0, "max_velocity": 0.0, "max_position": 1.0}
    return BicycleParameters(
        wheel_base=1.0, drive_actuator=IDEAL_DRIVE, steering_actuator=SteeringParameters(**none | steering)
    )


def random_controller(name: str, random) -> ControllerParameters:
    speeds = {"speed": random.uniform(0.5, 3.0), "lateral_acceleration": some(random, 0.5, 5.0)}
    if name == "pure_pursuit":
        return PurePursuitParameters(
            **speeds, look_ahead=random.uniform(0.3, 2.0), look_ahead_time=some(random, 0.1, 1.0)
        )
    if name == "stanley":
        return StanleyParameters(**speeds, gain=random.uniform(0.1, 3.0), softening=random.uniform(0.1, 1.0))
    return LqrParameters(
        **speeds,
        lateral_error=random.uniform(0.1, 1.0),
        heading_error=random.uniform(0.1, 1.0),
        curvature=random.uniform(0.1, 1.0),
        preview=some(random, 0.1, 0.5),
        steering_time_constant=some(random, 0.01, 0.5),
    )


def random_runs(model, name: str, seed: int):
    """Parameters of vehicles and controllers, and where each vehicle starts: distance, lateral, heading error."""
    random = np.random.default_rng(seed)
    vehicles = [RANDOM[model.name](random) for _ in range(VEHICLES)]
    if name == "stanley":
        vehicles = [dataclasses.replace(vehicle, reverse=False) for vehicle in vehicles]
    places = random.uniform((0.0, -0.65, -1.2), (3.5, 0.65, 1.2), (VEHICLES, 3))
    return vehicles, [random_controller(name, random) for _ in vehicles], places


def loop_of(model, vehicles, name, parameters, places) -> ClosedLoop:
    loop = ClosedLoop(Fleet(model, vehicles), SINE, name, parameters, rate=RATE, bound=0.7)
    loop.place(*places.T)
    return loop


def results(loop: ClosedLoop) -> list:
    """Tracking and motion of every vehicle."""
    every = []
    for i in range(len(loop)):
        tracking, state = Tracking(), loop.fleet.state(i)
        loop.tracking.write_to(tracking, i)
        every.append((tracking, state.x, state.y, state.heading, state.v_x, state.yaw_rate))
    return every


def interpreted(model, vehicles, name, parameters, places) -> list:
    """The same results by the interpreted functions."""
    controller, every = CONTROLLERS[name], []
    course = Course(SINE.points, SINE.closed, SINE.spacing, 0.7)
    at_start = loop_of(model, vehicles, name, parameters, places)
    for i, (vehicle, p) in enumerate(zip(vehicles, parameters, strict=True)):
        plant = controlled_vehicle(model, vehicle, 1.0 / RATE, SINE.spacing)
        c, g, s, u = model.coefficients(vehicle, DT), controller.coefficients(p, plant), None, Command(plant.kind)
        s, f = model.at_rest(c), Tracking()
        s.x, s.y, s.heading = (getattr(at_start.fleet.states, name)[i].item() for name in ("x", "y", "heading"))
        at_start.tracking.write_to(f, i)
        for k in range(PERIODS):
            track(course, g.following, s, f, k * (1.0 / RATE))
            controller.control(course, g, s, f, u)
            model.set_references(c, s, u)
            for _ in range(STEPS):
                model.step(c, s, u)
        every.append((f, s.x, s.y, s.heading, s.v_x, s.yaw_rate))
    return every


PAIRS = [
    (model, name)
    for model in (BICYCLE, DIFFERENTIAL, OMNI)
    for name in CONTROLLERS
    if (model, name) not in [(DIFFERENTIAL, "stanley"), (OMNI, "stanley")]
]

#: Every controller, and one of them for another model too; each pair compiles its own program.
USUAL = [*((BICYCLE, name) for name in CONTROLLERS), (DIFFERENTIAL, "lqr")]
EVERY_PAIR = pytest.mark.parametrize(
    ("model", "name"),
    [pytest.param(*pair, marks=[] if pair in USUAL else pytest.mark.slow) for pair in PAIRS],
    ids=[f"{model.name}-{name}" for model, name in PAIRS],
)


@EVERY_PAIR
def test_lanes_and_structs_under_control_are_the_interpreted_vehicles_to_the_bit(model, name):
    runs = random_runs(model, name, 3)
    expected = interpreted(model, runs[0], name, *runs[1:])
    assert {tracking.status for tracking, *_ in expected} >= {FINISHED, LEFT}
    lanes = loop_of(model, runs[0], name, *runs[1:])
    lanes.advance(PERIODS // 3)
    lanes.advance(PERIODS - PERIODS // 3)
    assert results(lanes) == expected
    if model is DIFFERENTIAL:
        structs = loop_of(dataclasses.replace(model, lanes=False), runs[0], name, *runs[1:])
        structs.advance(PERIODS)
        assert results(structs) == expected


def test_a_run_that_begins_again_is_the_same():
    vehicles, parameters, places = random_runs(BICYCLE, "pure_pursuit", 5)
    loop = loop_of(BICYCLE, vehicles, "pure_pursuit", parameters, places)
    loop.advance(PERIODS)
    first = results(loop)
    loop.place(*places.T)
    loop.advance(PERIODS)
    assert results(loop) == first


def test_controlled_lanes_are_vectorized(monkeypatch, tmp_path):
    """A compiler that no longer vectorizes gives no warning and steps vehicle by vehicle."""
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))
    made = []
    monkeypatch.setattr(lanes, "lane_program", lambda *plan: made.append(lane_program.__wrapped__(*plan)) or made[0])
    ClosedLoop(Fleet(BICYCLE, [BicycleParameters()] * 3), SINE).advance(1)
    (code,) = made[0].inspect_asm().values()
    assert len(re.findall(r"\bv?(?:add|sub|mul|div)pd\b", code)) > 100


# ---------------------------------------------------------------------- custom controllers


def as_pure_pursuit(wheel_base: float, look_ahead: float, speed: float):
    """The shipped controller's arithmetic over observations."""

    def control(observations):
        x, y = observations[:, names.index(f"x_{look_ahead:g}m")], observations[:, names.index(f"y_{look_ahead:g}m")]
        curvature = 2.0 * y / (x * x + y * y)
        angles = [direction(value * wheel_base, 1.0) for value in curvature.tolist()]
        return np.stack([angles, np.full(len(x), speed)], axis=1)

    names = ()

    def bind(loop: ClosedLoop) -> None:
        nonlocal names
        names = loop.observation_names

    return control, bind


def test_a_function_with_the_same_arithmetic_gives_the_bits_of_the_shipped_controller():
    vehicles, _, places = random_runs(BICYCLE, "pure_pursuit", 8)
    vehicles = [dataclasses.replace(vehicle, wheel_base=1.2, reverse=False) for vehicle in vehicles]
    shipped = PurePursuitParameters(speed=1.5, lateral_acceleration=0.0, look_ahead=1.25, look_ahead_time=0.0)
    control, bind = as_pure_pursuit(1.2, 1.25, 1.5)
    expected = loop_of(BICYCLE, vehicles, "pure_pursuit", shipped, places)
    expected.advance(PERIODS)
    loop = ClosedLoop(
        Fleet(BICYCLE, vehicles),
        SINE,
        control,
        ControllerParameters(speed=1.5, lateral_acceleration=0.0),
        bound=0.7,
        preview=[1.25],
        actions=2,
    )
    bind(loop)
    loop.place(*places.T)
    loop.advance(PERIODS)
    assert results(loop) == results(expected)
    assert loop.observe().shape == (VEHICLES, len(loop.observation_names))
    assert {"running", "finished", "left"} == set(expected.statuses())


@pytest.mark.parametrize(
    ("preset", "angles"),
    [
        ("swerve_robot", [f"steering_angle_{k}" for k in (1, 2, 3, 4)]),
        ("four_wheel_steering_robot", ["steering_angle"]),
        ("indoor_robot", ["steering_angle"]),
    ],
)
def test_a_function_observes_the_angles_of_all_that_steers(preset, angles):
    """On a circle to the left: modules by their places, the front axle of two, 0 of wheels that do not steer."""
    parameters = load_parameters(preset)
    fleet = Fleet(models()[parameters.model], [parameters.vehicle])
    loop = ClosedLoop(fleet, CIRCLE, "pure_pursuit", PurePursuitParameters(speed=0.5, lateral_acceleration=0.0))
    loop.place()
    loop.advance(200)
    observed = dict(zip(loop.observation_names, loop.observe()[0].tolist(), strict=True))
    assert [name for name in observed if name.startswith("steering_angle")] == angles
    states = fleet.states
    if preset == "swerve_robot":
        assert [observed[name] for name in angles] == [float(module.steering.angle[0]) for module in states.modules]
        assert observed["steering_angle_1"] > 0.0 > observed["steering_angle_2"]
    elif preset == "indoor_robot":
        assert observed["steering_angle"] == 0.0
    else:
        assert observed["steering_angle"] == states.steering_front.angle[0] > 0.0


def test_what_a_function_observes():
    seen = []

    def control(observations):
        seen.append(dict(zip(loop.observation_names, observations[0].tolist(), strict=True)))
        observations[:] = math.nan
        return [[0.1 * len(seen), 1.0]]

    loop = ClosedLoop(Fleet(BICYCLE, [ideal_bicycle()]), CIRCLE, control, preview=[2.0], actions=2)
    loop.place(distance=2.5 * math.pi, lateral=0.5, heading_error=0.25)
    loop.advance(3)
    first, _, third = seen
    assert first["lateral"] == pytest.approx(0.5, abs=1e-3)
    assert first["heading_error"] == pytest.approx(0.25, abs=1e-3)
    assert first["distance"] == pytest.approx(2.5 * math.pi, rel=1e-3)
    assert first["curvature"] == pytest.approx(0.2, rel=0.01)
    assert (first["x"], first["y"]) == pytest.approx((4.5, 5.0), abs=1e-2)
    ahead = 2.0 / 5.0
    path_axes = 5.0 * math.sin(ahead), 5.0 * (1.0 - math.cos(ahead)) - 0.5
    turned = complex(*path_axes) * complex(math.cos(0.25), -math.sin(0.25))
    assert (first["x_2m"], first["y_2m"]) == pytest.approx((turned.real, turned.imag), abs=1e-2)
    assert (first["last_steering_angle_1"], first["last_v_x_2"]) == (0.0, 0.0)
    assert (third["last_steering_angle_1"], third["last_steering_angle_2"], third["last_v_x_1"]) == (0.2, 0.1, 1.0)
    assert third["steering_angle"] == 0.2
    assert third["v_x"] == 1.0


def failing(result):
    """A controller that drives for half a second and then returns this, or raises it."""
    calls = []

    def my_controller(observations):
        calls.append(observations)
        if len(calls) <= 25:
            return np.zeros((len(observations), 2))
        if isinstance(result, Exception):
            raise result
        return result

    return my_controller


@pytest.mark.parametrize(
    ("result", "vehicle", "message"),
    [
        (ZeroDivisionError("by zero"), None, "3 vehicles at 0.5 s: it raised ZeroDivisionError: by zero"),
        (np.array([[0, 1], [0, 1], [np.nan, 1]]), 2, "vehicle 2 at 0.5 s: the steering angle is nan; it must be a num"),
        (np.array([[0, 1], [0, np.inf], [0, 1]]), 1, "vehicle 1 at 0.5 s: the speed is inf; it must be a number"),
        (
            np.zeros((3, 1)),
            None,
            r"3 vehicles at 0.5 s: it returned the shape \(3, 1\); .* shape \(3, 2\): steering angle .rad. and speed",
        ),
        (None, None, r"3 vehicles at 0.5 s: it returned (the shape \(\)|NoneType)"),
        ("left", None, "3 vehicles at 0.5 s: it returned str; it must return commands"),
    ],
)
def test_a_function_that_fails_is_named_with_the_vehicle_and_the_time(result, vehicle, message):
    loop = ClosedLoop(Fleet(BICYCLE, [ideal_bicycle()] * 3), STRAIGHT, failing(result))
    with pytest.raises(ControllerError, match=f"controller 'my_controller', {message}") as caught:
        loop.advance(100)
    assert caught.value.time == 0.5
    assert caught.value.vehicle == vehicle


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(DIFFERENTIAL, id="lanes"),
        pytest.param(dataclasses.replace(DIFFERENTIAL, lanes=False), id="structs", marks=pytest.mark.slow),
    ],
)
def test_a_function_of_a_module_drives_vehicles_without_steering(tmp_path, monkeypatch, model):
    (tmp_path / "my_robot_control.py").write_text(
        "def straight_on(observations):\n    return [[1.0, -0.5 * lateral] for lateral in observations[:, 0]]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    vehicle = DifferentialParameters(drive_actuators=IDEAL_DRIVE)
    loop = ClosedLoop(Fleet(model, [vehicle] * 2), STRAIGHT, "my_robot_control:straight_on")
    loop.place(lateral=[0.1, -0.1])
    loop.advance(1)
    assert loop.fleet.commands.v_x.tolist() == [1.0, 1.0]
    assert loop.fleet.commands.yaw_rate.tolist() == pytest.approx([-0.05, 0.05])
    assert loop.fleet.states.v_x.tolist() == [1.0, 1.0]
    assert loop.fleet.states.x.tolist() == pytest.approx([0.02, 0.02], rel=1e-3)


@pytest.mark.parametrize(
    ("controller", "message"),
    [
        ("pure", "controller 'pure' is unknown; there are pure_pursuit, stanley, lqr, and module:function"),
        ("no_such_module:control", "module 'no_such_module' cannot be imported: ModuleNotFoundError"),
        ("math:no_such_function", "module 'math' has no function 'no_such_function'"),
    ],
)
def test_unknown_controllers_are_refused(controller, message):
    with pytest.raises(ArgumentError, match=message):
        ClosedLoop(Fleet(BICYCLE, [ideal_bicycle()]), STRAIGHT, controller)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rate": 30.0}, "rate is 30 Hz; the vehicles' 1000 steps per second must be a whole multiple"),
        ({"rate": 0.0}, "rate is 0; it must be greater than 0"),
        ({"rate": 2000.0}, "must be a whole multiple"),
        ({"bound": math.nan}, "bound is nan"),
        ({"laps": 0}, "laps is 0"),
        ({"laps": math.nan}, "laps is nan"),
        ({"controller": 5}, "controller is 5; it must be a controller, the name of one, or a function"),
        ({"parameters": 5}, "parameters are int; they must be PurePursuitParameters"),
        ({"preview": [-1.0]}, "preview is"),
        ({"parameters": StanleyParameters()}, "parameters are StanleyParameters; they must be PurePursuitParameters"),
        ({"parameters": [PurePursuitParameters()]}, "parameters of 1 controllers; there must be one or 2"),
    ],
)
def test_contradictory_arguments_are_refused(options, message):
    with pytest.raises(ArgumentError, match=message):
        ClosedLoop(Fleet(BICYCLE, [ideal_bicycle()] * 2), STRAIGHT, **options)


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ({"lateral": "left"}, "lateral is 'left'; it must be one finite number or 3"),
        ({"lateral": math.nan}, "lateral is nan; it must be one finite number or 3"),
        ({"distance": [1.0, 2.0]}, r"distance is \[1.0, 2.0\] of shape \(2,\); it must be one finite number or 3"),
    ],
)
def test_invalid_places_are_refused(place, message):
    with pytest.raises(ArgumentError, match=message):
        ClosedLoop(Fleet(BICYCLE, [ideal_bicycle()] * 3), STRAIGHT).place(**place)


def test_a_vehicle_whose_wheels_all_steer_gets_twists():
    """An Ackermann command does not give the angle of its second axle."""

    def geometry(p):
        plain = BICYCLE.geometry(p)
        wheels = tuple(dataclasses.replace(wheel, steered=True) for wheel in plain.wheels)
        return dataclasses.replace(plain, wheels=wheels)

    model = dataclasses.replace(BICYCLE, name="rover", geometry=geometry)
    assert controlled_vehicle(model, BicycleParameters(), 0.02, 0.1).kind == TWIST
    model = dataclasses.replace(model, accepts=frozenset((ACKERMANN,)))
    with pytest.raises(ArgumentError, match="no controller can drive vehicle model 'rover': it takes no twist, and no"):
        controlled_vehicle(model, BicycleParameters(), 0.02, 0.1)


def test_vehicles_of_one_loop_take_commands_of_one_kind():
    def geometry(p):
        plain = BICYCLE.geometry(p)
        wheels = tuple(dataclasses.replace(wheel, steered=wheel.steered or p.reverse) for wheel in plain.wheels)
        return dataclasses.replace(plain, wheels=wheels)

    model = dataclasses.replace(BICYCLE, name="rover", geometry=geometry)
    fleet = Fleet(model, [BicycleParameters(), BicycleParameters(reverse=True)])
    with pytest.raises(ArgumentError, match="some vehicles take Ackermann commands and others twists"):
        ClosedLoop(fleet, SINE)


@pytest.mark.parametrize("vehicle", [DIFFERENTIAL, dataclasses.replace(BICYCLE, name="rear-steered")])
def test_stanley_needs_a_front_axle(vehicle):
    parameters = DifferentialParameters() if vehicle is DIFFERENTIAL else BicycleParameters(reverse=True)
    with pytest.raises(ArgumentError, match=f"'stanley' steers a front axle, and a vehicle of model '{vehicle.name}'"):
        ClosedLoop(Fleet(vehicle, [parameters]), STRAIGHT, "stanley")


@pytest.mark.parametrize("speed", [SMALLEST, LARGEST])
@pytest.mark.parametrize("weight", [SMALLEST, LARGEST])
@pytest.mark.parametrize("name", ["curvature", "lateral_error", "heading_error"])
def test_a_regulator_has_finite_gains_at_the_bounds_of_its_parameters(name, weight, speed):
    loop = ClosedLoop(Fleet(BICYCLE, [ideal_bicycle()]), STRAIGHT, "lqr", LqrParameters(speed=speed, **{name: weight}))
    loop.advance(1)
    assert math.isfinite(loop.fleet.states.v_x[0])


def test_a_vehicle_with_the_highest_maximum_speed_is_found_on_its_path():
    fast = dataclasses.replace(ideal_bicycle(), drive_actuator=dataclasses.replace(IDEAL_DRIVE, max_velocity=LARGEST))
    loop = ClosedLoop(Fleet(BICYCLE, [fast]), STRAIGHT)
    loop.advance(50)
    assert loop.tracking.position * STRAIGHT.spacing == pytest.approx(0.98)


@pytest.mark.parametrize("periods", [-1, 1.5])
def test_invalid_numbers_of_periods_are_refused(periods):
    with pytest.raises(ArgumentError, match=f"periods is {periods}; it must be a whole number, at least 0"):
        ClosedLoop(Fleet(BICYCLE, [ideal_bicycle()]), STRAIGHT).advance(periods)


# ---------------------------------------------------------------------- measures and how runs end


def test_measures_are_those_of_the_samples():
    loop = loop_of(BICYCLE, *(lambda v, p, w: (v, "pure_pursuit", p, w))(*random_runs(BICYCLE, "pure_pursuit", 9)))
    samples = []
    for _ in range(40):
        loop.advance(1)
        samples.append([loop.tracking.lateral.copy(), loop.tracking.heading_error.copy()])
    running = loop.tracking.status == 0
    lateral, heading = np.array(samples)[:, :, running].transpose(1, 0, 2)
    measures = loop.measures()
    np.testing.assert_allclose(measures["path.rms"][running], np.sqrt((lateral**2).mean(axis=0)), rtol=1e-12)
    np.testing.assert_allclose(measures["heading.rms"][running], np.sqrt((heading**2).mean(axis=0)), rtol=1e-12)
    assert measures["path.peak"][running].tolist() == abs(lateral).max(axis=0).tolist()
    assert measures["heading.peak"][running].tolist() == abs(heading).max(axis=0).tolist()


def test_a_run_is_finished_at_the_end_of_the_path():
    short = Path.from_points([(0.0, 0.0), (3.0, 0.0)])
    loop = ClosedLoop(Fleet(BICYCLE, [ideal_bicycle()] * 2), short, parameters=PurePursuitParameters(speed=1.5))
    loop.place(distance=[0.0, 1.5])
    loop.advance(150)
    assert loop.statuses() == ["finished"] * 2
    assert loop.measures()["finished"] == pytest.approx([2.0, 1.0], abs=0.021)
    assert np.isnan(loop.measures()["left"]).all()
    assert loop.fleet.states.v_x.tolist() == [0.0, 0.0]


def test_a_path_may_begin_and_end_at_standstill():
    """Recorded paths do."""
    recorded = Path.from_points([(0.0, 0.0), (1.0, 0.0), (3.0, 0.0), (4.0, 0.0)], [0.0, 2.0, 2.0, 0.0])
    loop = ClosedLoop(Fleet(BICYCLE, [ideal_bicycle()]), recorded, parameters=PurePursuitParameters(speed=3.0))
    loop.advance(500)
    assert loop.statuses() == ["finished"]


@pytest.mark.parametrize(("radius", "rate"), [(5.0, 50.0), (1.0, 10.0)], ids=["long", "shorter than the search"])
def test_laps_of_a_closed_path(radius, rate):
    loop = ClosedLoop(
        Fleet(BICYCLE, [ideal_bicycle()]),
        circle(radius),
        parameters=PurePursuitParameters(
            speed=2.0, look_ahead=0.3 * radius, look_ahead_time=0.0, lateral_acceleration=0.0
        ),
        rate=rate,
        laps=2,
    )
    loop.place(distance=0.6 * radius)
    loop.advance(round(8.0 * rate * radius))
    assert loop.measures()["finished"] == pytest.approx(2.0 * math.pi * radius, rel=0.05)


def test_a_vehicle_that_leaves_the_bound_says_when_and_brakes():
    loop = ClosedLoop(Fleet(BICYCLE, [ideal_bicycle(max_position=1e-9)] * 2), STRAIGHT, bound=0.5)
    loop.place(heading_error=[math.pi / 2.0, 0.0])
    loop.advance(100)
    assert loop.statuses() == ["left", "running"]
    left, stays = loop.measures()["left"]
    assert left == pytest.approx(0.5, abs=0.021)
    assert math.isnan(stays)
    assert loop.fleet.states.v_x.tolist() == [0.0, 1.0]
    assert loop.measures()["path.peak"][0] < 0.55


def test_a_vehicle_with_a_state_of_nan_has_diverged():
    loop = ClosedLoop(Fleet(BICYCLE, [ideal_bicycle()] * 2), STRAIGHT)
    loop.advance(10)
    loop.fleet.states.y[1] = math.nan
    loop.advance(10)
    assert loop.statuses() == ["running", "diverged"]
    assert loop.tracking.ended.tolist() == [math.inf, pytest.approx(0.2)]
    assert np.isfinite(loop.measures()["path.rms"]).all()


def test_vehicles_start_where_they_are_put():
    loop = ClosedLoop(Fleet(BICYCLE, [ideal_bicycle()] * 3), CIRCLE)
    assert [loop.fleet.states.x.tolist(), loop.fleet.states.y.tolist()] == [[0.0] * 3] * 2
    loop.fleet.states.x[:] = 5.5, 0.0, -5.0
    loop.fleet.states.y[:] = 5.0, 10.0, 5.0
    loop.locate()
    assert loop.tracking.position * CIRCLE.spacing == pytest.approx(np.array([2.5, 5.0, 7.5]) * math.pi, rel=1e-3)


# ---------------------------------------------------------------------- what control theory says


@pytest.mark.parametrize("rate", [50.0, 10.0])
def test_the_loop_is_stable_up_to_the_dead_time_of_the_closed_form_and_no_further(rate):
    """y' = v psi, psi' = v kappa(t - T), kappa = -(k1 y + k2 psi): stable up to T = atan(k2 w / (k1 v)) / w.

    A command that is held for a period is late by half a period on average.
    """
    v, look_ahead = 2.0, 2.0
    k1, k2 = 2.0 / look_ahead**2, 2.0 / look_ahead
    w = math.sqrt((k2**2 * v**2 + math.sqrt(k2**4 * v**4 + 4.0 * k1**2 * v**4)) / 2.0)
    limit = math.atan(k2 * w / (k1 * v)) / w - 0.5 / rate
    loop = ClosedLoop(
        Fleet(BICYCLE, [ideal_bicycle(dead_time=round(share * limit, 3)) for share in (0.95, 1.05)]),
        STRAIGHT,
        "pure_pursuit",
        PurePursuitParameters(speed=v, look_ahead=look_ahead, look_ahead_time=0.0),
        rate=rate,
    )
    loop.place(lateral=1e-3)
    peaks = []
    for _ in range(4):
        peak = np.zeros(2)
        for _ in range(round(20 * rate)):
            loop.advance(1)
            peak = np.maximum(peak, abs(loop.tracking.lateral))
        peaks.append(peak)
    stable, unstable = np.array(peaks).T
    assert stable[-1] < 0.5 * stable[0]
    assert 2.0 * unstable[0] < unstable[-1] < 0.2


PARAMETERS = {"pure_pursuit": PurePursuitParameters, "stanley": StanleyParameters, "lqr": LqrParameters}


@EVERY_PAIR
def test_every_controller_comes_to_the_path_from_both_sides_and_stays(model, name):
    loop = ClosedLoop(Fleet(model, [model.parameters()] * 4), STRAIGHT, name, PARAMETERS[name](speed=1.5))
    loop.place(lateral=[0.5, -0.5, 0.0, 0.0], heading_error=[0.0, 0.0, 0.5, -0.5])
    loop.advance(50 * 30)
    assert abs(loop.tracking.lateral).max() < 1e-3
    assert abs(loop.tracking.heading_error).max() < 1e-3
    assert loop.fleet.states.v_x == pytest.approx(1.5)


def test_a_vehicle_with_a_steered_rear_axle_comes_to_the_path_too():
    for name in ("pure_pursuit", "lqr"):
        loop = ClosedLoop(Fleet(BICYCLE, [BicycleParameters(reverse=True)] * 2), STRAIGHT, name)
        loop.place(lateral=[0.5, -0.5])
        loop.advance(50 * 30)
        assert abs(loop.tracking.lateral).max() < 1e-3


@pytest.mark.slow
@needs_autoware
@pytest.mark.parametrize("name", ["ideal_steer_vel", "delay_steer_vel"])
def test_autowares_models_are_controlled_too(name):
    model = models()[name]
    loop = ClosedLoop(
        Fleet(model, [model.parameters()] * 2), STRAIGHT, parameters=PurePursuitParameters(look_ahead=4.0)
    )
    loop.place(lateral=[0.5, -0.5])
    loop.advance(50 * 40)
    assert abs(loop.tracking.lateral).max() < 1e-2
    assert loop.tracking.position.min() > 10.0


def test_lqr_has_the_gains_of_the_closed_form():
    """At a fast rate without lag, as for a double integrator over distance: k1 = sqrt(q1), k2 = sqrt(q2 + 2 k1)."""
    p = LqrParameters(speed=1.0, lateral_error=0.4, heading_error=0.3, curvature=0.2, steering_time_constant=0.0)
    g = CONTROLLERS["lqr"].coefficients(p, controlled_vehicle(BICYCLE, BicycleParameters(), 1e-4, 0.1))
    q1, q2 = (0.2 / 0.4) ** 2, (0.2 / 0.3) ** 2
    assert g.k_y == pytest.approx(math.sqrt(q1), rel=1e-3)
    assert g.k_psi == pytest.approx(math.sqrt(q2 + 2.0 * math.sqrt(q1)), rel=1e-3)


@given(
    speed=st.floats(0.5, 30.0),
    period=st.floats(0.005, 0.2),
    lag=st.floats(0.0, 1.0),
    lateral=st.floats(0.1, 2.0),
    heading=st.floats(0.1, 2.0),
)
@settings(max_examples=20, deadline=None)
def test_the_regulator_has_the_same_bits_interpreted(speed, period, lag, lateral, heading):
    p = LqrParameters(speed=speed, lateral_error=lateral, heading_error=heading, steering_time_constant=lag)
    g = CONTROLLERS["lqr"].coefficients(p, controlled_vehicle(BICYCLE, BicycleParameters(), period, 0.1))
    model = g.y_psi, g.y_k, g.psi_k, g.decay, g.b_y, g.b_psi, g.b_k
    weights = (ratio * ratio for ratio in (p.curvature / lateral, p.curvature / heading))
    assert regulator(*model, *weights) == (g.k_y, g.k_psi, g.k_k, g.d_y, g.d_psi, g.d_k, g.inverse)


def test_lqr_commands_what_least_squares_over_a_long_time_give():
    """Deviations are linear in the commands to come; the regulator gives the first of the optimal commands."""
    v, period, steps = 2.0, 0.05, 160
    p = LqrParameters(speed=v, preview=2.0, steering_time_constant=0.2)
    g = CONTROLLERS["lqr"].coefficients(
        p, controlled_vehicle(DIFFERENTIAL, DifferentialParameters(), period, v * period)
    )
    random = np.random.default_rng(4)
    curvature = np.append(0.1 * random.standard_normal(g.steps), np.zeros(steps + 1))
    curvature[g.steps :] = curvature[g.steps - 1]
    points = np.zeros((len(curvature), 6))
    points[:, 0], points[:, 3] = np.arange(len(curvature)) * v * period, curvature
    f = Tracking(lateral=0.2, heading_error=-0.1, reference_speed=v)
    s = DIFFERENTIAL.at_rest(DIFFERENTIAL.coefficients(DifferentialParameters(), DT))
    s.v_x, s.yaw_rate, u = v, 0.3, Command()
    CONTROLLERS["lqr"].control(Course(points, False, v * period, 1.0), g, s, f, u)

    a = np.array([[1.0, g.y_psi, g.y_k], [0.0, 1.0, g.psi_k], [0.0, 0.0, g.decay]])
    b = np.array([g.b_y, g.b_psi, g.b_k])
    weights = np.array([p.curvature / p.lateral_error, p.curvature / p.heading_error, 0.0])
    free, forced = np.array([0.2, -0.1, 0.3 / v - curvature[0]]), np.zeros((3, steps))
    rows, known = [], []
    for n in range(steps):
        rows.append(weights[:, np.newaxis] * forced)
        known.append(weights * free)
        free = a @ free - np.array([0.0, 0.0, curvature[n + 1] - curvature[n]])
        forced = a @ forced
        forced[:, n] += b
    matrix, right = np.concatenate([*rows, np.eye(steps)]), np.concatenate([*known, np.zeros(steps)])
    best = np.linalg.lstsq(matrix, -right, rcond=None)[0]
    assert u.yaw_rate / v == pytest.approx(curvature[0] + best[0], rel=1e-6)


def test_lqr_has_no_error_left_on_a_circle_and_less_in_a_bend_the_farther_it_sees():
    vehicle = ideal_bicycle(time_constant=0.3)
    bend = [(x, 0.0) for x in np.arange(0.0, 10.0, 0.5)]
    bend += [(10.0 + 4.0 * math.sin(a), 4.0 - 4.0 * math.cos(a)) for a in np.linspace(0.0, math.pi, 30)]
    peaks = []
    for path in (CIRCLE, Path.from_points(bend)):
        far, near = (
            LqrParameters(speed=1.5, steering_time_constant=0.3, preview=preview, lateral_acceleration=0.0)
            for preview in (1.5, 0.0)
        )
        loop = ClosedLoop(Fleet(BICYCLE, [vehicle] * 2), path, "lqr", [far, near], laps=3)
        loop.advance(50 * 10)
        peaks.append(loop.measures()["path.peak"])
        if path is CIRCLE:
            assert abs(loop.tracking.lateral).max() < 2e-3
    assert peaks[1][0] < 0.6 * peaks[1][1]


def test_the_speed_is_that_of_path_parameters_and_lateral_acceleration_whichever_is_lowest():
    slow = Path.from_points([(0.0, 0.0), (300.0, 0.0)], 0.75)
    for path, speed in ((slow, 0.75), (STRAIGHT, 2.0), (CIRCLE, math.sqrt(0.5 * 5.0))):
        parameters = PurePursuitParameters(speed=2.0, lateral_acceleration=0.5)
        loop = ClosedLoop(Fleet(BICYCLE, [ideal_bicycle()]), path, parameters=parameters, laps=9)
        loop.advance(200)
        assert loop.fleet.states.v_x == pytest.approx(speed, rel=0.02)
        assert loop.tracking.reference_speed == pytest.approx(speed, rel=0.02)
