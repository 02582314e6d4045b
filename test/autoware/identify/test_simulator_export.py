"""An identified vehicle as a vehicle of Autoware's simulator."""

from dataclasses import replace

import pytest

pytest.importorskip("scipy")
from vds_gz.core.parameters.actuator_parameters import DriveParameters
from vds_gz.core.parameters.vehicles import BicycleParameters, DifferentialParameters
from vds_gz.tools.study.identify.estimates import Estimate
from vds_gz.tools.study.identify.exports import exports
from vds_gz.tools.study.identify.results import NAMES, Axis, Reached, VehicleFit


def test_parameters_of_a_lagging_speed():
    numbers = {
        "drive_actuator.dead_time": Estimate(0.2, 0.195, 0.205),
        "drive_actuator.time_constant": None,
        "drive_actuator.gain": Estimate(0.9, 0.8, 1.0),
        "steering_actuator.max_velocity": Estimate(0.5, 0.495, 0.505),
    }
    parameters = BicycleParameters(drive_actuator=DriveParameters(gain=0.9))
    fit = VehicleFit("bicycle", parameters, numbers, {}, {}, (), (), ())
    lines = list(exports()["autoware"](fit))
    assert lines[0] == "# simple_planning_simulator, vehicle_model_type: DELAY_STEER_VEL"
    assert {"vel_time_delay: 0.2000", "vel_time_constant: # not determined", "steer_rate_lim: 0.5000"} <= set(lines)
    assert lines[-1] == "# not in DELAY_STEER_VEL: gain 0.9 of the drive"


def test_limits_are_those_of_the_parameter_file():
    drive = DriveParameters(max_velocity=1.5, max_acceleration=0.0)
    parameters = BicycleParameters(drive_actuator=drive)
    fit = VehicleFit("bicycle", parameters, {}, {}, {"drive_actuator.max_acceleration": 0.8}, (), (), ())
    lines = set(exports()["autoware"](fit))
    assert {"vel_lim: 1.5000  # without an interval", "vel_rate_lim: # no limit was met"} <= lines


def test_a_limit_of_an_actuator_that_no_command_moved_is_not_determined():
    lines = exports()["autoware"](VehicleFit("bicycle", BicycleParameters(), {}, {}, {}, (), (), ()))
    assert "vel_lim: # not determined" in list(lines)


def test_a_vehicle_that_does_not_steer_has_no_lines():
    axes = [Axis(name, "", dict.fromkeys(NAMES), Reached(0.0, 0.0, 0.0)) for name in ("v_x", "yaw_rate")]
    turning = VehicleFit("differential", DifferentialParameters(), {}, {}, {}, (), (), tuple(axes))
    straight = replace(turning, axes=turning.axes[:1])  # any vehicle of which only the speed is known
    assert list(exports()["autoware"](turning)) == []
    assert "vel_time_delay: # not determined" in list(exports()["autoware"](straight))
