"""The steering angles that velocities command, at standstill too."""

from __future__ import annotations

import numpy as np

from vds_gz.study.signals import Series

#: Below this speed a yaw rate says nothing of the steering [m/s].
SLOW = 0.05


def commanded_steering(v_x: Series, yaw_rate: Series, wheel_base: float, *, centred: bool = False) -> Series:
    """The steering angle [rad] that a velocity commands; at standstill the last one, or 0 if ``centred``.

    Args:
        v_x, yaw_rate: As commanded [m/s, rad/s].
        wheel_base: From the fixed to the steered axle [m]; negative where the rear axle steers.
        centred: It goes to the middle at standstill.
    """
    rates = yaw_rate.value[np.clip(np.searchsorted(yaw_rate.time, v_x.time, side="right") - 1, 0, None)]
    angles = np.arctan2(wheel_base * rates * np.sign(v_x.value), np.abs(v_x.value))
    moving = np.abs(v_x.value) > SLOW
    if centred:
        return Series(v_x.time, np.where(moving, angles, 0.0))
    last = np.maximum.accumulate(np.where(moving, np.arange(len(angles)), -1))
    return Series(v_x.time, np.where(last >= 0, angles[last], 0.0))
