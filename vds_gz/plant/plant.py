"""What the node needs of whatever moves the vehicle."""

from __future__ import annotations

from typing import Protocol

from vds_gz.sensing.localization import Pose
from vds_gz.vehicle.model import JointStates
from vds_gz.vehicle.vehicle import Motion, Vehicle


class Plant(Protocol):
    """A vehicle's actuators and what their wheels move."""

    name: str
    vehicle: Vehicle

    def advance(self, time: int) -> None:
        """Advance everything to a point in simulated time [ns]."""

    def motion(self) -> Motion:
        """Where base_link truly is and how it moves."""

    def joint_states(self) -> JointStates:
        """Where the joints stand."""

    def place(self, pose: Pose) -> None:
        """Put base_link there."""

    def reset(self) -> None:
        """Start anew at rest at the origin."""

    def status(self) -> str:
        """The state of the link to what moves, in words; empty if all is well."""
