"""A map of occupied cells, as Nav2's map server reads it, as boxes: https://docs.nav2.org (map_server)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray

from vds_gz.world.errors import WorldError
from vds_gz.world.frames import matrix, rotation_of_angles
from vds_gz.world.images import Image, read_image
from vds_gz.world.packing import Thing
from vds_gz.world.shapes import Array, Box

#: A map has no heights; its walls stand this high [m].
WALL_HEIGHT = 2.0

MODES = ("trinary", "scale", "raw")


@dataclass(frozen=True, slots=True)
class MapFile:
    """The YAML file of a map; names, units and meaning are those of Nav2's map server."""

    path: Path
    image: Path
    resolution: float
    origin: tuple[float, float, float]
    negate: bool
    occupied_thresh: float
    mode: str


def read_map(path: Path, height: float = WALL_HEIGHT) -> list[Thing]:
    """The walls of a map, each a box.

    Args:
        path: The YAML file, which names the image.
        height: Of the walls [m].

    Raises:
        WorldError: A file cannot be read, or a value is not allowed.
    """
    file = _map_file(path)
    cells = occupied(read_image(file.image, str(path)), file)
    x, y, yaw = file.origin
    pose = matrix(rotation_of_angles(0.0, 0.0, yaw), np.array((x, y, 0.0)))
    return [
        Thing(f"{path.stem}::wall_{index}", Box((width, depth, height)), pose @ _at(left, low, width, depth, height))
        for index, (left, low, width, depth) in enumerate(file.resolution * rectangles(cells[::-1]))
    ]


def _at(left: float, low: float, width: float, depth: float, height: float) -> Array:
    return matrix(np.eye(3), np.array((left + 0.5 * width, low + 0.5 * depth, 0.5 * height)))


def occupied(image: Image, file: MapFile) -> NDArray[np.bool_]:
    """Which cells are occupied, row 0 at the upper edge."""
    if file.mode == "raw":
        value = np.round(image.brightness * 255.0)
        return np.asarray((value >= 100.0 * file.occupied_thresh) & (value <= 100.0))
    share = image.brightness if file.negate else 1.0 - image.brightness
    solid = share > file.occupied_thresh
    return np.asarray(solid & (image.opacity == 1.0) if file.mode == "scale" else solid)


def rectangles(cells: NDArray[np.bool_]) -> Array:
    """Occupied cells as few rectangles: runs of a row, joined with equal runs of the rows above.

    Args:
        cells: Row 0 at the lower edge.

    Returns:
        Left, low, width and depth of each in cells, of shape (n, 4).
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


def _map_file(path: Path) -> MapFile:
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise WorldError(f"map '{path}' cannot be read: {error}") from None
    if not isinstance(values, dict) or not isinstance(values.get("image"), str):
        raise WorldError(f"map '{path}' has no 'image'; it must be the YAML file of a map server")
    mode = values.get("mode", "trinary")
    if mode not in MODES:
        raise WorldError(f"{path}: 'mode' is '{mode}'; it must be {', '.join(MODES)}")
    resolution = _number(path, values, "resolution")
    if resolution <= 0.0:
        raise WorldError(f"{path}: 'resolution' is {resolution:g}; it must be greater than 0 [m]")
    origin = values.get("origin", [0.0, 0.0, 0.0])
    if not isinstance(origin, list) or len(origin) != 3:
        raise WorldError(f"{path}: 'origin' is {origin}; it must be [x, y, yaw] [m, m, rad]")
    x, y, yaw = (_number(path, dict(enumerate(origin)), place, "origin") for place in range(3))
    threshold = _number(path, {"occupied_thresh": 0.65, **values}, "occupied_thresh")
    negate = bool(values.get("negate", 0))
    return MapFile(path, path.parent / values["image"], resolution, (x, y, yaw), negate, threshold, mode)


def _number(path: Path, values: dict, key: object, name: str = "") -> float:  # type: ignore[type-arg]
    value = values.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e9:
        raise WorldError(f"{path}: '{name or key}' is {value!r}; it must be a number")
    return float(value)
