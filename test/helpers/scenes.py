"""Worlds of a few shapes, and vehicles in them, for tests of sensors."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from vds_gz.core.geometry import Transform, quaternion
from vds_gz.core.sensing.body import BodyState
from vds_gz.core.world.packing import Thing
from vds_gz.core.world.ray_caster import RayCaster
from vds_gz.core.world.scene import Scene
from vds_gz.core.world.shapes import Shape

MILLISECOND = 1_000_000


def scene(*things: Thing) -> Scene:
    caster = RayCaster(things)
    return Scene("test", caster, caster)


def at(shape: Shape, x: float = 0.0, y: float = 0.0, z: float = 0.0, yaw: float = 0.0, **given: object) -> Thing:
    """A thing at a place, turned about the vertical."""
    pose = np.eye(4)
    pose[:2, :2] = [[math.cos(yaw), -math.sin(yaw)], [math.sin(yaw), math.cos(yaw)]]
    pose[:3, 3] = (x, y, z)
    return Thing("thing", shape, pose, **given)  # type: ignore[arg-type]


def standing(time: float = 0.0, x: float = 0.0, y: float = 0.0, z: float = 0.0, yaw: float = 0.0) -> list[BodyState]:
    """A vehicle that stands, at a time [s]."""
    return [BodyState(round(time * 1e9), Transform((x, y, z), quaternion(0.0, 0.0, yaw)))]


def driven(pose: Callable[[float], Transform], end: float, duration: float, every: float = 0.02) -> list[BodyState]:
    """A vehicle whose pose at a time [s] is known, over the time up to ``end`` and one state more."""
    count = math.ceil(duration / every - 1e-9) + 1
    times = [end - k * every for k in range(count, -1, -1)]
    return [BodyState(round(time * 1e9), pose(time)) for time in times]
