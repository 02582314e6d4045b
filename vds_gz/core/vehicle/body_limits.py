"""Limits of the body's velocity and acceleration.

A robot's controller applies them before it splits a command into wheel speeds, as ROS's ``diff_drive_controller`` does.
Speed and yaw rate are limited separately, so a saturated command changes its curvature.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from vds_gz.core.parameters.actuator_parameters import BodyLimits
from vds_gz.core.parameters.vehicles import DifferentialParameters, OmniParameters, SwerveParameters
from vds_gz.core.vehicle.actuators import or_infinite
from vds_gz.core.vehicle.vehicle_model import VehicleLimits


@dataclass(slots=True)
class BodyLimitCoefficients:
    """Maximum speed [m/s] and yaw rate [rad/s], and their maximum changes in one step; infinite where unlimited."""

    max_speed: float
    max_yaw_rate: float
    max_speed_change: float
    max_yaw_rate_change: float
    ramps: bool  # changes are limited, so the references change in every step


@dataclass(slots=True)
class BodyReferences:
    """Velocities of base_link [m/s, m/s, rad/s]: the command within the velocity limits (goals), and the references.

    The references approach the goals within the acceleration limits; wheel speeds follow from them.
    """

    goal_v_x: float = 0.0
    goal_v_y: float = 0.0
    goal_yaw_rate: float = 0.0
    v_x: float = 0.0
    v_y: float = 0.0
    yaw_rate: float = 0.0

    def stop(self) -> None:
        """Set the references to 0, after an obstacle."""
        self.v_x = self.v_y = self.yaw_rate = 0.0


def body_limit_coefficients(p: BodyLimits, dt: float) -> BodyLimitCoefficients:
    """Coefficients for steps of ``dt`` seconds."""
    return BodyLimitCoefficients(
        max_speed=or_infinite(p.max_linear_velocity),
        max_yaw_rate=or_infinite(p.max_angular_velocity),
        max_speed_change=or_infinite(p.max_linear_acceleration) * dt,
        max_yaw_rate_change=or_infinite(p.max_angular_acceleration) * dt,
        ramps=p.max_linear_acceleration > 0.0 or p.max_angular_acceleration > 0.0,
    )


def velocity_limits(p: DifferentialParameters | OmniParameters | SwerveParameters) -> VehicleLimits:
    """The lower of the speed limits of body and wheels."""
    return VehicleLimits(min(filter(None, (p.max_linear_velocity, p.drive_actuators.max_velocity)), default=0.0))


def body_references_at(v_x: float, v_y: float, yaw_rate: float) -> BodyReferences:
    """References [m/s, m/s, rad/s] that have reached their goals."""
    return BodyReferences(v_x, v_y, yaw_rate, v_x, v_y, yaw_rate)


def limit_velocity(c: BodyLimitCoefficients, s: BodyReferences, v_x: float, v_y: float, yaw_rate: float) -> None:
    """Set the goals of a command [m/s, m/s, rad/s], and the references too if no acceleration is limited."""
    speed = math.sqrt(v_x * v_x + v_y * v_y)
    if speed > c.max_speed:
        scale = c.max_speed / speed
        v_x *= scale
        v_y *= scale
    s.goal_v_x = v_x
    s.goal_v_y = v_y
    s.goal_yaw_rate = max(-c.max_yaw_rate, min(yaw_rate, c.max_yaw_rate))
    if not c.ramps:
        s.v_x = s.goal_v_x
        s.v_y = s.goal_v_y
        s.yaw_rate = s.goal_yaw_rate


def limit_acceleration(c: BodyLimitCoefficients, s: BodyReferences) -> None:
    """Move the references towards the goals for one step."""
    change_x = s.goal_v_x - s.v_x
    change_y = s.goal_v_y - s.v_y
    change = math.sqrt(change_x * change_x + change_y * change_y)
    if change > c.max_speed_change:
        scale = c.max_speed_change / change
        s.v_x += scale * change_x
        s.v_y += scale * change_y
    else:
        s.v_x = s.goal_v_x
        s.v_y = s.goal_v_y
    turn = s.goal_yaw_rate - s.yaw_rate
    if abs(turn) > c.max_yaw_rate_change:
        s.yaw_rate += math.copysign(c.max_yaw_rate_change, turn)
    else:
        s.yaw_rate = s.goal_yaw_rate
