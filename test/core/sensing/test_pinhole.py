"""Depth and colours of cameras against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers.scenes import at, scene
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.sensing.body import mounted
from vds_gz.core.sensing.sensors.camera import Camera, Pinhole
from vds_gz.core.sensing.sensors.rgbd_camera import ColouredLayout, clipped
from vds_gz.core.sensing.shading import AMBIENT, SKY, SUN, SUN_DIRECTION
from vds_gz.core.world.shapes import Box, HalfSpace, rectangle, sphere

SMALL = {"columns": 64, "rows": 48, "fx": 40.0, "fy": 50.0, "cx": 30.0, "cy": 25.0}
AHEAD = mounted((0.0, 0.0, 1.0), (0.0, 0.0, 0.0))


def pixels() -> tuple[np.ndarray, np.ndarray]:
    """Places of the pixels' middles at the depth 1, to the right and down."""
    right, down = (np.arange(64) + 0.5 - 30.0) / 40.0, (np.arange(48) + 0.5 - 25.0) / 50.0
    return np.broadcast_arrays(right, down[:, None])


@given(st.floats(0.5, 50.0))
def test_a_wall_across_has_one_depth(distance):
    result = Pinhole(Camera(**SMALL)).view(scene(at(Box((1.0, 1e3, 1e3)), x=distance + 0.5)), AHEAD, colour=False)
    assert result.colour is None
    assert result.depth == pytest.approx(np.full((48, 64), distance), rel=1e-6)


def test_the_ground():
    """A pixel whose ray falls by s per metre of depth sees the ground at the depth h / s."""
    result = Pinhole(Camera(**SMALL, clip_max=40.0)).view(scene(at(HalfSpace())), AHEAD, colour=False).depth
    _, down = pixels()
    with np.errstate(divide="ignore"):
        depth = 1.0 / down
    expected = np.where((depth > 0.0) & (depth < 40.0), depth, np.inf)
    assert result == pytest.approx(expected, abs=1e-5)


def test_a_ball_to_the_left_and_above_is_so_in_the_image():
    result = Pinhole(Camera(**SMALL)).view(scene(at(sphere(0.5), x=5.0, y=2.0, z=2.0)), AHEAD, colour=False).depth
    right, down = pixels()
    square, along = 1.0 + right**2 + down**2, 5.0 - 2.0 * right - 1.0 * down
    root = along**2 - square * (5.0**2 + 2.0**2 + 1.0**2 - 0.25)
    expected = np.where(root > 0.0, (along - np.sqrt(np.maximum(root, 0.0))) / square, np.inf)
    assert np.isfinite(expected).sum() > 20
    assert result == pytest.approx(expected, abs=1e-5)
    rows, columns = np.nonzero(np.isfinite(result))
    assert rows.max() < 25
    assert columns.max() < 30


def test_things_before_the_near_clipping_plane_are_seen_through():
    """The depth counts, also at the edges of the image."""
    camera = Pinhole(Camera(**SMALL, clip_min=1.0))
    thin = scene(at(Box((0.001, 10.0, 10.0)), x=0.999), at(Box((1.0, 1e3, 1e3)), x=5.5))
    assert camera.view(thin, AHEAD, colour=False).depth == pytest.approx(np.full((48, 64), 5.0))


def test_depths_are_clipped_to_infinities():
    depth = np.array([[0.2, 0.5, 15.0, 15.5, np.inf]], np.float32)
    assert clipped(depth, 0.3, 15.0).tolist() == [[-math.inf, 0.5, 15.0, math.inf, math.inf]]


def test_a_pixel_on_the_optical_axis_without_a_hit_is_infinite_without_a_warning():
    """Its coordinates are 0 times infinity."""
    camera = Pinhole(Camera(**{**SMALL, "cx": 30.5, "cy": 25.5}))
    layout, view = ColouredLayout(camera.rays), camera.view(None, AHEAD, colour=True)
    points = np.zeros(layout.shape, layout.dtype)
    with np.errstate(all="raise"):
        assert not layout.write(points, view.depth, view.colour)
    for axis in "xyz":
        assert np.all(points[axis] == np.inf)


# ---------------------------------------------------------------------- colours


def colour_of(thing, place=AHEAD):
    seen = Pinhole(Camera(**SMALL)).view(scene(thing), place, colour=True).colour
    assert seen is not None
    assert len(np.unique(seen.reshape(-1, 3), axis=0)) == 1
    return seen[0, 0].tolist()


def brightness(normal: tuple[float, float, float], colour: tuple[float, float, float]) -> list[int]:
    light = AMBIENT + SUN * max(0.0, -float(np.dot(normal, SUN_DIRECTION)))
    return [encoded(light * part) for part in colour]


def encoded(linear: float) -> int:
    return round(255 * (12.92 * linear if linear <= 0.0031308 else 1.055 * min(linear, 1.0) ** (1 / 2.4) - 0.055))


def test_brightness_depends_on_the_direction_to_the_sun():
    colour = (0.2, 0.4, 0.6)
    down = mounted((0.0, 0.0, 1.0), (0.0, math.pi / 2, 0.0))
    back = mounted((0.0, 0.0, 1.0), (0.0, 0.0, math.pi))
    assert colour_of(at(HalfSpace(), colour=colour), down) == brightness((0.0, 0.0, 1.0), colour)
    wall = Box((1.0, 1e3, 1e3))
    assert colour_of(at(wall, x=5.5, colour=colour)) == brightness((-1.0, 0.0, 0.0), colour)
    assert colour_of(at(wall, x=-5.5, colour=colour), back) == brightness((1.0, 0.0, 0.0), colour)


def test_both_sides_of_a_sheet_are_lit():
    """From above it is in the sun, from below in the shade."""
    sheet, grey = at(rectangle(1e3, 1e3), colour=(0.5, 0.5, 0.5)), (0.5, 0.5, 0.5)
    above, below = (mounted((0.0, 0.0, side), (0.0, side * math.pi / 2, 0.0)) for side in (1.0, -1.0))
    assert colour_of(sheet, above) == brightness((0.0, 0.0, 1.0), grey)
    assert colour_of(sheet, below) == brightness((0.0, 0.0, -1.0), grey) == [80] * 3


def test_rays_without_a_hit_show_the_sky():
    sky = [218, 231, 243]  # what Gazebo's cameras show of 0.7 0.8 0.9
    assert [encoded(part) for part in SKY] == sky
    assert colour_of(at(sphere(1.0), x=-5.0)) == sky
    empty = Pinhole(Camera(**SMALL)).view(None, AHEAD, colour=True)
    assert np.isinf(empty.depth).all()
    assert empty.colour is not None
    assert (empty.colour == sky).all()
