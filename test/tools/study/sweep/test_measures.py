"""A command log with many vehicles: the measures are those of each vehicle's replay."""

import dataclasses

import numpy as np
import pytest

from vds_gz.core.configuration import load_parameters
from vds_gz.core.errors import ArgumentError, RecordingError
from vds_gz.programs.commandlog.command_log import CommandLog
from vds_gz.programs.commandlog.profiles import limits_of, make
from vds_gz.programs.interface.commands import Ackermann
from vds_gz.tools.study.compare.differences import compare
from vds_gz.tools.study.compare.sources import simulate
from vds_gz.tools.study.sweep.measures import OPEN_LOOP_MEASURES

pytest.importorskip("numba")
from vds_gz.tools.study.sweep.measures import last_change, run_open_loop

NAMES = [one.name for one in OPEN_LOOP_MEASURES]


def varied(nominal, **changes):
    """A vehicle with another group of actuators."""
    vehicle = nominal.vehicle
    groups = {name: dataclasses.replace(getattr(vehicle, name), **values) for name, values in changes.items()}
    return dataclasses.replace(vehicle, **groups)


def with_vehicle(nominal, vehicle):
    return dataclasses.replace(nominal, model_params={nominal.model: vehicle})


@pytest.fixture(scope="module", params=["ackermann_car", pytest.param("forklift", marks=pytest.mark.slow)])
def nominal(request):
    return load_parameters(request.param)


def log_of(nominal, duration=6.0):
    return make("steps", limits_of(nominal), ackermann=nominal.model == "bicycle", duration=duration)


def test_measures_are_those_of_a_comparison_of_two_replays(nominal):
    log = log_of(nominal)
    drive = "drive_actuator" if nominal.model == "bicycle" else "drive_actuators"
    vehicles = [varied(nominal, **{drive: {"dead_time": dead_time}}) for dead_time in (0.0, 0.123)]
    vehicles.append(dataclasses.replace(nominal.vehicle, base_link_offset=0.4))
    measures = run_open_loop(log, nominal, vehicles, NAMES)
    expected = simulate(log, nominal)
    for i, vehicle in enumerate(vehicles):
        differ = compare(expected, simulate(log, with_vehicle(nominal, vehicle))).numbers()
        for name in ("path.rms", "path.peak", "path.end", "speed.rms", "speed.peak", "yaw_rate.rms", "yaw_rate.peak"):
            quantity, measure = name.split(".")
            assert measures[name][i] == pytest.approx(differ[quantity][measure], rel=1e-9, abs=1e-12), name


def test_the_nominal_vehicle_does_not_differ_from_itself(nominal):
    measures = run_open_loop(log_of(nominal), nominal, [nominal.vehicle] * 3, NAMES)
    for name in NAMES:
        if name != "settle":
            assert measures[name].tolist() == [0.0] * 3


def test_a_run_does_not_depend_on_the_others(nominal):
    log = log_of(nominal, 4.0)
    drive = "drive_actuator" if nominal.model == "bicycle" else "drive_actuators"
    vehicles = [varied(nominal, **{drive: {"dead_time": 0.001 * k}}) for k in range(70)]
    together = run_open_loop(log, nominal, vehicles, NAMES)
    for i in (0, 3, 64, 69):
        alone = run_open_loop(log, nominal, [vehicles[i]], NAMES)
        assert all(alone[name][0] == together[name][i] for name in NAMES)


def test_settling_takes_dead_time_and_three_time_constants():
    """A first-order response is within 5 % of its end ln 20 = 3.0 time constants after its dead time."""
    nominal = load_parameters("ackermann_car")
    times = tuple(0.02 * k for k in range(301))
    log = CommandLog("ackermann", times, tuple(Ackermann(1.0 if t > 0.1 else 0.0, 0.0) for t in times))
    free = {"max_acceleration": 0.0, "max_deceleration": 0.0}
    cases = [(0.0, 0.2), (0.3, 0.2), (0.1, 0.5)]
    vehicles = [varied(nominal, drive_actuator={"dead_time": t, "time_constant": c, **free}) for t, c in cases]
    settled = run_open_loop(log, nominal, vehicles, ["settle"])["settle"]
    assert last_change(log) == pytest.approx(0.12)
    for (dead_time, constant), result in zip(cases, settled, strict=True):
        assert 0.0 <= result - (dead_time + np.log(20.0) * constant) <= 0.021


def test_unknown_measures_and_commands_are_refused():
    nominal = load_parameters("ackermann_car")
    log = log_of(nominal, 1.0)
    with pytest.raises(
        ArgumentError, match=r"unknown measure 'path.rmz'; there are path.rms, .*; nearest is 'path.rms'"
    ):
        run_open_loop(log, nominal, [nominal.vehicle], ["path.rmz"])
    robot = load_parameters("indoor_robot")
    with pytest.raises(RecordingError, match="does not take commands of the kind 'ackermann'"):
        run_open_loop(log, robot, [robot.vehicle], ["path.rms"])
