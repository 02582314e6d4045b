"""Autoware's models: each is a drive, a steering and a rule of the gears."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from vds_gz.autoware.parameters import car_parameters as parameters
from vds_gz.autoware.vehicle import longitudinal, steering
from vds_gz.autoware.vehicle.command_kinds import CONTROL, DIRECT, PEDALS
from vds_gz.autoware.vehicle.delay import NO_FALL, NO_RULE, ROLLING, resize_line, steps_of
from vds_gz.autoware.vehicle.longitudinal import AutowareDriveCoefficients
from vds_gz.autoware.vehicle.map_lookup import map_of
from vds_gz.autoware.vehicle.mechanism import MechanismCoefficients, mechanism_at_rest
from vds_gz.autoware.vehicle.reports import REPORTS
from vds_gz.autoware.vehicle.state import AutowareCoefficients, AutowareState, at_rest, steering_report
from vds_gz.autoware.vehicle.steering import AutowareSteeringCoefficients
from vds_gz.autoware.vehicle.step import actuate, at, move, stop
from vds_gz.core.geometry import slope_acceleration
from vds_gz.core.vehicle.bicycle import axle_geometry, axle_joint_states, axle_joints
from vds_gz.core.vehicle.command import ACKERMANN, GEAR, SPEED, STEERING, TWIST
from vds_gz.core.vehicle.vehicle_model import (
    Actuator,
    ActuatorState,
    AnyModel,
    JointStates,
    VehicleGeometry,
    VehicleLimits,
    VehicleModel,
)

#: The drawing of all models, in the package's folder of models.
XACRO = Path("autoware/car.urdf.xacro")

#: Parameters of the mechanical steering whose coefficients have the same names.
_SAME_NAMES = (
    *("kp", "ki", "kd", "ff_gain", "angle_limit", "rate_limit", "dead_zone_threshold"),
    *("inertia", "damping", "stiffness", "friction"),
)

P = TypeVar("P", bound=parameters.CarParameters)

COMMON = frozenset((TWIST, ACKERMANN, SPEED, STEERING, CONTROL, GEAR))


def time_constant(seconds: float) -> float:
    """A time constant, at least the shortest one [s]."""
    return max(seconds, parameters.SHORTEST_TIME_CONSTANT)


def ideal_speed(p: object, dt: float) -> AutowareDriveCoefficients:
    """The speed follows its reference at once."""
    return AutowareDriveCoefficients(longitudinal.IDEAL_SPEED, False)


def ideal_acceleration(p: object, dt: float) -> AutowareDriveCoefficients:
    """The acceleration follows its reference at once."""
    return AutowareDriveCoefficients(longitudinal.IDEAL_ACCELERATION, False)


def lagging(
    kind: int, p: parameters.LaggingSteeringParameters, delay_steps: int, seconds: float
) -> AutowareDriveCoefficients:
    """A drive with limits, a dead time and a lag of ``seconds``."""
    return AutowareDriveCoefficients(
        kind, p.physical, p.vel_lim, p.vel_rate_lim, delay_steps, time_constant=time_constant(seconds)
    )


def lagging_speed(p: parameters.DelaySteerVelParameters, dt: float) -> AutowareDriveCoefficients:
    """The speed lags."""
    return lagging(longitudinal.LAGGING_SPEED, p, steps_of(p.vel_time_delay, dt), p.vel_time_constant)


def lagging_acceleration(p: parameters.DelaySteerAccParameters, dt: float) -> AutowareDriveCoefficients:
    """The acceleration lags."""
    c = lagging(longitudinal.LAGGING_ACCELERATION, p, steps_of(p.acc_time_delay, dt), p.acc_time_constant)
    c.scale = max(p.debug_acc_scaling_factor, 0.0)
    return c


def rolling_acceleration(p: parameters.DelaySteerAccParameters, dt: float) -> AutowareDriveCoefficients:
    """The acceleration of the drive lags; the car may roll."""
    c = lagging_acceleration(p, dt)
    c.kind = longitudinal.ROLLING_ACCELERATION
    return c


def mapped_acceleration(p: parameters.DelaySteerMapAccGearedParameters, dt: float) -> AutowareDriveCoefficients:
    """The acceleration lags behind the output of a map."""
    c = lagging(longitudinal.MAPPED_ACCELERATION, p, steps_of(p.acc_time_delay, dt), p.acc_time_constant)
    c.map = map_of(p.acceleration_map)
    return c


def pedal_maps(p: parameters.ActuationCmdParameters, dt: float) -> AutowareDriveCoefficients:
    """Pedals give an acceleration, which lags."""
    c = AutowareDriveCoefficients(
        longitudinal.PEDAL_MAPS,
        p.physical,
        p.vel_lim,
        p.vel_rate_lim,
        steps_of(p.accel_time_delay, dt),
        steps_of(p.brake_time_delay, dt),
        time_constant(p.accel_time_constant),
        time_constant(p.brake_time_constant),
        uses_map=p.convert_accel_cmd,
        uses_brake_map=p.convert_brake_cmd,
        free_in_neutral=p.physical,
    )
    if p.convert_accel_cmd:
        c.map = map_of(p.accel_map)
    if p.convert_brake_cmd:
        c.brake_map = map_of(p.brake_map)
    return c


def ideal_angle(p: object, dt: float) -> AutowareSteeringCoefficients:
    """The tyre angle follows its reference at once."""
    return AutowareSteeringCoefficients(steering.IDEAL_ANGLE, False)


def lagging_angle(p: parameters.LaggingSteeringParameters, dt: float) -> AutowareSteeringCoefficients:
    """The tyre angle lags."""
    return AutowareSteeringCoefficients(
        steering.LAGGING_ANGLE,
        p.physical,
        steps_of(p.steer_time_delay, dt),
        command_limit=p.steer_lim,
        angle_limit=p.steer_lim,
        rate_limit=p.steer_rate_lim,
        time_constant=time_constant(p.steer_time_constant),
        bias=p.steer_bias,
    )


def lagging_angle_with_band(
    p: parameters.DelaySteerVelParameters | parameters.DelaySteerAccParameters, dt: float
) -> AutowareSteeringCoefficients:
    """The tyre angle lags; small deviations have no effect."""
    c = lagging_angle(p, dt)
    c.dead_band = p.steer_dead_band
    return c


def lagging_scaled_angle(p: parameters.DelaySteerAccParameters, dt: float) -> AutowareSteeringCoefficients:
    """The tyre angle lags behind a multiple of the reference."""
    c = lagging_angle_with_band(p, dt)
    c.scale = max(p.debug_steer_scaling_factor, 0.0)
    return c


def lagging_unlimited_angle(p: parameters.ActuationCmdParameters, dt: float) -> AutowareSteeringCoefficients:
    """The tyre angle lags behind the command, which is not limited; the angle has end stops."""
    c = lagging_angle(p, dt)
    c.command_limit = math.inf
    return c


def mapped_rate(p: parameters.ActuationCmdSteerMapParameters, dt: float) -> AutowareSteeringCoefficients:
    """The command gives a steering rate, through a map."""
    c = lagging_unlimited_angle(p, dt)
    c.kind = steering.RATE_MAP
    c.gain = p.steering_gain
    c.map = map_of(p.steer_map)
    return c


def variable_ratio(p: parameters.ActuationCmdVgrParameters, dt: float) -> AutowareSteeringCoefficients:
    """The command is the angle of the steering wheel."""
    c = lagging_unlimited_angle(p, dt)
    c.kind = steering.VARIABLE_RATIO
    c.ratio = p.vgr_coef_a
    c.ratio_by_speed = p.vgr_coef_b
    c.ratio_by_angle = p.vgr_coef_c
    return c


def mechanism(p: parameters.ActuationCmdMechanicalParameters, dt: float) -> AutowareSteeringCoefficients:
    """The command is the angle of the steering wheel, and a mechanism turns the tyres."""
    c = variable_ratio(p, dt)
    c.kind = steering.MECHANISM
    m = p.mechanical_params
    c.mechanism = MechanismCoefficients(
        physical=p.physical,
        **{name: getattr(m, name) for name in _SAME_NAMES},
        **{letter: getattr(m, f"poly_{letter}") for letter in "abcdefgh"},
        torque_limit=m.steering_torque_limit,
        torque_delay=m.torque_delay_time,
        torque_delay_steps=steps_of(m.torque_delay_time, dt) if p.physical else 0,
        # One for each step of the delay, one for its end, and two for the rounding of summed times.
        stamps=1 if p.physical else math.ceil(m.torque_delay_time / dt) + 3,
    )
    return c


def model(
    name: str,
    group: type[P],
    make_drive: Callable[[P, float], AutowareDriveCoefficients],
    make_steering: Callable[[P, float], AutowareSteeringCoefficients],
    rule: int = NO_RULE,
) -> VehicleModel[P, AutowareCoefficients, AutowareState]:
    """Combine a drive and a steering into a model."""

    def coefficients(p: P, dt: float) -> AutowareCoefficients:
        """Coefficients for steps of ``dt`` seconds."""
        return assembled(p, dt, make_drive(p, dt), make_steering(p, dt), rule)

    pedals = make_drive is pedal_maps
    return VehicleModel(
        name=name,
        parameters=group,
        accepts=COMMON | {PEDALS if pedals else DIRECT},
        coefficients=coefficients,
        at_rest=at_rest,
        at=at,
        actuating=(actuate,),
        moving=(move,),
        resize=resize,
        joints=axle_joints,
        joint_states=joint_states,
        actuators=(Actuator("drive", "drive"), Actuator("steering", "steering")),
        actuator_states=actuator_states,
        limits=limits,
        geometry=geometry,
        stop=stop,
        xacro=XACRO,
        feels_slopes=True,
        measured_steering=steering_report,
        reports=REPORTS,
    )


def assembled(
    p: parameters.CarParameters, dt: float, d: AutowareDriveCoefficients, s: AutowareSteeringCoefficients, rule: int
) -> AutowareCoefficients:
    """The coefficients of a model with this drive and this steering."""
    ideal = s.kind == steering.IDEAL_ANGLE
    d.resists = p.physical and not ideal and rule == NO_FALL
    mechanical = s.kind == steering.MECHANISM
    stops_at_ends = d.kind == longitudinal.PEDAL_MAPS or (p.physical and not ideal)
    unlimited_speed = d.kind in (longitudinal.IDEAL_SPEED, longitudinal.IDEAL_ACCELERATION, longitudinal.LAGGING_SPEED)
    return AutowareCoefficients(
        dt=dt,
        base_link_offset=p.base_link_offset,
        physical=p.physical and not ideal,
        signed_wheelbase=p.wheel_base,
        half_track_fixed=p.track_fixed / 2.0,
        half_track_steered=p.track_steered / 2.0,
        wheel_radius=p.tire_diameter / 2.0,
        parallel_steering=False,
        rule=rule,
        turning_limit=s.angle_limit if d.kind == longitudinal.LAGGING_SPEED else math.inf,
        speed_kept=math.inf if unlimited_speed else d.speed_limit,
        angle_kept=s.angle_limit if stops_at_ends else math.inf,
        acceleration_kept=d.acceleration_limit if p.physical and not unlimited_speed else math.inf,
        weight=dt / 6.0 if mechanical else 1.0 / 6.0,
        weight_of_sum=1.0 if mechanical else dt,
        road_slope=slope_acceleration(p.road_pitch),
        slopes=p.enable_road_slope_simulation,
        speed_gain=p.speed_gain,
        drive=d,
        steering=s,
    )


def joint_states(c: AutowareCoefficients, s: AutowareState) -> JointStates:
    """Positions and velocities of the joints."""
    return axle_joint_states(c, s, s.steering.angle, s.steering.rate)


def actuator_states(c: AutowareCoefficients, s: AutowareState) -> tuple[ActuatorState, ...]:
    """References and responses; pedals give no speed reference, so the present speed replaces it."""
    drive = ActuatorState(0.0, s.speed_reference, 0.0, s.v_x)
    return drive, ActuatorState(s.angle_reference, 0.0, s.steering.angle, s.steering.rate)


def limits(p: parameters.CarParameters) -> VehicleLimits:
    """Limits of speed and tyre angle, if the model has them."""
    if isinstance(p, parameters.LaggingSteeringParameters):
        return VehicleLimits(p.vel_lim, p.steer_lim)
    return VehicleLimits(0.0)


def geometry(p: parameters.CarParameters) -> VehicleGeometry:
    """The wheels of both axles."""
    return axle_geometry(p, p.wheel_base)


def resize(c: AutowareCoefficients, s: AutowareState) -> None:
    """Fit the delay lines to new dead times, and take over the slope parameter."""
    s.road_slope = c.road_slope
    resize_line(s.drive.line, c.drive.delay_steps)
    resize_line(s.drive.brake_line, c.drive.brake_delay_steps)
    resize_line(s.steering.line, c.steering.delay_steps)
    memory = s.steering.mechanism
    fresh = mechanism_at_rest(c.steering.mechanism)
    resize_line(memory.torques, len(fresh.torques.values) - 1)
    if len(memory.times) != len(fresh.times):
        memory.times, memory.first, memory.count = fresh.times, 0, 0


IDEAL_STEER_VEL = model("ideal_steer_vel", parameters.IdealSteerVelParameters, ideal_speed, ideal_angle)
IDEAL_STEER_ACC = model("ideal_steer_acc", parameters.CarParameters, ideal_acceleration, ideal_angle)
IDEAL_STEER_ACC_GEARED = model(
    "ideal_steer_acc_geared", parameters.CarParameters, ideal_acceleration, ideal_angle, NO_FALL
)
DELAY_STEER_VEL = model("delay_steer_vel", parameters.DelaySteerVelParameters, lagging_speed, lagging_angle_with_band)
DELAY_STEER_ACC = model(
    "delay_steer_acc", parameters.DelaySteerAccParameters, lagging_acceleration, lagging_scaled_angle
)
DELAY_STEER_ACC_GEARED = model(
    "delay_steer_acc_geared", parameters.DelaySteerAccParameters, lagging_acceleration, lagging_scaled_angle, NO_FALL
)
DELAY_STEER_ACC_GEARED_WO_FALL_GUARD = model(
    "delay_steer_acc_geared_wo_fall_guard",
    parameters.DelaySteerAccParameters,
    rolling_acceleration,
    lagging_scaled_angle,
    ROLLING,
)
DELAY_STEER_MAP_ACC_GEARED = model(
    "delay_steer_map_acc_geared",
    parameters.DelaySteerMapAccGearedParameters,
    mapped_acceleration,
    lagging_angle,
    NO_FALL,
)
ACTUATION_CMD = model("actuation_cmd", parameters.ActuationCmdParameters, pedal_maps, lagging_unlimited_angle, NO_FALL)
ACTUATION_CMD_STEER_MAP = model(
    "actuation_cmd_steer_map", parameters.ActuationCmdSteerMapParameters, pedal_maps, mapped_rate, NO_FALL
)
ACTUATION_CMD_VGR = model(
    "actuation_cmd_vgr", parameters.ActuationCmdVgrParameters, pedal_maps, variable_ratio, NO_FALL
)
ACTUATION_CMD_MECHANICAL = model(
    "actuation_cmd_mechanical", parameters.ActuationCmdMechanicalParameters, pedal_maps, mechanism, NO_FALL
)

#: All models of Autoware's simulator, in the order above.
AUTOWARE_MODELS: tuple[AnyModel, ...] = tuple(value for value in globals().values() if isinstance(value, VehicleModel))
