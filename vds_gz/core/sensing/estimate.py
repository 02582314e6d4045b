"""A vehicle's own estimate of its pose and velocity: the truth with the errors that its parameters define."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from vds_gz.core.geometry import Pose
from vds_gz.core.parameters.node import LocalizationParameters, MeasurementNoiseParameters
from vds_gz.core.sensing.amcl import Amcl, Scan
from vds_gz.core.sensing.drift import PoseCovariance
from vds_gz.core.sensing.localization import Localization, MeasurementNoise


class StateEstimate(NamedTuple):
    """The vehicle's own estimate; a tuple, because many are created."""

    T_odom_base: Pose  # pose of base_link in the odometry's frame
    odom_covariance: PoseCovariance  # its covariance
    T_map_odom: Pose | None  # the odometry's frame in the map; None if it is fixed
    speed: float  # longitudinal, by the odometry [m/s]
    speed_variance: float  # [m^2/s^2]
    steering: float  # tyre angle [rad]
    scans: Sequence[Scan] = ()  # AMCL's results of scans since the last estimate


class StateEstimator:
    """Simulated localization and measurement noise.

    Attributes:
        amcl: The simulated AMCL; None without it.
    """

    def __init__(
        self,
        localization: LocalizationParameters | None = None,
        noise: MeasurementNoiseParameters | None = None,
        start: Pose | None = None,
    ) -> None:
        """Start at a pose, by default the first one that is seen.

        Args:
            localization: Parameters of the localization; None for an exact one.
            noise: Measurement noise as of Autoware's vehicles; None for none.
            start: Pose of base_link in the map.
        """
        self._started = start is not None
        start = start or Pose()
        self.amcl: Amcl | None = None
        self._localization: Localization | Amcl | None = None
        if localization is not None and localization.style == "amcl":
            self._localization = self.amcl = Amcl(localization, start)
        elif localization is not None:
            self._localization = Localization(localization, start)
        self._noise = MeasurementNoise(noise) if noise is not None else None

    @property
    def exact(self) -> bool:
        """Whether the odometry is exact."""
        return self._localization is None

    def update(self, time: int, truth: Pose, speed: float, steering: float, interval: float) -> StateEstimate:
        """The estimate for a true pose, speed [m/s], tyre angle [rad], time [ns] and interval since the last [s]."""
        T_odom_base, covariance, T_map_odom, speed_variance = truth, PoseCovariance(), None, 0.0
        scans: Sequence[Scan] = ()
        if (localization := self._localization) is not None:
            if not self._started:
                self._started = True
                localization.reset(truth)
            if isinstance(localization, Amcl):
                scans = localization.update(time, truth)
            else:
                localization.update(truth, interval)
            T_odom_base, T_map_odom = localization.T_odom_base, localization.T_map_odom
            covariance = localization.odom_covariance
        if self._noise is not None and (noise := self._noise.parameters).add_measurement_noise:
            T_odom_base, speed, steering = self._noise.of(T_odom_base, speed, steering)
            covariance = covariance.plus(noise.pos_noise_stddev**2, noise.rpy_noise_stddev**2)
            speed_variance = noise.vel_noise_stddev**2
        return StateEstimate(T_odom_base, covariance, T_map_odom, speed, speed_variance, steering, scans)

    def configure(self, localization: LocalizationParameters, noise: MeasurementNoiseParameters) -> None:
        """Use other parameters from the next estimate on."""
        if self._localization is not None:
            self._localization.parameters = localization
        if self._noise is not None:
            self._noise.parameters = noise

    def set_pose(self, pose: Pose) -> None:
        """Move the vehicle to another pose by hand."""
        if self._localization is not None:
            self._localization.set_pose(pose)

    def reset(self, pose: Pose) -> None:
        """Restart at a pose, with the same noise, so that every run is the same."""
        self._started = True
        if self._localization is not None:
            self._localization.reset(pose)
        if self._noise is not None:
            self._noise.reset()
