"""A localization as a robot has it: odometry that drifts with the way driven, and a map pose that is noisy.

All parameters are variances. The generator is seeded, so equal runs give equal noise.
"""

from __future__ import annotations

import math

import numpy as np

from vds_gz.geometry.se2 import Pose
from vds_gz.parameters.node import LocalizationParameters


class Localization:
    """Turns true poses into what a localization would say: ``odom -> base_link`` and ``map -> odom``.

    Attributes:
        odom: ``odom -> base_link``, drifting but smooth.
        map_to_odom: ``map -> odom``, which puts the vehicle where it is in the map but for the noise of a measurement.
        odom_variance: Variances that ``odom`` has gathered, of a position's axis and of the heading [m^2, rad^2].
    """

    def __init__(self, parameters: LocalizationParameters, pose: Pose) -> None:
        """Start with an exact odometry at ``pose``."""
        self.parameters = parameters
        self.reset(pose)

    def reset(self, pose: Pose) -> None:
        """Start anew, with the same noise again."""
        self._random = np.random.default_rng(self.parameters.seed)
        self._true = pose
        self.odom = Pose()
        self.map_to_odom = pose
        self.odom_variance = (0.0, 0.0)

    def set_pose(self, pose: Pose) -> None:
        """The vehicle was lifted and put elsewhere: the odometry does not notice, the map pose does."""
        self._true = pose
        self.map_to_odom = pose.then(self.odom.inverse())

    def update(self, pose: Pose, interval: float) -> None:
        """Take the true pose after an interval.

        Args:
            pose: True pose of base_link in the map.
            interval: Time since the last update [s], greater than 0.
        """
        p = self.parameters
        distance = math.hypot(pose.x - self._true.x, pose.y - self._true.y)
        normal = self._random.standard_normal(6)
        drift_translation = p.odom_walk_velocity_translation * distance
        drift_rotation = p.odom_walk_velocity_rotation * distance
        drift = _noise(normal[:3], drift_translation, drift_rotation)
        self.odom = self.odom.then(pose.seen_from(self._true)).then(drift)
        self._true = pose
        self.odom_variance = (
            self.odom_variance[0] + drift_translation,
            self.odom_variance[1] + drift_rotation,
        )
        measurement = _noise(
            normal[3:], p.map_sample_noise_translation / interval, p.map_sample_noise_rotation / interval
        )
        self.map_to_odom = pose.then(self.odom.then(measurement).inverse())


def _noise(normal: np.ndarray, translation: float, rotation: float) -> Pose:
    """A small random transform with these variances [m^2, rad^2]."""
    spread = math.sqrt(translation)
    turn = math.sqrt(rotation) * normal[2]
    return Pose(spread * normal[0], spread * normal[1], min(max(turn, -math.pi), math.pi))
