"""The step response of a vehicle, offline: how its actuators respond to one command. No ROS, no clock, no Gazebo.

python examples/step_response.py [PRESET or parameter file]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import vds_gz

MILLISECOND = 1_000_000  # [ns]
SPEED = 0.5  # [m/s]


def step_response(source: str) -> list[tuple[float, float]]:
    """Time [s] and speed [m/s] every 10 ms, with a command of :data:`SPEED` from time 0 on."""
    vehicle = vds_gz.load_vehicle(source)
    response = []
    for millisecond in range(0, 3000, 10):
        if millisecond % 100 == 0:  # a command that is not repeated would time out
            vehicle.enter(vds_gz.twist(SPEED, 0.0, 0.0), time=millisecond * MILLISECOND)
        vehicle.advance(millisecond * MILLISECOND)
        response.append((millisecond / 1000, vehicle.motion().v_x))
    return response


def main(arguments: Sequence[str] = ()) -> None:
    """Print the response, its dead time, and the time at which it reaches 63 %."""
    source = arguments[0] if arguments else "ackermann_car"
    response = step_response(source)
    for time, speed in response[::20]:
        print(f"{time:4.1f} s  {speed:6.3f} m/s  {'#' * round(60 * speed / SPEED)}")
    begins = next(time for time, speed in response if speed > 0.0)
    reaches = next(time for time, speed in response if speed > 0.632 * SPEED)
    print(f"{source}: first motion after {begins:.2f} s, 63 % of the step after {reaches:.2f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
