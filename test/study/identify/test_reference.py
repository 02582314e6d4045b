"""What is identified of other programs' runs is what those programs were given."""

import csv
import gzip
import math

import numpy as np
import pytest

from vds_gz.study.identify.axis_fit import fit_axis
from vds_gz.study.identify.signals import Series, Signals
from vds_gz.study.identify.vehicle_fit import identify


def middle(left, right):
    """Angle of the wheel between two that turn about one point [rad]: their cotangents' mean."""
    return 0.0 if min(abs(left), abs(right)) < 1e-9 else math.atan(2.0 / (1.0 / math.tan(left) + 1.0 / math.tan(right)))


def vds_signals(folder, run):
    """Twists commanded and measured, and steering angles, of a run of vehicle_dynamics_sim."""
    rows = {}
    with gzip.open(folder / "vds" / f"{run}.csv.gz", "rt") as file:
        for kind, *values in csv.reader(file):
            rows.setdefault(kind, []).append(values)
    signals = Signals()
    origin = float(rows["cmd"][0][0])
    commands, twists = (np.array(rows[kind], float) for kind in ("cmd", "twist"))
    for column, quantity in enumerate(("v_x", "v_y", "yaw_rate"), start=1):
        signals.commanded[quantity] = Series(commands[:, 0] - origin, commands[:, column])
        signals.measured[quantity] = Series(twists[:, 0] - origin, twists[:, column])
    if "omni" not in run:
        joints = [(float(time) - origin, *(float(one.split("=")[1]) for one in two)) for time, *two in rows["joint"]]
        signals.measured["steering"] = Series(
            np.array([row[0] for row in joints]), np.array([middle(*row[1:]) for row in joints])
        )
    return signals


def assert_near(numbers, name, true):
    allowed = {"dead_time": max(0.01, 0.05 * true), "time_constant": 0.05 * true}.get(name, 0.02 * true)
    assert numbers[name] is not None, name
    assert abs(numbers[name].value - true) <= allowed, (name, numbers[name], true)


def test_a_car_of_vehicle_dynamics_sim(golden):
    signals = vds_signals(golden, "bicycle_fs_rd_steps")
    fits = {axis.quantity: axis.fit for axis in identify(signals, wheel_base=1.6)}
    for name, true in {"dead_time": 0.2, "time_constant": 0.2, "rise": 1.0, "fall": 1.0}.items():
        assert_near(fits["v_x"].numbers, name, true)
    for name, true in {"dead_time": 0.1, "time_constant": 0.15, "rise": 0.8}.items():
        assert_near(fits["steering"].numbers, name, true)
    assert fits["v_x"].numbers["value"] is fits["steering"].numbers["value"] is None, "no stop was met"
    assert any("centred at standstill" in note for note in signals.notes)


def test_an_omni_of_vehicle_dynamics_sim(golden):
    fits = {axis.quantity: axis.fit for axis in identify(vds_signals(golden, "omni_omni"))}
    for quantity in ("v_x", "v_y", "yaw_rate"):
        assert_near(fits[quantity].numbers, "dead_time", 0.2)
        assert_near(fits[quantity].numbers, "time_constant", 0.4)


def autoware_axis(folder, run, command, measured):
    """Numbers of an axis of a run of Autoware's simulator; inputs of a row held since the row before."""
    with gzip.open(folder / "autoware" / f"{run}.csv.gz", "rt") as file:
        rows = list(csv.DictReader(file))
    time, commanded, did = (np.array([float(row[name]) for row in rows]) for name in ("t", command, measured))
    return fit_axis(time[:-1], commanded[1:], time, did, angle=command == "in_steer").numbers


@pytest.mark.parametrize(
    ("command", "measured", "dead_time", "lag"), [("in_vel", "vx", 0.25, 0.5), ("in_steer", "steer", 0.1, 0.1)]
)
def test_an_autoware_car(golden, command, measured, dead_time, lag):
    numbers = autoware_axis(golden, "DELAY_STEER_VEL__random_drive_default_dt1ms", command, measured)
    assert numbers["dead_time"].value == pytest.approx(dead_time, abs=0.002)
    assert numbers["time_constant"].value == pytest.approx(lag, rel=0.01)


def test_with_long_steps_the_dead_time_found_is_the_one_it_really_had(golden):
    numbers = autoware_axis(golden, "DELAY_STEER_VEL__accel_brake_step_default_dt33ms", "in_vel", "vx")
    assert numbers["dead_time"].value == pytest.approx(8 / 30, abs=0.001), "0.25 s in whole steps of 1/30 s"
    assert numbers["time_constant"].value == pytest.approx(0.5, rel=0.005)
