"""Moving obstacles: their poses over time, and files that are refused."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.errors import WorldError
from vds_gz.core.world.shapes import Cylinder
from vds_gz.core.world.surroundings import MovingObstacle, read_obstacles

S = 1_000_000_000

CART = """
obstacles:
  - name: cart
    box: [1.2, 0.6, 1.0]
    path: [[0, 0], [4, 0], [4, 2]]
    speed: 2.0
    repeat: {repeat}
"""


def obstacles(folder, text):
    path = folder / "obstacles.yaml"
    path.write_text(text)
    return read_obstacles(path)


def place(moving, seconds):
    (thing,) = moving.collisions(round(seconds * S))
    pose = thing.pose
    return pose[0, 3], pose[1, 3], pose[2, 3], math.degrees(math.atan2(pose[1, 0], pose[0, 0]))


@pytest.mark.parametrize(
    ("repeat", "seconds", "expected"),
    [
        ("once", 0.0, (0.0, 0.0, 0.5, 0.0)),
        ("once", 1.0, (2.0, 0.0, 0.5, 0.0)),
        ("once", 2.5, (4.0, 1.0, 0.5, 90.0)),
        ("once", 9.0, (4.0, 2.0, 0.5, 90.0)),
        ("back_and_forth", 3.5, (4.0, 1.0, 0.5, -90.0)),
        ("back_and_forth", 5.0, (2.0, 0.0, 0.5, 180.0)),
        ("back_and_forth", 6.5, (1.0, 0.0, 0.5, 0.0)),
        ("loop", 3.0 + 0.5 * math.sqrt(5.0), (2.0, 1.0, 0.5, -153.434948822922)),
        ("loop", 3.0 + math.sqrt(5.0) + 1.0, (2.0, 0.0, 0.5, 0.0)),
    ],
)
def test_where_a_cart_is(tmp_path, repeat, seconds, expected):
    moving = obstacles(tmp_path, CART.format(repeat=repeat))
    assert place(moving, seconds) == pytest.approx(expected, abs=1e-6)
    assert moving.top_speed == pytest.approx(2.0)


@given(st.floats(0.0, 100.0), st.floats(1e-3, 0.5), st.sampled_from(["once", "back_and_forth", "loop"]))
def test_an_obstacle_never_jumps(tmp_path_factory, seconds, later, repeat):
    moving = obstacles(tmp_path_factory.mktemp("obstacles"), CART.format(repeat=repeat))
    before, after = place(moving, seconds), place(moving, seconds + later)
    assert math.dist(before[:2], after[:2]) <= 2.0 * later + 1e-6


def test_an_obstacle_waits_between_equal_points(tmp_path):
    text = "obstacles: [{name: man, cylinder: [0.25, 1.8], path: [[0, 4], [0, 4], [6, 4]], times: [2, 7, 10], z: 1}]"
    moving = obstacles(tmp_path, text)
    assert place(moving, 5.0) == pytest.approx((0.0, 4.0, 1.9, 0.0))
    assert place(moving, 8.5)[:2] == pytest.approx((3.0, 4.0))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("walls: []", "has no 'obstacles'"),
        ("obstacles: [{box: [1, 1, 1]}]", "item 1 has no 'name'"),
        ("obstacles: [{name: a, path: [[0, 0]]}]", "line 1: 'obstacles' item 1 has 0 shapes"),
        ("obstacles: [{name: a, box: [1, 1], path: [[0, 0]]}]", "has 2 items; it must have 3: length and width"),
        ("? {a: 1}\n: 1", "has a list or a mapping as a key; it must be a name"),
        ("obstacles: [{name: a, 0x" + 900 * "f" + ": 1, path: [[0, 0]]}]", "'0xffffff"),
        ("obstacles: [{name: a, box: [1, 1, -1], path: [[0, 0]]}]", "greater than 0"),
        ("obstacles: [{name: a, box: [1, 1, .nan], path: [[0, 0]]}]", "is '.nan'; it must be a finite number"),
        ("obstacles: [{name: a, box: [1, 1, 1], path: [[0, 0], [1, 0]]}]", "neither 'speed' [m/s] nor 'times' [s]"),
        (
            "obstacles: [{name: a, box: [1, 1, 1], path: [[0, 0], [1, 0]], speed: 0}]",
            "'0'; it must be a number greater",
        ),
        ("obstacles: [{name: a, box: [1, 1, 1], path: [[2000000000000, 0]]}]", "is 2e+12; its magnitude must be less"),
        ("obstacles: [{name: a, box: &b [*b, *b, *b], path: [[0, 0]]}]", "it has aliases"),
        ("[\n" * 1500, "more than 50 deep"),
        ("- name: a", "must hold a list 'obstacles'"),
        ("obstacles: [{name: a, box: [1, 1, 1], path: [[0, 0], [1, 0]], times: [1, 1]}]", "must increase"),
        ("obstacles: [{name: a, box: [1, 1, 1], path: [[0, 0], [0, 0]], speed: 1}]", "two equal points"),
        ("obstacles: [{name: a, box: [1, 1, 1], path: [[0, 0]], colour: red}]", "there are name, box, cylinder, path"),
        ("obstacles: [{name: a, box: [1, 1, 1], path: [[0, 0]], repeat: twice}]", "once, loop, back_and_forth"),
        ("obstacles: [" + 2 * "{name: a, box: [1, 1, 1], path: [[0, 0]]}, " + "]", "has two obstacles 'a'"),
    ],
)
def test_errors_name_the_file_and_the_reason(tmp_path, text, words):
    with pytest.raises(WorldError, match=r"obstacles\.yaml") as refused:
        obstacles(tmp_path, text)
    assert words in str(refused.value)


def test_a_list_may_be_empty(tmp_path):
    moving = obstacles(tmp_path, "obstacles: []")
    assert list(moving.collisions(0)) == list(moving.visuals(0)) == []
    assert moving.top_speed == 0.0


@pytest.mark.parametrize(
    ("repeat", "turns"),
    [("once", [2.0, 3.0, 5.0, math.inf]), ("loop", [2.0, 3.0, 5.0, 6.0]), ("back_and_forth", [2.0, 3.0, 5.0, 7.0])],
)
def test_the_next_turn_is_the_next_point_of_the_path(repeat, turns):
    obstacle = MovingObstacle("cart", Cylinder(1.0, 1.0), 1.0, 0.0, ((0, 0), (1, 0), (1, 9)), (2.0, 3.0, 5.0), repeat)
    time, result = 0.0, []
    for _ in turns:
        time = obstacle.next_turn(time)
        result.append(time)
    assert result == turns
