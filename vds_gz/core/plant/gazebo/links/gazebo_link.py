"""The interface of links to a vehicle in Gazebo.

The library of a link may call it in any thread. The link appends observations to the plant's inbox, a deque, which is
safe for use from several threads. The plant reads them in the node's thread.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vds_gz.core.geometry import Transform
from vds_gz.core.parameters.node import GazeboParameters
from vds_gz.core.plant.gazebo.links import world_services
from vds_gz.core.plant.gazebo.links.helper_process import Helper
from vds_gz.core.ros.messages.fields import transform_of
from vds_gz.core.vehicle.vehicle import NANOSECONDS


@dataclass(frozen=True, slots=True)
class Tick:
    """Gazebo's clock was at a time [ns]."""

    time: int


@dataclass(frozen=True, slots=True)
class Alive:
    """Gazebo runs, paused or not; it is also reported while Gazebo's time does not change."""

    paused: bool


@dataclass(frozen=True, slots=True)
class Placement:
    """Where base_link was at a time [ns]."""

    time: int
    T_map_base: Transform


@dataclass(frozen=True, slots=True)
class JointReadings:
    """States of the joints: time [ns], positions [rad] and velocities [rad/s] by Gazebo's names."""

    time: int
    positions: Mapping[str, float]
    velocities: Mapping[str, float]


Seen = Tick | Alive | Placement | JointReadings
ReadingQueue = deque[Seen]


class GazeboLink:
    """A link to a vehicle in Gazebo: base class.

    Attributes:
        name: Name of the link in ``gazebo.link``.
        lag_cause: The likely cause if the joints follow late.
        clock_topic: Full name of the ROS topic of Gazebo's clock; empty if the link needs none.
        clock_cause: The likely cause if Gazebo's clock does not arrive.
        in_partition: The link finds only what is in Gazebo's partition.
        joint_reporter: What reports the joints' states to the link.
        lists_joints: The joints are commanded in the order of ``gazebo.controlled_joints``, if it names some.
        waits: Whether a request returns after it has succeeded, and not as soon as it is sent.
    """

    name: str
    lag_cause: str
    clock_topic = ""
    clock_cause = ""
    in_partition = False
    joint_reporter = "JointStatePublisher"
    lists_joints = False
    waits = True

    def start(self, inbox: ReadingQueue, wake: Callable[[], None]) -> None:
        """Begin to put observations into the inbox; call ``wake``, from any thread, when the clock has ticked."""
        raise NotImplementedError

    def poll(self) -> Sequence[str]:
        """Do periodic work, often and in the node's thread; return why requests have failed since the last call."""
        return ()

    def send(self, velocities: Sequence[float], positions: Sequence[float]) -> None:
        """Command velocities of wheels [rad/s] and positions of steering joints [rad], in the model's order."""
        raise NotImplementedError

    def set_pose(self, T_map_model: Transform) -> None:
        """Request a pose of the robot's model; raise LinkError if the request fails at once."""
        raise NotImplementedError

    def pause(self, paused: bool) -> None:
        """Request the world to pause or resume; raise LinkError if the request fails at once."""
        raise NotImplementedError

    def fault(self) -> str:
        """The fault of the link; empty without one."""
        return ""

    def close(self) -> None:
        """Close the link, after all messages have been sent."""


class HelpedLink(GazeboLink):
    """A link from outside Gazebo's process; a helper process calls Gazebo's services."""

    waits = False

    def __init__(self, parameters: GazeboParameters, actuators: str = "") -> None:
        """Start the helper; see :class:`Helper` for ``actuators``."""
        self._parameters = parameters
        self._world = parameters.world
        self._helper = Helper(parameters.partition, actuators)
        # Less than a period, so that no tick is skipped if ticks come at the command rate.
        self._period = round(0.75 * NANOSECONDS / parameters.command_rate)
        self._last_tick = -1
        self._inbox: ReadingQueue = deque()

    def poll(self) -> Sequence[str]:
        """Read the results of the helper process."""
        return self._helper.poll()

    def set_pose(self, T_map_model: Transform) -> None:
        """Request a pose of the robot's model."""
        self._helper.call(self._world, world_services.set_pose(self._parameters.model, T_map_model))

    def pause(self, paused: bool) -> None:
        """Request the world to pause or resume."""
        self._helper.call(self._world, world_services.pause(paused))

    def close(self) -> None:
        """Close the helper process."""
        self._helper.close()

    def _tick(self, time: int) -> bool:
        """Report a time of Gazebo's clock [ns], unless the last report is too recent; return whether it is reported."""
        if 0 <= time - self._last_tick < self._period:
            return False
        self._last_tick = time
        self._inbox.append(Tick(time))
        return True

    def _place(self, time: int, pose: Any) -> None:
        """Report a pose of the vehicle, from a message of Gazebo or ROS."""
        self._inbox.append(Placement(time, transform_of(pose.position, pose.orientation)))
