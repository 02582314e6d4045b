"""A localization as a robot has it: odometry that drifts with the way driven, and a map pose that is noisy.

All parameters are variances. The generator is seeded, so equal runs give equal noise.
"""

from __future__ import annotations

import numpy as np

from vds_gz.geometry.se2 import Pose
from vds_gz.parameters.localization import LocalizationParameters
from vds_gz.sensing.odometry import Odometry, noise


class Localization:
    """Turns true poses into what a localization reports: ``odom -> base_link`` and ``map -> odom``.

    Attributes:
        map_to_odom: ``map -> odom``, which puts the vehicle where it is in the map but for the noise of a measurement.
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
        """``odom -> base_link``, drifting but smooth."""
        return self._odometry.pose

    @property
    def odom_variance(self) -> tuple[float, float]:
        """Variances that ``odom`` has gathered, of a position's axis and of the heading [m^2, rad^2]."""
        return self._odometry.variance

    def set_pose(self, pose: Pose) -> None:
        """The vehicle was lifted and put elsewhere: the odometry does not notice, the map pose does."""
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
