"""Wheel encoders: how far each wheel has turned, in whole ticks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from vds_gz.core.parameters.declaration import ParameterGroup, integer
from vds_gz.core.parameters.sensor_parameters import kind, rate
from vds_gz.core.sensing.body import BodyState
from vds_gz.core.sensing.sensor import SensorSetup, SensorType, Stream
from vds_gz.core.sensing.single_topic import SingleTopicOutput
from vds_gz.core.world.scene import Scene

STREAM = Stream("wheel_angles", "sensor_msgs/msg/JointState")


@dataclass(frozen=True, slots=True)
class WheelEncoder(ParameterGroup):
    """Incremental encoders on all wheels, with counts of 0 at the start."""

    type: str = kind("wheel_encoder")
    rate: float = rate(50.0)
    ticks_per_revolution: int = integer(
        1024, "ticks per turn of the wheel, including gear ratio and both edges", minimum=1, maximum=2**31 - 1
    )

    @property
    def resolution(self) -> float:
        """The angle of a tick [rad]."""
        return 2.0 * math.pi / self.ticks_per_revolution


def ticks(angle: float, resolution: float) -> int:
    """The count of an encoder whose wheel has turned by ``angle`` [rad]; a tick is ``resolution`` [rad]."""
    return math.floor(angle / resolution)


class WheelEncoderOutput(SingleTopicOutput):
    """Encoders and their topic: the position of a wheel is its ticks times the angle of a tick."""

    def __init__(self, setup: SensorSetup) -> None:
        assert isinstance(setup.parameters, WheelEncoder)
        self._resolution = setup.parameters.resolution
        self._wheels = [i for i, joint in enumerate(setup.joints) if joint.kind == "wheel"]
        message = setup.message(STREAM)
        message.header.frame_id = ""
        message.name = [setup.joints[i].name for i in self._wheels]
        message.position = setup.graph.numbers(len(self._wheels))
        super().__init__(setup, message, [f"position[{i}]" for i in range(len(self._wheels))])

    def values(self, state: BodyState, scene: Scene | None) -> Sequence[float]:
        """Quantised angles of the wheels [rad]."""
        assert state.joints is not None
        positions = state.joints.positions
        return [ticks(positions[i], self._resolution) * self._resolution for i in self._wheels]


WHEEL_ENCODER = SensorType(WheelEncoder, (STREAM,), WheelEncoderOutput, needs=frozenset(("joints",)))
