"""The topic of an inertial measurement unit."""

from __future__ import annotations

from collections.abc import Sequence

from vds_gz.interface.packed_topic import PackedTopic
from vds_gz.interface.sensors.single_stream import single_stream
from vds_gz.parameters.sensors import Imu, Sensor
from vds_gz.ros.graph import Graph
from vds_gz.sensing.body import BodyState
from vds_gz.sensing.imu import ImuModel, noise_models
from vds_gz.world.earth import GRAVITY
from vds_gz.world.scene import Scene

#: In the first element of a covariance: there is no such measurement.
UNKNOWN = -1.0


class ImuOutput:
    """An inertial measurement unit and its topic; fields as Gazebo's come through the bridge.

    Attributes:
        rate, rays, span, subscribed: See :class:`~vds_gz.interface.sensors.base.SensorOutput`.
    """

    rays = span = 0

    def __init__(self, graph: Graph, name: str, sensor: Sensor, frame_prefix: str, seed: int) -> None:
        """Announce the topic."""
        assert isinstance(sensor, Imu)
        self.rate = sensor.rate
        self._model = ImuModel(sensor, name, seed)
        self._orientation = sensor.measure_orientation
        topic, message = single_stream(graph, name, sensor.type, frame_prefix)
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
        self._topic = PackedTopic(graph, topic, message, numbers)

    @property
    def subscribed(self) -> bool:
        """Whether anybody listens."""
        return self._topic.subscribed

    def measure(self, states: Sequence[BodyState], scene: Scene | None) -> None:
        """Measure, and publish if anybody listens."""
        state = states[-1]
        reading = self._model.measure(state, scene.gravity if scene else GRAVITY)
        if self.subscribed:
            orientation = reading.orientation if self._orientation else ()
            self._topic.publish(state.time, (*reading.angular_velocity, *reading.linear_acceleration, *orientation))
