"""The parameter files that come with the package."""

from __future__ import annotations

import subprocess
import sys

import pytest

from vds_gz.core.configuration import (
    in_world,
    load_parameters,
    parameters_of,
    preset_file,
    preset_names,
    read_vehicle_file,
)
from vds_gz.core.description.urdf_writer import urdf
from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.declaration import Override
from vds_gz.core.parameters.yaml_reader import read_parameter_file, section_of
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.command import SteadyMotion


@pytest.mark.parametrize("name", preset_names())
def test_loads_and_can_be_drawn(name):
    parameters = load_parameters(name)
    assert urdf(parameters.model, parameters.vehicle, models()[parameters.model].xacro, parameters.sensors)


def test_names_of_presets_and_models_import_no_model():
    """Help texts list them."""
    program = """
import sys
from vds_gz.core.configuration import preset_names
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.command import SteadyMotion
assert "forklift" in preset_names()
assert "bicycle" in models() and "tank" not in models()
print(*sys.modules)
"""
    loaded = subprocess.check_output([sys.executable, "-c", program], text=True).split()
    assert not {"numpy", "vds_gz.core.vehicle.bicycle", "vds_gz.autoware.vehicle.models"} & set(loaded)


@pytest.mark.parametrize("name", preset_names())
def test_every_value_has_its_unit_or_meaning(name):
    for line in preset_file(name).read_text().splitlines():
        key, _, value = line.partition(":")
        if value.strip() and not key.lstrip().startswith("#") and key.strip() != "model":
            assert "#" in value, f"{name}: {line}"


def test_forklift_steers_behind_with_one_wheel_all_round():
    vehicle = load_parameters("forklift").vehicle
    assert vehicle.reverse
    assert vehicle.drive_on_steered_wheel
    assert vehicle.track_steered == 0.0
    assert vehicle.steering_actuator.max_position == 0.0


def test_scaled_car_has_the_size_of_its_body_and_wheels():
    """0.3 m long and 0.18 m wide, wheels of 0.04 m radius and 0.02 m width at its corners."""
    vehicle = load_parameters("scaled_car").vehicle
    assert vehicle.wheel_base == pytest.approx(0.3 - 2 * 0.04)
    assert vehicle.track_fixed == vehicle.track_steered == pytest.approx(0.18 + 0.02)
    assert vehicle.tire_diameter == pytest.approx(2 * 0.04)


def test_a_four_wheel_steering_robot_turns_as_its_manufacturer_s_driver_says():
    """AgileX's ranger_ros2 (RangerMiniV2Params): inner wheel at 0.6981 rad, turning radius 0.4764 m."""
    vehicle = load_parameters("four_wheel_steering_robot").vehicle
    model = models()["four_wheel_steering"]
    c = model.coefficients(vehicle, 1e-3)
    angle = vehicle.front_steering_actuator.max_position
    s = model.at(c, SteadyMotion(0.5, steering_angle=angle, rear_steering_angle=-angle))
    assert max(model.joint_states(c, s).positions) == pytest.approx(0.6981, rel=1e-3)
    assert s.v_x / s.yaw_rate == pytest.approx(0.4764, rel=1e-3)
    assert s.v_y + vehicle.base_link_offset * s.yaw_rate == pytest.approx(0.0, abs=1e-12)


def test_deepracer_drives_four_wheels_forwards_only():
    vehicle = load_parameters("deepracer").vehicle
    assert vehicle.four_wheel_drive
    assert vehicle.center_at_standstill
    assert not vehicle.allow_reverse


def test_swerve_robot_is_wpilibs_example():
    """Modules 30 inches apart, wheels of 4 inches."""
    vehicle = load_parameters("swerve_robot").vehicle
    assert vehicle.module_x[0] - vehicle.module_x[1] == pytest.approx(30 * 0.0254)
    assert vehicle.module_y[1] - vehicle.module_y[2] == pytest.approx(30 * 0.0254)
    assert vehicle.tire_diameter == pytest.approx(4 * 0.0254)


def test_vds_defaults_name_every_parameter_of_vehicle_dynamics_sim():
    names = {override.name for override in read_parameter_file(str(preset_file("vds_defaults")), "/sim_node")}
    assert len(names) == 6 + (7 + 4 + 4) + (3 + 4) + (4 + 4) + 4


@pytest.mark.parametrize(("own", "lidars"), [({}, 1), ({"sensors.imu.type": "imu"}, 0), ({"moving_obstacles": "f"}, 1)])
def test_a_vehicle_without_sensors_sees_a_world_with_a_lidar(own, lidars):
    before = [Override(name, value, "test") for name, value in own.items()]
    parameters = parameters_of([*before, *in_world(before, "hall", "test")])
    assert parameters.world == "hall"
    assert list(parameters.sensors) == (["lidar"] if lidars else ["imu"])


SECTIONS = """
/**: {ros__parameters: {pub_rate: 10.0, clock_rate: 10.0, step_rate: 100.0}}
sim_node: {ros__parameters: {pub_rate: 20.0, clock_rate: 20.0}}
/car/sim_node: {ros__parameters: {pub_rate: 30.0}}
"""


def test_in_a_namespace_a_section_by_name_overrides_those_with_wildcards(tmp_path):
    file = tmp_path / "robot.yaml"
    file.write_text(SECTIONS, encoding="utf-8")
    parameters = parameters_of(read_vehicle_file(file, "/car/sim_node"))
    assert (parameters.pub_rate, parameters.clock_rate, parameters.step_rate) == (30.0, 20.0, 100.0)


def test_the_widest_section_for_a_node_is_named(tmp_path):
    file = tmp_path / "robot.yaml"
    file.write_text(SECTIONS, encoding="utf-8")
    assert section_of(str(file), "/sim_node") == "/**"
    file.write_text(SECTIONS.replace("/**:", "/elsewhere/**:"), encoding="utf-8")
    assert section_of(str(file), "/sim_node") == "sim_node"


@pytest.mark.parametrize("wrong", ["pub_rate: 20.0", "pub_rate: 30.0"])
def test_a_wrong_value_is_refused_in_every_section(tmp_path, wrong):
    file = tmp_path / "robot.yaml"
    file.write_text(SECTIONS.replace(wrong, "pub_rate: [1, a]"), encoding="utf-8")
    with pytest.raises(ArgumentError, match=r"'pub_rate', .* mixes types"):
        read_vehicle_file(file, "/car/sim_node")
