"""The sensors of a vehicle, by their parameters."""

from __future__ import annotations

from collections.abc import Callable

from vds_gz.interface.sensors.base import SensorOutput
from vds_gz.interface.sensors.fix import FixOutput
from vds_gz.interface.sensors.images import CameraOutput
from vds_gz.interface.sensors.imu import ImuOutput
from vds_gz.interface.sensors.points import PointsOutput
from vds_gz.interface.sensors.scan import ScanOutput
from vds_gz.parameters.node import NodeParameters
from vds_gz.parameters.sensors import Camera, Gnss, Imu, Lidar, Lidar2d, RplidarA2, Sensor
from vds_gz.ros.graph import Graph

#: Makes a sensor's outputs: the graph, its name, its parameters, the prefix of frames, and a seed.
Maker = Callable[[Graph, str, Sensor, str, int], SensorOutput]

#: What simulates a sensor, by the group of its parameters; derived groups use that of their base.
MAKERS: dict[type[Sensor], Maker] = {
    Imu: ImuOutput,
    Gnss: FixOutput,
    Camera: CameraOutput,
    Lidar: PointsOutput,
    Lidar2d: ScanOutput,
    RplidarA2: ScanOutput,
}


def sensor_outputs(graph: Graph, parameters: NodeParameters) -> list[SensorOutput]:
    """Announce the topics of all sensors."""
    return [
        _maker(type(sensor))(graph, name, sensor, parameters.frame_prefix, parameters.random_seed)
        for name, sensor in parameters.sensors.items()
    ]


def _maker(group: type[Sensor]) -> Maker:
    return next(MAKERS[one] for one in group.__mro__ if one in MAKERS)
