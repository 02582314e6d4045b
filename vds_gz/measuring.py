"""The toolbox for custom types of sensors: parameters, the body's state, noise, and a :class:`SensorType`.

``examples/own_sensor.py`` and docs/extending.md show how they fit together. ``__all__`` is public.
"""

from vds_gz.core.geometry import Transform
from vds_gz.core.parameters.declaration import ParameterGroup, choice, flag, integer, real
from vds_gz.core.parameters.sensor_parameters import kind, noise, place, rate, straight
from vds_gz.core.sensing.body import BodyState, mounted, placement
from vds_gz.core.sensing.noise import SampleNoise, sample_number
from vds_gz.core.sensing.sensor import GazeboSide, SensorOutput, SensorSetup, SensorType, Stream
from vds_gz.core.sensing.single_topic import SingleTopicOutput
from vds_gz.core.vehicle.vehicle_model import Joint, JointStates

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
    # What a sensor measures: the state, the joints and its place on the body
    "BodyState",
    "Transform",
    "Joint",
    "JointStates",
    "mounted",
    "placement",
    # Noise that is equal in all runs with the same seed
    "SampleNoise",
    "sample_number",
]
