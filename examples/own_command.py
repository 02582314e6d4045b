"""A custom command type: a radio control that sends a speed and a curvature.

    python examples/own_command.py

In a package of yours, an entry point of the group ``vds_gz.commands`` makes the command type known to every vehicle
that takes velocities, and to every tool, as ``examples/pyproject.toml`` does.
"""

from __future__ import annotations

from typing import NamedTuple

from vds_gz import load_vehicle
from vds_gz.commanding import TWIST, Command, CommandType, Topic, twist


class Curvature(NamedTuple):
    """A speed [m/s] and a curvature [1/m]."""

    speed: float
    curvature: float

    def command(self) -> Command:
        """The command for the vehicle."""
        return twist(self.speed, 0.0, self.speed * self.curvature)


CURVATURE = CommandType(
    "curvature",
    TWIST,
    Topic("curvature_cmd", "geometry_msgs/msg/PointStamped"),
    Curvature,
    ("point.x", "point.y"),
    "speeds and curvatures",
    "header.stamp",
)


def main() -> None:
    """Drive a circle with a radius of 2 m."""
    vehicle = load_vehicle("indoor_robot", {"twist_reference_max_oldness": 10.0})
    vehicle.enter(Curvature(0.4, 0.5).command(), time=0)
    vehicle.advance(8_000_000_000)
    motion = vehicle.motion()
    print(f"the robot drives on a circle with a radius of {motion.v_x / motion.yaw_rate:.2f} m")


if __name__ == "__main__":
    main()
