"""State of the vehicle's body, for sensors on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vds_gz.core.arrays import Array
from vds_gz.core.geometry import Quaternion, Transform, Vector, axes, quaternion, turned
from vds_gz.core.vehicle.vehicle_model import JointStates


@dataclass(frozen=True, slots=True)
class BodyState:
    """State of base_link at one instant.

    Attributes:
        time: Simulated time [ns].
        pose: base_link in the map, T_map_base.
        velocity, acceleration: Of base_link's origin, in the map's axes [m/s, m/s^2]; without gravity.
        angular_velocity, angular_acceleration: In base_link's axes [rad/s, rad/s^2].
        joints: States of the joints; None if no sensor needs them.
    """

    time: int
    pose: Transform
    velocity: Vector = (0.0, 0.0, 0.0)
    angular_velocity: Vector = (0.0, 0.0, 0.0)
    acceleration: Vector = (0.0, 0.0, 0.0)
    angular_acceleration: Vector = (0.0, 0.0, 0.0)
    joints: JointStates | None = None

    def at_rest(self) -> BodyState:
        """The state with the same pose and joint positions, at rest."""
        return BodyState(self.time, self.pose, joints=self.joints and self.joints.at_rest())


class FramePose(NamedTuple):
    """One or more poses of a frame in another one."""

    rotation: Array  # from the frame's axes to the other's, of shape (3, 3) or (n, 3, 3)
    position: Array  # of the frame's origin [m], of shape (3,) or (n, 3)

    def then(self, step: FramePose) -> FramePose:
        """The poses of a frame that is fixed in this one: ``T_map_base.then(T_base_sensor)`` is T_map_sensor."""
        return FramePose(self.rotation @ step.rotation, self.position + self.rotation @ step.position)


def mounted(xyz: tuple[float, float, float], rpy: tuple[float, float, float]) -> FramePose:
    """T_base_sensor, from a sensor's position on the body [m] and its roll, pitch and yaw [rad]."""
    return placement(Transform(xyz, quaternion(*rpy)))


def placement(pose: Transform) -> FramePose:
    """A pose as matrix and vector."""
    return FramePose(matrix(pose.orientation), np.array(pose.position))


def matrix(orientation: Quaternion) -> Array:
    """A rotation as a matrix of shape (3, 3)."""
    return np.column_stack(axes(orientation))


def placements(states: Sequence[BodyState], times: NDArray[np.int64]) -> FramePose:
    """Poses of the body at several times [ns].

    Between two states the body moves straight and turns about a fixed axis, both at a constant rate. In a curve with
    the lateral acceleration a and states dt apart, the error is at most a dt^2 / 8: 1 mm at 20 m/s^2 and 20 ms. Before
    the first state and after the last one, the body stands still.
    """
    known = np.array([state.time for state in states], np.int64)
    poses = [state.pose for state in states]
    before = np.clip(np.searchsorted(known, times, side="right") - 1, 0, max(len(known) - 2, 0))
    after = np.minimum(before + 1, len(known) - 1)
    fraction = np.clip((times - known[before]) / np.maximum(known[after] - known[before], 1), 0.0, 1.0)
    fraction[times >= known[after]] = 1.0  # also for two states at the same time
    turns = [turned(a.orientation, b.orientation) for a, b in zip(poses, [*poses[1:], poses[-1]], strict=True)]
    rotations = np.array([matrix(pose.orientation) for pose in poses])
    positions = np.array([pose.position for pose in poses])
    step = positions[after] - positions[before]
    return FramePose(
        rotations[before] @ _rotations(fraction[:, None] * np.array(turns)[before]),
        positions[before] + fraction[:, None] * step,
    )


def _rotations(turns: Array) -> Array:
    """Rotation matrices of rotation vectors [rad] (Rodrigues)."""
    angles = np.linalg.norm(turns, axis=1)[:, None, None]
    cross = np.zeros((len(turns), 3, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        cross[:, j, i], cross[:, i, j] = turns[:, k], -turns[:, k]
    # sin(a)/a and (1 - cos(a))/a^2, which are 1 and 1/2 where the angle is 0
    linear, quadratic = np.sinc(angles / np.pi), 0.5 * np.sinc(0.5 * angles / np.pi) ** 2
    return np.asarray(np.eye(3) + linear * cross + quadratic * (cross @ cross))
