"""Odometry that drifts with distance."""

from __future__ import annotations

import math

import numpy as np

from vds_gz.geometry.se2 import Pose
from vds_gz.parameters.localization import LocalizationParameters


class Odometry:
    """The vehicle's pose by its wheels: without jumps, with an increasing error.

    Attributes:
        pose: ``odom -> base_link``.
        variance: Accumulated variances of each axis of the position and of the heading [m^2, rad^2].
    """

    def __init__(self, truth: Pose, random: np.random.Generator) -> None:
        """Start without an error, at the origin of its frame, with the vehicle at ``truth`` in the map."""
        self.pose = Pose()
        self.variance = (0.0, 0.0)
        self._truth = truth
        self._random = random

    def set_pose(self, truth: Pose) -> None:
        """The vehicle was moved by hand, which wheels do not notice."""
        self._truth = truth

    def update(self, truth: Pose, parameters: LocalizationParameters) -> None:
        """Take the next true pose of base_link in the map."""
        distance = math.hypot(truth.x - self._truth.x, truth.y - self._truth.y)
        translation = parameters.odom_walk_velocity_translation * distance
        rotation = parameters.odom_walk_velocity_rotation * distance
        drift = noise(self._random.standard_normal(3), translation, rotation)
        self.pose = self.pose.then(truth.seen_from(self._truth)).then(drift)
        self._truth = truth
        self.variance = self.variance[0] + translation, self.variance[1] + rotation


def noise(normal: np.ndarray, translation: float, rotation: float) -> Pose:
    """A small random transform with these variances [m^2, rad^2]."""
    spread = math.sqrt(translation)
    turn = math.sqrt(rotation) * normal[2]
    return Pose(spread * normal[0], spread * normal[1], min(max(turn, -math.pi), math.pi))
