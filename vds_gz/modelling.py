"""The toolbox for vehicle models of one's own: parameters, actuators and the pieces of a :class:`vds_gz.VehicleModel`.

``examples/own_model.py`` and the page on extending show how they fit together. What stands in ``__all__`` is part of
the public interface.
"""

from vds_gz.parameters.declaration import ParameterGroup, choice, flag, group, integer, real
from vds_gz.vehicle.actuators import (
    delay_steps,
    drive_at,
    drive_at_rest,
    drive_coefficients,
    drive_report,
    fit_lines,
    steering_at,
    steering_at_rest,
    steering_coefficients,
    steering_report,
    step_drive,
    step_steering,
)
from vds_gz.vehicle.bicycle import BicycleCoefficients, BicycleState
from vds_gz.vehicle.differential import DifferentialCoefficients, DifferentialState
from vds_gz.vehicle.model import (
    Actuator,
    ActuatorState,
    Joint,
    JointStates,
    SteadyMotion,
    VehicleGeometry,
    VehicleLimits,
    Wheel,
    extended,
    integrate_pose,
)
from vds_gz.vehicle.omni import OmniCoefficients, OmniState

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
    "drive_at",
    "step_drive",
    "drive_report",
    "steering_coefficients",
    "steering_at_rest",
    "steering_at",
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
    "SteadyMotion",
    "integrate_pose",
    # The shipped models, to build on
    "BicycleCoefficients",
    "BicycleState",
    "DifferentialCoefficients",
    "DifferentialState",
    "OmniCoefficients",
    "OmniState",
    "extended",
]
