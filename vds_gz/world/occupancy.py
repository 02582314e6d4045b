"""Occupancy maps (YAML and an image) as worlds, and the YAML files of worlds: invalid or endless ones are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray

from vds_gz.errors import WorldError
from vds_gz.world.geometry_reader import matrix, rotation_of_angles
from vds_gz.world.meshes import Image, read_image
from vds_gz.world.packing import Thing
from vds_gz.world.resources import read_limited
from vds_gz.world.shapes import Array, Box

LARGEST = 1_000_000  # a file of more bytes than this is a mistake
MOST = 1e9  # numbers in a file are smaller than this


def read_mapping(path: Path, what: str) -> dict[object, object]:
    """The names and values in a file."""
    data = read_limited(path, what, LARGEST)
    try:
        values = yaml.safe_load(data.decode("utf-8"))
    except Exception as error:  # PyYAML's constructors raise whatever their arguments provoke
        raise WorldError(f"{what} '{path}' is no YAML: {' '.join(str(error).split())}") from None
    if not isinstance(values, dict):
        raise WorldError(f"{what} '{path}' is no mapping of names to values")
    return values


def number(place: str, key: str, value: object) -> float:
    """A value as a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < MOST:
        raise WorldError(f"{place}: '{key}' is {shown(value)}; it must be a number, less than {MOST:g}")
    return float(value)


def shown(value: object) -> str:
    """A value for a message; a list may hold itself a thousand times."""
    if isinstance(value, int) and not abs(value) < MOST:
        return f"a whole number of {value.bit_length()} bits"
    plain = value is None or isinstance(value, str | int | float)
    return repr(value)[:100] if plain else f"a {type(value).__name__}"


WALL_HEIGHT = 2.0  # a map has no heights; its walls stand this high [m]
FINEST = 1e-4  # a finer map is a mistake [m]

MODES = ("trinary", "scale", "raw")


def read_map(path: Path) -> list[Thing]:
    """The walls of a map, each a box; names, units and meaning of its file are those of Nav2's map server."""
    values = read_mapping(path, "map")
    image, mode, origin = values.get("image"), values.get("mode", "trinary"), values.get("origin")
    if not isinstance(image, str) or not image:
        raise WorldError(f"map '{path}' has no 'image'; it must be the YAML file of a map server")
    if mode not in MODES:
        raise WorldError(f"{path}: 'mode' is {shown(mode)}; it must be {', '.join(MODES)}")
    if not isinstance(origin, list) or len(origin) != 3:
        raise WorldError(f"{path}: 'origin' is {shown(origin)}; it must be [x, y, yaw] [m, m, rad]")
    x, y, yaw = (number(str(path), "origin", value) for value in origin)
    resolution = number(str(path), "resolution", values.get("resolution"))
    if resolution < FINEST:
        raise WorldError(f"{path}: 'resolution' is {resolution:g}; it must be at least {FINEST:g} [m]")
    threshold = number(str(path), "occupied_thresh", values.get("occupied_thresh", 0.65))
    negate = values.get("negate", 0)
    if not isinstance(negate, int):
        raise WorldError(f"{path}: 'negate' is {shown(negate)}; it must be 0 or 1")
    cells = _occupied(read_image(path.parent / image, str(path)), mode, threshold, bool(negate))
    pose = matrix(rotation_of_angles(0.0, 0.0, yaw), np.array((x, y, 0.0)))
    return [
        Thing(f"{path.stem}::wall_{index}", Box((width, depth, WALL_HEIGHT)), pose @ _at(left, low, width, depth))
        for index, (left, low, width, depth) in enumerate(resolution * rectangles(cells[::-1]))
    ]


def _at(left: float, low: float, width: float, depth: float) -> Array:
    return matrix(np.eye(3), np.array((left + 0.5 * width, low + 0.5 * depth, 0.5 * WALL_HEIGHT)))


def _occupied(image: Image, mode: object, threshold: float, negate: bool) -> NDArray[np.bool_]:
    """Which cells are occupied, row 0 at the upper edge; transparent ones are unknown.

    Cells that mode ``scale`` takes for something between free and occupied are no walls.
    """
    value = np.round(image.brightness * 255.0).astype(np.float32)
    if mode == "raw":
        return np.asarray((value >= 100.0 * threshold) & (value <= 100.0))
    share = value / np.float32(255.0)
    solid = (share if negate else np.float32(1.0) - share) >= np.float32(threshold)
    return np.asarray(solid & (image.opacity == 1.0))


def rectangles(cells: NDArray[np.bool_]) -> Array:
    """Occupied cells as few rectangles: left, low, width and depth of each in cells; row 0 is the lowest.

    Runs of a row are joined with equal runs of the rows above.
    """
    found: list[tuple[int, int, int, int]] = []
    growing: dict[tuple[int, int], int] = {}
    for row in range(len(cells) + 1):
        runs = _runs(cells[row]) if row < len(cells) else []
        begun = {run: growing.pop(run, row) for run in runs}
        found += [(left, low, right - left, row - low) for (left, right), low in growing.items()]
        growing = begun
    return np.array(found, float).reshape(-1, 4)


def _runs(row: NDArray[np.bool_]) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate([[False], row, [False]]).astype(np.int8)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))
