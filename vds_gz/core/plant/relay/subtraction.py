"""What the robot behind a relay has itself, taken off the vehicle's own response.

A robot with a dead time ``d`` and a lag ``T`` of first order follows a response ``y`` exactly if it is commanded
``u(t) = y(t + d) + T dy/dt(t + d)``. The future of ``y`` is known as far as the vehicle's own dead time reaches.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from vds_gz.core.parameters.actuator_parameters import DriveParameters, SteeringParameters
from vds_gz.core.parameters.declaration import ParameterError, ParameterGroup
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.parameters.relay import RelayParameters

#: Differences below this are rounding [s].
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Dynamics:
    """Dead time and time constant of a lag of first order [s]."""

    dead_time: float = 0.0
    time_constant: float = 0.0


@dataclass(frozen=True, slots=True)
class RobotDynamics:
    """What the robot has itself, along its drive and its steering; a robot that wheel speeds turn has one for both."""

    drive: Dynamics
    steering: Dynamics

    @classmethod
    def of(cls, relay: RelayParameters, vehicle: ParameterGroup, robot: NodeParameters | None) -> RobotDynamics:
        """The dynamics that the parameters of the relay state, for a vehicle in front of the robot.

        Args:
            relay: The parameters of the relay.
            vehicle: The parameters of the vehicle in front.
            robot: Those in the file ``relay.simulator``; None if it names none.

        Raises:
            ParameterError: The robot has no drive.
        """
        if robot is None:
            both = Dynamics(relay.dead_time, relay.time_constant)
            return cls(both, both)
        vehicle_steers = any(actuators(vehicle, SteeringParameters))
        drives, steerings = (
            [Dynamics(group.dead_time, group.time_constant) for _, group in actuators(robot.vehicle, kind)]
            for kind in (DriveParameters, SteeringParameters)
        )
        if not drives:
            raise ParameterError(
                f"parameter 'relay.simulator' is '{relay.simulator}', of model '{robot.model}', which has no drive "
                "with dead_time and time_constant; set relay.dead_time and relay.time_constant instead"
            )
        return cls(drives[0], steerings[0] if steerings and vehicle_steers else drives[0])

    def for_actuator(self, actuator: Any) -> Dynamics:
        """What is taken off an actuator, by the type of its parameters."""
        return self.steering if isinstance(actuator, SteeringParameters) else self.drive


def actuators(vehicle: Any, kind: type | tuple[type, ...] = (DriveParameters, SteeringParameters)) -> Iterator[Any]:
    """Names and parameter groups of a vehicle's actuators."""
    for field in dataclasses.fields(vehicle):
        if isinstance(group := getattr(vehicle, field.name), kind):
            yield field.name, group


def leading(vehicle: Any, robot: RobotDynamics, hold: float) -> Any:
    """Parameters of a vehicle whose response comes earlier, by the robot's dead time.

    Args:
        vehicle: The parameter group of the vehicle's model.
        robot: What the robot has itself.
        hold: Mean delay of a command that is held for a period [s]: half the period. It is taken off as far as the
            vehicle's dead time allows.

    Raises:
        ParameterError: The vehicle would have to be faster than the robot. The message has the smallest values.
    """
    groups = dict(actuators(vehicle))
    if not groups and robot != RobotDynamics(Dynamics(), Dynamics()):
        raise ParameterError(
            "the vehicle's model has no actuator from which the robot's dead time and lag could be taken off; set "
            "relay.dead_time and relay.time_constant to 0"
        )
    faults, changes = [], {}
    for name, actuator in groups.items():
        own = robot.for_actuator(actuator)
        for number in ("dead_time", "time_constant"):
            configured, least = getattr(actuator, number), getattr(own, number)
            if configured < least - ROUNDING:
                faults.append(
                    f"parameter '{name}.{number}' is {configured:g}, but the robot behind the relay has {least:g} s "
                    f"itself; it must be at least {least:g} [s]"
                )
        dead_time = max(actuator.dead_time - own.dead_time, 0.0)
        changes[name] = dataclasses.replace(actuator, dead_time=max(dead_time - hold, 0.0))
    if faults:
        raise ParameterError("\n".join(faults))
    return dataclasses.replace(vehicle, **changes)
