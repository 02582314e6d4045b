"""Measurements of an inertial measurement unit: angular velocity and specific force at its mount, as in Gazebo."""

from __future__ import annotations

from typing import NamedTuple

from vds_gz.geometry import Quaternion, Vector, cross, into_body, inverse, product, quaternion
from vds_gz.parameters.sensors import Imu
from vds_gz.sensing.body import BodyState
from vds_gz.sensing.noise import ChannelNoise, NoiseModel, generator


class ImuReading(NamedTuple):
    """One measurement, in the sensor's axes.

    Attributes:
        orientation: Relative to the sensor's orientation at its first measurement.
        angular_velocity: [rad/s].
        linear_acceleration: The specific force [m/s^2]: at rest it points up.
    """

    orientation: Quaternion
    angular_velocity: Vector
    linear_acceleration: Vector


def noise_models(p: Imu) -> tuple[NoiseModel, NoiseModel]:
    """The noise of angular velocities and of accelerations."""
    gyroscope = NoiseModel(
        p.gyroscope_noise_density * p.rate**0.5 or p.angular_velocity_white_noise,
        p.angular_velocity_bias,
        p.angular_velocity_bias_stddev,
        p.gyroscope_random_walk or p.angular_velocity_random_walk,
        p.bias_correlation_time,
    )
    accelerometer = NoiseModel(
        p.accelerometer_noise_density * p.rate**0.5 or p.linear_acceleration_white_noise,
        p.linear_acceleration_bias,
        p.linear_acceleration_bias_stddev,
        p.accelerometer_random_walk or p.linear_acceleration_random_walk,
        p.bias_correlation_time,
    )
    return gyroscope, accelerometer


class ImuModel:
    """A unit on a vehicle. No measurement may be left out, because biases walk from one to the next.

    When time goes back, as by a reset of the simulation, it restarts with the same noise.
    """

    def __init__(self, parameters: Imu, name: str, seed: int) -> None:
        """Mount it, and draw its biases."""
        self._place = parameters.xyz
        self._mount = quaternion(*parameters.rpy)
        self._models, self._name, self._seed = noise_models(parameters), name, seed
        self._begin()

    def _begin(self) -> None:
        gyroscope, accelerometer = self._models
        self._accelerometer = ChannelNoise(accelerometer, 3, generator(self._seed, f"{self._name}/accelerometer"))
        self._gyroscope = ChannelNoise(gyroscope, 3, generator(self._seed, f"{self._name}/gyroscope"))
        self._first: Quaternion | None = None
        self._time = 0

    def measure(self, state: BodyState, gravity: Vector) -> ImuReading:
        """Measure.

        Args:
            state: The body's state now.
            gravity: In the world's axes [m/s^2].
        """
        if state.time < self._time:
            self._begin()
        orientation = product(state.pose.orientation, self._mount)
        if self._first is None:
            self._first, self._time = orientation, state.time
        interval, self._time = (state.time - self._time) * 1e-9, state.time
        rate, force = true_motion(state, self._place, gravity)
        return ImuReading(
            product(inverse(self._first), orientation),
            _noisy(into_body(self._mount, rate), self._gyroscope, interval),
            _noisy(into_body(self._mount, force), self._accelerometer, interval),
        )


def true_motion(state: BodyState, place: Vector, gravity: Vector) -> tuple[Vector, Vector]:
    """Angular velocity [rad/s] and specific force [m/s^2] at a place on the body, in the body's axes.

    The specific force is ``a - g + dw/dt x r + w x (w x r)``: the acceleration of the body's origin minus gravity,
    and the terms of angular and centripetal acceleration.
    """
    (a, b, c), (g, h, k) = state.acceleration, gravity
    x, y, z = into_body(state.pose.orientation, (a - g, b - h, c - k))
    rate = state.angular_velocity
    p, q, r = cross(state.angular_acceleration, place)
    s, t, u = cross(rate, cross(rate, place))
    return rate, (x + p + s, y + q + t, z + r + u)


def _noisy(true: Vector, noise: ChannelNoise, interval: float) -> Vector:
    x, y, z = noise.sample(interval)
    return true[0] + x, true[1] + y, true[2] + z
