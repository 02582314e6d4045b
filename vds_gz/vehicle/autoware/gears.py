"""What the gears allow, and what becomes of a motion that they do not.

Codes are those of autoware_vehicle_msgs/GearCommand.
"""

from __future__ import annotations

from vds_gz.vehicle.command import DRIVE, LOW_2, PARK, REVERSE, REVERSE_2

#: Rules of the gears: none; motion against the gear stands still; a car that may roll either way.
NO_RULE = 0
NO_FALL = 1
ROLLING = 2

#: Steps shorter than this do not count in the acceleration of a stop [s].
SHORTEST_STEP = 1e-5


def is_reverse(gear: int) -> bool:
    """The gear drives backwards."""
    return gear in (REVERSE, REVERSE_2)


def forbidden(gear: int, speed: float) -> bool:
    """The gear does not allow to move with this speed [m/s]; the gears that hold allow none, not even 0."""
    if is_reverse(gear):
        return speed > 0.0
    if DRIVE <= gear <= LOW_2 and gear != PARK:
        return speed < 0.0
    return True


def against_gear(gear: int, speed: float) -> bool:
    """The vehicle moves, and its gear does not allow it."""
    return speed != 0.0 and forbidden(gear, speed)
