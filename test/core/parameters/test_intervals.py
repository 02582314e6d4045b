"""Intervals in the parameter files that identify writes."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.declaration import Override
from vds_gz.core.parameters.yaml_reader import (
    Interval,
    comment,
    ends,
    parameter_file,
    read_intervals,
    read_parameter_file,
)
from vds_gz.tools.study.identify.estimates import Estimate

FILE = """\
# A comment: 95 % if the model holds: 7 to 8
sim_node:
  ros__parameters:
    model: bicycle
    model_params:
      bicycle:
        wheel_base: 0.6
        drive_actuator: {dead_time: 0.1, time_constant: 0.2}  # guessed
"""


def test_written_intervals_are_read_back(tmp_path):
    result = {
        "model_params.bicycle.drive_actuator.dead_time": Estimate(0.17, 0.16, 0.18),
        "model_params.bicycle.steering_actuator.max_velocity": Estimate(1.23456e-3, -0.00012, 2e-3),
    }
    path = tmp_path / "parameters.yaml"
    path.write_text(parameter_file([item.override(name) for name, item in result.items()], "sim_node"))
    read = read_intervals(path, "/sim_node")
    assert read == {
        "model_params.bicycle.drive_actuator.dead_time": Interval(0.17, 0.16, 0.18),
        "model_params.bicycle.steering_actuator.max_velocity": Interval(0.0012346, -0.00012, 0.002),
    }


def test_a_file_without_intervals_has_none(tmp_path):
    path = tmp_path / "parameters.yaml"
    path.write_text(FILE)
    assert read_intervals(path, "/sim_node") == {}


@pytest.mark.parametrize("ends", ["much to more", "0.3 to 0.2", "nan to 1", "0.5 to 1_0"])
def test_an_invalid_interval_is_refused(tmp_path, ends):
    path = tmp_path / "parameters.yaml"
    path.write_text(FILE.replace("wheel_base: 0.6", f"wheel_base: 0.6  # 95 % if the model holds: {ends}"))
    with pytest.raises(
        ArgumentError, match=f"parameters.yaml, line 7: the interval is '{ends}'; it must be two numbers"
    ):
        read_intervals(path, "/sim_node")


def test_a_missing_parameter_file_is_refused(tmp_path):
    with pytest.raises(ArgumentError, match="does not exist"):
        read_intervals(tmp_path / "none.yaml", "/sim_node")


@pytest.mark.parametrize(
    ("low", "high"), [(0.269328, 0.269331), (-0.1234567, -0.1234561), (0.0, 1.00001e-9), (-math.inf, math.inf)]
)
def test_an_interval_in_words_contains_the_interval(low, high):
    first, last = map(float, ends(low, high).split(" to "))
    assert first <= low <= high <= last
    assert comment(low, high).endswith(ends(low, high))


@given(
    st.dictionaries(
        st.sampled_from(["a", "b.c", "b.d", "b.e.f", "model"]),
        st.floats(allow_nan=False)
        | st.booleans()
        | st.integers(-(2**63), 2**63 - 1)
        | st.text(st.characters(codec="utf-8"))
        | st.lists(st.floats(allow_nan=False), min_size=1),
        min_size=1,
    )
)
def test_written_values_are_read_as_the_same_values(tmp_path_factory, values):
    path = tmp_path_factory.getbasetemp() / "values.yaml"
    text = parameter_file([Override(name, value, "a comment") for name, value in values.items()], "sim_node")
    path.write_text(text, encoding="utf-8")
    read = {override.name: override.value for override in read_parameter_file(str(path), "/sim_node")}
    assert read == values
    assert {name: type(value) for name, value in read.items()} == {name: type(value) for name, value in values.items()}
