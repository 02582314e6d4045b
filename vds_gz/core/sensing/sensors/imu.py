"""An inertial measurement unit: orientation, angular velocity and specific force at its mount, as in Gazebo."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import NamedTuple

from vds_gz.core.geometry import Quaternion, Vector, cross, into_body, inverse, product, quaternion
from vds_gz.core.parameters.declaration import ParameterError, ParameterGroup, choice, flag, real
from vds_gz.core.parameters.sensor_parameters import correlation_time, kind, noise, parent, place, rate, straight
from vds_gz.core.ros.messages.fields import DIAGONAL, EXACT
from vds_gz.core.sensing.body import BodyState
from vds_gz.core.sensing.noise import ChannelNoise, NoiseModel, generator
from vds_gz.core.sensing.sensor import GazeboSide, SensorSetup, SensorType, Stream
from vds_gz.core.sensing.single_topic import SingleTopicOutput
from vds_gz.core.world.geodesy import GRAVITY, NULL_ISLAND
from vds_gz.core.world.scene import Scene

DATA = Stream("data", "sensor_msgs/msg/Imu", "imu", "gz.msgs.IMU")

#: First element of a covariance where the quantity is not measured; zeros mean that the covariance is unknown.
UNKNOWN = -1.0


def bias(unit: str) -> float:
    """A parameter for a constant bias."""
    doc = "mean magnitude of each axis' constant bias; its sign is random"
    return real(0.0, unit, doc)


@dataclass(frozen=True, slots=True)
class Imu(ParameterGroup):
    """An inertial measurement unit with white noise and with biases that have a random walk, also by kalibr's names."""

    type: str = kind("imu")
    parent: str = parent()
    xyz: tuple[float, float, float] = place(0.0, 0.0, 0.0)
    rpy: tuple[float, float, float] = straight()
    rate: float = rate(20.0)
    angular_velocity_white_noise: float = noise(2e-4, "rad/s", "standard deviation of a sample")
    linear_acceleration_white_noise: float = noise(0.017, "m/s^2", "standard deviation of a sample")
    angular_velocity_random_walk: float = noise(0.0, "rad/s/sqrt(s)", "random walk of the gyroscope's biases")
    linear_acceleration_random_walk: float = noise(0.0, "m/s^2/sqrt(s)", "random walk of the accelerometer's biases")
    gyroscope_noise_density: float = noise(
        0.0, "rad/s/sqrt(Hz)", "as in kalibr, in place of angular_velocity_white_noise"
    )
    accelerometer_noise_density: float = noise(
        0.0, "m/s^2/sqrt(Hz)", "as in kalibr, in place of linear_acceleration_white_noise"
    )
    gyroscope_random_walk: float = noise(
        0.0, "rad/s^2/sqrt(Hz)", "as in kalibr, in place of angular_velocity_random_walk"
    )
    accelerometer_random_walk: float = noise(
        0.0, "m/s^3/sqrt(Hz)", "as in kalibr, in place of linear_acceleration_random_walk"
    )
    angular_velocity_bias: float = bias("rad/s")
    angular_velocity_bias_stddev: float = noise(0.0, "rad/s", "standard deviation of that magnitude")
    linear_acceleration_bias: float = bias("m/s^2")
    linear_acceleration_bias_stddev: float = noise(0.0, "m/s^2", "standard deviation of that magnitude")
    bias_correlation_time: float = correlation_time(1e9, "correlation time of the random walk of the biases")
    measure_orientation: bool = flag(False, "measure the orientation too, without noise")
    orientation_reference_frame: str = choice(
        "ENU",
        ("ENU", "NED", "NWU", "start"),
        "frame of the measured orientation: ENU as in REP 145, others as in SDF, or the orientation at the start",
    )

    def check_together(self) -> None:
        """Refuse a noise that is given in both forms."""
        defaults = {item.name: item.default for item in fields(self)}
        for kalibr, ours in _SPELLINGS.items():
            if (density := getattr(self, kalibr)) and (value := getattr(self, ours)) != defaults[ours]:
                raise ParameterError(
                    f"parameters '{kalibr}' and '{ours}' are {density:g} and {value:g}; they mean the same noise, so "
                    "only one of them may be given"
                )


#: Kalibr's parameters of an IMU, and those that they replace.
_SPELLINGS = {
    "gyroscope_noise_density": "angular_velocity_white_noise",
    "accelerometer_noise_density": "linear_acceleration_white_noise",
    "gyroscope_random_walk": "angular_velocity_random_walk",
    "accelerometer_random_walk": "linear_acceleration_random_walk",
}


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
        self._position_base = parameters.xyz
        self._q_base_sensor = quaternion(*parameters.rpy)
        self._q_enu_reference = REFERENCE_FRAMES.get(parameters.orientation_reference_frame)
        self._models, self._name, self._seed = noise_models(parameters), name, seed
        self._begin()

    def _begin(self) -> None:
        gyroscope, accelerometer = self._models
        self._accelerometer = ChannelNoise(accelerometer, 3, generator(self._seed, f"{self._name}/accelerometer"))
        self._gyroscope = ChannelNoise(gyroscope, 3, generator(self._seed, f"{self._name}/gyroscope"))
        self._q_map_start: Quaternion | None = None  # of the sensor at its first measurement
        self._time = 0

    def measure(self, state: BodyState, gravity_map: Vector, heading: float = 0.0) -> ImuReading:
        """The measurement of a body in a state and a gravity [m/s^2].

        ``heading`` is the angle from the east to the map's x axis [rad].
        """
        if state.time < self._time:
            self._begin()
        q_map_sensor = product(state.pose.orientation, self._q_base_sensor)
        if self._q_map_start is None:
            self._q_map_start, self._time = q_map_sensor, state.time
        interval, self._time = (state.time - self._time) * 1e-9, state.time
        rate_base, force_base = true_motion(state, self._position_base, gravity_map)
        q_map_reference = self._q_map_start
        if self._q_enu_reference is not None:
            q_map_enu = quaternion(0.0, 0.0, -heading)
            q_map_reference = product(q_map_enu, self._q_enu_reference)
        return ImuReading(
            product(inverse(q_map_reference), q_map_sensor),
            _noisy(into_body(self._q_base_sensor, rate_base), self._gyroscope, interval),
            _noisy(into_body(self._q_base_sensor, force_base), self._accelerometer, interval),
            self._gyroscope.variance,
            self._accelerometer.variance,
        )


def true_motion(state: BodyState, position_base: Vector, gravity_map: Vector) -> tuple[Vector, Vector]:
    """Angular velocity [rad/s] and specific force [m/s^2] at a position on the body, in the body's axes.

    The specific force is ``a - g + dw/dt x r + w x (w x r)``: the acceleration of the body's origin minus gravity,
    and the terms of angular and centripetal acceleration.
    """
    (a, b, c), (g, h, k) = state.acceleration, gravity_map
    x, y, z = into_body(state.pose.orientation, (a - g, b - h, c - k))
    rate_base = state.angular_velocity
    p, q, r = cross(state.angular_acceleration, position_base)
    s, t, u = cross(rate_base, cross(rate_base, position_base))
    return rate_base, (x + p + s, y + q + t, z + r + u)


def _noisy(true: Vector, noise: ChannelNoise, interval: float) -> Vector:
    x, y, z = noise.sample(interval)
    return true[0] + x, true[1] + y, true[2] + z


class ImuOutput(SingleTopicOutput):
    """An inertial measurement unit and its topic; fields as Gazebo's through the bridge, with covariances."""

    stateful = True

    def __init__(self, setup: SensorSetup) -> None:
        sensor = setup.parameters
        assert isinstance(sensor, Imu)
        self._model = ImuModel(sensor, setup.name, setup.seed)
        self._orientation = sensor.measure_orientation
        message = setup.message(DATA)
        vectors = ("angular_velocity", "linear_acceleration")
        numbers = [f"{vector}.{axis}" for vector in vectors for axis in "xyz"]
        numbers += [f"{vector}_covariance[{place}]" for vector in vectors for place in DIAGONAL]
        if self._orientation:
            numbers += [f"orientation.{part}" for part in "xyzw"]
            for place in DIAGONAL:
                message.orientation_covariance[place] = EXACT
        else:
            message.orientation_covariance[0] = UNKNOWN
        super().__init__(setup, message, numbers)

    def values(self, state: BodyState, scene: Scene | None) -> Sequence[float]:
        """Angular velocity, specific force, and the orientation where it is measured."""
        origin = scene.origin if scene else NULL_ISLAND
        heading = math.radians(origin.heading_deg)
        reading = self._model.measure(state, scene.gravity if scene else GRAVITY, heading)
        rate, acceleration = reading.rate_variance or EXACT, reading.acceleration_variance or EXACT
        variances = rate, rate, rate, acceleration, acceleration, acceleration
        orientation = reading.orientation if self._orientation else ()
        return (*reading.angular_velocity, *reading.linear_acceleration, *variances, *orientation)


IMU = SensorType(Imu, (DATA,), ImuOutput, frozenset(("motion",)), GazeboSide(Path("sensors/imu.xacro")))
