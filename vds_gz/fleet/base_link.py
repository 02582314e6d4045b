"""Pose and velocity of base_link, for many vehicles."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from vds_gz.compiling.linking import compiled
from vds_gz.fleet.columns import Columns
from vds_gz.fleet.layout import Reals
from vds_gz.vehicle.trigonometry import sine_cosine


class BaseLinks(NamedTuple):
    """Pose [m, m, rad] and velocity in the vehicles' own axes [m/s, m/s, rad/s] of base_link, one entry a vehicle."""

    x: Reals
    y: Reals
    heading: Reals
    v_x: Reals
    v_y: Reals
    yaw_rate: Reals


def base_links(states: Columns, offsets: Reals) -> BaseLinks:
    """The motion of every base_link, equal to the bit to :func:`~vds_gz.vehicle.vehicle.motion_of`.

    Args:
        states: The states of a fleet.
        offsets: From each vehicle's reference point to its base_link, along +x [m].
    """
    moved = BaseLinks(*(getattr(states, name).copy() for name in BaseLinks._fields))
    _moved()(*moved, offsets)
    return moved


@cache
def _moved() -> Any:
    return compiled(_move)


def _move(x: Reals, y: Reals, heading: Reals, v_x: Reals, v_y: Reals, yaw_rate: Reals, offsets: Reals) -> None:
    for i in range(len(x)):
        sine, cosine = sine_cosine(heading[i])
        x[i] += offsets[i] * cosine
        y[i] += offsets[i] * sine
        v_y[i] += offsets[i] * yaw_rate[i]
