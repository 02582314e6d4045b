"""Every public function refuses an argument of a wrong type by its name, and takes a file where it says so."""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any

import pytest
from helpers.guest import HERE
from hypothesis import given, settings
from hypothesis import strategies as st

import vds_gz
from vds_gz.core.share import share

DRIVE = str(share("config", "drives", "hall.csv"))
ROBOT = str(share("config", "indoor_robot.yaml"))
MODEL = {"model": vds_gz.DIFFERENTIAL, "parameters": vds_gz.DifferentialParameters()}
VEHICLE = {**MODEL, "step_rate": 100.0, "max_command_age": 1.0, "start": 0}
GEARED = {"gear": 2, "slope": 0.0}
CARS = {
    "pedals": {"accel": 0.0, "brake": 0.0, "steering": 0.0, **GEARED},
    "control": {"velocity": 0.0, "acceleration": 0.0, "steering_angle": 0.0, **GEARED},
}


def calls() -> dict[str, dict[str, Any]]:
    """Public functions, and right arguments of them."""
    path = {"path": "nowhere"}
    return {
        "load_vehicle": {"source": "deepracer", "values": {}, "start": 0},
        "load_parameters": {"source": "deepracer", "values": {}},
        "Vehicle": VEHICLE,
        "CompiledVehicle": VEHICLE,
        "Fleet": {**MODEL, "parameters": [vds_gz.DifferentialParameters()], "step_rate": 100.0},
        "ClosedLoop": {"fleet": object.__new__(vds_gz.Fleet), "path": None},
        "read_path": {"file": "nowhere", "spacing": 0.1},
        "twist": {"v_x": 1.0, "v_y": 0.0, "yaw_rate": 0.0},
        "ackermann": {"speed": 1.0, "steering_angle": 0.0, "steering_rate": 0.0, "acceleration": 0.0},
        "four_wheel_steering": {
            **{"speed": 1.0, "steering_angle": 0.0, "rear_steering_angle": 0.0},
            **{"steering_rate": 0.0, "rear_steering_rate": 0.0, "acceleration": 0.0},
        },
        **(CARS if HERE else {}),
        "gear": {"code": 2},
        "read_signals": {**path, "columns": {}},
        "identify": {"signals": (), "vehicle": None, "wheel_base": None, "fit": (), "priors": None, "hold_out": 0.2},
        "read_commands": {**path, "topic": "a"},
        "simulate": {"log": DRIVE, "parameters": ROBOT, "tail": 0.1},
        "read_recording": {**path, "namespace": "a"},
        "read_runs": {"folder": "nowhere"},
        "load_world": {"world": "hall", "environment": {}},
        "open_graph": {"arguments": [], "default_name": "a", "environment": {}},
    }


#: Public names that are data, types or errors, and those whose arguments are arrays of any form.
DATA = {
    *("Motion", "Path", "Command", "VehicleModel", "Scene", "Graph", "QoS", "models", "command_records"),
    *("BICYCLE", "DIFFERENTIAL", "FOUR_WHEEL_STEERING", "OMNI", "SINGLE_TRACK", "SWERVE"),
    *(name for name in vds_gz.__all__ if name.endswith(("Parameters", "Error"))),
}

WRONG = st.one_of(st.binary(max_size=3), st.complex_numbers(), st.builds(object), st.booleans(), st.just(print))


def test_every_public_function_is_tried():
    assert {*calls(), *DATA} == set(vds_gz.__all__)


@pytest.mark.parametrize(
    ("function", "argument"), [(name, argument) for name, given_ in calls().items() for argument in given_]
)
@given(wrong=WRONG)
@settings(max_examples=10)
def test_an_argument_of_a_wrong_type_is_refused_by_its_name(function, argument, wrong):
    with pytest.raises(vds_gz.ArgumentError, match=rf"argument '{argument}' is .*; it must be "):
        getattr(vds_gz, function)(**{**calls()[function], argument: wrong})


@pytest.mark.parametrize("function", [name for name in calls() if name not in ("ClosedLoop", "identify")])
def test_none_is_refused_where_it_means_nothing(function):
    parameters = inspect.signature(getattr(vds_gz, function)).parameters
    for argument, right in calls()[function].items():
        if parameters[argument].default is not None:
            with pytest.raises(vds_gz.ArgumentError, match=f"argument '{argument}' is None"):
                getattr(vds_gz, function)(**{**calls()[function], argument: None})
        assert right is not None


@given(wrong=WRONG)
@settings(max_examples=10)
def test_a_vehicle_refuses_what_is_no_command_and_no_time(wrong):
    vehicle = vds_gz.load_vehicle("indoor_robot")
    stop = vds_gz.twist(0.0, 0.0, 0.0)
    for argument, call in (
        ("command", partial(vehicle.enter, wrong, 0)),
        ("time", partial(vehicle.enter, stop, wrong)),
        ("time", partial(vehicle.advance, wrong)),
    ):
        with pytest.raises(vds_gz.ArgumentError, match=f"argument '{argument}' is "):
            call()


@given(wrong=WRONG)
@settings(max_examples=10)
@pytest.mark.parametrize("group", [name for name in vds_gz.__all__ if name.endswith("Parameters")])
def test_a_group_of_parameters_refuses_values_of_another_type(group, wrong):
    kind = getattr(vds_gz, group)
    for name, right in inspect.signature(kind).parameters.items():
        if not (isinstance(right.default, bool) and isinstance(wrong, bool)):
            with pytest.raises(vds_gz.ParameterError, match=f"'{name}'"):
                kind(**{name: wrong})


def test_a_run_is_simulated_from_files():
    log, parameters = vds_gz.read_commands(DRIVE), vds_gz.load_parameters("indoor_robot")
    wanted = vds_gz.simulate(log, parameters)
    for vehicle in (ROBOT, "indoor_robot", share("config", "indoor_robot.yaml")):
        run = vds_gz.simulate(DRIVE, vehicle)
        assert (run.motion.x == wanted.motion.x).all()
    with pytest.raises(vds_gz.ArgumentError, match=r"'robt\.yaml' is no parameter file"):
        vds_gz.simulate(log, "robt.yaml")
