"""The toolbox for vehicle models of one's own: parameters, actuators and the pieces of a :class:`vds_gz.VehicleModel`.

``examples/own_model.py`` and the page on extending show how they fit together. What stands in ``__all__`` is part of
the public interface.
"""

from vds_gz.parameters.declaration import ParameterGroup, choice, flag, group, integer, real
from vds_gz.vehicle.actuators import (
    delay_steps,
    drive_at_rest,
    drive_coefficients,
    drive_report,
    fit_lines,
    steering_at_rest,
    steering_coefficients,
    steering_report,
    step_drive,
    step_steering,
)
from vds_gz.vehicle.model import (
    Actuator,
    ActuatorState,
    Joint,
    JointStates,
    VehicleGeometry,
    VehicleLimits,
    Wheel,
    integrate_pose,
)

__all__ = [
    # Parameters: each with default, unit, bounds and meaning
    "ParameterGroup",
    "real",
    "integer",
    "flag",
    "choice",
    "group",
    # Actuators: dead time, saturation, first-order lag, slew rate
    "delay_steps",
    "drive_coefficients",
    "drive_at_rest",
    "step_drive",
    "drive_report",
    "steering_coefficients",
    "steering_at_rest",
    "step_steering",
    "steering_report",
    "fit_lines",
    # What a model says of itself
    "Actuator",
    "ActuatorState",
    "Joint",
    "JointStates",
    "VehicleLimits",
    "VehicleGeometry",
    "Wheel",
    "integrate_pose",
]
