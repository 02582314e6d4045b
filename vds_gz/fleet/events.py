"""What happens in a run that all vehicles share, for compiled programs: commands begin, numbers are read."""

from __future__ import annotations

from typing import NamedTuple

from vds_gz.fleet.layout import Reals, Wholes
from vds_gz.vehicle.command import Command
from vds_gz.vehicle.schedule import Records


class Events(NamedTuple):
    """Commands and terms of readings, each by its step, in order.

    Attributes:
        commands, begins: So many steps are done when each command begins to hold, none when the first one does.
        factors: Of shape (5, vehicles): those of ``v_x``, ``v_y``, ``yaw_rate`` and ``steering_angle`` of the commands,
            and what is added to the last one [rad].
        steps: Of each term, so many steps are done.
        places: Of each term, where its number lies.
        readings: Of each term, the reading to which it is added.
        weights: Of each term.
    """

    commands: Records
    begins: Wholes
    factors: Reals
    steps: Wholes
    places: Wholes
    readings: Wholes
    weights: Reals

    @property
    def end(self) -> int:
        """The last step that anybody reads."""
        return int(self.steps[-1]) if len(self.steps) else 0


def calibrate(u: Command, given: Command, factors: Reals, vehicle: int) -> None:
    """Give a vehicle its own version of a command."""
    u.kind = given.kind
    u.v_x = given.v_x * factors[0, vehicle]
    u.v_y = given.v_y * factors[1, vehicle]
    u.yaw_rate = given.yaw_rate * factors[2, vehicle]
    u.steering_angle = given.steering_angle * factors[3, vehicle] + factors[4, vehicle]
    u.steering_rate = given.steering_rate
    u.acceleration = given.acceleration
    u.accel_pedal = given.accel_pedal
    u.brake_pedal = given.brake_pedal
    u.steering_command = given.steering_command
    u.target_acceleration = given.target_acceleration
    u.gear = given.gear
    u.slope = given.slope


def begun_by(begins: Wholes, entered: int, done: int) -> int:
    """How many commands have begun when so many steps are done; ``entered`` of them had before."""
    while entered < begins.size and begins[entered] <= done:
        entered += 1
    return entered


def next_event(when: int, begins: Wholes, entered: int) -> int:
    """The steps that are done when a number is read or the next command begins, whatever is first."""
    return begins[entered] if entered < begins.size and begins[entered] < when else when
