"""Parameters that sensors have in common; each type's group is in its file of :mod:`vds_gz.core.sensing.sensors`.

In a parameter file, a sensor has a name of the user's choice, ``sensors.<name>.<parameter>``; the parameter ``type``
selects the group:

    sensors:
      lidar1: {type: velodyne_vlp16, xyz: [0.5, 0.0, 0.7], rate: 10.0}
"""

from __future__ import annotations

from dataclasses import Field
from typing import Any, ClassVar, Protocol

from vds_gz.core.parameters.declaration import ParameterError, real, reals, text


class SensorParameters(Protocol):
    """The parameters of every sensor."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def type(self) -> str:
        """The type of the sensor."""

    @property
    def rate(self) -> float:
        """Measurements per second [Hz]."""


def kind(name: str) -> str:
    """The parameter for the type of a sensor."""
    return text(name, "type of the sensor")


def parent() -> str:
    """The parameter for the link on which a sensor is mounted."""
    return text("base_link", "frame of the position: base_link, or the axle of a trailer, trailer_1 to trailer_5")


def trailer_number(sensor: SensorParameters) -> int:
    """The number of the trailer on which a sensor is mounted, from 1; 0: on the vehicle."""
    kind, _, number = str(getattr(sensor, "parent", "")).rpartition("_")
    return int(number) if kind == "trailer" and number.isdecimal() else 0


def place(x: float, y: float, z: float) -> tuple[float, float, float]:
    """The parameter for the position of a sensor."""
    return reals((x, y, z), "m", "position in the frame of the parent")


def straight() -> tuple[float, float, float]:
    """The parameter for the orientation of a sensor."""
    return reals((0.0, 0.0, 0.0), "rad", "roll, pitch and yaw in the frame of the parent")


def rate(default: float) -> float:
    """The parameter for the rate of a sensor."""
    return real(default, "Hz", "measurements per second", positive=True, maximum=1000.0)


def noise(default: float, unit: str, doc: str) -> float:
    """A parameter for the standard deviation or the density of a noise."""
    return real(default, unit, doc, minimum=0.0)


def correlation_time(default: float, doc: str) -> float:
    """A parameter for the time constant of a Gauss-Markov process."""
    return real(default, "s", doc, minimum=1e-6, maximum=1e9)


def check_rising(low_name: str, low: float, high_name: str, high: float) -> None:
    """Refuse a lower bound [m] that is not less than the upper one."""
    if low >= high:
        raise ParameterError(f"parameter '{low_name}' is {low:g}; it must be less than {high_name}, {high:g} [m]")
