"""The delay margin against the stability limit of a linear path follower, which has a closed form."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.configuration import load_parameters
from vds_gz.core.parameters.actuator_parameters import DriveParameters, SteeringParameters
from vds_gz.core.parameters.vehicles import BicycleParameters, DifferentialParameters

pytest.importorskip("numba")
from vds_gz.tools.fleet.path import Path
from vds_gz.tools.study.sweep.cases import (
    Case,
    ControlledDrive,
    Driving,
    last_before_leaving,
    linear_delay_margin,
    simulate,
    vehicles_of,
)
from vds_gz.tools.study.sweep.plan_file import read_sweep

RATE = 50.0

#: A car that steers without delay and limits.
IDEAL = BicycleParameters(
    drive_actuator=DriveParameters(dead_time=0.0, time_constant=0.01, max_velocity=0.0, max_acceleration=0.0),
    steering_actuator=SteeringParameters(dead_time=0.0, time_constant=0.0, max_velocity=0.0, max_position=1.5),
)

STRAIGHT = Path.from_points([(0.0, 0.0), (300.0, 0.0), (600.0, 0.0)], spacing=1.0)

#: A small initial error must not grow tenfold within a minute.
SMALL = Driving(bound=0.1, duration=60.0, lateral=0.01, rate=RATE)


def margins(driving=SMALL, **values):
    """The margins [s] of ideal cars with these look-ahead distances [m], speeds [m/s] and other values."""
    gains = {"look_ahead": 2.0, "look_ahead_time": 0.0, "speed": 2.0, "lateral_acceleration": 0.0}
    robot = dataclasses.replace(load_parameters("deepracer"), model_params={"bicycle": IDEAL})
    case = Case({}, robot, ControlledDrive("pure_pursuit", gains, STRAIGHT))
    columns = {name: np.array(column) for name, column in values.items()}
    count = len(next(iter(columns.values())))
    return simulate(case, driving, columns, ["delay_margin"], count)["delay_margin"]


def test_the_delay_margin_of_pure_pursuit_is_the_closed_form():
    look_ahead, speed = [2.0, 1.0, 1.5, 3.0], [2.0, 1.0, 3.0, 4.0]
    driving = dataclasses.replace(SMALL, duration=120.0)
    gains = {"controller.look_ahead": look_ahead, "controller.speed": speed}
    for distance, v, margin in zip(look_ahead, speed, margins(driving, **gains), strict=True):
        limit = linear_delay_margin(2.0 / distance**2, 2.0 / distance, v)
        assert margin + 0.5 / RATE == pytest.approx(limit, rel=0.05)


def test_existing_dead_time_reduces_the_margin_to_at_least_zero():
    ideal, rest, none = margins(additional_dead_time=[0.0, 0.1, 0.8])
    assert rest == pytest.approx(ideal - 0.1, abs=0.0011)
    assert none == 0.0


def test_a_single_vehicle_that_leaves_anyway_has_no_margin():
    assert margins(additional_dead_time=[0.8]).tolist() == [0.0]


def test_each_vehicle_has_its_own_start():
    """A vehicle that starts on a straight path without an error has the longest margin."""
    straight, off = margins(**{"start.lateral": [0.0, 0.01]})
    assert straight == pytest.approx(1.0)
    assert off < 0.6


def test_a_sweep_measures_the_margin_of_its_own_runs(tmp_path):
    """With the runs' initial errors and laps; on a straight path only an initial error is controlled."""
    (tmp_path / "straight.csv").write_text("x,y\n0,0\n100,0\n")
    (tmp_path / "sweep.yaml").write_text(
        "vehicle: deepracer\npath: straight.csv\n"
        "controller: {pure_pursuit: {look_ahead: 0.5, look_ahead_time: 0.0, speed: 1.0}}\n"
        "driving: {bound: 0.2, duration: 20, heading_error: 0.01}\n"
        "vary: {start.lateral: [0.0, 0.05], start.heading_error: [0.0, 0.1]}\nmeasure: delay_margin\n"
    )
    sweep = read_sweep(tmp_path / "sweep.yaml")
    margins = np.asarray(sweep.run(range(len(sweep)))["delay_margin"])
    assert margins[0] == pytest.approx(1.0)
    assert (margins[1:] < 1.0).all()


def test_at_the_closed_form_a_delayed_loop_oscillates_with_constant_amplitude():
    """y'' = -(k1 v^2 y + k2 v y')(t - T), integrated."""
    k1, k2, speed, dt = 0.5, 1.0, 2.0, 1e-3

    def growth(dead_time):
        delay = round(dead_time / dt)
        y, rate, past, peaks = 0.01, 0.0, [0.0] * delay, []
        for _ in range(60_000):
            past.append(-(k1 * speed**2 * y + k2 * speed * rate))
            rate += past[-1 - delay] * dt
            y += rate * dt
            peaks.append(abs(y))
        return max(peaks[-5000:]) / max(peaks[20_000:25_000])

    limit = linear_delay_margin(k1, k2, speed)
    assert growth(0.98 * limit) < 1.0 < growth(1.02 * limit)


@given(st.lists(st.integers(-1, 501), min_size=1, max_size=20), st.data())
def test_a_scan_finds_the_last_value_before_the_first_that_leaves(last, data):
    """Even if candidates stay at some larger values, and at all from some value on."""
    last = np.minimum(last, 500)
    again = last + 1 + np.array(data.draw(st.lists(st.integers(1, 64), min_size=len(last), max_size=len(last))))
    notch = data.draw(st.booleans())
    asked = []

    def stays(candidates, values):
        asked.append(len(candidates))
        assert ((values >= 0) & (values <= 500)).all()
        before, behind = values <= last[candidates], values >= again[candidates]
        return before | (behind & (values < again[candidates] + 30)) if notch else before

    result = last_before_leaving(stays, len(last), 500)
    assert len(asked) == 4
    if not notch:
        assert result.tolist() == last.tolist()
    left = result < 500
    assert stays(np.flatnonzero(result >= 0), result[result >= 0]).all()
    assert not stays(np.flatnonzero(left), result[left] + 1).any()


def test_a_scan_probes_0():
    """A candidate that leaves at 0 has no margin, whatever it does at larger values."""
    result = last_before_leaving(lambda candidates, values: values > 0, 3, 1000)
    assert result.tolist() == [-1] * 3


#: A chicane of some 15 m.
CHICANE = Path.from_points([(0.0, 0.0), (3.0, 0.0), (5.0, 1.0), (8.0, 1.0), (10.0, -0.5), (15.0, -0.5)], spacing=0.1)

#: Values of random cells, with their limits.
RANGES = {
    "steering_actuator.dead_time": (0.0, 0.3),
    "steering_actuator.time_constant": (0.02, 0.3),
    "steering_actuator.max_velocity": (0.5, 3.0),
    "drive_actuator.time_constant": (0.02, 0.4),
    "controller.look_ahead": (0.4, 2.0),
    "controller.speed": (0.4, 1.6),
}


def disagreements(cells, seed, grid):
    """Random cells whose margin differs from that by runs with each ``additional_dead_time`` [s]."""
    random = np.random.default_rng(seed)
    values = {name: random.uniform(*limits, cells) for name, limits in RANGES.items()}
    robot = load_parameters("deepracer", {"model_params.bicycle.wheel_base": 0.5})
    case = Case({}, robot, ControlledDrive("pure_pursuit", {"look_ahead_time": 0.0}, CHICANE))
    driving = Driving(bound=0.2, duration=40.0)

    def leave(rows, extra):
        varied = {name: column[rows] for name, column in values.items()} | {"additional_dead_time": extra}
        return np.isin(simulate(case, driving, varied, [], len(rows))["status"], ("left", "diverged"))

    margins = simulate(case, driving, values, ["delay_margin"], cells)["delay_margin"]
    leaves = leave(np.arange(cells).repeat(len(grid)), np.tile(grid, cells)).reshape(cells, -1)
    too_long = (leaves & (grid <= margins[:, np.newaxis] + 1e-9)).any(axis=1) & (margins > 0.0)
    too_short = ~leave(np.arange(cells), margins + 1e-3) & (margins < 1.0) & ~leaves[:, 0]
    none = leaves[:, 0] & (margins > 0.0)
    assert 0.1 < np.median(margins) < 0.9
    return [(k, float(margins[k])) for k in np.flatnonzero(too_long | too_short | none)]


def test_margins_are_those_of_a_grid_of_additional_dead_times():
    assert disagreements(12, seed=5, grid=np.arange(0.0, 1.0, 0.02)) == []


@pytest.mark.slow
def test_margins_of_200_random_cells_are_those_of_a_fine_grid():
    assert disagreements(200, seed=1, grid=np.arange(0.0, 1.0, 0.005)) == []


def test_additional_dead_time_is_added_to_all_actuators():
    def longer(vehicle, model, **varied):
        robot = dataclasses.replace(load_parameters("deepracer"), model=model, model_params={model: vehicle})
        case = Case({}, robot, ControlledDrive("pure_pursuit", {}, STRAIGHT))
        values = {name.replace("__", "."): np.array([value]) for name, value in varied.items()}
        [changed] = vehicles_of(case, values | {"additional_dead_time": np.array([0.25])}, 1)
        return changed

    robot = longer(DifferentialParameters(), "differential")
    assert robot.drive_actuators.dead_time == DifferentialParameters().drive_actuators.dead_time + 0.25
    bicycle = longer(IDEAL, "bicycle")
    assert (bicycle.drive_actuator.dead_time, bicycle.steering_actuator.dead_time) == (0.25, 0.25)
    assert bicycle.drive_actuator.time_constant == 0.01
    bicycle = longer(IDEAL, "bicycle", drive_actuator__dead_time=0.5)
    assert (bicycle.drive_actuator.dead_time, bicycle.steering_actuator.dead_time) == (0.75, 0.25)
