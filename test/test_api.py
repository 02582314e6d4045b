"""The public interface: exactly these names, documented, imported when used, and with examples that run."""

import doctest
import subprocess
import sys

import pytest
from helpers.guest import HERE

import vds_gz
from vds_gz import commanding, measuring, modelling, plant
from vds_gz.core import configuration
from vds_gz.core.world import load_world

NAMES = [
    *("load_vehicle", "load_parameters", "Vehicle", "Motion", "CompiledVehicle", "Fleet"),
    *("ClosedLoop", "Path", "read_path", "PurePursuitParameters", "StanleyParameters", "LqrParameters"),
    "ControllerParameters",
    *("Command", "twist", "ackermann", "four_wheel_steering", *(("pedals", "control") if HERE else ()), "gear"),
    "command_records",
    *("models", "VehicleModel", "BICYCLE", "DIFFERENTIAL", "FOUR_WHEEL_STEERING", "OMNI", "SINGLE_TRACK"),
    "SWERVE",
    *("BicycleParameters", "DifferentialParameters", "FourWheelSteeringParameters", "OmniParameters"),
    *("SingleTrackParameters", "SwerveParameters"),
    *("DriveParameters", "SteeringParameters"),
    *("read_signals", "identify", "read_commands", "simulate", "read_recording", "read_runs"),
    *("load_world", "Scene"),
    *("open_graph", "Graph", "QoS"),
    *("VdsGzError", "ArgumentError", "ParameterError", "ControllerError"),
]

#: Packages that names need beside NumPy.
NEED = {
    **dict.fromkeys(("CompiledVehicle", "Fleet", "ClosedLoop", "ControllerError", "Path", "read_path"), ("numba",)),
    "read_runs": ("numba",),
    "identify": ("numba", "scipy"),
}


def test_exactly_these_names_are_public():
    assert list(vds_gz.__all__) == NAMES
    assert sorted(dir(vds_gz)) == sorted([*NAMES, "__version__"])


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_is_there_and_documented(name):
    for package in NEED.get(name, ()):
        pytest.importorskip(package)
    assert getattr(vds_gz, name).__doc__


@pytest.mark.parametrize("toolbox", [modelling, commanding, measuring, plant])
def test_the_toolboxes_for_extensions_are_there_and_documented(toolbox):
    assert all(getattr(toolbox, name).__doc__ for name in toolbox.__all__)


def test_importing_the_package_loads_nothing_else():
    program = (
        "import sys, vds_gz; print(*[name for name in sys.modules if name.startswith('vds_gz.') or name == 'numpy'])"
    )
    assert subprocess.check_output([sys.executable, "-c", program], text=True).split() == []


def test_other_names_are_refused():
    with pytest.raises(AttributeError, match="module 'vds_gz' has no attribute 'bicycle_of_mine'"):
        vds_gz.bicycle_of_mine  # noqa: B018


@pytest.mark.parametrize("module", [vds_gz, configuration, load_world])
def test_the_examples_in_the_documentation_run(module):
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


def test_a_source_that_is_no_file_and_no_preset_is_refused_with_the_presets():
    with pytest.raises(vds_gz.ArgumentError, match=r"'deepracr' is no parameter file .* presets are .*deepracer"):
        vds_gz.load_parameters("deepracr")


def test_values_replace_those_of_the_file_and_are_checked():
    with pytest.raises(vds_gz.ParameterError, match=r"'model_params.bicycle.wheel_base' is -1 \(values\)"):
        vds_gz.load_vehicle("deepracer", {"model_params.bicycle.wheel_base": -1})
    right = "the nearest parameter of 'single_track' is 'model_params.single_track.steering_actuator.dead_time'"
    with pytest.raises(vds_gz.ParameterError, match=right):
        vds_gz.load_vehicle("f1tenth", {"model_params.bicycle.steering_actuator.dead_time": 0.6})
