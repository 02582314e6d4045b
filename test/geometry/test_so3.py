"""What gravity does along the vehicle, from Gazebo's orientation, is what a model expects of that pitch."""

import pytest

from vds_gz.geometry.so3 import into_body, quaternion
from vds_gz.parameters.autoware import GRAVITY, slope_acceleration


@pytest.mark.parametrize("pitch", [-0.3, 0.0, 0.1, 0.5])
@pytest.mark.parametrize("yaw", [0.0, 2.0])
def test_gravity_along_the_vehicle_goes_by_its_pitch(pitch, yaw):
    along = into_body(quaternion(0.0, pitch, yaw), (0.0, 0.0, -GRAVITY))[0]
    assert along == pytest.approx(slope_acceleration(pitch), abs=1e-12)
