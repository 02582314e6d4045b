"""The topic of a satellite receiver."""

from __future__ import annotations

from collections.abc import Sequence

from vds_gz.interface.packed_topic import PackedTopic
from vds_gz.interface.sensors.single_stream import single_stream
from vds_gz.parameters.sensors import Gnss, Sensor
from vds_gz.ros.graph import Graph
from vds_gz.sensing.body import BodyState
from vds_gz.sensing.gnss import GnssModel
from vds_gz.world.geodesy import NULL_ISLAND
from vds_gz.world.scene import Scene

#: ``sensor_msgs/NavSatStatus``: NO_FIX, FIX, SBAS_FIX and GBAS_FIX.
STATUS = {"none": -1, "fix": 0, "float": 1, "rtk": 2}
SERVICE_GPS = 1

#: ``sensor_msgs/NavSatFix``.
COVARIANCE_UNKNOWN, COVARIANCE_DIAGONAL_KNOWN = 0, 2

_NUMBERS = (
    *("status.status", "latitude", "longitude", "altitude", "position_covariance_type"),
    *(f"position_covariance[{index}]" for index in (0, 4, 8)),
)


class FixOutput:
    """A satellite receiver and its topic; fields as Gazebo's come through the bridge, or as drivers fill them.

    Attributes:
        rate, rays, span, subscribed: See :class:`~vds_gz.interface.sensors.base.SensorOutput`.
    """

    rays = span = 0

    def __init__(self, graph: Graph, name: str, sensor: Sensor, frame_prefix: str, seed: int) -> None:
        """Announce the topic."""
        assert isinstance(sensor, Gnss)
        self.rate = sensor.rate
        self._model = GnssModel(sensor, name, seed)
        self._driver = sensor.layout == "driver"
        topic, message = single_stream(graph, name, sensor.type, frame_prefix)
        if self._driver:
            message.status.service = SERVICE_GPS
        self._topic = PackedTopic(graph, topic, message, _NUMBERS)

    @property
    def subscribed(self) -> bool:
        """Whether anybody listens."""
        return self._topic.subscribed

    def measure(self, states: Sequence[BodyState], scene: Scene | None) -> None:
        """Measure, and publish if anybody listens."""
        state = states[-1]
        fix = self._model.measure(state, scene.origin if scene else NULL_ISLAND)
        if self.subscribed:
            known = self._driver and fix.fix_type != "none"
            covariance = COVARIANCE_DIAGONAL_KNOWN if known else COVARIANCE_UNKNOWN
            variances = fix.variances if known else (0.0, 0.0, 0.0)
            self._topic.publish(state.time, (STATUS[fix.fix_type], *fix.position, covariance, *variances))
