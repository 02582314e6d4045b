"""The command that makes a robot respond as the vehicle does."""

from __future__ import annotations

import math

from vds_gz.core.parameters.actuator_parameters import DriveParameters, SteeringParameters
from vds_gz.core.plant.relay.led_vehicle import LedVehicle, steering_of
from vds_gz.core.plant.relay.subtraction import RobotDynamics, actuators
from vds_gz.core.vehicle.command import SteadyMotion

#: The vehicle stands below this speed [m/s], yaw rate [rad/s] and steering angle [rad].
STANDSTILL = 1e-3

#: Steering angles beyond this count as this in a yaw rate [rad].
STEEPEST = 1.5


class Demand:
    """The demand ``y + T dy/dt`` of a vehicle's leader, with ``y`` its motion and ``T`` the robot's lag.

    In steps of ``dt`` that is ``y0 + (y1 - y0) / (1 - exp(-dt / T))``, which brings a robot from ``y0`` to ``y1`` in a
    step.

    Attributes:
        broken: The last demand was not finite, so zero took its place.
    """

    def __init__(self, vehicle: LedVehicle, robot: RobotDynamics) -> None:
        self._vehicle = vehicle
        drive, steering = (self._gain(dynamics.time_constant) for dynamics in (robot.drive, robot.steering))
        self._gains = drive, drive, drive, steering, steering
        self._steering = steering_of(vehicle.model, vehicle.parameters)
        # the leader's start [ns] and steps, and its motion before the last step
        self._before = (0, 0), SteadyMotion()
        self.broken = False

    def advance(self, time: int) -> None:
        """Advance the vehicle to a simulated time [ns]; the motion before the last step gives its rate of change."""
        leader = self._vehicle.leader
        last = leader.steps_until(time) - 1
        if last >= leader.steps:
            leader.advance(leader.time_of(last))
            before = self._motion()
            leader.advance(time)
            self._before = (leader.start, leader.steps), before
        self._vehicle.advance(time)

    def now(self) -> SteadyMotion:
        """The demand at the present, within the vehicle's limits."""
        leader, motion = self._vehicle.leader, self._motion()
        steps, before = self._before
        if steps != (leader.start, leader.steps):  # it was stopped since
            before = motion
        demand = SteadyMotion(
            *(
                earlier + gain * (value - earlier)
                for value, earlier, gain in zip(motion, before, self._gains, strict=True)
            )
        )
        self.broken = not demand.finite
        return SteadyMotion() if self.broken else self._limited(demand)

    def moves(self, demand: SteadyMotion) -> bool:
        """Whether the demand is more than what actuators do without a command: their offsets."""
        parameters = self._vehicle.parameters
        speed = max((abs(drive.offset) for _, drive in actuators(parameters, DriveParameters)), default=0.0)
        angle = max((abs(steering.offset) for _, steering in actuators(parameters, SteeringParameters)), default=0.0)
        turns = self._steering is None and abs(demand.yaw_rate) > STANDSTILL
        fast = max(abs(demand.v_x), abs(demand.v_y)) > speed + STANDSTILL
        return turns or fast or abs(demand.steering_angle) > angle + STANDSTILL

    def _gain(self, time_constant: float) -> float:
        """Change of a command per change of the response in a step, of a lag [s]."""
        return -1.0 / math.expm1(-1.0 / (time_constant * self._vehicle.step_rate)) if time_constant else 1.0

    def _motion(self) -> SteadyMotion:
        """The leader's motion."""
        vehicle = self._vehicle.leader
        motion, model, steering_angle = vehicle.motion(), vehicle.model, 0.0
        if self._steering is not None:
            steering_angle = model.actuator_states(vehicle.coefficients, vehicle.state)[self._steering].position
        v_y = motion.v_y if model.geometry(vehicle.parameters).holonomic else 0.0
        return SteadyMotion(motion.v_x, v_y, motion.yaw_rate, steering_angle)

    def _limited(self, demand: SteadyMotion) -> SteadyMotion:
        model, parameters = self._vehicle.model, self._vehicle.parameters
        limits, geometry = model.limits(parameters), model.geometry(parameters)
        yaw_limit = limits.speed / geometry.yaw_arm if geometry.yaw_arm else 0.0
        bounds = (limits.speed, limits.speed, yaw_limit, limits.steering, limits.rear_steering)
        limited = SteadyMotion(
            *(min(max(value, -bound), bound) if bound else value for value, bound in zip(demand, bounds, strict=True))
        )
        if not (wheel_base := geometry.signed_wheel_base):
            return limited
        # Speed and steering have lags of their own; a robot that takes a yaw rate turns it into this angle.
        angle = min(max(limited.steering_angle, -STEEPEST), STEEPEST)
        return limited._replace(yaw_rate=limited.v_x * math.tan(angle) / wheel_base)
