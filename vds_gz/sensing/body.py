"""State of the vehicle's body, for sensors on it."""

from __future__ import annotations

from dataclasses import dataclass

from vds_gz.geometry.se3 import Transform
from vds_gz.geometry.so3 import Vector
from vds_gz.vehicle.model import JointStates


@dataclass(frozen=True, slots=True)
class BodyState:
    """State of base_link at one instant.

    Attributes:
        time: Simulated time [ns].
        pose: base_link in the world.
        velocity, acceleration: Of base_link's origin, in the world's axes [m/s, m/s^2]; without gravity.
        angular_velocity, angular_acceleration: In base_link's axes [rad/s, rad/s^2].
        joints: Positions of the joints; None if no sensor needs them.
    """

    time: int
    pose: Transform
    velocity: Vector = (0.0, 0.0, 0.0)
    angular_velocity: Vector = (0.0, 0.0, 0.0)
    acceleration: Vector = (0.0, 0.0, 0.0)
    angular_acceleration: Vector = (0.0, 0.0, 0.0)
    joints: JointStates | None = None

    def at_rest(self) -> BodyState:
        """The same pose and joint angles, at rest."""
        joints = self.joints
        if joints is not None:
            joints = JointStates(joints.positions, [0.0] * len(joints.velocities))
        return BodyState(self.time, self.pose, joints=joints)
