"""A stranger's vehicle gets the rows, limits and exports that ours gets, whatever the names of its actuators are."""

import re
from dataclasses import fields, replace
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.identified_vehicles import Case, clean
from helpers.stranger_vehicles import LIMITS, OURS, install, ours

from vds_gz.core.configuration import parameters_of
from vds_gz.core.parameters.actuator_parameters import DriveParameters, SteeringParameters
from vds_gz.core.parameters.declaration import Override
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.vehicle_model import Joint
from vds_gz.tools.study.identify.build import coarse_segments
from vds_gz.tools.study.identify.exports import nav2, overrides
from vds_gz.tools.study.identify.identification import identify
from vds_gz.tools.study.identify.labels import named
from vds_gz.tools.study.identify.problem.observed import observed
from vds_gz.tools.study.identify.problem.segment_model import Experiment
from vds_gz.tools.study.identify.problem.unknowns import set_up

DRIVE = DriveParameters(dead_time=0.1, time_constant=0.2, max_velocity=0.0, max_acceleration=0.0)
STEERING = SteeringParameters(dead_time=0.05, time_constant=0.1, max_velocity=0.0, max_position=0.5)

#: Parameters of ours that are recorded, and the maxima of the commands.
VEHICLES = {
    "cart": (
        {"track": 0.5, "drive_actuators": DRIVE, "max_linear_acceleration": 0.8, "max_angular_velocity": 0.9},
        {"speed": 1.0, "yaw_rate": 1.5},
    ),
    "rickshaw": (
        {"wheel_base": 0.8, "drive_actuator": DRIVE, "steering_actuator": STEERING, "max_wheel_velocity": 0.9},
        {"speed": 1.0, "steering": 0.4},
    ),
    "crab": ({"drive_actuators": DRIVE, "steering_actuators": replace(STEERING, max_position=0.0)}, {}),
}


@pytest.fixture(autouse=True)
def _installed(tmp_path, monkeypatch):
    install(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))


def node(model, **numbers):
    """A node with a vehicle of a model."""
    parameters = parameters_of([Override("model", model)])
    vehicle = replace(parameters.vehicle, **numbers)
    return replace(parameters, model_params=dict(parameters.model_params) | {model: vehicle})


def both(model):
    """Our node and the stranger's, which have the same numbers, and a recording of them."""
    numbers, reach = VEHICLES[model]
    own = node(OURS[model][model], **numbers)
    names = {ours(field.name, model): field.name for field in fields(node(model).vehicle)}
    names |= {ours(f"{name}.", model).rstrip("."): name for name in names.values()}
    theirs = node(model, **{names[name]: value for name, value in numbers.items()})
    return own, theirs, clean(Case(model, own, reach), 1, 12.0)


def lines(fit, given):
    """All that is printed, written and exported."""
    names = list(fit.numbers)
    rows = [f"{name}: {number}" for name, number in {**fit.numbers, **fit.calibrations, **fit.reached}.items()]
    labels = [f"{word.name}: {word.label} {word.unit} {word.stage}" for word in named(fit.model, names)]
    axes = [f"{axis.quantity}: {axis.numbers} {axis.reached}" for axis in fit]
    written = [str(override) for override in overrides(fit, given)]
    texts = [*rows, *labels, *axes, *fit.findings, *written, *nav2(fit)]
    return [re.sub(r"\d+\.\d+(e-?\d+)?", lambda number: f"{float(number[0]):.6g}", text) for text in texts]


@pytest.mark.parametrize("model", ["cart", "rickshaw"])
def test_it_gets_the_same_rows_limits_and_exports(model):
    own, theirs, recording = both(model)
    expected, got = (lines(identify(recording, vehicle=vehicle, hold_out=0.0), vehicle) for vehicle in (own, theirs))
    assert [ours(line, model) for line in got] == expected
    limited = LIMITS["hub_speed" if model == "rickshaw" else "spin"]
    assert any(re.match(rf"{limited}: Estimate\(value=0\.[89]", line) for line in got + expected)


@pytest.mark.parametrize("model", OURS)
def test_it_has_the_same_unknowns(model):
    own, theirs, recording = both(model)
    terms, expected = (
        set_up([recording], vehicle=vehicle, wheel_base=None, fit=(), priors={}).family.terms
        for vehicle in (theirs, own)
    )
    assert [ours(repr(term), model) for term in terms] == list(map(repr, expected))


@pytest.mark.parametrize(("numbers", "read"), [(("cylinder.angle",), ("cylinder.angle",)), ((), None)])
def test_its_steering_angle_is_that_of_its_only_hinge(numbers, read):
    model = replace(
        models()["rickshaw"],
        at_rest=lambda c: SimpleNamespace(cylinder=SimpleNamespace(angle=0.0)),
        joints=lambda p: (Joint("articulation", "steering", numbers=numbers),),
    )
    reading = observed(model, node("rickshaw").vehicle, "steering")
    assert (reading and reading.numbers) == read


def test_gains_of_its_wheels_turn_it_as_they_turn_ours():
    own, theirs, recording = both("cart")
    predicted = []
    for vehicle in (own, theirs):
        setup = set_up([recording], vehicle=vehicle, wheel_base=None, fit=("wheel_gains",), priors={})
        point = setup.begin.copy()
        point[setup.family.index("left wheel gain")] = 1.2
        experiment = Experiment(setup.family, coarse_segments(setup)[0])
        predicted.append(experiment.simulate(np.stack([setup.begin, point]), experiment.start[np.newaxis]))
    assert predicted[1] == pytest.approx(predicted[0], abs=1e-12)
    assert np.max(np.abs(predicted[1][:, 1] - predicted[1][:, 0])) > 0.1
