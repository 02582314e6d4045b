"""The messages that command Autoware's vehicles.

The names are those of Autoware's own simulator, without its ``input/``.
"""

# ruff: noqa: D102  # Values documents the methods of its kinds
from __future__ import annotations

from typing import NamedTuple

from vds_gz.autoware.vehicle import command_kinds
from vds_gz.autoware.vehicle.command_kinds import CONTROL, PEDALS
from vds_gz.core.ros.graph import QoS, Topic
from vds_gz.core.vehicle.command import GEAR, Command
from vds_gz.programs.interface.commands import CommandType, Gear

#: Autoware's endpoints keep the last message only.
LAST = QoS(depth=1)


class Control(NamedTuple):
    """Autoware's Control: velocity [m/s], acceleration [m/s^2] and tyre angle [rad]."""

    velocity: float
    acceleration: float
    steering_tire_angle: float

    def command(self) -> Command:
        return command_kinds.control(*self)


class Pedals(NamedTuple):
    """Positions of accelerator and brake, and the steering command, in the vehicle's own units."""

    accel_pedal: float
    brake_pedal: float
    steering_command: float

    def command(self) -> Command:
        return command_kinds.pedals(*self)


CONTROL_COMMAND = CommandType(
    "control",
    CONTROL,
    Topic("control_cmd", "autoware_control_msgs/msg/Control", LAST),
    Control,
    ("longitudinal.velocity", "longitudinal.acceleration", "lateral.steering_tire_angle"),
    "velocities, accelerations and tyre angles",
    "stamp",
    single=True,
)


def _pedals(name: str, variant: str, package: str, field: str) -> CommandType:
    """The same command in Autoware's old and new message package; a topic can only have one type."""
    fields = tuple(f"{field}.{pedal}" for pedal in ("accel_cmd", "brake_cmd", "steer_cmd"))
    topic = Topic("actuation_cmd", f"{package}/msg/ActuationCommandStamped", LAST)
    return CommandType(name, PEDALS, topic, Pedals, fields, "pedals", "header.stamp", variant=variant)


PEDAL_COMMAND = _pedals("pedals", "tier4", "tier4_vehicle_msgs", "actuation")
NEW_PEDAL_COMMAND = _pedals("autoware_pedals", "autoware", "autoware_vehicle_msgs", "actuation_command")

GEAR_COMMAND = CommandType(
    "gear", GEAR, Topic("gear_cmd", "autoware_vehicle_msgs/msg/GearCommand", LAST), Gear, ("command",), "gears", "stamp"
)
