"""The delay margin against the stability limit of a linear path follower, which has a closed form."""

import dataclasses

import numpy as np
import pytest

from vds_gz.parameters.actuators import DriveParameters, SteeringParameters
from vds_gz.parameters.controllers import PurePursuitParameters
from vds_gz.parameters.vehicles import BicycleParameters, DifferentialParameters
from vds_gz.vehicle.bicycle import BICYCLE

pytest.importorskip("numba")
from vds_gz.fleet.path import Path
from vds_gz.study.sweep.delay_margin import Task, bisect, delay_margins, later, linear_delay_margin
from vds_gz.study.sweep.plan_file import read_sweep

RATE = 50.0

#: It steers at once and without limits.
IDEAL = BicycleParameters(
    drive_actuator=DriveParameters(dead_time=0.0, time_constant=0.01, max_velocity=0.0, max_acceleration=0.0),
    steering_actuator=SteeringParameters(dead_time=0.0, time_constant=0.0, max_velocity=0.0, max_position=1.5),
)

STRAIGHT = Path.from_points([(0.0, 0.0), (300.0, 0.0), (600.0, 0.0)], spacing=1.0)


def task(**changes):
    """A small error at the start shall not grow tenfold within two minutes."""
    small = Task(STRAIGHT, "pure_pursuit", bound=0.1, duration=120.0, lateral=0.01, rate=RATE)
    return dataclasses.replace(small, **changes)


def pursuit(look_ahead, speed):
    return PurePursuitParameters(look_ahead=look_ahead, look_ahead_time=0.0, speed=speed, lateral_acceleration=0.0)


CASES = [(2.0, 2.0), (1.0, 1.0), (1.5, 3.0), (3.0, 4.0)]


def test_pure_pursuit_bears_the_dead_time_of_the_closed_form():
    controllers = [pursuit(*case) for case in CASES]
    found = delay_margins(task(), BICYCLE, [IDEAL] * len(CASES), controllers)
    for (look_ahead, speed), margin in zip(CASES, found, strict=True):
        limit = linear_delay_margin(2.0 / look_ahead**2, 2.0 / look_ahead, speed)
        assert margin + 0.5 / RATE == pytest.approx(limit, rel=0.05)


def test_dead_time_that_is_there_already_is_taken_off():
    slow = later(IDEAL, 0.1)
    vehicles, controllers = [IDEAL, slow], [pursuit(2.0, 2.0)] * 2
    ideal, rest = delay_margins(task(duration=60.0), BICYCLE, vehicles, controllers)
    assert rest == pytest.approx(ideal - 0.1, abs=0.0011)


def test_a_vehicle_that_leaves_anyhow_has_none_and_one_that_stays_the_longest():
    vehicles = [later(IDEAL, 0.8), IDEAL]
    controllers = [pursuit(2.0, 2.0)] * 2
    found = delay_margins(task(duration=60.0, longest=0.3), BICYCLE, vehicles, controllers)
    assert found.tolist() == pytest.approx([0.0, 0.3])


def test_each_vehicle_has_its_own_start():
    """Who starts on a straight path has nothing to correct."""
    starts = np.array([0.0, 0.01])
    found = delay_margins(task(duration=60.0, lateral=starts), BICYCLE, [IDEAL] * 2, [pursuit(2.0, 2.0)] * 2)
    assert found[0] == pytest.approx(1.0)
    assert found[1] < 0.6


def test_a_sweep_measures_the_margin_of_its_own_runs(tmp_path):
    """From where they start, in their number of laps: a straight path takes an error to begin with."""
    (tmp_path / "straight.csv").write_text("x,y\n0,0\n100,0\n")
    (tmp_path / "sweep.yaml").write_text(
        "vehicle: deepracer\npath: straight.csv\n"
        "controller: {pure_pursuit: {look_ahead: 0.5, look_ahead_time: 0.0, speed: 1.0}}\n"
        "driving: {bound: 0.2, duration: 20, heading_error: 0.01}\n"
        "vary: {start.lateral: [0.0, 0.05], start.heading_error: [0.0, 0.1]}\nmeasure: delay_margin\n"
    )
    sweep = read_sweep(tmp_path / "sweep.yaml")
    margins = sweep.run_shard(sweep.plan()[0])["delay_margin"]
    assert margins[0] == pytest.approx(1.0)
    assert (margins[1:] < 1.0).all()


def test_the_closed_form_is_where_a_delayed_loop_neither_grows_nor_shrinks():
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


@pytest.mark.parametrize("count", [1, 3, 40, 200])
def test_bisection_finds_the_last_value_that_stays(count):
    random = np.random.default_rng(count)
    last = random.integers(-1, 501, count)
    asked = []

    def stays(candidates, values):
        asked.append(len(candidates))
        assert ((values >= 0) & (values <= 500)).all()
        return values <= last[candidates]

    assert bisect(stays, count, 500).tolist() == last.tolist()
    assert len(asked) <= 10


def test_all_dead_times_of_a_vehicle_grow():
    longer = later(DifferentialParameters(), 0.25)
    assert longer.drive_actuators.dead_time == DifferentialParameters().drive_actuators.dead_time + 0.25
    bicycle = later(IDEAL, 0.25)
    assert (bicycle.drive_actuator.dead_time, bicycle.steering_actuator.dead_time) == (0.25, 0.25)
    assert bicycle.drive_actuator.time_constant == 0.01
