"""A robot's localization: odometry that drifts with distance, and a noisy pose in the map.

All parameters are variances. The generator is seeded, so equal runs give equal noise.
"""

from __future__ import annotations

import numpy as np

from vds_gz.geometry.se2 import Pose
from vds_gz.parameters.localization import LocalizationParameters
from vds_gz.sensing.odometry import Odometry, noise


class Localization:
    """Converts true poses to a localization's results: ``odom -> base_link`` and ``map -> odom``.

    Attributes:
        map_to_odom: ``map -> odom``, which gives the vehicle's true pose in the map plus the noise of a measurement.
    """

    def __init__(self, parameters: LocalizationParameters, pose: Pose) -> None:
        """Start with an exact odometry at ``pose``."""
        self.parameters = parameters
        self.reset(pose)

    def reset(self, pose: Pose) -> None:
        """Restart, with the same noise."""
        self._random = np.random.default_rng(self.parameters.seed)
        self._odometry = Odometry(pose, self._random)
        self.map_to_odom = pose

    @property
    def odom(self) -> Pose:
        """``odom -> base_link``, drifting without jumps."""
        return self._odometry.pose

    @property
    def odom_variance(self) -> tuple[float, float]:
        """Accumulated variances of ``odom``, of each axis of the position and of the heading [m^2, rad^2]."""
        return self._odometry.variance

    def set_pose(self, pose: Pose) -> None:
        """The vehicle was moved by hand: the odometry does not notice, the map pose does."""
        self._odometry.set_pose(pose)
        self.map_to_odom = pose.then(self.odom.inverse())

    def update(self, pose: Pose, interval: float) -> None:
        """Take the true pose after an interval.

        Args:
            pose: True pose of base_link in the map.
            interval: Time since the last update [s], greater than 0.
        """
        p = self.parameters
        self._odometry.update(pose, p)
        measurement = noise(
            self._random.standard_normal(3),
            p.map_sample_noise_translation / interval,
            p.map_sample_noise_rotation / interval,
        )
        self.map_to_odom = pose.then(self.odom.then(measurement).inverse())
