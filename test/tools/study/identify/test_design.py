"""The most informative log and its expected intervals, checked by independent simulations."""

import dataclasses
import math

import numpy as np
import pytest
from helpers.cramer_rao import bound
from helpers.identified_vehicles import random_case, with_vehicle
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.actuator_parameters import DriveParameters
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.parameters.vehicles import DifferentialParameters
from vds_gz.core.parameters.yaml_reader import Interval
from vds_gz.programs.commandlog.profiles import limits_of
from vds_gz.tools.study.identify import design as search
from vds_gz.tools.study.identify.design import HOLD, Design, design, random_cycle, varied_cycle, varied_window
from vds_gz.tools.study.identify.design_model import Forecast, candidates_of, commands_of, determined_terms
from vds_gz.tools.study.identify.estimates import TIME_RESOLUTION, WIDTH

DURATION, RATE = 10.0, 50.0


@pytest.fixture(scope="module", autouse=True)
def small():
    """A search of few candidates."""
    patch = pytest.MonkeyPatch()
    for name, count in {"DRAWN": 270, "REFINEMENTS": 60}.items():
        patch.setattr(search, name, count)
    yield
    patch.undo()


def limits(case):
    return limits_of(case.parameters, **case.reach)


def designed(case, **options) -> Design:
    return design(case.parameters, limits(case), ackermann=case.ackermann, duration=DURATION, rate=RATE, **options)


def relative_bounds(case, log, found: Design) -> dict[str, float]:
    """The Cramer-Rao bound by the fleet's steps, as half an interval relative to each parameter."""
    times = np.arange(int(log.duration * RATE + 1e-6)) / RATE
    names = [expectation.name for expectation in found.expectations] + [
        f"{quantity} offset" for quantity in found.noise
    ]
    deviations = bound(case, log, names, {name: (times, noise) for name, noise in found.noise.items()})
    return {
        expectation.name: WIDTH * deviations[expectation.name] / expectation.scale for expectation in found.expectations
    }


@pytest.fixture(scope="module", params=["bicycle fs rd", pytest.param("differential", marks=pytest.mark.slow)])
def run(request):
    """A vehicle with its log, whose search reported its progress to the end."""
    case, parts = random_case(request.param, 1), []
    found = designed(case, advance=lambda part, detail="": parts.append(part))
    assert sum(parts) == pytest.approx(1.0, abs=0.02)
    assert min(parts) > 0.0
    return case, found


def test_expected_intervals_agree_with_an_independent_simulation(run):
    """Its differences of dead times are larger and central."""
    case, found = run
    expected = {
        expectation.name: expectation.part for expectation in found.expectations if expectation.part is not None
    }
    assert len(expected) > 4
    independent = relative_bounds(case, found.log, found)
    for name, part in expected.items():
        assert part == pytest.approx(independent[name], rel=0.1), name


def test_the_log_is_more_informative_than_steps_of_the_same_length(run):
    """By the worst interval of the parameters that both determine, also in the independent simulation."""
    case, found = run
    own, of_steps = found.largest
    assert own < 0.7 * of_steps
    both = [
        expectation.name
        for expectation in found.expectations
        if expectation.part is not None and expectation.part_of_steps is not None
    ]
    by_own, by_steps = (relative_bounds(case, log, found) for log in (found.log, case.log(0, DURATION)))
    assert max(by_own[name] for name in both) < 0.7 * max(by_steps[name] for name in both)


def test_expected_intervals_of_dead_times_include_the_resolution_of_identify(run):
    for expectation in run[1].expectations:
        resolution = expectation.name.endswith("dead_time") * WIDTH * TIME_RESOLUTION
        assert expectation.half(expectation.part) == pytest.approx(
            math.hypot(expectation.part * expectation.scale, resolution)
        )


def test_a_log_stays_within_its_limits_has_its_length_and_ends_at_rest(run):
    case, found = run
    reach = limits(case)
    assert found.log.times[-1] == pytest.approx(DURATION)
    assert len(found.log.commands) == DURATION * RATE + 1
    numbers = np.array(found.log.commands)
    turn = (numbers[:, 1], reach.steering) if case.ackermann else (numbers[:, 2], reach.yaw_rate)
    for course, maximum in ((numbers[:, 0], reach.speed), turn):
        assert 0.5 * maximum < np.max(np.abs(course)) <= maximum + 1e-6
        assert course[-1] == 0.0
        assert not course[: int(0.5 * RATE)].any()
        assert course[int(0.5 * RATE) :].any()


def test_a_log_of_one_command_per_second_has_its_length():
    case = random_case("differential", 1)
    log = design(case.parameters, limits(case), ackermann=False, duration=5.0, rate=1.0).log
    assert log.times[-1] == pytest.approx(5.0)


@pytest.mark.parametrize("run", ["differential"], indirect=True)
def test_only_equal_seeds_give_equal_logs(run):
    case, found = run
    same, other = designed(case), designed(case, seed=4)
    assert (found.log, found.expectations) == (same.log, same.expectations)
    assert found.log != other.log


def test_commands_change_no_faster_than_allowed():
    found = designed(random_case("differential", 1), acceleration=1.5)
    speeds = np.array(found.log.commands)[:, 0]
    changes = np.abs(np.diff([0.0, *speeds]))
    assert 0.9 * 1.5 / RATE < changes.max() <= 1.5 / RATE + 2e-6


def test_limits_that_no_command_exceeds_are_not_determined():
    """Commands stay far below the maximum velocity, and the lag keeps accelerations below their limit."""
    drive = DriveParameters(0.1, 0.3, 10.0, 50.0, 0.0)
    group = DifferentialParameters(track=0.5, drive_actuators=drive)
    prior = NodeParameters(model="differential", model_params={"differential": group})
    reach = limits_of(prior, speed=1.0, yaw_rate=1.0)
    found = design(prior, reach, ackermann=False, duration=DURATION)
    determined = {expectation.name for expectation in found.expectations if expectation.part is not None}
    assert determined == {"drive_actuators.dead_time", "drive_actuators.time_constant", "v_x gain", "yaw_rate gain"}


# ---------------------------------------------------------------------- information


def forecast(case, *, noise=1.0, rate=RATE, step_rate=1000.0):
    terms = determined_terms(case.parameters, ("v_x", "steering") if case.ackermann else ("v_x", "yaw_rate"))
    points = candidates_of(terms, {}, 1, 0)
    return Forecast(case.parameters, tuple(terms), points, {"v_x": noise, "yaw_rate": noise}, rate, step_rate)


def test_information_of_windows_adds_up_and_falls_with_the_noise():
    case = random_case("bicycle fs rd", 1)
    commands = commands_of(case.log(1, DURATION))
    whole = forecast(case).information(*commands)
    parts = forecast(case).information(*commands, windows=5)
    assert whole.shape[0] == 1
    assert parts.shape[0] == 5
    assert parts.sum(axis=0) == pytest.approx(whole[0], rel=1e-9)
    noisy = forecast(case, noise=10.0).information(*commands)
    assert noisy == pytest.approx(whole / 100.0, rel=1e-9)
    late = forecast(case).information(*commands, windows=5, skipped=40)
    assert (np.diagonal(late, axis1=-2, axis2=-1) <= np.diagonal(parts, axis1=-2, axis2=-1) + 1e-12).all()
    assert late.sum() != pytest.approx(parts.sum())


def test_vehicles_side_by_side_give_the_information_of_each_alone():
    case = random_case("differential", 1)
    terms = determined_terms(case.parameters, ("v_x", "yaw_rate"))
    points = candidates_of(terms, {}, 3, 0)
    commands = commands_of(case.log(1, DURATION))
    noise = {"v_x": 0.1, "yaw_rate": 0.3}
    alone, together = (
        [Forecast(case.parameters, tuple(terms), some, noise, RATE, 1000.0).information(*commands) for some in every]
        for every in ([points[k : k + 1] for k in range(3)], [points])
    )
    assert np.concatenate(alone, axis=1) == pytest.approx(together[0], rel=1e-12)


def test_candidate_vehicles_are_within_the_known_intervals():
    case = random_case("differential", 1)
    known = {"drive_actuators.time_constant": Interval(0.4, 0.39, 0.42)}
    terms = determined_terms(case.parameters, ("v_x", "yaw_rate"))
    points = dict(zip((term.name for term in terms), candidates_of(terms, known, 9, 0).T, strict=True))
    lag = points["drive_actuators.time_constant"]
    assert lag[0] == case.vehicle.drive_actuators.time_constant
    assert (lag[1:] >= 0.39).all()
    assert (lag[1:] <= 0.42).all()
    dead = points["drive_actuators.dead_time"]
    ratio = dead[1:] / dead[0]
    assert ratio.min() < 0.8 < 1.2 < ratio.max()
    assert 0.7 <= ratio.min() <= ratio.max() <= 1.3


def test_candidate_vehicles_have_valid_parameters():
    """With a drive on the fixed axle, 30 % more than a maximum steering angle of 1.5 rad is beyond 90 degrees."""
    case = random_case("bicycle fs rd", 1)
    wide = dataclasses.replace(case.vehicle.steering_actuator, max_position=1.5)
    prior = with_vehicle(case.parameters, dataclasses.replace(case.vehicle, steering_actuator=wide))
    terms = determined_terms(prior, ("v_x", "steering"))
    points = dict(zip((term.name for term in terms), candidates_of(terms, {}, 12, 0).T, strict=True))
    angles = np.exp(points["steering_actuator.max_position"])
    assert max(angles) <= math.pi / 2
    assert len(set(angles.round(9))) > 6


# ---------------------------------------------------------------------- windows


@given(st.integers(0, 10**6))
def test_cycles_are_within_the_limits_and_repeat(seed):
    random = np.random.default_rng(seed)
    cycle = random_cycle(random)
    for _ in range(4):
        cycle = varied_cycle(random, cycle)
        assert (np.abs(cycle.levels) <= 1.0).all()
        assert ((cycle.holds >= HOLD[0]) & (cycle.holds <= HOLD[1])).all()
    middles = np.cumsum(cycle.holds) - 0.5 * cycle.holds
    assert cycle.course(middles).tolist() == cycle.levels.tolist()
    assert cycle.course(middles + 3.0 * cycle.holds.sum()).tolist() == cycle.levels.tolist()


@given(st.integers(0, 10**6))
def test_variations_of_a_window_change_its_commands(seed):
    """Nearly all do: a level that is held all the time may only be held for longer."""
    random = np.random.default_rng(seed)
    window, other = (tuple(random_cycle(random) for _ in range(3)) for _ in range(2))
    times = np.arange(0.0, 3.0, 0.02)
    variations = [varied_window(random, window, other) for _ in range(20)]
    assert {len(variation) for variation in variations} == {3}
    courses = [np.concatenate([cycle.course(times) for cycle in one]).tolist() for one in (window, *variations)]
    assert sum(one != courses[0] for one in courses[1:]) > 10


# ---------------------------------------------------------------------- wrong use


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"duration": 2.0}, "duration is 2; an optimal log must be 5 to 3600 s long"),
        ({"noise": 0.0}, "noise of every sensor is 0; it must be a finite number greater than 0"),
        ({"noise": {"v_x": math.nan}}, "noise of v_x is nan; it must be"),
        ({"noise": {"speed": 0.1}}, "'speed': vehicle model 'differential' has no such sensor; .* v_x, v_y, yaw_rate"),
        ({"noise": {"steering": 0.1}}, "'steering': vehicle model 'differential' has no such sensor"),
        ({"noise": {}}, "noise names no sensor; it must name some of v_x, v_y, yaw_rate"),
        ({"rate": 0.1}, "rate is 0.1; an optimal log must have at least 1 command per second"),
        ({"acceleration": math.nan}, "acceleration is nan; it must be greater than 0"),
    ],
)
def test_contradictory_options_are_refused(options, message):
    case = random_case("differential", 1)
    with pytest.raises(ArgumentError, match=message):
        design(case.parameters, limits(case), **{"ackermann": False, "duration": DURATION} | options)


def test_limits_that_allow_no_motion_are_refused():
    case = random_case("differential", 1)
    reach = limits_of(case.parameters, speed=1e-9, yaw_rate=1e-9)
    with pytest.raises(ArgumentError, match="no command moves the vehicle model 'differential'"):
        design(case.parameters, reach, ackermann=False, duration=DURATION)


def test_a_model_without_actuators_is_refused():
    case = random_case("ideal_steer_vel", 1)
    with pytest.raises(ArgumentError, match="'ideal_steer_vel' has no actuators whose parameters could be identified"):
        designed(case)
