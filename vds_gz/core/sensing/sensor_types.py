"""All types of sensors: those of this package and those of other installed packages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from importlib.metadata import EntryPoint

from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.parameters.sensor_parameters import SensorParameters
from vds_gz.core.ros.graph import Graph
from vds_gz.core.sensing.sensor import Need, SensorSetup, SensorType
from vds_gz.core.share import extensions, offered
from vds_gz.core.vehicle.vehicle_model import Joint

ENTRY_POINTS = "vds_gz.sensors"  # entry point group under which an installed package offers a :class:`SensorType`


class SensorTypes(Mapping[str, SensorType]):
    """All types of sensors by name.

    This package's are imported at the first use, because they need numpy and the world; one of another package is
    imported when it is looked up.
    """

    @cached_property
    def _offers(self) -> dict[str, SensorType | EntryPoint]:
        from vds_gz.core.sensing.sensors.shipped import SENSORS

        offers: dict[str, SensorType | EntryPoint] = {record.name: record for record in SENSORS}
        for entry in extensions(ENTRY_POINTS):
            if entry.name in offers:
                raise ArgumentError(
                    f"entry point '{entry.name}' of {ENTRY_POINTS}: a type of sensor '{entry.name}' exists already"
                )
            offers[entry.name] = entry
        return offers

    def __getitem__(self, name: str) -> SensorType:
        """The type with a name."""
        offer = self._offers[name]
        if isinstance(offer, SensorType):
            return offer
        record = offered(offer, SensorType)
        if record.name != name:
            raise ArgumentError(
                f"entry point '{name}' of {ENTRY_POINTS} is a type of sensor '{record.name}'; both must have the "
                "same name, the default of the parameter 'type'"
            )
        return record

    def __iter__(self) -> Iterator[str]:
        return iter(self._offers)

    def __len__(self) -> int:
        return len(self._offers)


def sensor_setups(
    graph: Graph, parameters: NodeParameters, joints: Sequence[Joint] = (), *, beside_gazebo: bool = False
) -> list[SensorSetup]:
    """All sensors that the node simulates; beside Gazebo, those that Gazebo lacks."""
    types = SensorTypes()
    setups = [
        SensorSetup(graph, name, types[sensor.type], sensor, joints, parameters.frame_prefix, parameters.random_seed)
        for name, sensor in parameters.sensors.items()
    ]
    return [setup for setup in setups if not (beside_gazebo and setup.type.gazebo)]


def needs_of(sensors: Iterable[SensorParameters]) -> frozenset[Need]:
    """Quantities of the body that sensors need besides its pose and velocity."""
    types = SensorTypes()
    return frozenset(need for sensor in sensors for need in types[sensor.type].needs)


def is_of_sensor(topic: str) -> bool:
    """Whether a topic in a vehicle's namespace is a sensor's: ``lidar1/scan``, or ``scan`` after remapping."""
    return not _topic_names().isdisjoint((topic, topic.partition("/")[2]))


@cache
def _topic_names() -> frozenset[str]:
    """The topics of all types, after the sensor's name; cached, because finding packages takes milliseconds."""
    return frozenset(stream.ros for record in SensorTypes().values() for stream in record.streams)
