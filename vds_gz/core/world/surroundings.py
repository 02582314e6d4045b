"""The surroundings of a vehicle: a scene, obstacles on paths and other vehicles.

The pose of an obstacle is a pure function of time. A YAML file lists obstacles:

obstacles:
  - name: cart
    box: [1.2, 0.6, 1.0]                 # [m] length, width, height
    path: [[5, -3], [5, 3], [9, 3]]      # [m] x, y
    speed: 0.8                           # [m/s]
    repeat: back_and_forth               # once, loop or back_and_forth
  - name: pedestrian
    cylinder: [0.25, 1.8]                # [m] radius, height
    path: [[0, 4], [6, 4]]
    times: [2.0, 7.0]                    # [s] simulated times at the points, instead of a speed
    z: 0.0                               # [m] height of its lower side, 0 by default
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import Protocol

import numpy as np

from vds_gz.core.errors import WorldError
from vds_gz.core.parameters.yaml_entries import Entry, read_entries
from vds_gz.core.world.geometry_reader import matrix, rotation_of_angles
from vds_gz.core.world.packing import Thing
from vds_gz.core.world.ray_caster import RayCaster
from vds_gz.core.world.scene import Scene
from vds_gz.core.world.shapes import Box, Cylinder

ONCE, LOOP, BACK_AND_FORTH = "once", "loop", "back_and_forth"
REPEATS = (ONCE, LOOP, BACK_AND_FORTH)

SIZES = {"box": ("length", "width", "height"), "cylinder": ("radius", "height")}  # names of the sizes of each shape

KEYS = ("name", *SIZES, "path", "z", "speed", "times", "repeat")

NANOSECONDS = 1e9
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class MovingObstacle:
    """A shape that moves along straight pieces, headed in its direction of motion."""

    name: str
    shape: Box | Cylinder
    height: float  # height of the shape [m]
    z: float  # height of its lower side [m]
    points: tuple[Point, ...]  # points of the path, (x, y) [m]
    times: tuple[float, ...]  # simulated times at the points, increasing [s]
    repeat: str = ONCE  # one of :data:`REPEATS`

    @property
    def top_speed(self) -> float:
        """Maximum speed [m/s]."""
        pairs = zip(pairwise(self.points), pairwise(self.times), strict=True)
        return max((math.dist(a, b) / (end - begin) for (a, b), (begin, end) in pairs), default=0.0)

    def at(self, seconds: float) -> Thing:
        """The obstacle at a simulated time [s]."""
        when, back = self._on_way(seconds)
        piece = min(max(bisect_right(self.times, when) - 1, 0), len(self.times) - 2)
        (x, y), heading = self.points[0], 0.0
        if piece >= 0:
            (ax, ay), (bx, by) = self.points[piece : piece + 2]
            begin, end = self.times[piece : piece + 2]
            part = (when - begin) / (end - begin)
            x, y, heading = ax + part * (bx - ax), ay + part * (by - ay), self._heading(piece)
        turn = rotation_of_angles(0.0, 0.0, heading + math.pi if back else heading)
        return Thing(self.name, self.shape, matrix(turn, np.array((x, y, self.z + 0.5 * self.height))))

    def next_turn(self, seconds: float) -> float:
        """The time of its next turn or jump after a simulated time [s]; infinity without one."""
        if not self._repeats(seconds):
            return min((time for time in self.times if time > seconds), default=math.inf)
        begin, end = self.times[0], self.times[-1]
        turns = [time - begin for time in self.times]
        if self.repeat == BACK_AND_FORTH:
            turns += [2.0 * (end - begin) - turn for turn in turns]
        phase = (seconds - begin) % max(turns)
        return seconds + min(turn for turn in turns if turn > phase) - phase

    def _repeats(self, seconds: float) -> bool:
        return self.repeat != ONCE and seconds >= self.times[0] and self.times[-1] > self.times[0]

    def _on_way(self, seconds: float) -> tuple[float, bool]:
        """Its time along the path [s], and whether it is on the way back."""
        begin, end = self.times[0], self.times[-1]
        if not self._repeats(seconds):
            return min(max(seconds, begin), end), False
        length = end - begin
        phase = (seconds - begin) % (length if self.repeat == LOOP else 2.0 * length)
        return (begin + phase, False) if phase <= length else (begin + 2.0 * length - phase, True)

    def _heading(self, piece: int) -> float:
        """Its heading on a piece of the path [rad]; while it waits, that of the motion before, or else after."""
        for k in chain(range(piece, -1, -1), range(piece + 1, len(self.points) - 1)):
            (ax, ay), (bx, by) = self.points[k : k + 2]
            if (ax, ay) != (bx, by):
                return math.atan2(by - ay, bx - ax)
        return 0.0


class MovingObstacles:
    """All obstacles of a file.

    Attributes:
        changes: Always 0, because the paths do not change.
        top_speed: Speed of the fastest obstacle [m/s].
    """

    changes = 0

    def __init__(self, obstacles: tuple[MovingObstacle, ...]) -> None:
        self.obstacles = obstacles
        self.top_speed = max((obstacle.top_speed for obstacle in obstacles), default=0.0)

    def next_turn(self, time: int) -> float:
        """The time of the next turn or jump of an obstacle after a simulated time [ns]; infinity without one."""
        turns = (obstacle.next_turn(time / NANOSECONDS) for obstacle in self.obstacles)
        return NANOSECONDS * min(turns, default=math.inf)

    def visuals(self, time: int) -> list[Thing]:
        """Their shapes at a simulated time [ns]."""
        return [obstacle.at(time / NANOSECONDS) for obstacle in self.obstacles]

    collisions = visuals


def read_obstacles(path: str | Path) -> MovingObstacles:
    """The moving obstacles of a file; raises WorldError with the place, the value and what would be right."""
    meaning = "a list 'obstacles', each with a name, a shape and a path"
    listed = read_entries(path, "moving obstacles", WorldError).mapping(meaning, needed=("obstacles",))["obstacles"]
    obstacles = tuple(map(_obstacle, listed.items(meaning, may_be_empty=True)))
    if twice := [name for name, count in Counter(obstacle.name for obstacle in obstacles).items() if count > 1]:
        raise listed.error(f"has two obstacles '{min(twice)}'; each must have its own name")
    return MovingObstacles(obstacles)


def _obstacle(entry: Entry) -> MovingObstacle:
    """One obstacle of a file."""
    keys = entry.choice("a name, a shape and a path", KEYS, needed=("name", "path"))
    kinds = [kind for kind in SIZES if kind in keys]
    if len(kinds) != 1:
        raise entry.error(f"has {len(kinds)} shapes; it must have either 'box' or 'cylinder'")
    [kind] = kinds
    meaning = f"{' and '.join(SIZES[kind])}, each greater than 0 [m]"
    sizes = keys[kind].numbers(meaning, len(SIZES[kind]))
    if min(sizes) <= 0.0:
        raise keys[kind].error(f"is {sizes}; it must be {meaning}")
    shape = Box((sizes[0], sizes[1], sizes[2])) if kind == "box" else Cylinder(sizes[0], sizes[1])
    points = tuple((x, y) for x, y in (point.numbers("x and y [m]", 2) for point in keys["path"].items("points")))
    repeat = keys["repeat"].text(choices=REPEATS) if "repeat" in keys else ONCE
    if repeat == LOOP and points[-1] != points[0] and "times" not in keys:
        points = (*points, points[0])
    z = keys["z"].number() if "z" in keys else 0.0
    return MovingObstacle(keys["name"].text(), shape, sizes[-1], z, points, _times(entry, keys, points), repeat)


def _times(entry: Entry, keys: Mapping[str, Entry], points: tuple[Point, ...]) -> tuple[float, ...]:
    """The simulated times at the points of an obstacle's path [s]."""
    if "times" in keys and "speed" in keys:
        raise entry.error("has 'times' and 'speed'; it must have one of them")
    if "times" in keys:
        times = keys["times"].numbers("a time for each point", len(points))
        if any(after <= before for before, after in pairwise(times)) or times[0] < 0.0:
            raise keys["times"].error(f"is {times}; they must increase, from 0 or later [s]")
        return tuple(times)
    lengths = [math.dist(a, b) for a, b in pairwise(points)]
    if not all(lengths):
        raise keys["path"].error("has two equal points one after the other; set 'times' for an obstacle that waits")
    if lengths and "speed" not in keys:
        raise entry.error("has neither 'speed' [m/s] nor 'times' [s]; it must have one of them")
    speed = keys["speed"].number("a number greater than 0 [m/s]", lambda value: value > 0.0) if "speed" in keys else 1.0
    return tuple(accumulate((length / speed for length in lengths), initial=0.0))


class Movers(Protocol):
    """A source of moving things."""

    @property
    def changes(self) -> int:
        """Counts the changes of their paths."""

    @property
    def top_speed(self) -> float:
        """Speed of their fastest part [m/s]."""

    def next_turn(self, time: int) -> float:
        """The time of their next turn or jump after a simulated time [ns]; infinity without one."""

    def visuals(self, time: int) -> list[Thing]:
        """Their visible shapes at a simulated time [ns]."""

    def collisions(self, time: int) -> list[Thing]:
        """Their collision shapes at a simulated time [ns]."""


class Surroundings:
    """The scene of a world at any time, with all moving things; ``look`` searches for new and lost movers."""

    def __init__(self, still: Scene, movers: Sequence[Movers] = (), look: Callable[[], None] = lambda: None) -> None:
        self.still = still
        self.look = look
        self._movers = movers
        self._last: tuple[tuple[int, int], RayCaster] | None = None

    @property
    def changes(self) -> int:
        """Counts the changes of paths of moving things."""
        return sum(mover.changes for mover in self._movers)

    @property
    def drift(self) -> float:
        """Speed of the fastest moving thing [m/s]."""
        return max((mover.top_speed for mover in self._movers), default=0.0)

    def next_turn(self, time: int) -> float:
        """The time of the next turn or jump after a simulated time [ns]; infinity without one."""
        return min((mover.next_turn(time) for mover in self._movers), default=math.inf)

    def scene_at(self, time: int, still: Scene) -> Scene:
        """The scene ``still`` with the visible moving things at a simulated time [ns], without their collisions."""
        return still.with_moving([thing for mover in self._movers for thing in mover.visuals(time)], ())

    def collisions_at(self, time: int) -> RayCaster:
        """All collision shapes at a simulated time [ns]."""
        key = time, self.changes
        if self._last is None or self._last[0] != key:
            moving = [thing for mover in self._movers for thing in mover.collisions(time)]
            self._last = key, self.still.with_moving((), moving).collisions
        return self._last[1]


def obstacles_of(file: str) -> list[Movers]:
    """The moving obstacles of a file; none without a name."""
    return [read_obstacles(file)] if file else []
