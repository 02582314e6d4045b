"""The controller that is tested: it steers a car onto the line y = 0."""

from __future__ import annotations

#: Gains from the lateral error [1/m] and the heading error to the curvature [1/m].
GAINS = 0.25, 1.0

#: Distance between the axles [m], and maximum steering angle [rad].
WHEEL_BASE, MAX_STEERING = 0.33, 0.4


def steering_angle(y: float, heading: float) -> float:
    """The steering angle [rad] at a distance [m] and heading [rad] from the line."""
    curvature = -GAINS[0] * y - GAINS[1] * heading
    return max(-MAX_STEERING, min(MAX_STEERING, WHEEL_BASE * curvature))
