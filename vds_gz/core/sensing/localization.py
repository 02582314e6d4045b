"""Simulated localization: drifting odometry, a noisy pose in the map, and noise of measurements.

Generators are seeded, so equal runs give equal noise.
"""

from __future__ import annotations

import math

import numpy as np

from vds_gz.core.geometry import Pose
from vds_gz.core.parameters.node import LocalizationParameters, MeasurementNoiseParameters
from vds_gz.core.sensing.drift import DriftCovariance, PoseCovariance


class Odometry:
    """The vehicle's pose by its wheels, with an error that increases without jumps.

    Attributes:
        T_odom_base: The pose by the wheels.
    """

    def __init__(self, truth: Pose, random: np.random.Generator) -> None:
        """Start without an error, with the vehicle at ``truth`` in the map and the frame ``odom`` on the map's."""
        self.T_odom_base = self._exact_T_odom_base = self._T_map_base = truth
        self._drift = DriftCovariance()
        self._random = random

    @property
    def covariance(self) -> PoseCovariance:
        """Covariance of ``T_odom_base``, in the axes of the frame ``odom``."""
        return self._drift.value

    def set_pose(self, truth: Pose) -> None:
        """Move the vehicle by hand, which its wheels do not notice."""
        self._T_map_base = truth

    def update(self, truth: Pose, parameters: LocalizationParameters) -> None:
        """Take the next true pose of base_link in the map."""
        distance = math.hypot(truth.x - self._T_map_base.x, truth.y - self._T_map_base.y)
        translation = parameters.odom_walk_velocity_translation * distance
        rotation = parameters.odom_walk_velocity_rotation * distance
        drift = noise(self._random.standard_normal(3), translation, rotation)
        moved, before = truth.seen_from(self._T_map_base), self._exact_T_odom_base
        self.T_odom_base = self.T_odom_base.then(moved).then(drift)
        exact = before.then(moved)
        self._exact_T_odom_base, self._T_map_base = exact, truth
        self._drift.add(exact.x - before.x, exact.y - before.y, translation, rotation)


def noise(normal: np.ndarray, translation: float, rotation: float) -> Pose:
    """A random transform with these variances [m^2, rad^2], from three standard normal numbers."""
    spread = math.sqrt(translation)
    turn = math.sqrt(rotation) * normal[2]
    return Pose(spread * normal[0], spread * normal[1], min(max(turn, -math.pi), math.pi))


class DriftingOdometry:
    """The odometry of every simulated localization."""

    parameters: LocalizationParameters
    _odometry: Odometry

    @property
    def T_odom_base(self) -> Pose:
        """The pose by the wheels, drifting without jumps."""
        return self._odometry.T_odom_base

    @property
    def odom_covariance(self) -> PoseCovariance:
        """Covariance of ``T_odom_base``, in the axes of the frame ``odom``."""
        return self._odometry.covariance


class MeasurementNoise:
    """Normal noise of measurements as in Autoware's simulator, if the parameters enable it."""

    def __init__(self, parameters: MeasurementNoiseParameters) -> None:
        self.parameters = parameters
        self.reset()

    def reset(self) -> None:
        """Restart, with the same noise."""
        self._random = np.random.default_rng(self.parameters.seed)

    def of(self, T_odom_base: Pose, speed: float, steering: float) -> tuple[Pose, float, float]:
        """Add noise to pose, speed [m/s] and tyre angle [rad], drawn in Autoware's order.

        Odometry and velocity report share the speed.
        """
        p = self.parameters
        if not p.add_measurement_noise:
            return T_odom_base, speed, steering
        x, y, speed_noise, heading, steering_noise = self._random.standard_normal(5).tolist()
        noisy = Pose(
            T_odom_base.x + p.pos_noise_stddev * x,
            T_odom_base.y + p.pos_noise_stddev * y,
            T_odom_base.heading + float(np.float32(p.rpy_noise_stddev * heading)),
        )
        return noisy, speed + p.vel_noise_stddev * speed_noise, steering + p.steer_noise_stddev * steering_noise


class Localization(DriftingOdometry):
    """Drifting odometry, and a pose in the map with white noise.

    Attributes:
        T_map_odom: The frame ``odom`` in the map; with ``T_odom_base`` it gives the true pose plus noise.
    """

    def __init__(self, parameters: LocalizationParameters, pose: Pose) -> None:
        self.parameters = parameters
        self.reset(pose)

    def reset(self, pose: Pose) -> None:
        """Restart, with the same noise."""
        self._random = np.random.default_rng(self.parameters.seed)
        self._odometry = Odometry(pose, self._random)
        self.T_map_odom = Pose()

    def set_pose(self, pose: Pose) -> None:
        """Move the vehicle by hand, which the pose in the map follows and the odometry does not notice."""
        self._odometry.set_pose(pose)
        self.T_map_odom = pose.then(self.T_odom_base.inverse())

    def update(self, pose: Pose, interval: float) -> None:
        """Take the true pose of base_link in the map, an interval [s] > 0 after the last one."""
        p = self.parameters
        self._odometry.update(pose, p)
        measurement = noise(
            self._random.standard_normal(3),
            p.map_sample_noise_translation / interval,
            p.map_sample_noise_rotation / interval,
        )
        self.T_map_odom = pose.then(self.T_odom_base.then(measurement).inverse())
