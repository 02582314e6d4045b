"""The reports of Autoware's vehicles.

The names are those of Autoware's own simulator, without its ``input/`` and ``output/``.
"""

from __future__ import annotations

from vds_gz.autoware.parameters.car_parameters import ActuationCmdParameters, CarParameters
from vds_gz.autoware.vehicle.state import AutowareCoefficients, AutowareState, actuation_status, gear_report
from vds_gz.core.vehicle.vehicle_model import MeasuredMotion, Report


def _velocity(c: AutowareCoefficients, s: AutowareState, measured: MeasuredMotion) -> tuple[float, ...]:
    return measured.speed, measured.yaw_rate


def _steering(c: AutowareCoefficients, s: AutowareState, measured: MeasuredMotion) -> tuple[float, ...]:
    return (measured.steering_angle,)


def _gear(c: AutowareCoefficients, s: AutowareState, measured: MeasuredMotion) -> tuple[float, ...]:
    return (gear_report(s),)


def _actuation(c: AutowareCoefficients, s: AutowareState, measured: MeasuredMotion) -> tuple[float, ...]:
    return actuation_status(c, s)


def _publishes_steering(p: CarParameters) -> bool:
    return p.enable_pub_steer


def _has_pedal_maps(p: CarParameters) -> bool:
    return isinstance(p, ActuationCmdParameters) and (p.convert_accel_cmd or p.convert_brake_cmd)


VELOCITY_STATUS = Report(
    "velocity_status",
    "autoware_vehicle_msgs/msg/VelocityReport",
    ("longitudinal_velocity", "heading_rate"),
    _velocity,
    of_base=True,
    depth=1,
)
STEERING_STATUS = Report(
    "steering_status",
    "autoware_vehicle_msgs/msg/SteeringReport",
    ("steering_tire_angle",),
    _steering,
    stamp="stamp",
    depth=1,
    published=_publishes_steering,
)
GEAR_STATUS = Report("gear_status", "autoware_vehicle_msgs/msg/GearReport", ("report",), _gear, stamp="stamp", depth=1)


def _actuation_status(variant: str, message: str, field: str, ending: str) -> Report:
    """The same report in Autoware's old and new message package."""
    fields = tuple(f"{field}.{pedal}_{ending}" for pedal in ("accel", "brake", "steer"))
    return Report("actuation_status", message, fields, _actuation, depth=1, variant=variant, published=_has_pedal_maps)


ACTUATION_STATUS = {
    "tier4": _actuation_status("tier4", "tier4_vehicle_msgs/msg/ActuationStatusStamped", "status", "status"),
    "autoware": _actuation_status(
        "autoware", "autoware_vehicle_msgs/msg/ActuationReportStamped", "actuation_report", "report"
    ),
}

REPORTS = (VELOCITY_STATUS, STEERING_STATUS, GEAR_STATUS, *ACTUATION_STATUS.values())
