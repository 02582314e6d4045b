"""Actuation maps: reading, refusals and their messages, and the maps of the package."""

from __future__ import annotations

import itertools

import pytest
from helpers.tools import tool
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.autoware.parameters.car_parameters import ActuationCmdParameters, ActuationCmdSteerMapParameters
from vds_gz.autoware.parameters.map_files import own_map, parse_map, read_map
from vds_gz.autoware.vehicle.map_lookup import falling_inverse, interpolate, map_of, rising_inverse
from vds_gz.core.parameters.declaration import ParameterError
from vds_gz.core.share import share

GOOD = "default, 0.0, 10.0\n0, -0.5, -1\n\n0.5, 1.0, 0.5\n1, 3, 2\n"
OWN = ("accel_map.csv", "brake_map.csv", "steer_map.csv", "acceleration_map.csv")


def test_reads_a_map():
    table = parse_map(GOOD, "good")
    assert table.label == "default"
    assert table.states == (0.0, 10.0)
    assert table.actuations == (0.0, 0.5, 1.0)
    assert table.values == ((-0.5, -1.0), (1.0, 0.5), (3.0, 2.0))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "at least 2 rows"),
        ("default,0,1\n0,1,2\n", "at least 2 rows"),
        ("default,0\n0,1\n1,2\n", "row 1: .* at least 2 column keys"),
        ("default,0,1\n0,1,2\n1,2\n", "row 3: it has 2 cells; the first row has 3"),
        ("default,0,1\n0,1,2\n1,2,3,4\n", "row 3: it has 4 cells"),
        ("default,0,1\n0,1,two\n1,2,3\n", "row 2, column 3: 'two' is not a finite number"),
        ("default,0,1\n0,1,nan\n1,2,3\n", "row 2, column 3: 'nan'"),
        ("default,0,1\n0,1,\n1,2,3\n", "row 2, column 3: ''"),
        ("default,0,inf\n0,1,1\n1,2,3\n", "row 1, column 3: 'inf'"),
        ("default,0,1,1\n0,1,1,1\n1,2,3,3\n", "row 1, column 4: the column key 1 follows 1"),
        ("default,0,1\n1,1,1\n0,2,3\n", "row 3, column 1: the row key 0 follows 1"),
        ("default,0,1\n\n1,1,1\n\n1,2,3\n", "row 5, column 1: the row key 1 follows 1"),
    ],
)
def test_refuses(text, says):
    with pytest.raises(ParameterError, match=rf"map bad.csv.*{says}"):
        parse_map(text, "bad.csv")


@given(st.text(max_size=200))
def test_any_text_is_a_map_or_refused(text):
    try:
        parse_map(text, "any")
    except ParameterError:
        return


def test_parameters_refuse_bad_maps_at_once(tmp_path):
    bad = tmp_path / "bad.csv"
    bad.write_text("default,0,1\n0,1,x\n1,2,3\n")
    with pytest.raises(ParameterError, match=r"bad\.csv', row 2, column 3"):
        ActuationCmdParameters(accel_map_path=str(bad))
    with pytest.raises(ParameterError, match="does not exist"):
        ActuationCmdSteerMapParameters(steer_map_path=str(tmp_path / "none.csv"))
    with pytest.raises(ParameterError, match="no package 'nobody_has_this'"):
        ActuationCmdParameters(brake_map_path="package://nobody_has_this/map.csv")
    ActuationCmdParameters(accel_map_path="none.csv", convert_accel_cmd=False)


def test_a_changed_file_is_read_again(tmp_path):
    file = tmp_path / "map.csv"
    file.write_text(GOOD)
    first = read_map(str(file))
    file.write_text(GOOD.replace("3, 2", "4, 2"))
    assert read_map(str(file)).values[2][0] == 4.0
    assert first.values[2][0] == 3.0


def test_files_of_packages(tmp_path, monkeypatch):
    folder = tmp_path / "share" / "some_vehicle" / "data"
    folder.mkdir(parents=True)
    (folder / "map.csv").write_text("\ufeff" + GOOD, encoding="utf-8")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    assert read_map("package://some_vehicle/data/map.csv").label == "default"
    assert read_map("package://vds_gz/config/maps/accel_map.csv") == own_map("accel_map.csv")


@pytest.mark.parametrize("name", OWN)
def test_own_maps_rise_or_fall_with_actuation(name):
    """Each map has an inverse at every state."""
    table = own_map(name)
    sign = -1.0 if name == "brake_map.csv" else 1.0
    for before, after in itertools.pairwise(table.values):
        assert all(sign * (b - a) > 0.0 for a, b in zip(before, after, strict=True))


def test_accelerator_and_brake_released_are_the_same():
    accel, brake = own_map("accel_map.csv"), own_map("brake_map.csv")
    assert accel.states == brake.states
    assert accel.values[0] == brake.values[0]


def test_own_steering_map_is_symmetric():
    table = own_map("steer_map.csv")
    for row, opposite in zip(table.values, table.values[::-1], strict=True):
        assert row == pytest.approx([-value for value in opposite[::-1]])


def test_own_maps_are_those_of_their_script(tmp_path):
    tool("make_actuation_maps").main(tmp_path)
    for name in OWN:
        assert (tmp_path / name).read_text() == share("config", "maps", name).read_text()


@given(st.floats(0.0, 1.0), st.floats(-5.0, 60.0))
def test_inverses_undo_the_maps(pedal, speed):
    accel, brake = map_of(own_map("accel_map.csv")), map_of(own_map("brake_map.csv"))
    assert rising_inverse(accel, speed, interpolate(accel, pedal, speed)) == pytest.approx(pedal, abs=1e-9)
    assert falling_inverse(brake, speed, interpolate(brake, pedal, speed), False) == pytest.approx(pedal, abs=1e-9)


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_lookups_stay_within_the_map(actuation, state):
    table = own_map("steer_map.csv")
    values = [value for row in table.values for value in row]
    assert min(values) <= interpolate(map_of(table), actuation, state) <= max(values)


@given(st.lists(st.integers(-2, 2), min_size=4, max_size=4), st.floats(-3.0, 3.0))
def test_inverses_of_flat_and_odd_maps_are_within_the_axis(column, response):
    rows = "".join(f"{i},{value},{value}\n" for i, value in enumerate(column))
    table = map_of(parse_map(f"odd,0,1\n{rows}", "odd"))
    for answer in (
        rising_inverse(table, 0.5, response),
        falling_inverse(table, 0.5, response, False),
        falling_inverse(table, 0.5, response, True),
    ):
        assert 0.0 <= answer <= 3.0
