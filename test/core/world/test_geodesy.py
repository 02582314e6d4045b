"""Places on Earth: round trips and known coordinates."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.world.geodesy import EQUATORIAL, FLATTENING, LocalFrame, Origin, ecef, geodetic

latitudes = st.floats(-90.0, 90.0)
longitudes = st.floats(-180.0, 180.0)
heights = st.floats(-500.0, 20_000.0)
near = st.floats(-20_000.0, 20_000.0)

#: Tolerance [m].
CLOSE = 4e-6


@given(latitudes, longitudes, heights)
def test_there_and_back_is_the_same_place(latitude, longitude, height):
    point = ecef(latitude, longitude, height)
    b, lon, h = geodetic(point)
    assert ecef(b, lon, h) == pytest.approx(point, abs=CLOSE)
    assert b == pytest.approx(latitude, abs=1e-10)
    assert h == pytest.approx(height, abs=CLOSE)


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ((0.0, 0.0, 0.0), (EQUATORIAL, 0.0, 0.0)),
        ((0.0, 90.0, 100.0), (0.0, EQUATORIAL + 100.0, 0.0)),
        ((90.0, 0.0, 0.0), (0.0, 0.0, EQUATORIAL * (1.0 - FLATTENING))),
        ((-90.0, 0.0, 5.0), (0.0, 0.0, -EQUATORIAL * (1.0 - FLATTENING) - 5.0)),
    ],
)
def test_axes_of_the_ellipsoid(place, expected):
    assert ecef(*place) == pytest.approx(expected, abs=CLOSE)
    assert geodetic(ecef(*place))[0] == pytest.approx(place[0], abs=1e-12)
    assert geodetic(ecef(*place))[2] == pytest.approx(place[2], abs=CLOSE)


def test_a_known_place():
    """Example of EPSG guidance note 7-2, section 4.1.1 (geographic/geocentric conversions)."""
    x, y, z = ecef(53.0 + 48.0 / 60 + 33.820 / 3600, 2.0 + 7.0 / 60 + 46.380 / 3600, 73.0)
    assert (x, y, z) == pytest.approx((3771793.968, 140253.342, 5124304.349), abs=2e-3)


@given(latitudes, longitudes, near, near, st.floats(-100.0, 1000.0))
def test_a_point_lies_as_far_from_the_origin_on_earth_as_in_the_world(latitude, longitude, x, y, z):
    frame = LocalFrame(Origin(latitude, longitude, 50.0, 30.0))
    here, there = ecef(latitude, longitude, 50.0), ecef(*frame.geodetic(frame.enu((x, y, z))))
    assert math.dist(here, there) == pytest.approx(math.hypot(x, y, z), abs=2.0 * CLOSE)


def test_east_north_and_up():
    frame = LocalFrame(Origin(48.8566, 2.35, 100.0))
    radius = EQUATORIAL / math.sqrt(1.0 - FLATTENING * (2.0 - FLATTENING) * math.sin(math.radians(48.8566)) ** 2)
    b, lon, height = frame.geodetic((1.0, 0.0, 0.0))
    assert math.radians(lon - 2.35) * (radius + 100.0) * math.cos(math.radians(b)) == pytest.approx(1.0, rel=1e-6)
    assert (b, height) == pytest.approx((48.8566, 100.0), abs=1e-6)
    b, lon, height = frame.geodetic((0.0, 1.0, 0.0))
    assert b > 48.8566
    assert lon == pytest.approx(2.35, abs=1e-12)
    assert frame.geodetic((0.0, 0.0, 7.0)) == pytest.approx((48.8566, 2.35, 107.0), abs=1e-9)


@pytest.mark.parametrize(("heading", "enu"), [(0.0, (2.0, 1.0)), (90.0, (-1.0, 2.0)), (180.0, (-2.0, -1.0))])
def test_the_heading_turns_the_worlds_x_axis_from_east_to_north(heading, enu):
    assert LocalFrame(Origin(heading_deg=heading)).enu((2.0, 1.0, 3.0)) == pytest.approx((*enu, 3.0))
