"""The link over gz-transport, Gazebo's own middleware."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from threading import Event

from vds_gz.core.description import gz_topics as topics
from vds_gz.core.parameters.node import GazeboParameters
from vds_gz.core.plant.gazebo.links import bindings
from vds_gz.core.plant.gazebo.links.bindings import GzMessage
from vds_gz.core.plant.gazebo.links.gazebo_link import Alive, HelpedLink, JointReadings, ReadingQueue
from vds_gz.core.vehicle.vehicle import NANOSECONDS

#: Time for callbacks to return after the last subscription has ended [s]; an earlier exit can crash the process.
SETTLING = 0.2


class TransportLink(HelpedLink):
    """Subscriptions and one publisher in this process; blocking calls are made by a helper process."""

    name = "transport"
    lag_cause = (
        "a JointPositionController without <use_velocity_commands>, a joint's effort or velocity limit, or a server "
        "slower than real time"
    )
    clock_cause = "gazebo.world names another world"
    in_partition = True

    def __init__(self, parameters: GazeboParameters) -> None:
        """Make the link, without subscriptions; raise ModuleNotFoundError without Gazebo's Python bindings."""
        self._message = bindings.message("actuators", "Actuators")()
        self._actuators = parameters.actuators_topic or topics.actuators(parameters.model)
        # The helper comes first: a process with Gazebo's threads should not fork.
        super().__init__(parameters, self._actuators)
        self._world = ""
        self._node = bindings.node(parameters.partition)
        self._publisher = self._node.advertise(self._actuators, type(self._message))

    def start(self, inbox: ReadingQueue, wake: Callable[[], None]) -> None:
        """Subscribe to odometry and joint states, and to the clock if a world is named."""
        self._inbox = inbox
        self._wake = wake
        p = self._parameters
        odometry = p.odometry_topic or topics.odometry(p.model)
        joint_states = p.joint_states_topic or topics.joint_state(p.model)
        self._node.subscribe(bindings.message("odometry", "Odometry"), odometry, self._on_odometry)
        self._node.subscribe(bindings.message("model", "Model"), joint_states, self._on_joints)
        if p.world:
            self._follow(p.world)

    def poll(self) -> Sequence[str]:
        """If no world was named, follow the only one."""
        failures = super().poll()
        worlds = self._helper.worlds
        if not self._parameters.world and len(worlds) == 1 and worlds[0] != self._world:
            self._follow(worlds[0])
        return failures

    def _follow(self, world: str) -> None:
        """Subscribe to the clock and the statistics of a world, in place of the last one."""
        if self._world:
            for name in ("clock", "stats"):
                self._node.unsubscribe(f"/world/{self._world}/{name}")
        self._world = world
        self._node.subscribe(bindings.message("clock", "Clock"), f"/world/{world}/clock", self._on_clock)
        statistics = bindings.message("world_stats", "WorldStatistics")
        self._node.subscribe(statistics, f"/world/{world}/stats", self._on_statistics)

    def send(self, velocities: Sequence[float], positions: Sequence[float]) -> None:
        """Send all joints in one message, which Gazebo applies in one step."""
        message = self._message
        message.velocity[:] = velocities
        message.position[:] = positions
        self._publisher.publish(message)
        if self._helper.due():
            message.velocity[:] = [0.0] * len(velocities)
            self._helper.note((self._actuators, "gz.msgs.Actuators", message.SerializeToString()))

    def fault(self) -> str:
        """The fault of the link itself."""
        worlds = self._helper.worlds
        if not self._parameters.world and len(worlds) > 1:
            return f"several worlds are running: {', '.join(worlds)}; gazebo.world must name one"
        if self._world and not self._publisher.has_connections():
            return (
                f"no one listens to '{self._actuators}'; the joints need controllers with <use_actuator_msg> and "
                "<topic>, as `vds-gz model` writes them"
            )
        return self._helper.fault

    def close(self) -> None:
        """End all subscriptions, then close the helper process."""
        for topic in self._node.subscribed_topics():
            self._node.unsubscribe(topic)
        time.sleep(SETTLING)
        super().close()

    # ------------------------------------------------------------------ in Gazebo's thread

    def _on_clock(self, message: GzMessage) -> None:
        if self._tick(_nanoseconds(message.sim)):
            self._wake()

    def _on_statistics(self, message: GzMessage) -> None:
        self._inbox.append(Alive(message.paused))

    def _on_odometry(self, message: GzMessage) -> None:
        self._place(_nanoseconds(message.header.stamp), message.pose)

    def _on_joints(self, message: GzMessage) -> None:
        axes = [(joint.name, joint.axis1) for joint in message.joint]
        self._inbox.append(
            JointReadings(
                _nanoseconds(message.header.stamp),
                {name: axis.position for name, axis in axes},
                {name: axis.velocity for name, axis in axes},
            )
        )


def answering_world(parameters: GazeboParameters, seconds: float) -> str | None:
    """The named world, or "the first one", if its statistics arrive within ``seconds``; else None."""
    received = Event()
    listener = bindings.node(parameters.partition)
    topic = f"/world/{parameters.world}/stats" if parameters.world else "/stats"
    listener.subscribe(bindings.message("world_stats", "WorldStatistics"), topic, lambda message: received.set())
    answered = received.wait(seconds)
    listener.unsubscribe(topic)
    return (parameters.world or "the first one") if answered else None


def _nanoseconds(stamp: GzMessage) -> int:
    return int(stamp.sec) * NANOSECONDS + int(stamp.nsec)
