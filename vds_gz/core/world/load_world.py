"""A world from a file: an SDF world, or an occupancy map (YAML and an image)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vds_gz.core.arrays import Array
from vds_gz.core.errors import MAPPING, PATH, WorldError, takes
from vds_gz.core.parameters.yaml_entries import LONGEST_TEXT, read_entries
from vds_gz.core.share import share
from vds_gz.core.world.geometry_reader import matrix, rotation_of_angles
from vds_gz.core.world.meshes import Image, read_image
from vds_gz.core.world.packing import Thing
from vds_gz.core.world.ray_caster import RayCaster
from vds_gz.core.world.scene import Scene
from vds_gz.core.world.sdf_files import Resources, is_file
from vds_gz.core.world.sdf_scene import read_sdf
from vds_gz.core.world.shapes import Box, HalfSpace

WALL_HEIGHT = 2.0  # height of walls, which maps do not define [m]
FINEST = 1e-4  # minimum resolution of a map [m]

MODES = ("trinary", "scale", "raw")


def read_map(path: Path) -> list[Thing]:
    """The walls of a map, each a box. The YAML file is that of Nav2's map server."""
    entries = read_entries(path, "map", WorldError).mapping(
        "what the YAML file of a map server holds", needed=("image", "resolution", "origin")
    )
    image = entries["image"].text("the name of a file")
    mode = entries["mode"].text(choices=MODES) if "mode" in entries else MODES[0]
    x, y, yaw = entries["origin"].numbers("[x, y, yaw] [m, m, rad]", 3)
    resolution = entries["resolution"].number(f"a number of at least {FINEST:g} [m]", lambda value: value >= FINEST)
    threshold = entries["occupied_thresh"].number() if "occupied_thresh" in entries else 0.65
    negate = entries["negate"].scalar("0 or 1") if "negate" in entries else 0
    if negate not in (0, 1):
        raise entries["negate"].error(f"is {str(negate)[:LONGEST_TEXT]!r}; it must be 0 or 1")
    cells = _occupied(read_image(path.parent / image, str(path)), mode, threshold, bool(negate))
    pose = matrix(rotation_of_angles(0.0, 0.0, yaw), np.array((x, y, 0.0)))
    walls = []
    for index, (left, low, width, depth) in enumerate(resolution * rectangles(cells[::-1])):
        middle = np.array((left + 0.5 * width, low + 0.5 * depth, 0.5 * WALL_HEIGHT))
        box = Box((width, depth, WALL_HEIGHT))
        walls.append(Thing(f"{path.stem}::wall_{index}", box, pose @ matrix(np.eye(3), middle)))
    return walls


def _occupied(image: Image, mode: object, threshold: float, negate: bool) -> NDArray[np.bool_]:
    """Whether each cell is occupied, row 0 at the upper edge; transparent cells are not, except in mode ``raw``."""
    value = np.round(image.brightness * 255.0).astype(np.float32)
    if mode == "raw":
        return np.asarray((value >= 100.0 * threshold) & (value <= 100.0))
    share = value / np.float32(255.0)
    solid = (share if negate else np.float32(1.0) - share) >= np.float32(threshold)
    return np.asarray(solid & (image.opacity == 1.0))


def rectangles(cells: NDArray[np.bool_]) -> Array:
    """Rectangles that cover the occupied cells: left, low, width and depth of each in cells; row 0 is the lowest.

    Runs of a row are joined with equal runs of the rows above.
    """
    finished: list[tuple[int, int, int, int]] = []
    lows: dict[tuple[int, int], int] = {}
    for row in range(len(cells) + 1):
        runs = _runs(cells[row]) if row < len(cells) else []
        open_runs = {run: lows.pop(run, row) for run in runs}
        finished += [(left, low, right - left, row - low) for (left, right), low in lows.items()]
        lows = open_runs
    return np.array(finished, float).reshape(-1, 4)


def _runs(row: NDArray[np.bool_]) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate([[False], row, [False]]).astype(np.int8)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


SDF_SUFFIXES = (".sdf", ".world", ".xml")
MAP_SUFFIXES = (".yaml", ".yml")


@takes(world=PATH, environment=MAPPING)
def load_world(world: str | Path, environment: Mapping[str, str] = os.environ) -> Scene:
    """The scene in an SDF world, or in the YAML file of a map.

    Args:
        world: The file, or the name of a world of this package.
        environment: Environment variables that name folders to search, see
            :class:`~vds_gz.core.world.sdf_files.Resources`.

    Raises:
        WorldError: The world cannot be read, or has unknown elements.

    >>> import numpy as np
    >>> hall = load_world("hall")
    >>> ranges, hits = hall.cast(np.array([2.0, 0.0, 1.0]), np.array([[-1.0, 0.0, 0.0]]))
    >>> float(ranges[0]), hall.visuals.things[hits.things[0]].name, hits.normals[0].tolist()
    (7.9, 'walls::link::visual_2', [1.0, 0.0, 0.0])
    """
    path = Path(world) if Path(world).suffix else world_file(str(world))
    if path.suffix in MAP_SUFFIXES:
        walls = read_map(path)
        ground = Thing(f"{path.stem}::ground", HalfSpace(), np.eye(4))  # a map's ground is flat
        return Scene(path.stem, RayCaster(walls), RayCaster([*walls, ground]))
    if path.suffix in SDF_SUFFIXES:
        return read_sdf(path, Resources(environment))
    suffixes = ", ".join((*SDF_SUFFIXES, *MAP_SUFFIXES))
    raise WorldError(f"world '{path}' ends in '{path.suffix}'; it must be an SDF file or a map: {suffixes}")


def world_file(name: str) -> Path:
    """The file of a world, given as a path or as the name of a world of this package."""
    if is_file(Path(name)):
        return Path(name).resolve()
    if name not in world_names():
        raise WorldError(f"there is no world '{name}'; it must be a file or one of {', '.join(world_names())}")
    return share("worlds", f"{name}.sdf")


def world_names() -> list[str]:
    """The worlds of this package."""
    return sorted(file.stem for file in share("worlds").glob("*.sdf"))
