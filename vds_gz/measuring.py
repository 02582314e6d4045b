"""The toolbox for custom types of sensors: parameters, the body's state, noise, and a :class:`SensorType`.

``examples/own_sensor.py`` and the page on extending show how they fit together. ``__all__`` is part of
the public interface.
"""

from vds_gz.geometry import Transform
from vds_gz.interface.sensors.setup import SensorSetup, SingleTopicOutput
from vds_gz.parameters.declaration import ParameterGroup, choice, flag, integer, real
from vds_gz.parameters.sensors import kind, noise, place, rate, straight
from vds_gz.sensing.body import BodyState, mounted, placement
from vds_gz.sensing.noise import SampleNoise, sample_number
from vds_gz.sensing.sensor import GazeboSide, SensorOutput, SensorType, Stream
from vds_gz.vehicle.model import Joint, JointStates

__all__ = [
    # Parameters: each with default, unit, bounds and meaning
    "ParameterGroup",
    "real",
    "integer",
    "flag",
    "choice",
    # Parameters that most sensors have
    "kind",
    "place",
    "straight",
    "rate",
    "noise",
    # The record
    "SensorType",
    "Stream",
    "GazeboSide",
    # A sensor that measures and publishes
    "SensorSetup",
    "SensorOutput",
    "SingleTopicOutput",
    # What it measures: the body's state, its place, its joints
    "BodyState",
    "Transform",
    "Joint",
    "JointStates",
    "mounted",
    "placement",
    # Noise that is the same in every run of one seed
    "SampleNoise",
    "sample_number",
]
