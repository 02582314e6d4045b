"""A world from a file: an SDF world, or a map."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from vds_gz.errors import MAPPING, PATH, WorldError, takes
from vds_gz.share import share
from vds_gz.world.occupancy import read_map
from vds_gz.world.packing import Thing
from vds_gz.world.ray_caster import RayCaster
from vds_gz.world.resources import Resources, is_file
from vds_gz.world.scene import Scene
from vds_gz.world.sdf import read_sdf
from vds_gz.world.shapes import HalfSpace

SDF_SUFFIXES = (".sdf", ".world", ".xml")
MAP_SUFFIXES = (".yaml", ".yml")


@takes(world=PATH, environment=MAPPING)
def load_world(world: str | Path, environment: Mapping[str, str] = os.environ) -> Scene:
    """The scene in an SDF world, or in the YAML file of a map.

    Args:
        world: The file, or the name of a world that comes with the package.
        environment: Where else files are looked for, see :class:`~vds_gz.world.resources.Resources`.

    Raises:
        WorldError: It cannot be read, or holds what is not understood.

    >>> import numpy as np
    >>> hall = load_world("hall")
    >>> ranges, hits = hall.cast(np.array([2.0, 0.0, 1.0]), np.array([[-1.0, 0.0, 0.0]]))
    >>> float(ranges[0]), hall.visuals.things[hits.things[0]].name, hits.normals[0].tolist()
    (7.9, 'walls::link::visual_2', [1.0, 0.0, 0.0])
    """
    path = Path(world) if Path(world).suffix else world_file(str(world))
    if path.suffix in MAP_SUFFIXES:
        walls = read_map(path)
        ground = Thing(f"{path.stem}::ground", HalfSpace(), np.eye(4))  # a map is flat, and to be driven on
        return Scene(path.stem, RayCaster(walls), RayCaster([*walls, ground]))
    if path.suffix in SDF_SUFFIXES:
        return read_sdf(path, Resources(environment))
    suffixes = ", ".join((*SDF_SUFFIXES, *MAP_SUFFIXES))
    raise WorldError(f"world '{path}' ends in '{path.suffix}'; it must be an SDF file or a map: {suffixes}")


def world_file(name: str) -> Path:
    """The file of a world: a path, or the name of one that comes with the package."""
    if is_file(Path(name)):
        return Path(name).resolve()
    own = sorted(file.stem for file in share("worlds").glob("*.sdf"))
    if name not in own:
        raise WorldError(f"there is no world '{name}'; it must be a file or one of {', '.join(own)}")
    return share("worlds", f"{name}.sdf")
