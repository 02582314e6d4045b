"""A vehicle's own estimate of its pose and velocity: the truth with the errors that its parameters define."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from vds_gz.geometry import Pose
from vds_gz.parameters.node import NodeParameters
from vds_gz.sensing.amcl import Amcl, Scan
from vds_gz.sensing.localization import Localization, Measurement, MeasurementNoise


class StateEstimate(NamedTuple):
    """The vehicle's own estimate; a tuple, because many are created."""

    odom: Pose  # pose of base_link in the odometry's frame
    odom_variance: tuple[float, float]  # variances of its position and heading [m^2, rad^2]
    map_to_odom: Pose | None  # the odometry's frame in the map; None if it is fixed
    speed: float  # longitudinal [m/s]
    steering: float  # tyre angle [rad]
    scans: Sequence[Scan] = ()  # AMCL's results of scans since the last estimate


class StateEstimator:
    """Localization and measurement noise, if the parameters enable them.

    Attributes:
        amcl: The simulated AMCL; None without it.
    """

    def __init__(self, parameters: NodeParameters, *, measures: bool) -> None:
        """Start at the origin; with ``measures``, add the measurement noise of Autoware's vehicles."""
        self.amcl = Amcl(parameters.localization, Pose()) if parameters.imitates_amcl else None
        self._localization: Localization | Amcl | None = self.amcl
        if parameters.simulate_localization and self.amcl is None:
            self._localization = Localization(parameters.localization, Pose())
        self._noise = MeasurementNoise(parameters.measurement_noise) if measures else None

    @property
    def exact(self) -> bool:
        """Whether the odometry is exact."""
        return self._localization is None

    def update(self, time: int, truth: Pose, speed: float, steering: float, interval: float) -> StateEstimate:
        """The estimate for a true pose, speed [m/s], tyre angle [rad], time [ns] and interval since the last [s]."""
        odom, variance, map_to_odom = truth, (0.0, 0.0), None
        scans: Sequence[Scan] = ()
        if (localization := self._localization) is not None:
            if isinstance(localization, Amcl):
                scans = localization.update(time, truth)
            else:
                localization.update(truth, interval)
            odom, variance, map_to_odom = localization.odom, localization.odom_variance, localization.map_to_odom
        if self._noise is not None:
            measured = self._noise.of(Measurement(odom.x, odom.y, odom.heading, speed, steering))
            odom = Pose(measured.x, measured.y, measured.heading)
            speed, steering = measured.speed, measured.steering
        return StateEstimate(odom, variance, map_to_odom, speed, steering, scans)

    def configure(self, parameters: NodeParameters) -> None:
        """Take new parameters."""
        if self._localization is not None:
            self._localization.parameters = parameters.localization

    def set_pose(self, pose: Pose) -> None:
        """Move the vehicle to another pose by hand."""
        if self._localization is not None:
            self._localization.set_pose(pose)

    def reset(self, pose: Pose) -> None:
        """Restart at a pose, with the same noise, so that every run is the same."""
        if self._localization is not None:
            self._localization.reset(pose)
        if self._noise is not None:
            self._noise.reset()
