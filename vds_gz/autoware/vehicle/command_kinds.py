"""The kinds of commands that Autoware's vehicles take besides the usual ones."""

from __future__ import annotations

from vds_gz.core.vehicle.command import KEEP_GEAR, Command, CommandKind, check_numbers

#: A driver's accelerator, brake and steering. At zero the car would roll on.
PEDALS = CommandKind(
    4,
    "pedals",
    ("accel_pedal", "brake_pedal", "steering_command"),
    geared=True,
    stops=True,
    marks=("accel", "brake", "wheel"),
)
#: Autoware's Control.
CONTROL = CommandKind(
    5,
    "control",
    ("v_x", "target_acceleration", "steering_angle"),
    geared=True,
    stops=True,
    marks=("acceleration", "gear"),
)
#: A model's own inputs, as a log of Autoware's models holds them: the acceleration is along +x in every gear.
DIRECT = CommandKind(7, "direct", ("v_x", "target_acceleration", "steering_angle"), geared=True, stops=True)


def pedals(accel: float, brake: float, steering: float, gear: int = KEEP_GEAR, slope: float = 0.0) -> Command:
    """Accelerator, brake and steering command, in the model's own units."""
    check_numbers(accel=accel, brake=brake, steering=steering, gear=gear, slope=slope)
    return Command(PEDALS, accel_pedal=accel, brake_pedal=brake, steering_command=steering, gear=gear, slope=slope)


def control(
    velocity: float, acceleration: float, steering_angle: float, gear: int = KEEP_GEAR, slope: float = 0.0
) -> Command:
    """Autoware's Control: velocity [m/s], acceleration [m/s^2] and tyre angle [rad]; each model uses some of them."""
    check_numbers(velocity=velocity, acceleration=acceleration, steering_angle=steering_angle, gear=gear, slope=slope)
    return Command(
        CONTROL, velocity, steering_angle=steering_angle, target_acceleration=acceleration, gear=gear, slope=slope
    )
