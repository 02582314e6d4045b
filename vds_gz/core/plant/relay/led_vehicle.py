"""A vehicle with a leader: the same vehicle, whose response comes earlier by the dead time of the robot."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from vds_gz.core.parameters.declaration import ParameterError, ParameterGroup
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.plant.relay.subtraction import RobotDynamics, leading
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.command import Command
from vds_gz.core.vehicle.make_vehicle import vehicle_settings
from vds_gz.core.vehicle.vehicle import NANOSECONDS, Vehicle
from vds_gz.core.vehicle.vehicle_model import AnyModel

#: A time-out counts as at most this long [s].
LONGEST_AGE = 1e6


class LedVehicle(Vehicle[Any, Any, Any]):
    """A vehicle that passes on everything that is done with it to its leader.

    Attributes:
        leader: The vehicle whose response comes earlier.
        latest: Expiry of the last command [ns]; 0 without one.
    """

    def __init__(self, model: Any, parameters: Any, leading: Callable[[Any], Any], **settings: Any) -> None:
        """Make both vehicles.

        Args:
            model: The vehicle model.
            parameters: Its parameter group.
            leading: The leader's parameter group, from this one's.
            settings: Further arguments of :class:`~vds_gz.core.vehicle.vehicle.Vehicle`.

        Raises:
            ParameterError: There is no such leader.
        """
        self._leading = leading
        self.leader: Vehicle[Any, Any, Any] = Vehicle(model, leading(parameters), **settings)
        self.latest = 0
        super().__init__(model, parameters, **settings)

    def enter(self, command: Command, time: int, stamp: int | None = None) -> None:
        """Give a command to both."""
        super().enter(command, time, stamp)
        self.leader.enter(command, time, stamp)
        self.latest = time + round(min(self.max_command_age, LONGEST_AGE) * NANOSECONDS)

    def advance(self, time: int) -> int:
        """Advance both, up to ``time`` [ns] at most."""
        self.leader.advance(time)
        return super().advance(time)

    def skip_to(self, time: int) -> None:
        """Set the present time of both [ns], without a step."""
        super().skip_to(time)
        self.leader.skip_to(time)

    def reset(self, time: int | None = None) -> None:
        """Start both again at rest at the origin, without commands."""
        super().reset(time)
        self.leader.reset(time)
        self.latest = 0

    def configure(self, parameters: Any) -> None:
        """Use other parameters from the next step on; refuse those that no leader has."""
        leading = self._leading(parameters)
        super().configure(parameters)
        self.leader.configure(leading)

    def configure_commands(self, max_command_age: float, dead_time_jitter: float) -> None:
        """Use another time-out [s] and another maximum delay [s] in both."""
        super().configure_commands(max_command_age, dead_time_jitter)
        self.leader.configure_commands(max_command_age, dead_time_jitter)


def make_led_vehicle(parameters: NodeParameters, robot: RobotDynamics) -> LedVehicle:
    """The vehicle of a relay, with its leader.

    Raises:
        ParameterError: The robot is slower than the vehicle, or is to be steered by a model without a single
            steering angle.
    """
    model, relay = models()[parameters.model], parameters.relay
    if relay.output in ("ackermann", "steering_and_speed") and steering_of(model, parameters.vehicle) is None:
        raise ParameterError(
            f"parameter 'relay.output' is '{relay.output}', but a vehicle of model '{model.name}' has no single "
            "steering angle; it must be twist or twist_stamped"
        )
    earlier = partial(leading, robot=robot, hold=0.5 / relay.rate)
    return LedVehicle(model, parameters.vehicle, earlier, **vehicle_settings(parameters))


def steering_of(model: AnyModel, parameters: ParameterGroup) -> int | None:
    """The place of the (front) steering among the actuators of a vehicle with one drive; None for other vehicles.

    Several drives turn a vehicle by a twist, also where each has a steering of its own, as in a swerve module.
    """
    kinds = [actuator.kind for actuator in model.actuators_of(parameters)]
    return kinds.index("steering") if "steering" in kinds and kinds.count("drive") == 1 else None
