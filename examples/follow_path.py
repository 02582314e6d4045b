"""How late may the steering be? Cars follow a double lane change with three controllers, each with its own dead time.

python examples/follow_path.py [PATH.csv]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import vds_gz

SPEED = 3.0  # [m/s]
CONTROLLERS = {
    "pure_pursuit": vds_gz.PurePursuitParameters(speed=SPEED, look_ahead_time=1.0),
    "stanley": vds_gz.StanleyParameters(speed=SPEED),
    "lqr": vds_gz.LqrParameters(speed=SPEED),
}


def double_lane_change() -> vds_gz.Path:
    """To a lane 3 m to the left and back."""
    x = [0.0, 10.0, 20.0, 25.0, 35.0, 45.0, 50.0, 60.0, 70.0]
    y = [0.0, 0.0, 0.0, 0.4, 2.6, 3.0, 3.0, 2.6, 0.4]
    return vds_gz.Path.from_points([*zip(x, y, strict=True), (75.0, 0.0), (85.0, 0.0), (95.0, 0.0)])


def peak_errors(path: vds_gz.Path, controller: str, dead_times: Sequence[float]) -> NDArray[np.float64]:
    """Maximum lateral error of a car with each of these dead times [m]; infinite where it left the path by 2 m."""
    cars = [
        vds_gz.BicycleParameters(
            drive_actuator=vds_gz.DriveParameters(max_velocity=SPEED),
            steering_actuator=vds_gz.SteeringParameters(dead_time=dead_time),
        )
        for dead_time in dead_times
    ]
    loop = vds_gz.ClosedLoop(
        vds_gz.Fleet(vds_gz.BICYCLE, cars), path, controller, CONTROLLERS[controller], rate=50.0, bound=2.0
    )
    loop.advance(round(1.5 * path.length / SPEED * 50.0))
    measures = loop.measures()
    return np.where(np.isnan(measures["left"]), measures["path.peak"], np.inf)


def main(arguments: Sequence[str] = ()) -> None:
    """Print the errors by dead time and controller."""
    path = vds_gz.read_path(arguments[0]) if arguments else double_lane_change()
    dead_times = np.arange(0.0, 1.01, 0.1).round(1).tolist()
    errors = [peak_errors(path, controller, dead_times) for controller in CONTROLLERS]
    print("dead time [s]", *(f"{controller:>14}" for controller in CONTROLLERS))
    for dead_time, *row in zip(dead_times, *errors, strict=True):
        print(f"{dead_time:13.1f}", *(f"{error:12.3f} m" for error in row))


if __name__ == "__main__":
    main(sys.argv[1:])
