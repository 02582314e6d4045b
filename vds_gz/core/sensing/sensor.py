"""A type of sensor as one record: parameters, topics, needs, factory and Gazebo side.

The types of this package are in :mod:`vds_gz.core.sensing.sensors`, a file each; those of other packages are entry
points. :class:`~vds_gz.core.sensing.sensor_types.SensorTypes` finds both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.declaration import ParameterGroup
from vds_gz.core.parameters.sensor_parameters import SensorParameters
from vds_gz.core.ros.graph import Graph, Message, Publisher, QoS, Topic
from vds_gz.core.vehicle.vehicle_model import Joint

if TYPE_CHECKING:
    from vds_gz.core.sensing.body import BodyState
    from vds_gz.core.world.scene import Scene

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
        span: How far back :meth:`measure` needs states of the body [ns].
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
        xacro: File with a macro with the name of the type, which takes the sensor's ``name``, its ``parent`` and any
            of its parameters, and draws the link ``<name>`` with a ``<sensor>``. A relative path starts in the folder
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


@dataclass(frozen=True, slots=True)
class SensorSetup:
    """A sensor on a vehicle.

    Attributes:
        graph: The graph on which it publishes.
        name: Its name.
        type: Its type.
        parameters: Its parameters, of the type's group.
        joints: The vehicle's joints, in the order of ``BodyState.joints``.
        frame_prefix: Prefix of the names of frames.
        seed: Seed of its noise, together with its name.
    """

    graph: Graph
    name: str
    type: SensorType
    parameters: SensorParameters
    joints: Sequence[Joint] = ()
    frame_prefix: str = ""
    seed: int = 0

    def frame(self, stream: Stream) -> str:
        """The frame of a topic's messages."""
        return self.frame_prefix + stream.frame(self.name)

    def message(self, stream: Stream) -> Message:
        """An empty message of a topic, in its frame if it has a header."""
        message = self.graph.message(stream.ros_type)
        if hasattr(message, "header"):
            message.header.frame_id = self.frame(stream)
        return message

    def topic(self, stream: Stream) -> Topic:
        """The topic of one of the sensor's streams."""
        return Topic(stream.topic(self.name), stream.ros_type, QoS(stream.depth))

    def publisher(self, stream: Stream, qos: QoS | None = None) -> Publisher:
        """Announce a topic, with the quality of service of the bridge if none is given."""
        return self.graph.publisher(stream.topic(self.name), stream.ros_type, qos or QoS(stream.depth))
