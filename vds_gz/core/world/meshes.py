"""Meshes, and images of maps and heightmaps, from files.

PGM, the format of map servers, is read here. Meshes need trimesh, and other images Pillow (extra ``world``).
"""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numpy as np

from vds_gz.core import files
from vds_gz.core.arrays import Array, Integers
from vds_gz.core.errors import WorldError
from vds_gz.core.world.sdf_files import FARTHEST, Node, Resources, is_file
from vds_gz.core.world.shapes import Mesh

MOST = 200_000_000  # maximum number of pixels

#: Formats that Pillow may read. Others are not used for maps, and for some Pillow starts a program.
IMAGES = ("PNG", "JPEG", "BMP", "GIF", "PPM", "TIFF", "TGA", "WEBP")

_SPACE = rb"(?:\s|#[^\n]*\n)+"
_HEADER = re.compile(rb"P([25])" + 3 * (_SPACE + rb"(\d{1,9})") + rb"\s")


class Image(NamedTuple):
    """An image; row 0 is at its upper edge."""

    brightness: Array  # 0 is black and 1 is white, of shape (rows, columns)
    opacity: Array  # 0 is transparent and 1 is opaque, of the same shape


def read_image(path: Path, place: str) -> Image:
    """Read an image file; ``place`` is where it is named, for messages."""
    if not is_file(path):
        raise WorldError(f"{place}: there is no image '{path}'")
    try:
        files.check(path, files.LARGEST_SCENE)
        data = path.read_bytes()
    except OSError as error:
        raise WorldError(f"{place}: image '{path}' cannot be read: {error.strerror or error}") from None
    header = _HEADER.match(data)
    return _pgm(header, data, path, place) if header else _pillow_image(path, place)


def _pgm(header: re.Match[bytes], data: bytes, path: Path, place: str) -> Image:
    kind, width, height, white = (int(text) for text in header.groups())
    if not 0 < width * height <= MOST or not 0 < white < 65536:
        size = f"{width} x {height} pixels and a maximum value of {white}"
        raise WorldError(f"{place}: image '{path}' has {size}; it must have 1 to {MOST} pixels and 1 to 65535")
    body = data[header.end() :]
    if kind == 5:
        pixels = np.frombuffer(body[: len(body) // 2 * 2] if white > 255 else body, ">u2" if white > 255 else "u1")
    else:
        words = body.split()
        sound = all(word.isdigit() and len(word) <= 5 for word in words)
        pixels = np.array([int(word) for word in words] if sound else [])
    if len(pixels) < width * height:
        raise WorldError(f"{place}: image '{path}' is cut short: {len(pixels)} of {width * height} pixels")
    brightness = np.minimum(pixels[: width * height].reshape(height, width) / white, 1.0)
    return Image(brightness, np.ones_like(brightness))


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what libraries log and warn about damaged files; their exceptions say enough."""
    loggers = [logging.getLogger(name) for name in ("PIL", "trimesh")]
    levels = [logger.level for logger in loggers]
    try:
        for logger in loggers:
            logger.setLevel(logging.CRITICAL + 1)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _pillow_image(path: Path, place: str) -> Image:
    try:
        import PIL.Image
    except ModuleNotFoundError:
        raise WorldError(
            f"{place}: image '{path}' is not a PGM; others need Pillow: pip install '.[world]' in a checkout"
        ) from None
    try:
        with _quiet(), PIL.Image.open(path, formats=IMAGES) as image:
            if (size := image.width * image.height) > MOST:
                raise ValueError(f"it has {size} pixels; at most {MOST} are read")
            if image.mode.startswith(("I", "F")):
                pixels = np.asarray(image, float) / 65535.0
                opacity = np.ones_like(pixels)
            else:
                pixels = np.asarray(image.convert("L"), float) / 255.0
                opacity = np.asarray(image.convert("RGBA").getchannel("A"), float) / 255.0
    except Exception as error:  # readers of foreign formats raise any exception
        raise WorldError(f"{place}: image '{path}' cannot be read: {error}") from None
    return Image(np.clip(pixels, 0.0, 1.0), opacity)


MOST_TRIANGLES = 20_000_000  # maximum number of triangles in a mesh or a world

#: Mesh formats that are read; textures and animations are ignored.
MESHES = (".dae", ".glb", ".gltf", ".obj", ".off", ".ply", ".stl")


class _Beside(Mapping[str, bytes]):
    """The files that a mesh refers to, limited to its folder and those below."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __getitem__(self, name: str) -> bytes:
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or not (self._folder / path).is_file():
            raise KeyError(f"there is no '{name}' beside the mesh")
        return (self._folder / path).read_bytes()

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def read_mesh(node: Node, resources: Resources) -> Mesh:
    """The triangles of a ``<mesh>``: its ``uri``, ``submesh`` and ``scale``."""
    uri, scale = node.needed("uri"), np.array(node.vector("scale", (1.0, 1.0, 1.0)))
    parts = _loaded(resources.find(uri), uri)
    submesh = node.child("submesh")
    if submesh is not None:
        name = submesh.value("name")
        if name not in parts:
            submesh.fail(f"submesh '{name}' is not in the mesh; it has {', '.join(parts)}")
        parts = {name: parts[name]}
    joined = np.concatenate([corners for corners, _ in parts.values()])
    begins = accumulate((len(corners) for corners, _ in parts.values()), initial=0)
    faces = np.concatenate([triangles + begin for (_, triangles), begin in zip(parts.values(), begins, strict=False)])
    if submesh is not None and submesh.value("center") in ("true", "1"):
        joined = joined - 0.5 * (joined.min(axis=0) + joined.max(axis=0))
    joined = joined * scale
    if not (np.abs(joined) < FARTHEST).all():
        uri.fail(f"the mesh has corners that are {FARTHEST:g} m away, or not finite")
    return Mesh(joined, faces)


def _loaded(path: Path, node: Node) -> dict[str, tuple[Array, Integers]]:
    """Vertices [m] and faces of each mesh in a file, by its name."""
    try:
        import trimesh
    except ModuleNotFoundError:
        node.fail("meshes need the Python package 'trimesh': pip install '.[world]' in a checkout")
    if path.suffix.lower() not in MESHES:
        node.fail(f"mesh '{path}' ends in '{path.suffix}'; it must be {', '.join(MESHES)}")
    try:
        files.check(path, files.LARGEST_SCENE)
        with _quiet(), path.open("rb") as file:
            scene = trimesh.load_scene(file, file_type=path.suffix[1:].lower(), resolver=_Beside(path.parent))
            # COLLADA names its unit, glTF is in metres, and the others have none: metres, as in Gazebo. trimesh would
            # also take a unit from glTF's "extras", whose meaning is up to programs.
            named = scene.units if path.suffix.lower() == ".dae" else None
            scale = trimesh.units.unit_conversion(named, "meters") if named else 1.0
            if not 0.0 < scale < FARTHEST:
                raise ValueError(f"its unit is {scale:g} m; it must be positive")
            parts = {name: _placed(scene, name, scale) for name in scene.graph.nodes_geometry}
    except Exception as error:  # readers of foreign formats raise any exception
        node.fail(f"mesh '{path}' cannot be read: {error}")
    parts = {name: part for name, part in parts.items() if len(part[1])}
    if not parts:
        node.fail(f"mesh '{path}' has no triangles")
    if sum(len(part[1]) for part in parts.values()) > MOST_TRIANGLES:
        node.fail(f"mesh '{path}' has more than {MOST_TRIANGLES} triangles")
    if not all(((faces >= 0) & (faces < len(corners))).all() for corners, faces in parts.values()):
        node.fail(f"mesh '{path}' has triangles whose corners are missing")
    return parts


def _placed(scene: Any, name: str, scale: float) -> tuple[Array, Integers]:
    pose, geometry = scene.graph[name]
    mesh = scene.geometry[geometry]
    corners = np.asarray(getattr(mesh, "vertices", np.empty((0, 3))), float)
    faces = np.asarray(getattr(mesh, "faces", np.empty((0, 3))), np.int64)
    return scale * (corners @ pose[:3, :3].T + pose[:3, 3]), faces


def read_heightmap(node: Node, resources: Resources) -> Mesh:
    """The ground of a ``<heightmap>``: brightness is height, white the full ``size`` along z."""
    uri, (x, y, z) = node.needed("uri"), node.vector("size", (1.0, 1.0, 1.0))
    offset = np.array(node.vector("pos", (0.0, 0.0, 0.0)))
    heights = read_image(resources.find(uri), uri.place).brightness
    rows, columns = heights.shape
    if min(rows, columns) < 2 or rows * columns > MOST_TRIANGLES // 2:
        pixels = f"{columns} x {rows} pixels; it must have 2 x 2 to {MOST_TRIANGLES // 2} in all"
        uri.fail(f"the heightmap's image has {pixels}")
    grid_x, grid_y = np.meshgrid(np.linspace(-0.5 * x, 0.5 * x, columns), np.linspace(0.5 * y, -0.5 * y, rows))
    corner = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = (part.ravel() for part in (corner[:-1, :-1], corner[1:, :-1], corner[1:, 1:], corner[:-1, 1:]))
    faces = np.concatenate([np.column_stack((a, b, c)), np.column_stack((a, c, d))])
    return Mesh(np.column_stack((grid_x.ravel(), grid_y.ravel(), (heights * z).ravel())) + offset, faces)
