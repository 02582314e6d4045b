"""Gazebo accepts models, sensors and worlds without a complaint."""

import pytest
from helpers.sensors import GROUPS
from helpers.simulation import NEEDS_GAZEBO, run

from vds_gz.cli.model import written
from vds_gz.core.configuration import load_parameters, preset_names
from vds_gz.core.description.sdf import sdf
from vds_gz.core.parameters.vehicles import BicycleParameters, OmniParameters
from vds_gz.core.share import share
from vds_gz.core.vehicle.catalogue import models

pytestmark = NEEDS_GAZEBO

#: The frame of a sensor's messages. Gazebo reads it, but its description of the format does not have it.
KNOWN_UNKNOWN = "XML Element[gz_frame_id], child of element[sensor], not defined in SDF"


@pytest.fixture
def check(tmp_path):
    """Assert that Gazebo accepts a text without unknown complaints."""

    def clean(text: str) -> None:
        file = tmp_path / "checked.sdf"
        file.write_text(text)
        result = run(["gz", "sdf", "--check", str(file)])
        complaints = [line for line in result.stderr.splitlines() if line and KNOWN_UNKNOWN not in line]
        assert (result.returncode, result.stdout.strip(), complaints) == (0, "Valid.", [])

    return clean


@pytest.mark.parametrize("preset", preset_names())
def test_presets(check, preset):
    check(written(load_parameters(preset), "sdf", "vehicle"))


@pytest.mark.parametrize("pattern", ["o", "x"])
def test_omni(check, pattern):
    check(sdf(models()["omni"], OmniParameters(roller_pattern=pattern)))


@pytest.mark.parametrize("kind", GROUPS)
def test_sensors(check, kind):
    check(sdf(models()["bicycle"], BicycleParameters(), sensors={"probe": GROUPS[kind]()}))


@pytest.mark.parametrize("world", ["empty", "track", "hall", "outdoor"])
def test_worlds(check, world):
    check(share("worlds", f"{world}.sdf").read_text())
