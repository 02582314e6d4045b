"""An axis of a vehicle as :mod:`vds_gz.vehicle.actuators` simulates it, in closed form from event to event.

Gain, dead time, saturation, first-order lag and rate limit, in this order; a sensor with an offset measures it.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: Stands for a limit that there is not.
NO_LIMIT = 1e9

_LEAST_TIME = 1e-6


class AxisParameters(NamedTuple):
    """The numbers of an axis.

    Attributes:
        dead_time, time_constant: [s].
        gain: Of what is commanded.
        offset: What the sensor reads too much.
        rise, fall: Limits of the rate, away from zero and towards it.
        value: Limit of the value.
        start: Value at the first sample, without the offset. Nobody wants it, but a guess would bend the others.
    """

    dead_time: float = 0.0
    time_constant: float = 0.0
    gain: float = 1.0
    offset: float = 0.0
    rise: float = NO_LIMIT
    fall: float = NO_LIMIT
    value: float = NO_LIMIT
    start: float = 0.0


def simulate(command_time: Array, command: Array, time: Array, parameters: AxisParameters) -> Array:
    """What the sensor of an axis reads.

    Args:
        command_time, command: When what was commanded [s]; each holds until the next.
        time: Times of the samples [s], increasing.
        parameters: The axis.
    """
    p = AxisParameters(*map(float, parameters))
    p = p._replace(time_constant=max(p.time_constant, _LEAST_TIME))
    response = np.empty(len(time))
    _follow()(command_time, command, time, p, response)
    return response


def follow(command_time: Any, command: Any, time: Any, p: AxisParameters, response: Any) -> None:
    """Write what the sensor reads at every time into ``response``; arguments as of :func:`simulate`."""
    y = p.start
    now = time[0]
    j = -1
    while j + 1 < len(command_time) and command_time[j + 1] + p.dead_time <= now:
        j += 1
    u = command[j] * p.gain if j >= 0 else p.start
    for k in range(len(time)):
        end = time[k]
        while now < end:
            until = end
            changes = j + 1 < len(command_time) and command_time[j + 1] + p.dead_time <= end
            if changes:
                until = max(command_time[j + 1] + p.dead_time, now)
            target = min(max(u, -p.value), p.value)
            y = lag_step(y, target, until - now, p.time_constant, p.rise, p.fall)
            now = until
            if changes:
                j += 1
                u = command[j] * p.gain
        response[k] = y + p.offset


def lag_step(y: float, target: float, duration: float, time_constant: float, rise: float, fall: float) -> float:
    """The slew-limited first-order step: where an axis is after a while with one target, from ``y`` on.

    At zero the limit of the rate changes.
    """
    if y * (target - y) >= 0.0:
        return slew_limited(y, target, duration, time_constant, rise)
    new = slew_limited(y, target, duration, time_constant, fall)
    if new * y >= 0.0:
        return new
    left = duration * new / (new - y)
    return slew_limited(0.0, target, left, time_constant, rise)


def slew_limited(y: float, target: float, duration: float, time_constant: float, rate: float) -> float:
    """The same with one limit: evenly while the distance is large, then exponentially."""
    distance = abs(target - y)
    limited = min(max(distance / rate - time_constant, 0.0), duration)
    left = (distance - rate * limited) * math.exp((limited - duration) / time_constant)
    return target - left if target > y else target + left


@cache
def _follow() -> Any:
    """:func:`follow`, compiled where numba is."""
    try:
        from vds_gz.compiling.linking import compiled
    except ModuleNotFoundError:
        return _follow_lists
    return compiled(follow)


def _follow_lists(command_time: Array, command: Array, time: Array, p: AxisParameters, response: Array) -> None:
    """:func:`follow` on lists: Python reads their elements several times faster than those of arrays."""
    plain = response.tolist()
    follow(command_time.tolist(), command.tolist(), time.tolist(), p, plain)
    response[:] = plain
