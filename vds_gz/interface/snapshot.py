"""All that is published of a vehicle, at one instant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from vds_gz.geometry.attitude import Attitude
from vds_gz.geometry.se2 import Pose
from vds_gz.vehicle.autoware.reports import ActuationStatus
from vds_gz.vehicle.model import ActuatorState, JointStates
from vds_gz.vehicle.vehicle import Motion


class Report(NamedTuple):
    """What one of Autoware's vehicles reports.

    Attributes:
        speed, steering: As measured [m/s, rad].
        yaw_rate: [rad/s].
        gear: Code of the gear that is in.
        actuation: Accelerator, brake and steering that go with the present acceleration.
    """

    speed: float
    steering: float
    yaw_rate: float
    gear: int
    actuation: ActuationStatus


class Snapshot(NamedTuple):
    """The vehicle at one instant. A tuple, because a replay has very many.

    Attributes:
        time: Simulated time [ns].
        motion: Where base_link truly is in the map, and how it moves.
        odom: Pose of base_link in the odometry's frame; where the odometry is exact, ``motion`` will do.
        odom_variance: Variances of its position and heading [m^2, rad^2].
        odom_speed: Longitudinal speed by the odometry [m/s].
        map_to_odom: The odometry's frame in the map; None where it is fixed.
        joints, actuators: All of them, in the model's order.
        report: Of one of Autoware's vehicles; None for others.
        attitude: How base_link stands out of the plane; None where it never does. Localization errs in the plane only,
            so it is the same in both frames.
    """

    time: int
    motion: Motion
    odom: Pose | Motion
    odom_variance: tuple[float, float]
    odom_speed: float
    map_to_odom: Pose | None
    joints: JointStates
    actuators: Sequence[ActuatorState]
    report: Report | None = None
    attitude: Attitude | None = None
