"""A custom type of sensor: a sonar, which measures the distance to the nearest thing in its cone.

    python examples/own_sensor.py

In a package of yours, an entry point of the group ``vds_gz.sensors`` makes ``type: sonar`` known to the node and to
every tool, as ``examples/pyproject.toml`` does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import vds_gz
from vds_gz import measuring

#: Rays across the cone; an odd number, so that one looks straight ahead.
RAYS = 31

RANGE = measuring.Stream("range", "sensor_msgs/msg/Range")


@dataclass(frozen=True, slots=True)
class Sonar(measuring.ParameterGroup):
    """An ultrasonic range finder."""

    type: str = measuring.kind("sonar")
    xyz: tuple[float, float, float] = measuring.place(0.5, 0.0, 0.3)
    rpy: tuple[float, float, float] = measuring.straight()
    rate: float = measuring.rate(10.0)
    cone: float = measuring.real(0.5, "rad", "opening angle", positive=True, maximum=math.pi)
    min_range: float = measuring.real(0.2, "m", "smaller distances are reported as -inf", positive=True, maximum=100.0)
    max_range: float = measuring.real(4.0, "m", "larger distances are reported as +inf", positive=True, maximum=100.0)
    std_noise: float = measuring.noise(0.01, "m", "standard deviation of a range")

    def check_together(self) -> None:
        """Refuse a minimum range that is not below the maximum."""
        if self.min_range >= self.max_range:
            raise vds_gz.ParameterError(
                f"parameter 'min_range' is {self.min_range:g}; it must be less than max_range, {self.max_range:g} [m]"
            )


class SonarModel:
    """The measurement of a sonar, without ROS."""

    def __init__(self, parameters: Sonar, name: str = "sonar", seed: int = 0) -> None:
        """Mount it."""
        self._parameters = parameters
        self._T_base_sensor = measuring.mounted(parameters.xyz, parameters.rpy)
        self._noise = measuring.SampleNoise(seed, name)
        azimuths = np.linspace(-0.5 * parameters.cone, 0.5 * parameters.cone, RAYS)
        self._rays = np.column_stack([np.cos(azimuths), np.sin(azimuths), np.zeros(RAYS)])

    def measure(self, state: measuring.BodyState, scene: vds_gz.Scene | None) -> float:
        """The range [m]; -inf if something is too near, +inf if nothing is in reach, as in ROS's REP 117."""
        p = self._parameters
        if scene is None:
            return math.inf
        T_map_sensor = measuring.placement(state.pose).then(self._T_base_sensor)
        distances, _ = scene.cast(T_map_sensor.position, self._rays @ T_map_sensor.rotation.T, p.max_range)
        random = self._noise.generator(measuring.sample_number(state.time, p.rate))
        distance = float(distances.min()) + p.std_noise * random.standard_normal()
        return -math.inf if distance < p.min_range else math.inf if distance > p.max_range else distance


class SonarOutput(measuring.SingleTopicOutput):
    """A sonar and its topic."""

    rays = RAYS

    def __init__(self, setup: measuring.SensorSetup) -> None:
        """Announce the topic, and set the fields that are equal in all messages."""
        parameters = setup.parameters
        assert isinstance(parameters, Sonar)
        self._model = SonarModel(parameters, setup.name, setup.seed)
        message = setup.message(RANGE)
        message.field_of_view = parameters.cone
        message.min_range, message.max_range = parameters.min_range, parameters.max_range
        super().__init__(setup, message, ["range"])

    def values(self, state: measuring.BodyState, scene: vds_gz.Scene | None) -> Sequence[float]:
        """The fields that differ from message to message."""
        return (self._model.measure(state, scene),)


SONAR = measuring.SensorType(Sonar, (RANGE,), SonarOutput)


def main() -> None:
    """Measure the distance to the wall behind the start of the hall."""
    sonar = SonarModel(Sonar(xyz=(0.0, 0.0, 0.5), rpy=(0.0, 0.0, math.pi), std_noise=0.0))
    state = measuring.BodyState(0, measuring.Transform((-3.0, -1.0, 0.0)))
    distance = sonar.measure(state, vds_gz.load_world("hall"))
    print(f"the wall behind the vehicle is {distance:.3f} m away")


if __name__ == "__main__":
    main()
