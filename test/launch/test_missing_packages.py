"""Messages of launch files about ROS packages that are not installed."""

import pytest

from vds_gz.core.errors import ArgumentError
from vds_gz.programs.launching.vehicle_launch import LaunchedVehicle

pytestmark = pytest.mark.ros


@pytest.mark.parametrize("description", ["auto", "topic", "parameter"])
def test_without_robot_state_publisher_the_message_names_it_and_the_remedy(monkeypatch, tmp_path, description):
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    with pytest.raises(ArgumentError, match=r"ROS package robot_state_publisher: .* robot_state_publisher:=false"):
        LaunchedVehicle("").robot_state_publisher(description)
