"""Directions of rays, as in the models for Gazebo and in the data sheets of the devices."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from helpers.sensors import GROUPS

from vds_gz.core.description.urdf_writer import urdf
from vds_gz.core.parameters.vehicles import BicycleParameters
from vds_gz.core.sensing.lidar import Lidar
from vds_gz.core.sensing.sensors.helios_32 import Helios26, Helios31, Helios70
from vds_gz.core.sensing.sensors.lidar2d import Lidar2d
from vds_gz.core.sensing.sensors.ouster_os1 import OusterOs1
from vds_gz.core.sensing.sensors.rplidar_a2 import RplidarA2
from vds_gz.core.sensing.sensors.velodyne_vlp16 import VelodyneVlp16
from vds_gz.core.sensing.spinning_lidar import SpinningLidar

LIDARS = [group for group in GROUPS.values() if issubclass(group, Lidar)]


def lidars_of_the_model(sensor: Lidar) -> list[ET.Element]:
    """The lidars in Gazebo of which the model of a sensor consists."""
    text = urdf("bicycle", BicycleParameters(), sensors={"front": sensor})
    return [element for element in ET.fromstring(text).iter("sensor") if element.get("type") == "gpu_lidar"]


def span(lidar: ET.Element, axis: str) -> np.ndarray:
    """The angles of rows or columns, evenly spaced as in Gazebo."""
    scan = lidar.find(f"lidar/scan/{axis}")
    low, high, samples = (float(scan.find(name).text) for name in ("min_angle", "max_angle", "samples"))
    return np.linspace(low, high, round(samples))


@pytest.mark.parametrize("changes", [{}, {"rate": 7.0}])
@pytest.mark.parametrize("group", LIDARS)
def test_rays_are_those_of_the_model_in_gazebo(group, changes):
    sensor = group(**changes)
    model = lidars_of_the_model(sensor)
    grid = sensor.gazebo_grid()
    bands = sensor.bands() if isinstance(sensor, SpinningLidar) else (np.zeros(1),)
    assert len(bands) == len(model)
    for band, lidar in zip(bands, model, strict=True):
        assert grid.azimuths == pytest.approx(span(lidar, "horizontal"), abs=1e-12)
        assert band == pytest.approx(span(lidar, "vertical"), abs=1e-12)
    assert grid.elevations == pytest.approx(np.concatenate(bands))


@pytest.mark.parametrize("group", [OusterOs1, VelodyneVlp16])
def test_a_single_row_is_level(group):
    (lidar,) = lidars_of_the_model(group(rows=1))
    assert span(lidar, "vertical").tolist() == group(rows=1).gazebo_grid().elevations.tolist() == [0.0]


def test_a_faster_turn_has_fewer_columns():
    assert VelodyneVlp16(rate=10.0).column_count == 1808
    assert VelodyneVlp16(rate=20.0).column_count == 904
    assert RplidarA2(rate=10.0).column_count == 800
    assert OusterOs1(rate=20.0, columns=512).column_count == 512
    assert Lidar2d(rate=20.0, rays=91).column_count == 91


def test_rows_of_the_real_helios():
    degrees = [np.degrees(group().driver_grid().elevations) for group in (Helios26, Helios31, Helios70)]
    assert all(len(rows) == 32 for rows in degrees)
    assert degrees[0][[0, 2, 3, 7, 28, 29, 31]] == pytest.approx([-16, -13, -12.5, -7, 3.5, 6, 10])
    assert degrees[1] == pytest.approx(np.arange(-16, 16))
    assert degrees[2] == pytest.approx(np.degrees(Helios70().gazebo_grid().elevations), abs=0.0126)


def test_devices_turn_clockwise_and_an_ouster_counts_from_the_top():
    for group, begin in ((VelodyneVlp16, math.pi), (OusterOs1, math.pi), (Helios31, 0.0)):
        azimuths = group().driver_grid().azimuths
        assert azimuths[0] == begin
        assert np.diff(azimuths) == pytest.approx(-2.0 * math.pi / len(azimuths))
    assert (np.diff(OusterOs1().driver_grid().elevations) < 0.0).all()


@pytest.mark.parametrize("group", LIDARS)
def test_directions_are_unit_vectors_at_their_angles(group):
    for grid in (group().gazebo_grid(), group().driver_grid()):
        directions = grid.directions()
        assert directions.shape == (*grid.shape, 3)
        assert np.linalg.norm(directions, axis=-1) == pytest.approx(1.0)
        assert np.arcsin(directions[0, :, 2]) == pytest.approx(grid.elevations)
        turn = np.arctan2(directions[:, 0, 1], directions[:, 0, 0]) - grid.azimuths
        assert np.cos(turn) == pytest.approx(1.0)
