"""Noise of a vehicle's own measurements, as in Autoware's simulator: independent normal draws.

The generator is seeded, so equal runs give equal noise. It does not affect the vehicle itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vds_gz.parameters.localization import MeasurementNoiseParameters


@dataclass(frozen=True, slots=True)
class Measurement:
    """A measurement: pose [m, m, rad], speed [m/s], tire angle [rad]."""

    x: float
    y: float
    heading: float
    speed: float
    steering: float


class MeasurementNoise:
    """Adds noise to measurements, by its parameters."""

    def __init__(self, parameters: MeasurementNoiseParameters) -> None:
        """Start the generator."""
        self.parameters = parameters
        self.reset()

    def reset(self) -> None:
        """Restart, with the same noise."""
        self._random = np.random.default_rng(self.parameters.seed)

    def of(self, true: Measurement) -> Measurement:
        """Measure, with draws in Autoware's order; odometry and velocity report have the same speed."""
        p = self.parameters
        if not p.add_measurement_noise:
            return true
        x, y, speed, heading, steering = self._random.standard_normal(5).tolist()
        return Measurement(
            true.x + p.pos_noise_stddev * x,
            true.y + p.pos_noise_stddev * y,
            true.heading + float(np.float32(p.rpy_noise_stddev * heading)),
            true.speed + p.vel_noise_stddev * speed,
            true.steering + p.steer_noise_stddev * steering,
        )
