"""Types of sensors as records: parameters, topics, needs, factory and Gazebo side.

The records of this package are in :mod:`vds_gz.programs.interface.sensors`; those of other packages are entry points.
:class:`SensorTypes` finds both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.declaration import ParameterGroup
from vds_gz.core.share import extensions, offered

if TYPE_CHECKING:
    from vds_gz.core.parameters.sensor_parameters import SensorParameters
    from vds_gz.core.sensing.body import BodyState
    from vds_gz.core.world.scene import Scene
    from vds_gz.programs.interface.sensors.sensor_setup import SensorSetup

#: Quantities of the body that a sensor may need besides pose and velocity: accelerations, or positions of joints.
Need = Literal["motion", "joints"]


@dataclass(frozen=True, slots=True)
class Stream:
    """One topic of a sensor.

    Attributes:
        ros: Topic in ROS, after the sensor's name: ``points`` of ``lidar1`` is ``lidar1/points``.
        ros_type: Type of its messages.
        gz: Topic in Gazebo, after ``/model/<vehicle>/`` and the sensor's name; empty without a Gazebo side.
        gz_type: Type of its messages.
        optical: The frame is ``<sensor>_optical_frame``, which looks along z, instead of ``<sensor>``, along x.
        depth: Length of the queue. All publishers are reliable and volatile, which suits RViz and subscribers with the
            sensor profile.
    """

    ros: str
    ros_type: str
    gz: str = ""
    gz_type: str = ""
    optical: bool = False
    depth: int = 10

    def frame(self, sensor: str) -> str:
        """The frame of a sensor's messages."""
        return f"{sensor}_optical_frame" if self.optical else sensor

    def topic(self, sensor: str) -> str:
        """The topic of a sensor in ROS."""
        return f"{sensor}/{self.ros}"


class SensorOutput(Protocol):
    """A sensor that the node simulates, and its topics.

    Attributes:
        rate: Measurements per second [Hz].
        rays: Number of rays of a measurement.
        span: Time before the present for which :meth:`measure` needs the body's states [ns].
    """

    rate: float
    rays: int
    span: int

    @property
    def subscribed(self) -> bool:
        """Whether any of its topics has subscribers."""

    def measure(self, states: Sequence[BodyState], scene: Scene | None) -> None:
        """Measure, and publish to subscribers.

        The node calls it for every measurement that is due, in order. Without subscribers it may do nothing, unless the
        next measurement depends on it.

        Args:
            states: The body's states in the last ``span`` and the one before, in order; the last one is the present.
            scene: The visible scene; None without a world.
        """


@dataclass(frozen=True, slots=True)
class GazeboSide:
    """Gazebo's simulation of a type of sensor. The streams have its topics.

    Attributes:
        xacro: File with a macro with the name of the type, which takes the sensor's parameters, its ``name`` and its
            ``parent``, and draws the link ``<name>`` with a ``<sensor>``. A relative path starts in the folder
            ``models``.
        renders: Whether Gazebo must render for it.
    """

    xacro: Path
    renders: bool = False


@dataclass(frozen=True, slots=True)
class SensorType:
    """A type of sensor.

    Attributes:
        parameters: Its parameter group. The default of its parameter ``type`` is the name of the type.
        streams: Its topics.
        make: Factory of the sensors that the node simulates.
        needs: Quantities of the body that it needs besides pose and velocity; others may be 0 or None.
        gazebo: Its simulation by Gazebo. Without one, the node simulates the sensor beside Gazebo too, and draws it as
            a frame without a shape if it has the parameters ``xyz`` and ``rpy``.
    """

    parameters: type[SensorParameters]
    streams: tuple[Stream, ...]
    make: Callable[[SensorSetup], SensorOutput]
    needs: frozenset[Need] = frozenset()
    gazebo: GazeboSide | None = None

    def __post_init__(self) -> None:
        """Refuse an invalid type.

        Raises:
            ArgumentError: The parameters are not a parameter group or lack one, or topics and Gazebo side differ.
        """
        group = self.parameters
        if not (isinstance(group, type) and issubclass(group, ParameterGroup)):
            raise ArgumentError(
                f"the parameters of a type of sensor are {group!r}; they must be a dataclass that derives from "
                "ParameterGroup, so that they are checked"
            )
        if missing := {"type", "rate"} - {item.name for item in fields(group)}:
            raise ArgumentError(
                f"parameter group {group.__name__} has no {' and no '.join(sorted(missing))}; every sensor has a type "
                "and a rate"
            )
        for stream in self.streams:
            if bool(stream.gz and stream.gz_type) != bool(self.gazebo):
                rule = "'gz' and 'gz_type' with" if self.gazebo else "neither 'gz' nor 'gz_type' without"
                topic = f"type of sensor '{self.name}': topic '{stream.ros}'"
                raise ArgumentError(f"{topic} must have {rule} a Gazebo side")

    @property
    def name(self) -> str:
        """The name of the type."""
        return self.parameters().type


ENTRY_POINTS = "vds_gz.sensors"  # entry point group under which an installed package offers a :class:`SensorType`

#: Modules and names of this package's records, below vds_gz.programs.interface.sensors.
OWN = {
    "helios_32_fov_26": "points:HELIOS_26",
    "helios_32_fov_31": "points:HELIOS_31",
    "helios_32_fov_70": "points:HELIOS_70",
    "ouster_os1": "points:OUSTER_OS1",
    "velodyne_vlp16": "points:VELODYNE_VLP16",
    "lidar2d": "points:LIDAR_2D",
    "rplidar_a2": "points:RPLIDAR_A2",
    "imu": "imu_gnss:IMU",
    "camera": "images:CAMERA",
    "rgbd_camera": "images:RGBD_CAMERA",
    "gnss": "imu_gnss:GNSS",
    "wheel_encoder": "wheel_encoder:WHEEL_ENCODER",
}


class SensorTypes(Mapping[str, SensorType]):
    """All types of sensors by name; a type is imported when it is looked up."""

    def __init__(self) -> None:
        self._entries = {
            name: EntryPoint(name, f"vds_gz.programs.interface.sensors.{place}", ENTRY_POINTS)
            for name, place in OWN.items()
        }
        for entry in extensions(ENTRY_POINTS):
            if entry.name in self._entries:
                raise ArgumentError(
                    f"entry point '{entry.name}' of {ENTRY_POINTS}: a type of sensor '{entry.name}' exists already"
                )
            self._entries[entry.name] = entry

    def __getitem__(self, name: str) -> SensorType:
        """The type with a name."""
        record = offered(self._entries[name], SensorType)
        if record.name != name:
            raise ArgumentError(
                f"entry point '{name}' of {ENTRY_POINTS} is a type of sensor '{record.name}'; both must have the "
                "same name, the default of the parameter 'type'"
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
    """The topics of all types, after the sensor's name; cached, because finding packages takes milliseconds."""
    return frozenset(stream.ros for record in SensorTypes().values() for stream in record.streams)
