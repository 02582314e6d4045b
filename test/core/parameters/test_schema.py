"""The JSON schema accepts the files that the node accepts, and refuses what editors should mark."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from helpers.guest import needs_autoware
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.cli.check import parameters_schema
from vds_gz.cli.new import new_file
from vds_gz.core.configuration import default_parameters, preset_file, preset_names
from vds_gz.core.errors import VdsGzError
from vds_gz.core.parameters.declaration import describe
from vds_gz.core.parameters.schema import schema_line
from vds_gz.core.share import share
from vds_gz.core.vehicle.catalogue import models

jsonschema = pytest.importorskip("jsonschema")

VALIDATOR = jsonschema.Draft7Validator(json.loads(parameters_schema()))
REALS = [one for one in describe(default_parameters()) if one.type in ("double", "integer")]


def errors(parameters: dict[str, Any], section: str = "sim_node") -> list[str]:
    return [error.message for error in VALIDATOR.iter_errors({section: {"ros__parameters": parameters}})]


@needs_autoware
def test_the_shipped_schema_is_that_of_the_declarations():
    """``./dev docs`` writes it."""
    file = share("config", "schema", "parameters.json")
    assert file.read_text(encoding="utf-8") == parameters_schema()
    assert schema_line() == f"# yaml-language-server: $schema={file.as_uri()}\n"
    jsonschema.Draft7Validator.check_schema(json.loads(parameters_schema()))


@pytest.mark.parametrize("content", [
    *(pytest.param(preset_file(name).read_text(), id=name) for name in preset_names() if "autoware" not in name),
    *(pytest.param(new_file(name), id=f"new {name}") for name in models()),
])  # fmt: skip
def test_valid_files_pass(content):
    assert list(VALIDATOR.iter_errors(yaml.safe_load(content))) == []


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"pub_rat": 50.0}, "'pub_rat' does not match"),
        ({"pub_rate": "fast"}, "'fast' is not of type 'number'"),
        ({"collisions": "stopp"}, "'stopp' is not one of"),
        ({"model_params": {"bicycle": {"wheel_bse": 2.7}}}, "'wheel_bse' does not match"),
        ({"model_params": {"bicycle": {"drive_actuator": {"dead_time": -0.1}}}}, "less than the minimum"),
        ({"sensors": {"lidar": {"type": "rplidar_a2", "xyz": [0.0, 0.0]}}}, "too short"),
        ({"sensors": {"lidar": {"rate": 10.0}}}, "'type' is a required property"),
        ({"sensors": {"lidar": {"type": "rplidar_a2", "rte": 10.0}}}, "'rte' does not match"),
    ],
)
@pytest.mark.parametrize("section", ["sim_node", "/**", "/red/sim_node"])
def test_mistakes_are_marked(section, parameters, message):
    assert any(message in error for error in errors(parameters, section))


def test_a_sensor_without_a_type_has_one_mistake():
    assert errors({"sensors": {"lidar": {"rate": 10.0}}}) == ["'type' is a required property"]


def test_names_of_other_packages_and_of_ros_pass():
    own = {"model": "quad", "model_params": {"quad": {"mass": 3.0}}, "sensors": {"sonar": {"type": "sonar", "x": 1}}}
    own |= {"backend": "sled", "plant_params": {"sled": {"grip": 0.5}}}
    assert errors(own | {"qos_overrides": {"/odom": 1}, "localization.seed": 3}) == []
    assert errors({"anything": 1}, "other_node") == []


@given(st.sampled_from(REALS), st.floats(-2e6, 2e6))
def test_a_number_passes_exactly_if_the_node_accepts_it(parameter, value):
    tree: Any = int(value) if parameter.type == "integer" else value
    for key in reversed(parameter.name.split(".")):
        tree = {key: tree}
    try:
        parameter.check(int(value) if parameter.type == "integer" else value)
    except VdsGzError:
        assert errors(tree)
    else:
        assert errors(tree) == []
