"""All types of sensors: those of this package and of other installed packages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING

from vds_gz.errors import ArgumentError
from vds_gz.sensing.sensor import Need, SensorType

if TYPE_CHECKING:
    from vds_gz.parameters.sensors import SensorParameters

#: Entry point group under which an installed package offers a :class:`~vds_gz.sensing.sensor.SensorType`.
ENTRY_POINTS = "vds_gz.sensors"

#: Modules with this package's records, below vds_gz.interface.sensors.
OWN = {
    "helios_32_fov_26": "points:HELIOS_26",
    "helios_32_fov_31": "points:HELIOS_31",
    "helios_32_fov_70": "points:HELIOS_70",
    "ouster_os1": "points:OUSTER_OS1",
    "velodyne_vlp16": "points:VELODYNE_VLP16",
    "lidar2d": "scan:LIDAR_2D",
    "rplidar_a2": "scan:RPLIDAR_A2",
    "imu": "imu:IMU",
    "camera": "images:CAMERA",
    "rgbd_camera": "images:RGBD_CAMERA",
    "gnss": "fix:GNSS",
    "wheel_encoder": "wheel_encoder:WHEEL_ENCODER",
}


class SensorTypes(Mapping[str, SensorType]):
    """All types by name; a type is imported when it is looked up."""

    def __init__(self) -> None:
        """List the names.

        Raises:
            ArgumentError: A package offers a name that is already used.
        """
        self._entries = {
            name: EntryPoint(name, f"vds_gz.interface.sensors.{place}", ENTRY_POINTS) for name, place in OWN.items()
        }
        for entry in entry_points(group=ENTRY_POINTS):
            if entry.name in self._entries:
                raise ArgumentError(
                    f"entry point '{entry.name}' of {ENTRY_POINTS}: a type of sensor '{entry.name}' exists already"
                )
            self._entries[entry.name] = entry

    def __getitem__(self, name: str) -> SensorType:
        """The type with a name.

        Raises:
            ArgumentError: A package offers something else under this name.
        """
        record = self._entries[name].load()
        if not isinstance(record, SensorType):
            raise ArgumentError(f"entry point '{name}' of {ENTRY_POINTS} is {record!r}; it must be a SensorType")
        if record.name != name:
            raise ArgumentError(
                f"entry point '{name}' of {ENTRY_POINTS} is a type of sensor '{record.name}'; the default of its "
                "parameter 'type' and the entry point must have one name"
            )
        return record

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def needs_of(sensors: Iterable[SensorParameters]) -> frozenset[Need]:
    """Quantities of the body that sensors need besides its pose and velocity."""
    types = SensorTypes()
    return frozenset(need for sensor in sensors for need in types[sensor.type].needs)


def is_of_sensor(topic: str) -> bool:
    """Whether a topic in a vehicle's namespace is a sensor's: ``lidar1/scan``, or ``scan`` after remapping."""
    return not _topic_names().isdisjoint((topic, topic.partition("/")[2]))


@cache
def _topic_names() -> frozenset[str]:
    """The topics of all types, after the sensor's name; finding the installed packages takes milliseconds."""
    return frozenset(stream.ros for record in SensorTypes().values() for stream in record.streams)
