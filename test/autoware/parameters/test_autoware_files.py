"""Autoware's parameter files, converted to parameters of this package."""

from __future__ import annotations

import pytest

from vds_gz.autoware.parameters.simulator_files import translated
from vds_gz.core.configuration import parameters_of
from vds_gz.core.parameters.conversion import load
from vds_gz.core.parameters.declaration import Override, ParameterError
from vds_gz.core.parameters.yaml_reader import read_parameter_file
from vds_gz.core.vehicle.catalogue import models

SIMULATOR = """/**:
  ros__parameters:
    simulated_frame_id: "base_link"
    origin_frame_id: "map"
    vehicle_model_type: "DELAY_STEER_ACC_GEARED"
    initialize_source: "INITIAL_POSE_TOPIC"
    timer_sampling_time_ms: 25
    add_measurement_noise: False
    enable_road_slope_simulation: True
    vel_lim: 30.0
    vel_rate_lim: 30.0
    steer_lim: 0.6
    steer_rate_lim: 6.28
    acc_time_delay: 0.1
    acc_time_constant: 0.1
    steer_time_delay: 0.1
    steer_time_constant: 0.1
    steer_dead_band: 0.0
    x_stddev: 0.0001
    y_stddev: 0.0001
"""
VEHICLE = """/**:
  ros__parameters:
    wheel_radius: 0.383
    wheel_width: 0.235
    wheel_base: 2.79
    wheel_tread: 1.64
    front_overhang: 1.0
    rear_overhang: 1.1
    left_overhang: 0.128
    right_overhang: 0.128
    vehicle_height: 2.5
    max_steer_angle: 0.70
"""
MECHANICAL = """/**:
  ros__parameters:
    vehicle_model_type: "ACTUATION_CMD_MECHANICAL"
    timer_sampling_time_ms: 25
    accel_time_delay: 0.1
    convert_accel_cmd: true
    convert_brake_cmd: true
    convert_steer_cmd_method: "vgr"
    vgr_coef_a: 15.713
    accel_map_path: $(find-pkg-share autoware_raw_vehicle_cmd_converter)/data/default/accel_map.csv
    mechanical_params:
      kp: 300.0
      angle_limit: 8.0
      vgr_coef_a: 2.418
"""


def translation(tmp_path, *texts: str):
    values = []
    for i, text in enumerate(texts):
        file = tmp_path / f"{i}.yaml"
        file.write_text(text)
        values += read_parameter_file(str(file), "/simulation/sim_node")
    return translated(values, models())


def names(values) -> set[str]:
    return {value.name for value in values}


def test_simulator_and_vehicle_files(tmp_path):
    result = translation(tmp_path, SIMULATOR, VEHICLE)
    parameters = load(
        [override for override in result if not override.name.startswith("measurement_noise.")], models(), {}
    )
    assert parameters.model == "delay_steer_acc_geared"
    assert parameters.pub_rate == 40.0
    vehicle = parameters.vehicle
    assert (vehicle.wheel_base, vehicle.tire_diameter, vehicle.track_fixed, vehicle.track_steered) == (
        2.79,
        0.766,
        1.64,
        1.64,
    )
    assert (vehicle.vel_lim, vehicle.steer_lim, vehicle.steer_time_delay) == (30.0, 0.6, 0.1)
    assert "measurement_noise.add_measurement_noise" in names(result)
    assert not {"x_stddev", "max_steer_angle", "origin_frame_id"} & names(result)


def test_mechanical_sample(tmp_path):
    result = translation(tmp_path, MECHANICAL, VEHICLE)
    values = {override.name: override.value for override in result}
    prefix = "model_params.actuation_cmd_mechanical"
    assert values["model"] == "actuation_cmd_mechanical"
    assert values[f"{prefix}.mechanical_params.kp"] == 300.0
    assert values[f"{prefix}.vgr_coef_a"] == 15.713
    path = "package://autoware_raw_vehicle_cmd_converter/data/default/accel_map.csv"
    assert values[f"{prefix}.accel_map_path"] == path
    assert not {"mechanical_params.vgr_coef_a", "convert_steer_cmd_method"} & names(result)


def test_only_unknown_names_stay(tmp_path):
    result = translation(tmp_path, SIMULATOR + "    vel_limm: 3.0\n    vel_time_delay: 0.25\n")
    assert "vel_limm" in names(result)
    assert "vel_time_delay" not in names(result)


def test_converted_values_are_checked(tmp_path):
    result = translation(tmp_path, SIMULATOR.replace("steer_lim: 0.6", "steer_lim: -0.6"))
    with pytest.raises(ParameterError, match="steer_lim"):
        parameters_of([override for override in result if not override.name.startswith("measurement_noise.")])


@pytest.mark.parametrize("text", ["LEARNED_STEER_VEL", "DELAY_STEER_WHATEVER"])
def test_unknown_models_are_refused(tmp_path, text):
    with pytest.raises(ParameterError, match=rf"'vehicle_model_type' is '{text}'.*DELAY_STEER_ACC_GEARED"):
        translation(tmp_path, SIMULATOR.replace("DELAY_STEER_ACC_GEARED", text))


def test_bad_timer_is_refused(tmp_path):
    with pytest.raises(ParameterError, match="timer_sampling_time_ms"):
        translation(tmp_path, SIMULATOR.replace("time_ms: 25", "time_ms: 0"))


def test_files_of_autowares_simulator_have_the_type_of_a_vehicle():
    with pytest.raises(ParameterError, match="vehicle_model_type"):
        translated([Override("vel_lim", 3.0)], models())
