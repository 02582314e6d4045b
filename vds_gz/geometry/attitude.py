"""What a pose and a velocity in the plane leave out of a body in space."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Attitude:
    """How base_link stands out of the plane, and how it leaves it: what a pose and a velocity in the plane leave out.

    It is turned by its heading about z, then by ``pitch`` about the new y, nose down positive, then by ``roll`` about
    the new x, as in REP-103.

    Attributes:
        z: Height in the map [m].
        roll, pitch: [rad].
        v_z, roll_rate, pitch_rate: Along its own z axis [m/s], about its own x and y axes [rad/s].
    """

    z: float = 0.0
    roll: float = 0.0
    pitch: float = 0.0
    v_z: float = 0.0
    roll_rate: float = 0.0
    pitch_rate: float = 0.0
