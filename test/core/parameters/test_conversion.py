"""From names and values to parameters: loading, refusals and their messages."""

import dataclasses
import math

import pytest
import yaml
from helpers.sensors import TYPES

from vds_gz.core.parameters.conversion import load
from vds_gz.core.parameters.declaration import Override, ParameterError
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.parameters.vehicles import BicycleParameters
from vds_gz.core.vehicle.bicycle import BICYCLE
from vds_gz.core.vehicle.differential import DIFFERENTIAL
from vds_gz.core.vehicle.omni import OMNI

MODELS = {"bicycle": BICYCLE, "differential": DIFFERENTIAL, "omni": OMNI}

#: Every parameter that a parameter file of vehicle_dynamics_sim names.
VDS_FILE = """
sim_node:
  ros__parameters:
    step_rate: 500.0
    pub_rate: 25.0
    twist_reference_max_oldness: 2.0
    be_reference_clock: false
    simulate_localization: true
    model: bicycle
    model_params:
      bicycle:
        base_link_offset: 0.1
        wheel_base: 2.7
        drive_on_steered_wheel: yes
        reverse: true
        vis_track_fixed: 1.1
        vis_track_steered: 0.0
        vis_tire_diameter: 0.6
        drive_actuator: {dead_time: 0.1, time_constant: 0.3, max_acceleration: 3.0, max_velocity: 5.0}
        steering_actuator: {dead_time: 0.15, time_constant: 0.04, max_velocity: 1.5, max_position: 0.0}
      differential:
        base_link_offset: 0.0
        track: 0.5
        vis_tire_diameter: 0.3
        drive_actuators: {dead_time: 0.05, time_constant: 0.2, max_acceleration: 1.0, max_velocity: 0.8}
      omni:
        base_link_offset: 0.0
        wheel_base: 1.5
        track: 1.1
        drive_actuators: {dead_time: 0.2, time_constant: 0.5, max_acceleration: 0.5, max_velocity: 1.0}
    localization:
      odom_walk_velocity_translation: 0.001
      odom_walk_velocity_rotation: 0.002
      map_sample_noise_translation: 0.000003
      map_sample_noise_rotation: 4.5e-6
"""


def flat(tree: dict, prefix: str = ""):
    """The leaves of nested dicts by their dotted names."""
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def loaded(values: dict | None = None, **more) -> NodeParameters:
    return load([Override(name, value) for name, value in ((values or {}) | more).items()], MODELS, TYPES)


def refusal(values: dict | None = None, origin: str = "", **more) -> str:
    """The message with which values are refused."""
    with pytest.raises(ParameterError) as caught:
        load([Override(name, value, origin) for name, value in ((values or {}) | more).items()], MODELS, TYPES)
    return str(caught.value)


# Loading


def test_without_values_everything_has_its_default():
    node = loaded()
    assert node == NodeParameters(model_params={"bicycle": BicycleParameters()})
    assert (node.step_rate, node.pub_rate, node.model) == (1000.0, 50.0, "bicycle")
    assert node.vehicle.drive_actuator.time_constant == 0.4
    assert node.vehicle.steering_actuator.max_position == pytest.approx(math.pi / 6)


def test_a_parameter_file_of_vehicle_dynamics_sim_loads_unchanged():
    node = loaded(dict(flat(yaml.safe_load(VDS_FILE)["sim_node"]["ros__parameters"])))
    assert (node.step_rate, node.pub_rate, node.twist_reference_max_oldness) == (500.0, 25.0, 2.0)
    assert node.simulate_localization
    p = node.vehicle
    assert (p.base_link_offset, p.wheel_base, p.drive_on_steered_wheel, p.reverse) == (0.1, 2.7, True, True)
    assert (p.track_fixed, p.track_steered, p.tire_diameter) == (1.1, 0.0, 0.6)
    drive, steering = p.drive_actuator, p.steering_actuator
    assert (drive.dead_time, drive.time_constant, drive.max_acceleration, drive.max_velocity) == (0.1, 0.3, 3.0, 5.0)
    assert drive.max_deceleration == 0.0
    assert (steering.dead_time, steering.time_constant, steering.max_velocity) == (0.15, 0.04, 1.5)
    assert steering.max_position == 0.0
    assert dataclasses.astuple(node.localization)[:4] == (0.001, 0.002, 0.000003, 4.5e-6)


@pytest.mark.parametrize(("model", "field", "value"), [("differential", "track", 0.5), ("omni", "wheel_base", 1.5)])
def test_of_a_file_for_all_models_the_values_of_the_chosen_one_are_used(model, field, value):
    values = dict(flat(yaml.safe_load(VDS_FILE)["sim_node"]["ros__parameters"])) | {"model": model}
    node = loaded(values)
    assert list(node.model_params) == [model]
    assert isinstance(node.vehicle, MODELS[model].parameters)
    assert getattr(node.vehicle, field) == value


@pytest.mark.parametrize("name", ["track_fixed", "track_steered", "tire_diameter"])
def test_an_older_name_means_the_new_one(name):
    assert getattr(loaded({f"model_params.bicycle.vis_{name}": 0.77}).vehicle, name) == 0.77
    assert loaded({"command_timeout": 0.25}).twist_reference_max_oldness == 0.25


def test_an_older_name_and_the_new_one_are_one_parameter_and_the_last_counts():
    names = ("model_params.bicycle.vis_track_fixed", "model_params.bicycle.track_fixed")
    for order in (names, names[::-1]):
        overrides = [Override(order[0], 0.7), Override(order[1], 0.9)]
        assert load(overrides, MODELS, TYPES).vehicle.track_fixed == 0.9


def test_whole_numbers_are_taken_for_numbers():
    node = loaded(step_rate=500, **{"model_params.bicycle.wheel_base": 2})
    assert (node.step_rate, node.vehicle.wheel_base) == (500.0, 2.0)
    assert type(node.step_rate) is float


@pytest.mark.parametrize(
    "name", ["qos_overrides./tf.publisher.depth", "start_type_description_service", "diagnostic_updater.period"]
)
def test_parameters_that_ros_gives_every_node_are_ignored(name):
    assert loaded({name: "whatever"}) == loaded()


# Refusals


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("model_params.bicycle.wheelbase", "model_params.bicycle.wheel_base"),
        ("model_params.bicycle.drive_actuator.max_velocty", "model_params.bicycle.drive_actuator.max_velocity"),
        ("model_params.differential.drive_actuator.dead_time", "model_params.differential.drive_actuators.dead_time"),
        ("localization.sed", "localization.seed"),
        ("publish_rate", "pub_rate"),
    ],
)
def test_the_nearest_name_is_the_one_that_was_meant(wrong, right):
    assert refusal({wrong: 1.0}).splitlines()[0].endswith(f"the nearest valid name is '{right}'")


def test_many_unknown_names_are_counted():
    lines = refusal({f"unknown_{k}": 1.0 for k in range(500)}).splitlines()
    assert len(lines) < 30
    assert lines[-1] == f"{501 - len(lines)} further parameters are unknown"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"step_rat": 500.0}, "unknown parameter 'step_rat'; the nearest valid name is 'step_rate'"),
        ({"%%%": 1.0}, "unknown parameter '%%%'; the nearest valid name is '"),
        ({"model": "omni", "model_params.trak": 1.0}, "the nearest valid name is 'model_params.omni.track'"),
        ({"model_params.bicycle": 1.0}, "unknown parameter 'model_params.bicycle'"),
        ({"vis_tire_diameter": 0.5}, "unknown parameter 'vis_tire_diameter'"),  # an older name of a group
        ({"model": "omi"}, "is 'omi'; it must be one of bicycle, differential, omni; the nearest is 'omni'"),
        ({"model": "bicycle", "model_params.omni.wheel_base": -1.0}, "wheel_base"),
        ({"use_sim_time": True, "be_reference_clock": True}, "'use_sim_time' and 'be_reference_clock' are both true"),
        ({"base_frame": ""}, "parameter 'base_frame' is ''; it must be a name that differs"),
        ({"base_frame": "odom"}, "parameter 'base_frame' is 'odom'; it must be a name that differs"),
        ({"base_frame": "map"}, "parameter 'base_frame' is 'map'; it must be a name that differs"),
        ({"moving_obstacles": "cars.yaml"}, "'moving_obstacles' is 'cars.yaml' and 'world' is empty"),
        (
            {"step_rate": 100.0, "pub_rate": 200.0, "clock_rate": 50.0},
            "parameter 'pub_rate' is 200; it must be at most step_rate, 100 [Hz]",
        ),
        (
            {"step_rate": 50.0, "pub_rate": 50.0},
            "parameter 'clock_rate' is 100; it must be at most step_rate, 50 [Hz]",
        ),
        (
            {"model_params.bicycle.drive_on_steered_wheel": True, "model_params.bicycle.four_wheel_drive": True},
            "'drive_on_steered_wheel' and 'four_wheel_drive' are both true",
        ),
        (
            {"model": "omni", "model_params.bicycle.wheel_base": 2.0},
            "'model_params.omni', or 'model: bicycle', would be right",
        ),
    ],
)
def test_what_does_not_fit_is_refused_with_what_would_be_right(values, said):
    assert said in refusal(values)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("step_rate", 0.0, "is 0; it must be a finite number, at least 0.1, at most 100000 [Hz]"),
        ("step_rate", 200_000.0, "is 200000; it must be a finite number, at least 0.1, at most 100000 [Hz]"),
        ("step_rate", "fast", "is 'fast'; it must be a number"),
        ("step_rate", True, "is True; it must be a number"),
        ("use_sim_time", 1, "is 1; it must be true or false"),
        ("speed_factor", -1.0, "is -1; it must be a finite number, at least 0"),
        ("localization.seed", 1.5, "is 1.5; it must be a whole number"),
        ("localization.seed", True, "is True; it must be a whole number"),
        ("localization.seed", -1, "is -1; it must be a whole number, at least 0"),
        ("model", 3, "is 3; it must be a text"),
        ("model_params.bicycle.wheel_base", 0.0, "is 0; it must be a finite number, at least 1e-06, at most 1e+06 [m]"),
        (
            "model_params.bicycle.base_link_offset",
            math.inf,
            "is inf; it must be a finite number, at least -100, at most 100 [m]",
        ),
        (
            "model_params.bicycle.drive_actuator.time_constant",
            -0.1,
            "is -0.1; it must be a finite number, at least 0, at most 1e+06 [s]",
        ),
        (
            "model_params.bicycle.drive_actuator.dead_time",
            61.0,
            "is 61; it must be a finite number, at least 0, at most 60 [s]",
        ),
        ("model_params.bicycle.steering_actuator.max_velocity", math.nan, "is nan; it must be a finite number"),
        ("model_params.omni.roller_pattern", "z", "is 'z'; it must be one of o, x"),
    ],
)
def test_a_value_that_is_not_allowed_is_refused_with_name_value_and_bound(name, value, words):
    assert refusal({name: value}).startswith(f"parameter '{name}' {words}")


@pytest.mark.parametrize(
    ("sensor", "frame", "values"),
    [
        ("eye", "eye", {"base_frame": "eye"}),
        ("eye", "eye_optical_frame", {"base_frame": "eye_optical_frame"}),
        ("odom", "odom", {}),
        ("chart", "chart", {"map_frame": "chart"}),
        ("base_link", "base_link", {"base_frame": "robot"}),
    ],
)
def test_a_sensor_must_not_have_the_name_of_a_frame_of_the_vehicle(sensor, frame, values):
    message = refusal({**values, f"sensors.{sensor}.type": "camera"})
    assert f"sensor '{sensor}' has a frame '{frame}', which is also base_frame" in message


@pytest.mark.parametrize("limit", [0.0, math.pi / 2, 2.0])
def test_a_driven_fixed_axle_needs_a_steering_that_cannot_stand_across(limit):
    message = refusal({"model_params.bicycle.steering_actuator.max_position": limit})
    assert message.startswith("model_params.bicycle: parameter 'steering_actuator.max_position' is ")
    assert "greater than 0 and less than pi/2" in message
    free = {"model_params.bicycle.drive_on_steered_wheel": True}
    node = loaded({"model_params.bicycle.steering_actuator.max_position": limit} | free)
    assert node.vehicle.steering_actuator.max_position == limit


def test_rollers_in_an_o_cannot_turn_wheels_that_stand_in_a_square():
    square = {"model": "omni", "model_params.omni.wheel_base": 1.2, "model_params.omni.track": 1.2}
    assert "cannot turn the vehicle" in refusal(square)
    assert loaded(square | {"model_params.omni.roller_pattern": "x"}).vehicle.wheel_base == 1.2


def test_contradictions_of_other_models_do_not_matter():
    square = {
        "model": "bicycle",
        "model_params.bicycle.wheel_base": 2.0,
        "model_params.omni.wheel_base": 1.2,
        "model_params.omni.track": 1.2,
    }
    assert loaded(square).model == "bicycle"


def test_all_faults_are_reported_at_once():
    wrong = {
        "steprate": 5.0,
        "step_rate": -1.0,
        "sensors.a.type": "lidr",
        "sensors.b.rate": 3.0,
        "model_params.bicycle.wheel_base": "long",
        "localization.seed": -1,
    }
    lines = refusal(wrong).splitlines()
    named = ("'sensors.a.type'", "sensor 'b'", "'steprate'", "'step_rate' is -1", "'model_params", "'localization.")
    assert len(lines) == len(named)
    assert all(any(name in line for line in lines) for name in named)


def test_contradictions_in_several_groups_are_reported_at_once():
    limit = "model_params.bicycle.steering_actuator.max_position"
    message = refusal({"pub_rate": 2000.0, limit: 0.0, "gazebo.model": ""}).splitlines()
    assert [line.partition(":")[0] for line in message] == ["gazebo", "model_params.bicycle"]
