"""Paths through points, and where a point is relative to them."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vds_gz.core.errors import ArgumentError, VdsGzError
from vds_gz.tools.fleet.path import Path, read_path
from vds_gz.tools.fleet.tracking import HEADING, locate, point_at, project, radius_at, speed_at, value_at


def on_circle(count: int, radius: float = 5.0, turns: float = 1.0):
    angles = np.arange(count) / count * 2.0 * math.pi * turns
    return np.stack([radius * np.cos(angles), radius * np.sin(angles)], axis=1)


def figure_of_eight(count: int = 80, size: float = 10.0):
    """A path that crosses itself at the origin, at about a right angle."""
    angles = np.arange(count) / count * 2.0 * math.pi
    return np.stack([size * np.sin(angles), size * np.sin(angles) * np.cos(angles)], axis=1)


CIRCLE = Path.from_points(on_circle(40), closed=True)
EIGHT = Path.from_points(figure_of_eight(), closed=True)
STRAIGHT = Path.from_points([(0.0, 0.0), (10.0, 0.0)], 3.0, spacing=0.25)


def test_points_on_a_circle_give_the_circle():
    assert CIRCLE.closed
    assert CIRCLE.length == pytest.approx(10.0 * math.pi, rel=1e-4)
    assert CIRCLE.spacing == pytest.approx(0.1, rel=0.01)
    np.testing.assert_allclose(np.hypot(CIRCLE.x, CIRCLE.y), 5.0, atol=1e-4)
    np.testing.assert_allclose(CIRCLE.curvature, 0.2, rtol=0.02)
    np.testing.assert_allclose(
        CIRCLE.heading, math.pi / 2.0 + np.linspace(0.0, 2.0 * math.pi, len(CIRCLE.x)), atol=1e-3
    )
    assert CIRCLE.points[-1, :2].tolist() == CIRCLE.points[0, :2].tolist()


def test_points_of_an_arc_give_it_up_to_its_ends():
    arc = Path.from_points(on_circle(40, turns=0.7))
    assert not arc.closed
    np.testing.assert_allclose(arc.curvature, 0.2, rtol=0.03)
    assert arc.heading[0] == pytest.approx(math.pi / 2.0, abs=2e-3)
    assert arc.pose_at(arc.length)[:2] == pytest.approx(tuple(on_circle(40, turns=0.7)[-1]))


def test_the_heading_counts_turns_and_does_not_jump():
    assert EIGHT.heading[-1] == pytest.approx(EIGHT.heading[0], abs=1e-9)
    two_rounds = Path.from_points(on_circle(60, turns=2.0))
    assert two_rounds.heading[-1] - two_rounds.heading[0] == pytest.approx(4.0 * math.pi * 59 / 60, abs=0.01)
    for path in (EIGHT, two_rounds):
        assert abs(np.diff(path.heading)).max() < 0.1


def test_points_stand_at_equal_spacing_however_they_were_given():
    uneven = on_circle(200)[np.sort(np.random.default_rng(1).permutation(200)[:60])]
    path = Path.from_points(uneven, closed=True)
    np.testing.assert_allclose(np.hypot(np.diff(path.x), np.diff(path.y)), path.spacing, rtol=1e-3)


def test_a_straight_line_is_exact():
    assert STRAIGHT.y.tolist() == STRAIGHT.heading.tolist() == STRAIGHT.curvature.tolist() == [0.0] * 41
    np.testing.assert_allclose(STRAIGHT.x, np.arange(41) * 0.25, atol=1e-14)
    assert STRAIGHT.speed.tolist() == [3.0] * 41


def test_speeds_are_those_of_the_points_and_between_them_in_proportion():
    path = Path.from_points([(0.0, 0.0), (1.0, 0.0), (3.0, 0.0)], [1.0, 2.0, 0.0], spacing=0.5)
    assert path.speed.tolist() == pytest.approx([1.0, 1.5, 2.0, 1.5, 1.0, 0.5, 0.0])
    assert speed_at(path.points, False, 2.9) == pytest.approx(2.0)
    assert speed_at(path.points, False, 0.0) == pytest.approx(1.5)
    assert speed_at(path.points, False, 6.0) == pytest.approx(0.5)
    assert np.isinf(CIRCLE.speed).all()


def test_the_maximum_speed_falls_ahead_of_a_curve():
    """v^2 = a R in the curve, and v^2 = a R + 2 (a / 2) d at a distance d before it."""
    bend = np.linspace(0.0, math.pi / 2.0, 20)[1:]
    arc = np.stack([20.0 + 4.0 * np.sin(bend), 4.0 - 4.0 * np.cos(bend)], axis=1)
    path = Path.from_points([*((x, 0.0) for x in np.arange(0.0, 20.5)), *arc, (24.0, 6.0), (24.0, 30.0)])
    assert path.radius[round(22.0 / path.spacing)] == pytest.approx(4.0, rel=0.05)
    assert path.radius[round(10.0 / path.spacing)] == pytest.approx(4.0 + 10.0, rel=0.1)
    assert path.radius[-1] > 100.0
    np.testing.assert_allclose(CIRCLE.radius, 5.0, rtol=0.02)
    assert np.isinf(STRAIGHT.radius).all()


def test_a_path_that_ends_where_it_starts_is_closed_unless_it_is_said_not_to_be():
    points = [*on_circle(40).tolist(), on_circle(40)[0].tolist()]
    assert Path.from_points(points).closed
    assert Path.from_points(points).points.tolist() == CIRCLE.points.tolist()
    assert Path.from_points(points, closed=True).points.tolist() == CIRCLE.points.tolist()
    assert not Path.from_points(points, closed=False).closed


# ---------------------------------------------------------------------- projection


def test_a_point_beside_a_path_has_its_distance_positive_to_the_left():
    assert STRAIGHT.nearest(4.1, 1.5) == pytest.approx((4.1, 1.5))
    assert STRAIGHT.nearest(4.1, -1.5) == pytest.approx((4.1, -1.5))
    assert CIRCLE.nearest(0.0, 4.0) == pytest.approx((2.5 * math.pi, 1.0), rel=1e-3)
    assert CIRCLE.nearest(0.0, -7.0) == pytest.approx((7.5 * math.pi, -2.0), rel=1e-3)


def test_an_open_path_goes_on_straight_beyond_its_ends():
    assert STRAIGHT.nearest(-2.0, 1.0) == pytest.approx((-2.0, 1.0))
    assert STRAIGHT.nearest(12.0, -1.0) == pytest.approx((12.0, -1.0))
    assert point_at(STRAIGHT.points, False, 48.0) == pytest.approx((12.0, 0.0))
    assert point_at(STRAIGHT.points, False, -4.0) == pytest.approx((-1.0, 0.0))
    assert [speed_at(STRAIGHT.points, False, position) for position in (-4.0, 99.0)] == [3.0, 3.0]


def test_what_lies_beyond_an_end_counts_only_where_the_end_is_nearest():
    hook = Path.from_points([(0.0, 0.0), (5.0, 0.0), (10.0, 0.0), (10.0, 10.0), (5.0, 10.0), (5.0, 5.0)])
    distance, lateral = hook.nearest(4.0, 1.0)
    assert 3.0 < distance < 5.0
    assert lateral == pytest.approx(1.0, abs=0.3)


def test_the_crossing_of_a_figure_of_eight_is_passed_on_the_same_branch():
    position, reach = 0.0, 5
    laps = 2
    for distance in np.arange(0.0, laps * EIGHT.length, 0.15):
        x, y, _ = EIGHT.pose_at(distance)
        position, lateral = project(EIGHT.points, True, reach, x, y, position)
        assert position * EIGHT.spacing == pytest.approx(distance, abs=1e-3)
        assert lateral == pytest.approx(0.0, abs=1e-6)
    assert position > 1.9 * (len(EIGHT.x) - 1)


def test_on_a_short_closed_path_a_place_is_not_taken_for_itself_a_lap_before():
    position, lap = 0.0, len(CIRCLE.x) - 1
    for distance in np.arange(0.0, 2.0 * CIRCLE.length, 3.0):
        x, y, _ = CIRCLE.pose_at(distance)
        position, _ = project(CIRCLE.points, True, 2 * lap, x, y, position)
        assert position * CIRCLE.spacing == pytest.approx(distance, abs=1e-3)


def test_the_nearest_of_all_is_the_first_of_equally_near_ones():
    points = [*on_circle(40).tolist(), on_circle(40)[0].tolist()]
    circuit = Path.from_points(points, closed=False)
    assert circuit.nearest(5.0, 0.0)[0] == pytest.approx(0.0, abs=1e-6)
    assert EIGHT.nearest(0.0, 0.0)[0] == pytest.approx(0.0, abs=1e-4)


@pytest.mark.parametrize("path", [CIRCLE, EIGHT, STRAIGHT], ids=["circle", "eight", "straight"])
@given(x=st.floats(-15.0, 15.0), y=st.floats(-15.0, 15.0))
def test_no_other_point_of_the_path_is_nearer(path, x, y):
    distance, _ = path.nearest(x, y)
    nearest_x, nearest_y, _ = path.pose_at(min(max(distance, 0.0), path.length))
    result = math.hypot(nearest_x - x, nearest_y - y)
    assert result <= np.hypot(path.x - x, path.y - y).min() + 1e-4


@given(
    x=st.floats(-30.0, 30.0),
    y=st.floats(-30.0, 30.0),
    position=st.floats(-500.0, 1500.0),
    reach=st.integers(0, 20),
    path=st.sampled_from([CIRCLE, EIGHT, STRAIGHT]),
)
@settings(max_examples=300)
def test_the_compiled_projection_has_the_same_bits(x, y, position, reach, path):
    pytest.importorskip("numba")
    from vds_gz.core.compiling import compiled

    where = path.points, path.closed
    for function, arguments in (
        (project, (*where, reach, x, y, position)),
        (locate, (*where, x, y)),
        (point_at, (*where, position)),
        (value_at, (*where, position, HEADING)),
        (speed_at, (*where, position)),
        (radius_at, (*where, position)),
    ):
        assert repr(np.float64(compiled(function)(*arguments))) == repr(np.float64(function(*arguments)))


def test_a_point_that_is_not_finite_leaves_the_position_as_it_was():
    for x, y in ((math.nan, 0.0), (0.0, math.nan), (math.inf, 0.0)):
        position, lateral = project(CIRCLE.points, True, 5, x, y, 12.25)
        assert position == 12.25
        assert math.isnan(lateral)


def test_a_path_from_another_process_is_of_the_same_type_to_the_compiler():
    """Otherwise a worker would compile again."""
    numba = pytest.importorskip("numba")
    assert numba.typeof(pickle.loads(pickle.dumps(CIRCLE)).points) == numba.typeof(CIRCLE.points)


# ---------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("points", "options", "message"),
    [
        ([], {}, r"shape \(0,\)"),
        (np.zeros((0, 2)), {"closed": True}, "number of points is 0; a closed path has at least 3"),
        ([(0.0, 0.0), (1.0, "left")], {}, "points of a path must be numbers: could not convert .*'left'"),
        ([(0.0, 0.0), (1.0,)], {}, "points of a path must be numbers"),
        ([(0.0, 0.0), (1.0, 0.0)], {"speeds": ["fast", 1.0]}, "speeds of a path must be numbers"),
        ([(0.0, 0.0), (1.0, 0.0)], {"speeds": 0.0}, "point 1: the speed is 0 here and at the point before"),
        (
            [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0)],
            {"speeds": [0.0, 1.0, 0.0], "closed": True},
            "point 0: the speed is 0 h",
        ),
        ([(0.0, 0.0)], {}, "number of points is 1 .point 0.; a path has at least 2"),
        ([(0.0, 0.0), (1.0, 0.0)], {"closed": True}, "number of points is 2 .*a closed path has at least 3"),
        ([(0.0, 0.0), (1.0, 0.0), (1.0, 0.0), (2.0, 0.0)], {}, r"point 2: the point \(1, 0\) equals the one before"),
        ([(0.0, 0.0), (1.0, math.nan)], {}, r"point 1: the point is \(1, nan\)"),
        ([(0.0, 0.0), (1e300, 0.0)], {}, r"point 1: the point is \(1e\+300, 0\)"),
        ([(0.0, 0.0), (1.0, 0.0), (0.5, 0.0)], {}, "point 1: the path turns back here"),
        ([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)], {}, r"shape \(2, 3\); it must be \(points, 2\)"),
        ([(0.0, 0.0), (1.0, 0.0)], {"speeds": [1.0]}, r"shape \(1,\); it must be one number or of shape \(2,\)"),
        ([(0.0, 0.0), (1.0, 0.0)], {"speeds": [1.0, -1.0]}, "point 1: the speed is -1"),
        ([(0.0, 0.0), (1.0, 0.0)], {"speeds": math.inf}, "point 0: the speed is inf"),
        ([(0.0, 0.0), (1.0, 0.0)], {"spacing": 0.0}, "spacing of a path is 0; it must be"),
        ([(0.0, 0.0), (1e6, 0.0)], {}, "is 1e[+]06 m long; .* more than 2000000 points; give a larger spacing"),
    ],
)
def test_points_that_make_no_path_are_refused(points, options, message):
    with pytest.raises(ArgumentError, match=message):
        Path.from_points(points, **options)


def test_a_path_is_read_from_a_table(tmp_path):
    file = tmp_path / "path.csv"
    file.write_text("# recorded on foot\nspeed, y, x\n3, 0, 0\n\n3, 0, 10\n", encoding="utf-8")
    assert read_path(file, spacing=0.25).points.tolist() == STRAIGHT.points.tolist()
    file.write_text("x,y\n" + "".join(f"{x!r},{y!r}\n" for x, y in on_circle(40).tolist()), encoding="utf-8")
    assert read_path(file, closed=True).points.tolist() == CIRCLE.points.tolist()
    assert not read_path(str(file)).closed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "path.csv: the file is empty; it must have a row with the names of the columns, x,y or x,y,speed"),
        ("x,y\n", "path.csv: there are only the names of the columns"),
        ("x,y,width\n0,0,1\n", "path.csv, line 1: the columns are 'x,y,width'"),
        ("0,0\n1,0\n", "path.csv, line 1: the columns are '0,0'"),
        ("x,y\n0," + "1" * 140_000 + "\n", "path.csv, line 2: field larger than field limit"),
        ("x,y\n0,0\n1\n", "path.csv, line 3: there are 1 values for 2 columns"),
        ("x,y\n0,0\n1,one\n", "path.csv, line 3, column 'y': 'one' must be a number"),
        ("x,y\n0,0\n# kerb\n1,nan\n", r"path.csv, line 4: the point is \(1, nan\)"),
        ("x,y\n0,0\n1,0\n1,0\n", r"path.csv, line 4: the point \(1, 0\) equals the one before"),
        ("x,y\n0,0\n", r"number of points is 1 \(.*path.csv, line 2\)"),
        ("x,y\n0,0\n1,0\n0,0\n", r"path.csv, line 3: the path turns back|a closed path has at least 3"),
        ("x,y,speed\n0,0,1\n1,0,-2\n", "path.csv, line 3: the speed is -2"),
        ("x,y,speed\n0,0,1\n1,0,0\n2,0,0\n", "path.csv, line 4: the speed is 0 here and at the point before"),
    ],
)
def test_tables_that_hold_no_path_are_refused_by_the_line(tmp_path, text, message):
    file = tmp_path / "path.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ArgumentError, match=message):
        read_path(file)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(VdsGzError, match=r"path '.*none.csv' cannot be read as text"):
        read_path(tmp_path / "none.csv")
