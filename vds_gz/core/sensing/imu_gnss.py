"""Measurements of an inertial measurement unit and of a satellite receiver.

The unit measures orientation, angular velocity and specific force at its mount, as in Gazebo. The receiver measures its
position on Earth, with white noise and a correlated error.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from vds_gz.core.geometry import Quaternion, Vector, cross, into_body, inverse, product, quaternion
from vds_gz.core.parameters.sensor_parameters import Gnss, Imu, fix_regions
from vds_gz.core.sensing.body import BodyState
from vds_gz.core.sensing.noise import ChannelNoise, NoiseModel, generator
from vds_gz.core.world.geodesy import NULL_ISLAND, LocalFrame, Origin


class ImuReading(NamedTuple):
    """A measurement of the unit, in the sensor's axes."""

    orientation: Quaternion  # in the reference frame that the parameters name
    angular_velocity: Vector  # [rad/s]
    linear_acceleration: Vector  # the specific force [m/s^2]: at rest it points up
    rate_variance: float  # of each angular velocity [rad^2/s^2]
    acceleration_variance: float  # of each acceleration [m^2/s^4]


#: Orientations of the reference frames in axes east, north, up, as in gz-sensors.
REFERENCE_FRAMES = {
    "ENU": quaternion(0.0, 0.0, 0.0),
    "NED": quaternion(math.pi, 0.0, 0.5 * math.pi),
    "NWU": quaternion(0.0, 0.0, 0.5 * math.pi),
}


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
    """An inertial measurement unit on a vehicle. No measurement may be skipped, because biases walk between them.

    When time goes back, as by a reset of the simulation, it restarts with the same noise.
    """

    def __init__(self, parameters: Imu, name: str, seed: int) -> None:
        self._place = parameters.xyz
        self._mount = quaternion(*parameters.rpy)
        self._reference = REFERENCE_FRAMES.get(parameters.orientation_reference_frame)
        self._models, self._name, self._seed = noise_models(parameters), name, seed
        self._begin()

    def _begin(self) -> None:
        gyroscope, accelerometer = self._models
        self._accelerometer = ChannelNoise(accelerometer, 3, generator(self._seed, f"{self._name}/accelerometer"))
        self._gyroscope = ChannelNoise(gyroscope, 3, generator(self._seed, f"{self._name}/gyroscope"))
        self._first: Quaternion | None = None
        self._time = 0

    def measure(self, state: BodyState, gravity: Vector, heading: float = 0.0) -> ImuReading:
        """The measurement of a body in a state and a gravity [m/s^2].

        ``heading`` is the angle from the east to the world's x axis [rad].
        """
        if state.time < self._time:
            self._begin()
        orientation = product(state.pose.orientation, self._mount)
        if self._first is None:
            self._first, self._time = orientation, state.time
        interval, self._time = (state.time - self._time) * 1e-9, state.time
        rate, force = true_motion(state, self._place, gravity)
        reference = self._first
        if self._reference is not None:
            reference = product(quaternion(0.0, 0.0, -heading), self._reference)
        return ImuReading(
            product(inverse(reference), orientation),
            _noisy(into_body(self._mount, rate), self._gyroscope, interval),
            _noisy(into_body(self._mount, force), self._accelerometer, interval),
            self._gyroscope.variance,
            self._accelerometer.variance,
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


class Fix(NamedTuple):
    """A measurement of the receiver."""

    fix_type: str  # one of ``FIX_TYPES``
    position: Vector  # latitude, longitude [degrees], height above the ellipsoid [m]; NaN without a fix
    variances: Vector  # variances to the east, to the north and of the height [m^2]


_NO_FIX = Fix("none", (math.nan, math.nan, math.nan), (0.0, 0.0, 0.0))


class GnssModel:
    """A satellite receiver on a vehicle. No measurement may be skipped, because errors are correlated between them.

    When time goes back, as by a reset of the simulation, it restarts with the same noise.
    """

    def __init__(self, parameters: Gnss, name: str, seed: int) -> None:
        p = self._parameters = parameters
        self._regions = fix_regions(p.regions)
        self._noise = {
            "fix": (p.horizontal_std_noise, p.vertical_std_noise),
            "float": (p.float_horizontal_std_noise, p.float_vertical_std_noise),
            "rtk": (p.rtk_horizontal_std_noise, p.rtk_vertical_std_noise),
        }
        self._frame = LocalFrame(NULL_ISLAND)
        self._name, self._seed = name, seed
        self._begin()

    def _begin(self) -> None:
        self._white = ChannelNoise(NoiseModel(stddev=1.0), 3, generator(self._seed, f"{self._name}/white"))
        wandering = NoiseModel.gauss_markov(1.0, self._parameters.correlation_time)
        self._wandering = ChannelNoise(wandering, 3, generator(self._seed, f"{self._name}/wandering"))
        self._time: int | None = None

    def measure(self, state: BodyState, origin: Origin) -> Fix:
        """The measurement of a body in a state, with the place of the world's origin on Earth."""
        if self._time is not None and state.time < self._time:
            self._begin()
        interval = 0.0 if self._time is None else (state.time - self._time) * 1e-9
        self._time = state.time
        white, wandering = self._white.sample(0.0), self._wandering.sample(interval)
        point = state.pose.apply(self._parameters.xyz)
        regions = (region.fix_type for region in self._regions if region.contains(point[0], point[1]))
        fix_type = next(regions, self._parameters.fix_type)
        if fix_type == "none":
            return _NO_FIX
        if origin != self._frame.origin:
            self._frame = LocalFrame(origin)
        stddevs = self._stddevs(fix_type, origin)
        errors = (w * s + v * t for w, v, (s, t) in zip(white, wandering, stddevs, strict=True))
        east, north, up = (a + b for a, b in zip(self._frame.enu(point), errors, strict=True))
        (a, b), (c, d), (e, f) = stddevs
        return Fix(fix_type, self._frame.geodetic((east, north, up)), (a * a + b * b, c * c + d * d, e * e + f * f))

    def _stddevs(self, fix_type: str, origin: Origin) -> tuple[tuple[float, float], ...]:
        """Standard deviations of white noise and correlated error, to the east, to the north and of the height [m]."""
        p, (horizontal, vertical) = self._parameters, self._noise[fix_type]
        # Gazebo adds the same angle to latitude and longitude.
        shrink = math.cos(math.radians(origin.latitude)) if p.layout == "gazebo" else 1.0
        return (
            (horizontal * shrink, p.correlated_horizontal_std),
            (horizontal, p.correlated_horizontal_std),
            (vertical, p.correlated_vertical_std),
        )
