"""Plants of other packages: found by their entry points, configured, and driven by the node."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import partial

import pytest
from helpers.live_node import live_node
from helpers.own_plant import SLED, Sled, SledParameters, install
from helpers.processes import PATIENCE

from vds_gz.cli.subcommands import main
from vds_gz.core.configuration import load_parameters, parameters_of
from vds_gz.core.errors import ArgumentError, VdsGzError
from vds_gz.core.parameters.declaration import Override, ParameterError
from vds_gz.core.plant.plant_setup import installed_plant, plant_setup
from vds_gz.core.plant.plant_types import PlantType, PlantTypes
from vds_gz.core.vehicle.command import twist
from vds_gz.programs.nodes.preparation import prepare


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder to install into, searched for packages during the test."""
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@pytest.fixture
def sled(site):
    install(site)


def test_backend_selects_an_installed_plant_and_its_parameters(sled):
    assert list(PlantTypes()) == ["sled"]
    values = {"backend": "sled", "plant_params.sled.grip": 0.5}
    parameters = load_parameters("indoor_robot", values)
    assert parameters.plant_params == {"sled": SledParameters(0.5)}
    assert load_parameters("indoor_robot").plant_params == {}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"backend": "sledge"}, r"'backend' is 'sledge' \(values\); it must be one of kinematic, gazebo, .*auto, sled; "
         r"the nearest is 'sled'"),
        ({"backend": "sled", "plant_params.sled.grip": 2.0}, r"'plant_params.sled.grip' is 2 \(values\); .* at most 1"),
        ({"backend": "sled", "plant_params.sled.grp": 0.5}, r"nearest valid name is 'plant_params.sled.grip'"),
        ({"plant_params.sleigh.grip": 0.5}, r"unknown parameter 'plant_params.sleigh.grip'"),
    ],
)  # fmt: skip
def test_wrong_names_and_values_are_refused_with_what_is_right(sled, values, message):
    with pytest.raises(ParameterError, match=message):
        load_parameters("indoor_robot", values)


def test_parameters_of_a_plant_that_is_not_chosen_are_a_finding(sled):
    prepared = prepare([Override("model", "differential"), Override("plant_params.sled.grip", 0.5, "my.yaml")])
    assert prepared.unused == ("'plant_params.sled' (my.yaml) has no effect: the backend is 'kinematic'",)


def test_a_plant_that_is_not_chosen_need_not_be_importable(site):
    install(site, "sled = an_engine_that_is_not_installed:SLED")
    prepared = prepare([Override("plant_params.sled.grip", 0.5, "my.yaml")])
    assert prepared.unused == ("'plant_params.sled' (my.yaml) has no effect: the backend is 'kinematic'",)
    with pytest.raises(ParameterError, match=r"entry point 'sled' of vds_gz.plants"):
        prepare([Override("backend", "sled"), Override("plant_params.sled.grip", 0.5)])


def test_a_parameter_file_with_a_plant_is_checked_and_its_values_are_shown(sled, tmp_path, capsys):
    file = tmp_path / "my.yaml"
    file.write_text("sim_node: {ros__parameters: {backend: sled, plant_params: {sled: {grip: 0.5}}}}")
    assert main(["check", str(file)]) == 0
    assert "  plant_params.sled.grip: 0.5 -  (default 1)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("entry_points", "message"),
    [
        ("sled = helpers.own_plant:Sled", r"entry point 'sled' of vds_gz.plants is .*; it must be a PlantType"),
        ("sled = helpers.own_plant:SLEDGE", r"entry point 'sled' of vds_gz.plants, .*SLEDGE, raises AttributeError"),
        ("gazebo = helpers.own_plant:SLED", r"entry point 'gazebo' of vds_gz.plants: a plant 'gazebo' exists already"),
    ],
)
def test_an_entry_point_that_is_no_plant_is_refused_by_name(site, entry_points, message):
    install(site, entry_points)
    with pytest.raises(ArgumentError, match=message):
        load_parameters("indoor_robot", {"backend": "sled"})


@pytest.mark.parametrize(("make", "parameters"), [("no function", SledParameters), (Sled, dict)])
def test_a_record_that_cannot_make_a_plant_is_refused(make, parameters):
    with pytest.raises(ArgumentError, match=r"it must be a function of a PlantSetup|derives from ParameterGroup"):
        PlantType(make, parameters)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda setup: None, "makes None; it must make a Plant"),
        (lambda setup: [][1], r"raises IndexError: list index out of range \(.*test_installed_plants.py, line \d+\)"),
    ],
)
def test_a_factory_that_fails_is_named_with_its_place(sled, make, message):
    parameters = load_parameters("indoor_robot", {"backend": "sled"})
    with pytest.raises(ArgumentError, match=f"entry point 'sled' of vds_gz.plants {message}"):
        installed_plant(PlantType(make), plant_setup(parameters))


def test_what_a_plant_refuses_reaches_the_user_as_it_stands(sled):
    parameters = parameters_of([Override("backend", "sled"), Override("model", "omni")])
    with pytest.raises(VdsGzError, match=r"^a sled has no rollers$"):
        installed_plant(SLED, plant_setup(parameters))


@pytest.mark.graph
def test_a_node_drives_an_installed_plant(sled, domain):
    """With a grip of a half it drives at half the commanded speed, and resets to where it began."""
    with live_node(model="differential", backend="sled", plant_params__sled__grip=0.5) as live:
        simulation, received = live.node.simulation, live.received["/ground_truth"]
        assert isinstance(simulation.plant, Sled)
        drive = partial(live.command, twist(0.5, 0.0, 0.0))
        live.turn_until(lambda: received and received[-1].twist.twist.linear.x > 0.24, drive)
        assert received[-1].twist.twist.linear.x <= 0.25
        assert received[-1].pose.pose.position.x > 0.0
        simulation.reset(time=False, state=True)
        assert simulation.plant.pose.x == 0.0


@pytest.mark.graph
def test_a_plant_that_raises_ends_the_node_with_one_line(site, domain):
    install(site, "fallen = helpers.own_plant:FALLEN")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), *sys.path])}
    command = [sys.executable, "-m", "vds_gz.programs.nodes.sim_node", "--ros-args", "-p", "backend:=fallen"]
    node = subprocess.run(command, stderr=subprocess.PIPE, env=environment, text=True, timeout=PATIENCE)
    assert node.returncode == 1
    assert re.search(
        r"sim_node: plant 'fallen' \(entry point 'fallen' of vds_gz.plants, helpers.own_plant:FALLEN\) raised "
        r"ValueError: the sled fell over \(.*own_plant.py, line \d+\)$",
        node.stderr.strip(),
    )
    assert "Traceback" not in node.stderr


@pytest.mark.graph
def test_sensors_on_an_installed_plant_see_what_moves_in_the_world(sled, domain, tmp_path):
    """A cart 2 m ahead, in a hall whose walls are farther away."""
    file = tmp_path / "obstacles.yaml"
    file.write_text("obstacles:\n  - {name: cart, box: [1.0, 1.0, 1.0], path: [[2.5, 0.0], [2.5, 0.1]], speed: 0.01}\n")
    places = {"world": "hall", "moving_obstacles": str(file), "other_vehicles": ""}
    lidar = {"sensors__lidar__type": "rplidar_a2", "sensors__lidar__xyz": (0.0, 0.0, 0.5)}
    with live_node(model="differential", backend="sled", **places, **lidar) as live:
        scans = live.received["/lidar/scan"]
        live.turn_until(lambda: scans)
        assert min(scans[-1].ranges) == pytest.approx(2.0, abs=0.1)
