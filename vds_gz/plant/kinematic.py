"""The plant without a Gazebo: the model's own kinematics moves the vehicle."""

from __future__ import annotations

from vds_gz.sensing.localization import Pose
from vds_gz.vehicle.model import JointStates
from vds_gz.vehicle.vehicle import Motion, Vehicle


class KinematicPlant:
    """Wheels that never slip on a plane that never ends."""

    name = "kinematic"

    def __init__(self, vehicle: Vehicle) -> None:
        """Move this vehicle."""
        self.vehicle = vehicle

    def advance(self, time: int) -> None:
        """Advance everything to a point in simulated time [ns]."""
        self.vehicle.advance(time)

    def motion(self) -> Motion:
        """Where base_link truly is and how it moves."""
        return self.vehicle.motion()

    def joint_states(self) -> JointStates:
        """Where the joints stand."""
        return self.vehicle.model.joint_states(self.vehicle.coefficients, self.vehicle.state)

    def place(self, pose: Pose) -> None:
        """Put base_link there."""
        self.vehicle.place(pose.x, pose.y, pose.heading)

    def reset(self) -> None:
        """Start anew at rest at the origin."""
        self.vehicle.reset()

    def status(self) -> str:
        """The state of the link to what moves, in words; empty if all is well."""
        return ""
