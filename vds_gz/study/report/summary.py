"""Measured parameters of each actuator, beside the configured ones."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vds_gz.parameters.actuators import DriveParameters, SteeringParameters
from vds_gz.study.identify.actuator_response import CAN_FIT, ActuatorResponse, measure, unknown
from vds_gz.study.recording import ActuatorSeries, Recording

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """A number of an actuator.

    Attributes:
        actuator, quantity, unit: Its meaning.
        configured: The parameter; None if the model has no such parameter group.
        measured: Its value in the recording; None if it is not identifiable.
        reached: For a limit, the maximum observed magnitude.
    """

    actuator: str
    quantity: str
    unit: str
    configured: float | None
    measured: float | None
    reached: float | None = None

    def texts(self) -> tuple[str, str]:
        """Configured and measured value in words."""
        configured = "-" if self.configured is None else f"{self.configured:.3f} {self.unit}"
        if self.reached is not None and self.configured == 0.0:
            configured = "unlimited"
        if self.measured is not None:
            return configured, f"{self.measured:.3f} {self.unit}"
        if self.reached is not None:
            return configured, f"{'not determined' if CAN_FIT else unknown()}; peak {self.reached:.3f}"
        return configured, unknown()


def summarize(recording: Recording, vehicle: DataclassInstance) -> list[SummaryRow]:
    """Measure all actuators of a recording; drives up to the first obstacle that stopped their wheels.

    Args:
        recording: The run.
        vehicle: Parameter group of the vehicle's model.
    """
    rows: list[SummaryRow] = []
    free = min((touch.begin for touch in recording.touches), default=math.inf)
    for actuator in recording.actuators:
        if actuator.kind == "drive":
            actuator = _before(actuator, free)
        response = measure(actuator, recording.command_times)
        rows += _rows(actuator.name, actuator.kind, response, vehicle)
    return rows


def _before(actuator: ActuatorSeries, end: float) -> ActuatorSeries:
    """The samples before a time [s]."""
    known = actuator.time < end
    return dataclasses.replace(
        actuator, time=actuator.time[known], reference=actuator.reference[known], response=actuator.response[known]
    )


def _rows(name: str, kind: str, response: ActuatorResponse, vehicle: DataclassInstance) -> Iterator[SummaryRow]:
    groups = [getattr(vehicle, item.name) for item in dataclasses.fields(vehicle)]
    wanted = SteeringParameters if kind == "steering" else DriveParameters
    # Autoware's models have no groups for their actuators, but separate parameters.
    group = next((one for one in groups if isinstance(one, wanted)), None)

    def configured(parameter: str) -> float | None:
        return None if group is None else float(getattr(group, parameter))

    yield SummaryRow(name, "dead time", "s", configured("dead_time"), response.dead_time)
    yield SummaryRow(name, "time constant", "s", configured("time_constant"), response.time_constant)
    value = response.reached_value
    if kind == "steering":
        yield SummaryRow(
            name, "maximum rate", "rad/s", configured("max_velocity"), response.max_rise, response.reached_rise
        )
        yield SummaryRow(name, "maximum angle", "rad", configured("max_position"), response.max_value, value)
    else:
        rise = configured("max_acceleration")
        fall = configured("max_deceleration") or rise
        yield SummaryRow(name, "acceleration", "m/s²", rise, response.max_rise, response.reached_rise)
        yield SummaryRow(name, "deceleration", "m/s²", fall, response.max_fall, response.reached_fall)
        yield SummaryRow(name, "maximum speed", "m/s", configured("max_velocity"), response.max_value, value)
