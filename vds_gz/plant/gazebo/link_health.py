"""Health of the link to Gazebo: the server, its clock, the model, the joints."""

from __future__ import annotations

import os
from collections.abc import Sequence

from vds_gz.parameters.gazebo import GazeboParameters
from vds_gz.plant.base import Level
from vds_gz.plant.gazebo.links.base import Alive, JointReadings, Placement, Seen, Tick

#: A source without messages for this long has gone [s].
SILENCE = 1.0

NEVER = float("-inf")


class LinkHealth:
    """Times of the last messages of each kind, by the monotonic clock [s].

    Attributes:
        paused: Gazebo runs and is paused.
    """

    def __init__(self, parameters: GazeboParameters, link: str, joints: Sequence[str]) -> None:
        """Start without messages.

        Args:
            parameters: The vehicle's names in Gazebo.
            link: The link to it.
            joints: Names of its joints there.
        """
        self._parameters = parameters
        self._link = link
        self._joints = list(joints)
        self._received = self._placed = self._read = NEVER
        self._missing: list[str] = []
        self._others: list[str] = []
        self._there = False
        self.paused = False

    def add(self, seen: Seen, now: float) -> None:
        """Something was seen."""
        self._received = now
        self._there = True
        if isinstance(seen, Tick):
            self.paused = False
        elif isinstance(seen, Placement):
            self._placed = now
        elif isinstance(seen, JointReadings):
            self._read = now
            self._missing = [name for name in self._joints if name not in seen.positions]
            self._others = sorted(set(seen.positions) - set(self._joints))
        elif isinstance(seen, Alive):
            self.paused = seen.paused

    def lost(self, now: float) -> bool:
        """Whether Gazebo has gone; true only once until it is back."""
        if not self._there or now - self._received < SILENCE:
            return False
        self._there = self.paused = False
        return True

    @property
    def joints_complete(self) -> bool:
        """Whether Gazebo reports all joints of the vehicle."""
        return self._read > NEVER and not self._missing

    def verdict(self, now: float, fault: str) -> tuple[Level, str]:
        """The present health, with what would be right.

        Args:
            now: The present.
            fault: A fault of the link itself.
        """
        model = f"model '{self._parameters.model}'"
        if not self._there:
            return self._absent(now, fault)
        if self.paused:
            return Level.WARN, "Gazebo is paused"
        if now - self._placed > SILENCE:
            return Level.ERROR, (
                f"{self._world()} runs, but nothing reports where {model} is; is it spawned under this name, with an "
                "OdometryPublisher on the topic of gazebo.odometry_topic?"
            )
        if now - self._read > SILENCE:
            reporter = "JointStatePublisher"
            if self._link == "ros2_control":
                reporter = "joint_state_broadcaster with use_local_topics: true"
            return Level.ERROR, (
                f"nothing reports the joints of {model}; it needs a {reporter}, on the topic of "
                "gazebo.joint_states_topic"
            )
        if self._missing:
            return Level.ERROR, (
                f"{model} has no joint {_list(self._missing)}; besides ours it has {_list(self._others)}. "
                "Name them in gazebo.joint_names as ours=theirs"
            )
        return (Level.ERROR, fault) if fault else (Level.OK, "")

    def _absent(self, now: float, fault: str) -> tuple[Level, str]:
        if self._received > NEVER:
            return (
                Level.ERROR,
                f"Gazebo has gone, {now - self._received:.0f} s ago; the vehicle stands until it is back",
            )
        partition = self._parameters.partition or os.environ.get("GZ_PARTITION", "")
        where = f" in partition '{partition}'" if partition and self._link == "transport" else ""
        return Level.WARN, "waiting for Gazebo: " + (fault or f"{self._world()}{where} has not been found")

    def values(self) -> tuple[tuple[str, str], ...]:
        """Names and values for a report."""
        state = "absent" if not self._there else "paused" if self.paused else "running"
        return (("Gazebo", state), ("model in Gazebo", self._parameters.model))

    def _world(self) -> str:
        return f"world '{self._parameters.world}'" if self._parameters.world else "the world"


def _list(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names) if names else "none"
