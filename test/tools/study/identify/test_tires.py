"""Tyres of a car are identified: stiffness, friction if it was reached, and yaw inertia."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.identified_vehicles import Case, Disturbance, clean, disturbed, with_vehicle

from vds_gz.core.configuration import load_parameters
from vds_gz.tools.study.identify.identification import identify

TIRES = ("cornering_stiffness_fixed", "cornering_stiffness_steered", "yaw_inertia")


def car(**tires):
    """An F1TENTH car with the latency of a real one."""
    parameters = load_parameters("f1tenth")
    vehicle = parameters.vehicle
    drive = replace(vehicle.drive_actuator, dead_time=0.1, time_constant=0.1, max_acceleration=5.0)
    steering = replace(vehicle.steering_actuator, dead_time=0.05, time_constant=0.05)
    return with_vehicle(parameters, replace(vehicle, drive_actuator=drive, steering_actuator=steering, **tires))


def fitted(true, begin, names, seed=1, duration=12.0):
    """A noisy recording of a car with other parameters than the given one."""
    case = Case("f1tenth", true, {"speed": 2.5, "steering": 0.25})
    signals = disturbed(clean(case, seed, duration), np.random.default_rng(seed), Disturbance(lost=0.0, jitter=0.0))
    known = case.known()
    given = {name: getattr(begin.vehicle, name) for name in names}
    return identify(signals, vehicle=with_vehicle(known, replace(known.vehicle, **given)), fit=names, hold_out=0.0)


@pytest.mark.slow
def test_stiffness_friction_and_yaw_inertia_are_found_where_tires_slide():
    """A search from the given values only ends in a local minimum, at 26 times the stiffness."""
    true, begin = car(friction=0.6), car(cornering_stiffness_fixed=8.0, cornering_stiffness_steered=8.0, friction=0.9)
    names = (*TIRES, "friction")
    fit = fitted(true, begin, names, 4, 8.0)
    for name in names:
        estimate, value = fit.numbers[name], getattr(true.vehicle, name)
        assert abs(estimate.value - value) < estimate.high - estimate.low < 0.2 * value, name


@pytest.mark.slow
def test_friction_that_runs_to_its_bound_stays_as_given():
    begin = car()
    fit = fitted(car(friction=10.0), begin, ("friction", "cornering_stiffness_fixed"))
    assert fit.numbers["friction"] is None
    assert fit.parameters.friction == begin.vehicle.friction
    used = f"{begin.vehicle.friction:g} is used"
    assert f"friction: no value in its range explains the recording best; {used}" in fit.findings
