"""``vds-gz new`` prints files with the values that they show, also in comments."""

from __future__ import annotations

import re

import pytest

from vds_gz.cli.new import new_file
from vds_gz.cli.subcommands import main
from vds_gz.core.configuration import load_parameters, preset_names
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.vehicle.catalogue import models


def expected(vehicle: str) -> NodeParameters:
    if vehicle in preset_names():
        return load_parameters(vehicle)
    return NodeParameters(model=vehicle, model_params={vehicle: models()[vehicle].parameters()})


@pytest.mark.parametrize("vehicle", [*models(), *preset_names()])
def test_a_file_has_the_values_that_it_shows(vehicle, tmp_path):
    """Comments show the values too: they may all be removed, with that of the example of a sensor."""
    file, shown = tmp_path / "new.yaml", tmp_path / "shown.yaml"
    file.write_text(new_file(vehicle))
    assert load_parameters(file) == expected(vehicle)
    assert main(["check", str(file)]) == 0
    shown.write_text(re.sub(r"^( +)# (?=[a-z_0-9]+:)", r"\1", file.read_text(), flags=re.MULTILINE))
    parameters = load_parameters(shown)
    assert parameters.model_params == expected(vehicle).model_params
    assert parameters.localization == expected(vehicle).localization
    assert parameters.sensors


def test_what_people_change_is_given_and_the_rest_a_comment():
    lines = new_file("differential").splitlines()
    assert lines[0].startswith("# yaml-language-server: $schema=file:///")
    given = [line.split(":")[0].strip() for line in lines if not line.lstrip().startswith("#")]
    assert given[:9] == [
        "sim_node", "ros__parameters", "model", "model_params", "differential",
        "track", "tire_diameter", "drive_actuators", "dead_time",
    ]  # fmt: skip
    assert "          dead_time: 0.2           # [s] time until a new reference begins to act" in lines
    assert "          # dead_band: 0.0         # [m/s] references of smaller magnitude count as 0" in lines


def test_an_unknown_name_is_refused_with_the_nearest_one(capsys):
    assert main(["new", "diferential"]) == 2
    assert "there is no model or preset 'diferential'; did you mean 'differential'?" in capsys.readouterr().err
