"""The satellite receiver: its position, its errors, and regions with other fixes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from vds_gz.core.geometry import Transform, quaternion
from vds_gz.core.parameters.declaration import ParameterError
from vds_gz.core.sensing.body import BodyState
from vds_gz.core.sensing.sensors.gnss import Gnss, GnssModel
from vds_gz.core.world.geodesy import LocalFrame, Origin, ecef

PARIS = Origin(48.8566, 2.35, 100.0)
EXACT = {"horizontal_std_noise": 0.0, "vertical_std_noise": 0.0}


def at(x: float, y: float, z: float = 0.0, second: int = 0, yaw: float = 0.0) -> BodyState:
    return BodyState(second * 1_000_000_000, Transform((x, y, z), quaternion(0.0, 0.0, yaw)))


def errors(parameters: Gnss, origin: Origin, count: int = 20_000) -> np.ndarray:
    """Errors to the east, north and up [m] of a receiver that stands at the origin."""
    model = GnssModel(parameters, "gps", 4)
    b, lon = math.radians(origin.latitude), math.radians(origin.longitude)
    axes = np.array(
        [
            (-math.sin(lon), math.cos(lon), 0.0),
            (-math.sin(b) * math.cos(lon), -math.sin(b) * math.sin(lon), math.cos(b)),
            (math.cos(b) * math.cos(lon), math.cos(b) * math.sin(lon), math.sin(b)),
        ]
    )
    centre = np.array(ecef(origin.latitude, origin.longitude, origin.elevation))
    fixes = [model.measure(at(0.0, 0.0, second=k), origin) for k in range(count)]
    return (np.array([ecef(*fix.position) for fix in fixes]) - centre) @ axes.T


def test_without_noise_it_measures_the_place_of_its_antenna():
    model = GnssModel(Gnss(xyz=(1.0, 0.0, 2.0), **EXACT), "gps", 0)
    origin = Origin(-33.9, 18.4, 20.0, 90.0)
    fix = model.measure(at(10.0, 5.0, 0.5, yaw=math.pi / 2), origin)
    frame = LocalFrame(origin)
    assert fix.position == pytest.approx(frame.geodetic((-6.0, 10.0, 2.5)), abs=1e-11)
    assert fix.fix_type == "fix"


def test_noise_is_in_metres_and_without_a_mean():
    problems = errors(Gnss(layout="driver", horizontal_std_noise=1.5, vertical_std_noise=2.5), PARIS)
    assert problems.std(axis=0) == pytest.approx([1.5, 1.5, 2.5], rel=0.03)
    assert np.abs(problems.mean(axis=0) / [1.5, 1.5, 2.5]).max() < 5.0 / math.sqrt(len(problems))


def test_noise_to_the_east_shrinks_with_the_latitude_as_in_gazebo():
    problems = errors(Gnss(horizontal_std_noise=1.5), PARIS)
    assert problems.std(axis=0) == pytest.approx([1.5 * math.cos(math.radians(48.8566)), 1.5, 4.0], rel=0.03)


def test_a_correlated_error_has_its_spread_and_correlation_time():
    problems = errors(
        Gnss(**EXACT, correlated_horizontal_std=3.0, correlated_vertical_std=5.0, correlation_time=10.0), PARIS
    )
    assert problems.std(axis=0) == pytest.approx([3.0, 3.0, 5.0], rel=0.12)
    correlation = [np.corrcoef(channel[:-10], channel[10:])[0, 1] for channel in problems.T]
    assert correlation == pytest.approx([math.exp(-1.0)] * 3, abs=0.1)


def test_the_first_region_at_a_place_sets_the_fix():
    parameters = Gnss(
        fix_type="rtk",
        regions="none 10 -5 20 5; float 0 -5 30 5; ",
        correlated_horizontal_std=0.4,
        layout="driver",
    )
    model = GnssModel(parameters, "gps", 0)
    fixes = [model.measure(at(x, 0.0), PARIS) for x in (-1.0, 5.0, 15.0, 25.0)]
    assert [fix.fix_type for fix in fixes] == ["rtk", "float", "none", "float"]
    assert [all(map(math.isnan, fix.position)) for fix in fixes] == [False, False, True, False]
    assert fixes[0].variances == pytest.approx((0.01**2 + 0.16, 0.01**2 + 0.16, 0.02**2))
    assert fixes[1].variances == pytest.approx((0.3**2 + 0.16, 0.3**2 + 0.16, 0.5**2))


def test_noise_restarts_when_time_jumps_back():
    model = GnssModel(Gnss(correlated_horizontal_std=1.0), "gps", 0)
    runs = [[model.measure(at(1.0, 0.0, second=k), PARIS) for k in range(20)] for _ in range(2)]
    assert runs[0] == runs[1]


def test_a_region_without_coverage_does_not_change_later_samples():
    parameters = Gnss(regions="none 10 -5 20 5", correlated_horizontal_std=1.0)
    through, around = (GnssModel(parameters, "gps", 0) for _ in range(2))
    for k in range(5):
        through.measure(at(15.0, 0.0, second=k), PARIS)
        around.measure(at(0.0, 0.0, second=k), PARIS)
    assert through.measure(at(1.0, 0.0, second=5), PARIS) == around.measure(at(1.0, 0.0, second=5), PARIS)


@pytest.mark.parametrize(
    "regions", ["none 1 2 3", "none 1 2 3 4 5", "good 0 0 1 1", "none 1 0 0 1", "none 0 0 nan 1", "none a 0 1 1"]
)
def test_invalid_regions_are_refused(regions):
    with pytest.raises(ParameterError, match=r"'regions' has '.*'; each region must be one of fix, float, rtk, none"):
        Gnss(regions=regions)
