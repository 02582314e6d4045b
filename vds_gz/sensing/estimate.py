"""What a vehicle knows of where it is and how it moves: the truth, made worse as its parameters say."""

from __future__ import annotations

from typing import NamedTuple

from vds_gz.geometry.se2 import Pose
from vds_gz.parameters.node import NodeParameters
from vds_gz.sensing.localization import Localization
from vds_gz.sensing.noise import Measurement, MeasurementNoise


class StateEstimate(NamedTuple):
    """The vehicle as it sees itself. A tuple, because there are very many.

    Attributes:
        odom: Pose of base_link in the odometry's frame.
        odom_variance: Variances of its position and heading [m^2, rad^2].
        map_to_odom: The odometry's frame in the map; None where it is fixed.
        speed: Longitudinal [m/s].
        steering: Tire angle [rad].
    """

    odom: Pose
    odom_variance: tuple[float, float]
    map_to_odom: Pose | None
    speed: float
    steering: float


class StateEstimator:
    """Localization and measurement, as far as the vehicle has them."""

    def __init__(self, parameters: NodeParameters, *, measures: bool) -> None:
        """Start with an exact odometry at the origin.

        Args:
            parameters: Of the node.
            measures: Speed and steering are measured, as one of Autoware's vehicles does.
        """
        self._localization = Localization(parameters.localization, Pose()) if parameters.simulate_localization else None
        self._noise = MeasurementNoise(parameters.measurement_noise) if measures else None

    @property
    def exact(self) -> bool:
        """The odometry's frame lies fixed in the map."""
        return self._localization is None

    def update(self, truth: Pose, speed: float, steering: float, interval: float) -> StateEstimate:
        """What is perceived after an interval [s] of the true pose in the map, speed [m/s] and tire angle [rad]."""
        odom, variance, map_to_odom = truth, (0.0, 0.0), None
        if self._localization is not None:
            self._localization.update(truth, interval)
            odom = self._localization.odom
            variance = self._localization.odom_variance
            map_to_odom = self._localization.map_to_odom
        if self._noise is not None:
            measured = self._noise.of(Measurement(odom.x, odom.y, odom.heading, speed, steering))
            odom = Pose(measured.x, measured.y, measured.heading)
            speed, steering = measured.speed, measured.steering
        return StateEstimate(odom, variance, map_to_odom, speed, steering)

    def configure(self, parameters: NodeParameters) -> None:
        """Go on with other parameters."""
        if self._localization is not None:
            self._localization.parameters = parameters.localization

    def set_pose(self, pose: Pose) -> None:
        """The vehicle was lifted and put elsewhere."""
        if self._localization is not None:
            self._localization.set_pose(pose)

    def reset(self, pose: Pose) -> None:
        """The vehicle starts anew, there, and with it all noise, so that one run is as the next."""
        if self._localization is not None:
            self._localization.reset(pose)
        if self._noise is not None:
            self._noise.reset()
