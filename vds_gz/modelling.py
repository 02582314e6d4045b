"""The toolbox for custom vehicle models: parameters, actuators, the parts of a :class:`vds_gz.VehicleModel`, a check.

``examples/own_model.py`` and the page on extending show how they fit together. ``__all__`` is part of
the public interface.
"""

from __future__ import annotations

from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.actuator_parameters import ActuatorStages
from vds_gz.core.parameters.declaration import ParameterGroup, choice, flag, group, integer, real
from vds_gz.core.vehicle.actuators import (
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
from vds_gz.core.vehicle.bicycle import BicycleCoefficients, BicycleState
from vds_gz.core.vehicle.command import SteadyMotion
from vds_gz.core.vehicle.differential import DifferentialCoefficients, DifferentialState
from vds_gz.core.vehicle.four_wheel_steering import FourWheelSteeringCoefficients, FourWheelSteeringState
from vds_gz.core.vehicle.omni import OmniCoefficients, OmniState
from vds_gz.core.vehicle.single_track import SingleTrackCoefficients, SingleTrackState
from vds_gz.core.vehicle.trigonometry import integrate_pose
from vds_gz.core.vehicle.vehicle_model import (
    Actuator,
    ActuatorState,
    AnyModel,
    Joint,
    JointStates,
    MeasuredMotion,
    Report,
    VehicleGeometry,
    VehicleLimits,
    Wheel,
    extended,
)

__all__ = [
    "check",
    # Parameters: each with default, unit, bounds and meaning
    "ParameterGroup",
    "real",
    "integer",
    "flag",
    "choice",
    "group",
    "ActuatorStages",
    # Actuators: :mod:`vds_gz.core.vehicle.actuators` lists their stages
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
    # Declarations of a model
    "Actuator",
    "ActuatorState",
    "Joint",
    "JointStates",
    "VehicleLimits",
    "VehicleGeometry",
    "Wheel",
    "SteadyMotion",
    "Report",
    "MeasuredMotion",
    "integrate_pose",
    # The shipped models, to build on
    "BicycleCoefficients",
    "BicycleState",
    "DifferentialCoefficients",
    "DifferentialState",
    "FourWheelSteeringCoefficients",
    "FourWheelSteeringState",
    "OmniCoefficients",
    "OmniState",
    "SingleTrackCoefficients",
    "SingleTrackState",
    "extended",
]


def check(model: AnyModel, seed: int = 1) -> None:
    """Test a vehicle model as :func:`gymnasium.utils.env_checker.check_env` tests an environment. Needs numba.

    Parameters have a unit, a meaning and bounds that hold. Joints are those of the drawing. Joints, actuators, limits
    and geometry fit each other. Steps repeat, stay finite and leave the pose to ``moving``. A steady start stays
    steady, and dead times can be resized without a jump. The compiled vehicle and fleets, in lanes and as structs, give
    the bits of the interpreted vehicle for random parameters and commands.

    Args:
        model: The vehicle model.
        seed: Of the random parameters and commands.

    Raises:
        ArgumentError: The model is wrong; the message names every fault and what to do.
    """
    from vds_gz.tools.conformance.declared import faults

    if messages := faults(model, seed):
        listed = "".join(f"\n- {message}" for message in messages)
        raise ArgumentError(f"vehicle model '{model.name}' fails the check:{listed}")
