"""Values put into a user's parameter file."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.configuration import preset_file, preset_names
from vds_gz.parameters.declaration import Override
from vds_gz.parameters.yaml_reader import read_parameter_file
from vds_gz.parameters.yaml_writer import with_values

NODE = "/sim_node"
GROUP = "model_params.bicycle.drive_actuator"

MINE = """\
# My robot, measured in May.
sim_node:
    ros__parameters:
        model: "bicycle"       # as delivered

        # Geometry.
        model_params:
            bicycle:
                wheel_base: 0.60      # [m]
                reverse: no
                drive_actuator:
                    dead_time: 1e-1   # [s]
                    max_velocity: 1.5

                # not measured yet
                steering_actuator:
                    max_position: 0.42
        measurement_noise: {vel_stddev: 0.0}  # none
        pub_rate: 0x32

# The end.
"""


def test_all_that_is_not_replaced_stays_as_it_was():
    changes = Override(f"{GROUP}.dead_time", 0.17012, "0.1689 to 0.1713"), Override(f"{GROUP}.time_constant", 0.3, "x")
    written = with_values(MINE, changes, NODE)
    expected = MINE.replace("dead_time: 1e-1   # [s]", "dead_time: 0.17012   # [s]; 0.1689 to 0.1713")
    expected = expected.replace("max_velocity: 1.5\n", f"max_velocity: 1.5\n{20 * ' '}time_constant: 0.3  # x\n")
    assert written == expected


@pytest.mark.parametrize("name", preset_names())
def test_nothing_put_into_a_preset_leaves_every_byte(name):
    text = preset_file(name).read_text(encoding="utf-8")
    assert with_values(text, [], NODE) == text


@pytest.mark.parametrize(
    "text",
    [
        "sim_node:\n  ros__parameters:\n",
        "sim_node:\n  ros__parameters: {model: bicycle, model_params: {bicycle: {reverse: on}}}  # all in one line\n",
        "sim_node:\n  ros__parameters:\n    model_params.bicycle.drive_actuator.dead_time: 1.0\n",
        "sim_node:\n  ros__parameters:\n    model_params.bicycle:\n      drive_actuator.dead_time: 1.0\n",
        "/robot/sim_node:\n  ros__parameters:\n    a: 1\n/**:\n  ros__parameters:\n    model: bicycle # mine\n",
        "sim_node:\n  ros__parameters:\n    a:\n      - 1\n      - 2\n    b: 1  # one",
        "{sim_node: {ros__parameters: {model: 'a b',\n a: [1,\n  2]}}}  # all of it\n",
        "\ufeffsim_node:\n  ros__parameters:\n    model: bicycle\n    a: 1  # one\n    b: 2\n",
        "sim_node:\n  ros__parameters:\n    a: >\n      one\n      two\n    model: |\n      bicycle\n\n    b: 2\n",
        "---\n/**:\n  ros__parameters:\n    a: [1, 2]\n    b: 'y'\n\nsim_node:\n  ros__parameters:\n    a: [3]\n",
        "sim_node:\n  ros__parameters:\n    model_params:\n      bicycle:\n        drive_actuator:\n          # first\n"
        "          max_velocity: 1.0\n          # last\n# end\n",
        MINE,
    ],
)
@given(
    values=st.dictionaries(
        st.sampled_from([f"{GROUP}.dead_time", f"{GROUP}.new", "model", "a", "model_params.bicycle.reverse", "new.x"]),
        st.floats(allow_nan=False)
        | st.booleans()
        | st.integers(-(2**63), 2**63 - 1)
        | st.text(st.characters(codec="ascii", exclude_categories=["Cc"])),
    )
)
def test_what_is_written_is_read_as_the_same_values(tmp_path_factory, text, values):
    file = tmp_path_factory.getbasetemp() / "values.yaml"
    before = read(file, text)
    written = with_values(text, [Override(name, value, "found") for name, value in values.items()], NODE)
    after = read(file, written)
    assert after == before | values
    assert {name: type(after[name]) for name in values} == {name: type(value) for name, value in values.items()}
    assert all(one.partition("# ")[2] in written for one in text.splitlines() if "# " in one)


def test_of_a_name_that_stands_twice_the_last_value_is_replaced():
    text = "sim_node:\n  ros__parameters:\n    a: 1\n    b: 2\n    a: 3\n"
    assert with_values(text, [Override("a", 4)], NODE) == text.replace("a: 3", "a: 4")


def read(file: Path, text: str) -> dict[str, object]:
    file.write_text(text, encoding="utf-8")
    found = {one.name: one.value for one in read_parameter_file(str(file), NODE)}
    assert not any(isinstance(value, float) and math.isnan(value) for value in found.values())
    return found
