"""Paths that vehicles are to follow: points at equal spacing on a smooth curve through given points, or from a file."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path as File

import numpy as np
from numpy.typing import ArrayLike

from vds_gz.core import files
from vds_gz.core.arrays import Array
from vds_gz.core.errors import NUMBER, PATH, ArgumentError, takes
from vds_gz.core.vehicle.trigonometry import direction
from vds_gz.tools.fleet.tracking import CURVATURE, HEADING, RADIUS, SPEED, X, Y, locate, point_at, value_at

#: Default distance between a path's points [m].
SPACING = 0.1

#: Deceleration ahead of a curve, as a part of the maximum lateral acceleration.
BRAKING = 0.5

#: Maximum magnitude of a coordinate [m].
FARTHEST = 1e8

#: Maximum number of points of a path.
MOST_POINTS = 2_000_000

#: Cosine of the sharpest turn at a given point; at a sharper one the path turns back.
_SHARPEST = -0.9

#: Minimum number of pieces in which a spacing is measured; a chord has at least twice as many.
_PIECES = 4


@dataclass(frozen=True, eq=False)
class Path:
    """A path to follow.

    Attributes:
        points: Of shape (points, 6), at equal spacing: x, y [m], heading, which counts full turns [rad], curvature,
            positive to the left [1/m], speed [m/s], infinite where none is given, radius [m]. The last point of a
            closed path is its first one again.
        length: Along the path [m].
        closed: It ends where it starts.
    """

    points: Array
    length: float
    closed: bool

    @classmethod
    def from_points(
        cls,
        points: ArrayLike,
        speeds: ArrayLike | None = None,
        *,
        spacing: float = SPACING,
        closed: bool | None = None,
    ) -> Path:
        """A smooth path through points.

        Between two points it is a cubic whose tangents are those of parabolas through three points each, as in
        Bessel's interpolation (de Boor, A Practical Guide to Splines, chapter IV), so its heading does not jump.

        Args:
            points: x and y [m], of shape (points, 2).
            speeds: One for each point, or one for all [m/s]; None leaves them to the controller.
            spacing: Approximate distance between the path's own points [m]: the length is a multiple of the exact one.
            closed: The path leads from the last point to the first one; None: if these are equal.

        Raises:
            ArgumentError: The points do not make a path.
        """
        return path_through(points, speeds, spacing, closed, lambda k: f"point {k}")

    @property
    def x(self) -> Array:
        """x of the points [m]."""
        return self.points[:, X]

    @property
    def y(self) -> Array:
        """y of the points [m]."""
        return self.points[:, Y]

    @property
    def heading(self) -> Array:
        """Heading at the points [rad]."""
        return self.points[:, HEADING]

    @property
    def curvature(self) -> Array:
        """Curvature at the points, positive to the left [1/m]."""
        return self.points[:, CURVATURE]

    @property
    def speed(self) -> Array:
        """Speed at the points [m/s], infinite where none is given."""
        return self.points[:, SPEED]

    @property
    def radius(self) -> Array:
        """Radius of a circle with the same maximum speed, at the points [m].

        The square of the maximum speed is this radius times the maximum lateral acceleration. Ahead of a curve the
        radius is smaller than the path's own, for braking with ``BRAKING`` times that acceleration.
        """
        return self.points[:, RADIUS]

    @property
    def spacing(self) -> float:
        """Distance from point to point along the path [m]."""
        return self.length / (len(self.points) - 1)

    def pose_at(self, distance: float) -> tuple[float, float, float]:
        """x, y [m] and heading [rad] at a distance from the start along the path [m]."""
        position = distance / self.spacing
        x, y = point_at(self.points, self.closed, position)
        return float(x), float(y), value_at(self.points, self.closed, position, HEADING)

    def nearest(self, x: float, y: float) -> tuple[float, float]:
        """Distance along the whole path of the point nearest to a given one, and lateral offset to the left [m]."""
        position, lateral = locate(self.points, self.closed, x, y)
        return float(position) * self.spacing, float(lateral)


def path_through(
    points: ArrayLike, speeds: ArrayLike | None, spacing: float, closed: bool | None, place: Callable[[int], str]
) -> Path:
    """As :meth:`Path.from_points`; ``place`` names a point in messages, from its index."""
    waypoints = _numbers("points", points)
    if waypoints.ndim != 2 or waypoints.shape[1] != 2:
        raise ArgumentError(
            f"the points of a path have the shape {waypoints.shape}; it must be (points, 2), for x and y [m]"
        )
    if not 0.0 < spacing < math.inf:
        raise ArgumentError(f"the spacing of a path is {spacing:g}; it must be a finite number greater than 0 [m]")
    velocity = np.full(len(waypoints), math.inf) if speeds is None else _numbers("speeds", speeds)
    if velocity.shape not in ((), (len(waypoints),)):
        raise ArgumentError(
            f"speeds is of shape {velocity.shape}; it must be one number or of shape ({len(waypoints)},)"
        )
    count = len(waypoints)
    velocity = np.broadcast_to(velocity, count)
    _check_numbers(waypoints, velocity, speeds is not None, place)
    ends_at_start = len(waypoints) > 1 and bool((waypoints[0] == waypoints[-1]).all())
    if closed is None:
        closed = ends_at_start
    if closed and not ends_at_start and len(waypoints):
        waypoints, velocity = np.concatenate([waypoints, waypoints[:1]]), np.concatenate([velocity, velocity[:1]])
    _check_points(waypoints, closed, place)
    for k in np.flatnonzero((velocity[:-1] == 0.0) & (velocity[1:] == 0.0)).tolist():
        raise ArgumentError(
            f"{place((k + 1) % count)}: the speed is 0 here and at the point before; one must be greater than 0"
        )
    return _sampled(waypoints, velocity, spacing, closed)


def _numbers(name: str, numbers: ArrayLike) -> Array:
    try:
        return np.array(numbers, np.float64)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"the {name} of a path must be numbers: {error}") from None


def _check_numbers(points: Array, speeds: Array, has_speeds: bool, place: Callable[[int], str]) -> None:
    for k in np.flatnonzero(~(abs(points) <= FARTHEST).all(axis=1)).tolist():
        x, y = points[k]
        raise ArgumentError(f"{place(k)}: the point is ({x:g}, {y:g}); x, y must be numbers within +-{FARTHEST:g} [m]")
    for k in np.flatnonzero(~(np.isfinite(speeds) & (speeds >= 0.0))).tolist() if has_speeds else ():
        raise ArgumentError(f"{place(k)}: the speed is {speeds[k]:g}; it must be a finite number, at least 0 [m/s]")


def _check_points(points: Array, closed: bool, place: Callable[[int], str]) -> None:
    """Refuse too few points, repeated ones and turns back; the last point of a closed path equals the first one."""
    count = max(0, len(points) - closed)
    if count < 2 + closed:
        last = f" ({place(count - 1)})" if count else ""
        kind = "a closed path" if closed else "a path"
        raise ArgumentError(f"the number of points is {count}{last}; {kind} has at least {2 + closed}")
    chords = points[1:] - points[:-1]
    lengths = _lengths(chords)
    for k in np.flatnonzero(lengths == 0.0).tolist():
        x, y = points[k]
        raise ArgumentError(f"{place((k + 1) % count)}: the point ({x:g}, {y:g}) equals the one before; remove one")
    after = np.concatenate([chords[1:], chords[:1]]) if closed else chords[1:]
    cosines = (chords[: len(after)] * after).sum(axis=1) / (lengths[: len(after)] * _lengths(after))
    for k in np.flatnonzero(cosines < _SHARPEST).tolist():
        raise ArgumentError(f"{place((k + 1) % count)}: the path turns back here; vehicles follow it forwards only")


def _sampled(points: Array, speeds: Array, spacing: float, closed: bool) -> Path:
    """A path through checked points."""
    chords = points[1:] - points[:-1]
    lengths = _lengths(chords)
    if lengths.sum() / spacing > MOST_POINTS:
        raise ArgumentError(
            f"the path is {lengths.sum():g} m long; with a spacing of {spacing:g} m it has more than {MOST_POINTS} "
            "points; give a larger spacing"
        )
    tangents = _tangents(chords / lengths[:, np.newaxis], lengths, closed)

    pieces = np.maximum(2 * _PIECES, np.ceil(_PIECES * lengths / spacing)).astype(np.int64)
    chord = np.repeat(np.arange(len(pieces)), pieces)
    parameter = chord + (np.arange(len(chord)) - (np.cumsum(pieces) - pieces)[chord]) / pieces[chord]
    parameter = np.append(parameter, float(len(pieces)))
    fine = _curve(points, lengths, tangents, parameter)
    distances = np.append(0.0, np.cumsum(_lengths(fine[1:] - fine[:-1])))
    length = float(distances[-1])
    count = max(4, round(length / spacing))

    stations = np.arange(count + 1) * (length / count)
    piece = np.clip(np.searchsorted(distances, stations, side="right") - 1, 0, len(distances) - 2)
    fraction = (stations - distances[piece]) / (distances[piece + 1] - distances[piece])
    parameter = parameter[piece] + np.minimum(fraction, 1.0) * (parameter[piece + 1] - parameter[piece])
    samples = np.empty((count + 1, 6))
    samples[:, [X, Y]] = _curve(points, lengths, tangents, parameter)
    slopes = _slopes(samples[:, [X, Y]], length / count, closed)
    samples[:, HEADING] = np.unwrap([direction(y, x) for x, y in slopes.tolist()])
    samples[:, CURVATURE] = _slopes(samples[:, HEADING], length / count, closed)
    samples[:, RADIUS] = _radii(samples[:, CURVATURE].tolist(), length / count, closed)
    samples[:, SPEED] = math.inf
    if np.isfinite(speeds[0]):
        chord = np.minimum(parameter.astype(np.int64), len(lengths) - 1)
        samples[:, SPEED] = speeds[chord] + (parameter - chord) * (speeds[chord + 1] - speeds[chord])
    return Path(samples, length, closed)


def _lengths(vectors: Array) -> Array:
    return np.asarray(np.sqrt(vectors[:, 0] * vectors[:, 0] + vectors[:, 1] * vectors[:, 1]))


def _tangents(slopes: Array, lengths: Array, closed: bool) -> Array:
    """Tangents at the points: those of parabolas, over the chords' lengths, through each point and its neighbours."""
    if len(slopes) == 1:
        return np.concatenate([slopes, slopes])
    before, after = (np.roll(slopes, 1, axis=0), slopes) if closed else (slopes[:-1], slopes[1:])
    short, long = (np.roll(lengths, 1), lengths) if closed else (lengths[:-1], lengths[1:])
    inner = (long[:, np.newaxis] * before + short[:, np.newaxis] * after) / (short + long)[:, np.newaxis]
    if closed:
        return np.concatenate([inner, inner[:1]])
    return np.concatenate([2.0 * slopes[:1] - inner[:1], inner, 2.0 * slopes[-1:] - inner[-1:]])


def _curve(points: Array, lengths: Array, tangents: Array, parameter: Array) -> Array:
    """Points of the curve; the parameter is a chord's index plus a fraction of the chord."""
    chord = np.minimum(parameter.astype(np.int64), len(lengths) - 1)
    u = (parameter - chord)[:, np.newaxis]
    length = lengths[chord][:, np.newaxis]
    rest = 1.0 - u
    return np.asarray(
        rest * rest * ((1.0 + 2.0 * u) * points[chord] + u * length * tangents[chord])
        + u * u * ((3.0 - 2.0 * u) * points[chord + 1] - rest * length * tangents[chord + 1])
    )


def _slopes(values: Array, step: float, closed: bool) -> Array:
    """Derivatives of equally spaced values by the distance, to the second order."""
    if not closed:
        return np.asarray(np.gradient(values, step, axis=0, edge_order=2))
    before, after = values[:1] - values[-1:] + values[-2:-1], values[-1:] + values[1:2] - values[:1]
    return np.asarray(np.gradient(np.concatenate([before, values, after]), step, axis=0)[1:-1])


def _radii(curvatures: list[float], step: float, closed: bool) -> list[float]:
    """Radii of curves, smaller ahead of a curve for braking: v^2 = v_end^2 + 2 a (distance to the end)."""
    radii = [1.0 / abs(curvature) if curvature else math.inf for curvature in curvatures]
    for _ in range(1 + closed):
        following = radii[0] if closed else math.inf
        for k in reversed(range(len(radii))):
            radii[k] = following = min(radii[k], following + 2.0 * BRAKING * (step if k < len(radii) - 1 else 0.0))
    return radii


@takes(file=PATH, spacing=NUMBER)
def read_path(file: str | File, *, spacing: float = SPACING, closed: bool | None = None) -> Path:
    """The path in a CSV file with the columns x, y [m] and optionally speed [m/s].

    Lines that begin with # are comments.

    Args:
        file: The file.
        spacing, closed: As in :meth:`Path.from_points`.

    Raises:
        ArgumentError: The file does not contain a path; the message names the line.
    """
    lines, names, rows = _table(file)
    columns = dict(zip(names, np.array(rows).reshape(-1, len(names)).T, strict=True))
    points = np.stack([columns["x"], columns["y"]], axis=1)
    return path_through(points, columns.get("speed"), spacing, closed, lambda k: f"{file}, line {lines[k]}")


def _table(file: str | File) -> tuple[list[int], list[str], list[list[float]]]:
    """Lines, names of the columns and numbers of a file."""
    try:
        text = files.read_text(File(file), "utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ArgumentError(f"path '{file}' cannot be read as text: {error}") from None
    lines, cells = [], []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            lines.append(number)
            try:
                cells.append([cell.strip() for cell in next(csv.reader([line]))])
            except csv.Error as error:  # a NUL with Python 3.10, or more than 131072 characters
                raise ArgumentError(f"{file}, line {number}: {error}") from None
    needed = "it must have a row with the names of the columns, x,y or x,y,speed, and rows with numbers"
    if not cells:
        raise ArgumentError(f"{file}: the file is empty; {needed}")
    names = cells[0]
    if sorted(names) not in (["x", "y"], ["speed", "x", "y"]):
        raise ArgumentError(f"{file}, line {lines[0]}: the columns are '{','.join(names)}'; {needed}")
    if not cells[1:]:
        raise ArgumentError(f"{file}: there are only the names of the columns; {needed}")
    return (
        lines[1:],
        names,
        [_row_numbers(row, names, f"{file}, line {k}") for k, row in zip(lines[1:], cells[1:], strict=True)],
    )


def _row_numbers(cells: Sequence[str], names: Sequence[str], where: str) -> list[float]:
    """The numbers of a row."""
    if len(cells) != len(names):
        raise ArgumentError(f"{where}: there are {len(cells)} values for {len(names)} columns ({','.join(names)})")
    numbers = []
    for name, cell in zip(names, cells, strict=True):
        try:
            numbers.append(files.number(cell))
        except ValueError:
            raise ArgumentError(f"{where}, column '{name}': {cell!r} must be a number") from None
    return numbers
