"""Parameters identified from runs of other programs are those that the programs were given."""

import csv
import gzip

import numpy as np
import pytest
from helpers.identified_vehicles import judged, truth
from helpers.recorded_vehicles import vds

from vds_gz.tools.study.identify.identification import identify
from vds_gz.tools.study.recording import Recording, Series


def assert_within_one_percent(fit, case, *needed):
    rows = judged(fit, case, Recording())
    for name in needed:
        assert rows[name].estimate is not None, name
    far = {name: one for name, one in rows.items() if name in fit.numbers and not one.error <= 0.01 * one.true}
    assert {name: one for name, one in far.items() if one.estimate is not None} == {}


@pytest.mark.slow
def test_a_car_of_vehicle_dynamics_sim_with_a_known_wheel_base(golden):
    one = vds(golden, "bicycle_fs_rd_steps")
    fit = identify(one.signals, wheel_base=1.6, hold_out=0.0)
    assert_within_one_percent(fit, one.case, *(name for name in truth(one.case.vehicle) if "max_" not in name))
    numbers = {axis.quantity: axis.numbers for axis in fit}
    assert numbers["v_x"]["value"] is numbers["steering"]["value"] is None, "no stop was met"
    assert {axis.quantity: axis.centred for axis in fit}["steering"] is None, "0 puts every steering in the middle"


@pytest.mark.parametrize(
    ("run", "needed"),
    [
        pytest.param("omni_omni", ["dead_time", "time_constant"], marks=pytest.mark.slow),
        ("differential_spins", ["dead_time", "time_constant", "max_acceleration", "max_velocity"]),
    ],
)
def test_a_robot_of_vehicle_dynamics_sim_saturated_or_not(golden, run, needed):
    one = vds(golden, run)
    fit = identify(one.signals, vehicle=one.case.known(), hold_out=0.0)
    assert_within_one_percent(fit, one.case, *(f"drive_actuators.{name}" for name in needed))


def autoware_axis(folder, run, command, measured):
    """Numbers of an axis of a run of Autoware's simulator; inputs of a row hold from the row before on."""
    with gzip.open(folder / "autoware" / f"{run}.csv.gz", "rt") as file:
        rows = list(csv.DictReader(file))
    time, commanded, did = (np.array([float(row[name]) for row in rows]) for name in ("t", command, measured))
    quantity = "steering" if command == "in_steer" else "v_x"
    signals = Recording({quantity: Series(time[:-1], commanded[1:])}, {quantity: Series(time, did)})
    [axis] = identify(signals)
    return axis.numbers


@pytest.mark.parametrize(
    ("command", "measured", "dead_time", "lag"),
    [("in_vel", "vx", 0.25, 0.5), pytest.param("in_steer", "steer", 0.1, 0.1, marks=pytest.mark.slow)],
)
def test_an_autoware_car(golden, command, measured, dead_time, lag):
    numbers = autoware_axis(golden, "DELAY_STEER_VEL__random_drive_default_dt1ms", command, measured)
    assert numbers["dead_time"].value == pytest.approx(dead_time, abs=0.002)
    assert numbers["time_constant"].value == pytest.approx(lag, rel=0.01)


def test_with_long_steps_the_rounded_dead_time_is_found(golden):
    numbers = autoware_axis(golden, "DELAY_STEER_VEL__accel_brake_step_default_dt33ms", "in_vel", "vx")
    assert numbers["dead_time"].value == pytest.approx(8 / 30, abs=0.001), "0.25 s in whole steps of 1/30 s"
    assert numbers["time_constant"].value == pytest.approx(0.5, rel=0.005)
