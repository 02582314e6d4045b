"""The topic of an inertial measurement unit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vds_gz.interface.sensors.setup import SensorSetup, SingleTopicOutput
from vds_gz.parameters.sensors import Imu
from vds_gz.sensing.body import BodyState
from vds_gz.sensing.imu import ImuModel, noise_models
from vds_gz.sensing.sensor import GazeboSide, SensorType, Stream
from vds_gz.world.earth import GRAVITY
from vds_gz.world.scene import Scene

DATA = Stream("data", "sensor_msgs/msg/Imu", "imu", "gz.msgs.IMU")

#: First element of a covariance where the quantity is not measured.
UNKNOWN = -1.0


class ImuOutput(SingleTopicOutput):
    """An inertial measurement unit and its topic; fields as Gazebo's through the bridge."""

    stateful = True

    def __init__(self, setup: SensorSetup) -> None:
        """Announce the topic."""
        sensor = setup.parameters
        assert isinstance(sensor, Imu)
        self._model = ImuModel(sensor, setup.name, setup.seed)
        self._orientation = sensor.measure_orientation
        message = setup.message(DATA)
        for covariance, noise in zip(
            (message.angular_velocity_covariance, message.linear_acceleration_covariance),
            noise_models(sensor),
            strict=True,
        ):
            covariance[0] = covariance[4] = covariance[8] = noise.stddev**2
        numbers = [f"{field}.{axis}" for field in ("angular_velocity", "linear_acceleration") for axis in "xyz"]
        if self._orientation:
            numbers += [f"orientation.{part}" for part in "xyzw"]
        else:
            message.orientation_covariance[0] = UNKNOWN
        super().__init__(setup, message, numbers)

    def values(self, state: BodyState, scene: Scene | None) -> Sequence[float]:
        """Angular velocity, specific force, and the orientation where it is measured."""
        reading = self._model.measure(state, scene.gravity if scene else GRAVITY)
        orientation = reading.orientation if self._orientation else ()
        return (*reading.angular_velocity, *reading.linear_acceleration, *orientation)


IMU = SensorType(Imu, (DATA,), ImuOutput, frozenset(("motion",)), GazeboSide(Path("sensors/imu.xacro")))
