"""The topics of an inertial measurement unit and of a satellite receiver."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from vds_gz.core.parameters.sensor_parameters import Gnss, Imu
from vds_gz.core.ros.messages.fields import EXACT
from vds_gz.core.sensing.body import BodyState
from vds_gz.core.sensing.imu_gnss import GnssModel, ImuModel
from vds_gz.core.sensing.sensor import GazeboSide, SensorType, Stream
from vds_gz.core.world.geodesy import GRAVITY, NULL_ISLAND
from vds_gz.core.world.scene import Scene
from vds_gz.programs.interface.sensors.sensor_setup import SensorSetup, SingleTopicOutput

DATA = Stream("data", "sensor_msgs/msg/Imu", "imu", "gz.msgs.IMU")

#: First element of a covariance where the quantity is not measured.
UNKNOWN = -1.0

#: Places of the diagonal of a 3x3 covariance. In ``sensor_msgs/Imu`` a matrix of zeros means that it is unknown.
_DIAGONAL = (0, 4, 8)


class ImuOutput(SingleTopicOutput):
    """An inertial measurement unit and its topic; fields as Gazebo's through the bridge, with covariances."""

    stateful = True

    def __init__(self, setup: SensorSetup) -> None:
        sensor = setup.parameters
        assert isinstance(sensor, Imu)
        self._model = ImuModel(sensor, setup.name, setup.seed)
        self._orientation = sensor.measure_orientation
        message = setup.message(DATA)
        fields = ("angular_velocity", "linear_acceleration")
        numbers = [f"{field}.{axis}" for field in fields for axis in "xyz"]
        numbers += [f"{field}_covariance[{place}]" for field in fields for place in _DIAGONAL]
        if self._orientation:
            numbers += [f"orientation.{part}" for part in "xyzw"]
            for place in _DIAGONAL:
                message.orientation_covariance[place] = EXACT
        else:
            message.orientation_covariance[0] = UNKNOWN
        super().__init__(setup, message, numbers)

    def values(self, state: BodyState, scene: Scene | None) -> Sequence[float]:
        """Angular velocity, specific force, and the orientation where it is measured."""
        origin = scene.origin if scene else NULL_ISLAND
        heading = math.radians(origin.heading_deg)
        reading = self._model.measure(state, scene.gravity if scene else GRAVITY, heading)
        rate, acceleration = reading.rate_variance or EXACT, reading.acceleration_variance or EXACT
        variances = rate, rate, rate, acceleration, acceleration, acceleration
        orientation = reading.orientation if self._orientation else ()
        return (*reading.angular_velocity, *reading.linear_acceleration, *variances, *orientation)


IMU = SensorType(Imu, (DATA,), ImuOutput, frozenset(("motion",)), GazeboSide(Path("sensors/imu.xacro")))


FIX = Stream("fix", "sensor_msgs/msg/NavSatFix", "navsat", "gz.msgs.NavSat")

#: ``sensor_msgs/NavSatStatus``: NO_FIX, FIX, SBAS_FIX and GBAS_FIX.
STATUS = {"none": -1, "fix": 0, "float": 1, "rtk": 2}
SERVICE_GPS = 1

#: ``sensor_msgs/NavSatFix``.
COVARIANCE_UNKNOWN, COVARIANCE_DIAGONAL_KNOWN = 0, 2

_NUMBERS = (
    *("status.status", "latitude", "longitude", "altitude", "position_covariance_type"),
    *(f"position_covariance[{place}]" for place in _DIAGONAL),
)


class FixOutput(SingleTopicOutput):
    """A satellite receiver and its topic; fields as Gazebo's through the bridge, or as drivers fill them."""

    stateful = True

    def __init__(self, setup: SensorSetup) -> None:
        sensor = setup.parameters
        assert isinstance(sensor, Gnss)
        self._model = GnssModel(sensor, setup.name, setup.seed)
        self._driver = sensor.layout == "driver"
        message = setup.message(FIX)
        if self._driver:
            message.status.service = SERVICE_GPS
        super().__init__(setup, message, _NUMBERS)

    def values(self, state: BodyState, scene: Scene | None) -> Sequence[float]:
        """Status, position and covariance."""
        fix = self._model.measure(state, scene.origin if scene else NULL_ISLAND)
        known = self._driver and fix.fix_type != "none"
        covariance = COVARIANCE_DIAGONAL_KNOWN if known else COVARIANCE_UNKNOWN
        variances = [variance or EXACT for variance in fix.variances] if known else (0.0, 0.0, 0.0)
        return (STATUS[fix.fix_type], *fix.position, covariance, *variances)


GNSS = SensorType(Gnss, (FIX,), FixOutput, gazebo=GazeboSide(Path("sensors/gnss.xacro")))
