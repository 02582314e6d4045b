"""Sensors in parameters: their names, types and values, and what is refused."""

from pathlib import Path

import pytest
from helpers.sensors import GROUPS, TYPES

from vds_gz.core.parameters.conversion import load
from vds_gz.core.parameters.declaration import Description, Override, ParameterError, describe
from vds_gz.core.sensing.sensors.imu import Imu
from vds_gz.core.sensing.sensors.velodyne_vlp16 import VelodyneVlp16
from vds_gz.core.vehicle.bicycle import BICYCLE

MODELS = {"bicycle": BICYCLE}


def loaded(**values):
    """The sensors of parameters with these values of one sensor, ``lidar1``."""
    overrides = [Override(f"sensors.lidar1.{name}", value, "file a.yaml") for name, value in values.items()]
    return load(overrides, MODELS, TYPES).sensors


def test_none_by_default():
    assert load([], MODELS, TYPES).sensors == {}


def test_a_sensor_has_the_defaults_of_its_type():
    assert loaded(type="velodyne_vlp16") == {"lidar1": VelodyneVlp16()}


def test_values_are_taken_wherever_the_type_stands():
    result = loaded(xyz=[0.1, 0, 0.3], type="velodyne_vlp16", rate=5)["lidar1"]
    assert result == VelodyneVlp16(xyz=(0.1, 0.0, 0.3), rate=5.0)


def test_several_keep_their_order():
    overrides = [Override(f"sensors.{name}.type", "imu") for name in ("rear", "front")]
    assert list(load(overrides, MODELS, TYPES).sensors) == ["rear", "front"]


def test_the_last_type_counts():
    overrides = [Override("sensors.a.type", kind) for kind in ("camera", "imu")]
    assert load(overrides, MODELS, TYPES).sensors == {"a": Imu()}


@pytest.mark.parametrize("name", GROUPS)
def test_every_type_can_be_distinguished_and_described(name):
    assert loaded(type=name)["lidar1"].type == name
    for parameter in describe(GROUPS[name]()):
        assert parameter.doc
        assert parameter.read_only


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"rate": 10.0}, r"sensor 'lidar1' \(file a.yaml\) has no type; 'sensors.lidar1.type' must be one of helios"),
        ({"type": "velodine"}, r"'sensors.lidar1.type' is 'velodine' \(file a.yaml\); .* nearest is 'velodyne_vlp16'"),
        (
            {"type": "imu", "rat": 1.0},
            "unknown parameter 'sensors.lidar1.rat' .* nearest valid name is 'sensors.lidar1.r",
        ),
        (
            {"type": "imu", "xyz": [1.0, 2.0]},
            r"'sensors.lidar1.xyz' is \[1.0, 2.0\] .* list of 3 finite numbers, .* at most 1e\+06 \[m\]",
        ),
        ({"type": "imu", "xyz": 1.0}, "must be a list of 3 finite numbers"),
        ({"type": "imu", "xyz": "abc"}, "must be a list of 3 finite numbers"),
        ({"type": "imu", "xyz": [True, 1.0, 2.0]}, "must be a list of 3 finite numbers"),
        ({"type": "imu", "xyz": [float("nan"), 1.0, 2.0]}, "must be a list of 3 finite numbers"),
        ({"type": "imu", "rate": 0.0}, "at least 1e-06, at most 1000"),
        ({"type": "velodyne_vlp16", "rate": 0.0}, r"'sensors.lidar1.rate' is 0 .* at least 0.25, at most 1000 \[Hz\]"),
        ({"type": "lidar2d", "rays": 10**9}, "'sensors.lidar1.rays' is 1000000000 .* at least 2, at most 65536"),
        ({"type": "ouster_os1", "rows": 10**6}, "at least 1, at most 512"),
        ({"type": "camera", "columns": 10**6}, "at least 1, at most 8192"),
        ({"type": "lidar2d", "min_range": 30.0}, "'min_range' is 30; it must be less than max_range, 30"),
        ({"type": "lidar2d", "min_range": 40.0}, "'min_range' is 40; it must be less than max_range, 30"),
        (
            {"type": "rgbd_camera", "depth_clip_max": 0.001},
            "'depth_clip_min' is 0.01; it must be less than depth_clip_max",
        ),
    ],
)
def test_refused(values, words):
    with pytest.raises(ParameterError, match=words):
        loaded(**values)


@pytest.mark.parametrize("name", ["1st", "", "front-left", "vörne"])
def test_a_name_must_be_good_for_topics_and_frames(name):
    with pytest.raises(ParameterError, match="its name must be a letter and then letters, digits or '_'"):
        load([Override(f"sensors.{name}.type", "imu", "here")], MODELS, TYPES)


def test_a_list_parameter_says_its_length():
    corner = Description("corner", "double_array", (0.0, 0.0), "m")
    assert corner.bounds() == "a list of 2 finite numbers, at least -1e+06, at most 1e+06"
    assert corner.check([1, 2.5]) == (1.0, 2.5)


DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "sensors.md"


@pytest.mark.parametrize("name", TYPES)
def test_the_document_has_every_type_with_its_topics(name):
    rows = [line for line in DOCUMENT.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    row = next((line for line in rows if f"`{name}`" in line.split("|")[1]), None)
    assert row, f"docs/sensors.md needs a row for the sensor '{name}', with its topics"
    assert all(f"`{stream.ros}`" in row for stream in TYPES[name].streams)
