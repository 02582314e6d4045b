"""A pinhole camera: the rays of its pixels, and the image.

The camera looks along x; columns of the image go to the right (-y), rows down (-z). As in Gazebo, the principal point
(cx, cy) is measured from the image's corner, so that the middle of the first pixel is at (0.5, 0.5) (gz-sensors 8,
CameraSensor.cc, BuildProjectionMatrix).

Colours are diffuse light of the sky and of a sun (Lambert), without shadows, as sRGB. In Gazebo, a surface of the
colour c that faces the sun with the cosine n has the linear brightness c (A / pi + S n), where A is the scene's ambient
light, and S the light of the sun, measured in gz-rendering 8 (ogre2) for a sun of 0.8.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vds_gz.core.arrays import Array, Integers, Pixels
from vds_gz.core.parameters.sensor_parameters import Camera
from vds_gz.core.sensing.body import FramePose
from vds_gz.core.world.ray_caster import NOTHING, RayCaster
from vds_gz.core.world.scene import Scene

# The light of this package's worlds, linear.
SKY = (0.7, 0.8, 0.9)  # colour of the background
AMBIENT = 0.5 / np.pi  # brightness by the ambient light, A / pi
SUN = 0.56  # brightness of a surface that faces the sun, S
SUN_DIRECTION = np.array((-0.4, 0.2, -0.9)) / np.sqrt(0.4**2 + 0.2**2 + 0.9**2)

_STEPS = 4096  # number of levels of linear brightness
_BLOCK = 1 << 15  # number of rays that are shaded at once, to limit memory


def shaded(caster: RayCaster, origins: Array, directions: Array, ranges: Array, shapes: Integers) -> Pixels:
    """Colours of the hits of rays, and of the sky without a hit."""
    colours = np.array([*(thing.colour for thing in caster.things), SKY])
    shades = np.empty(directions.shape, np.uint8)
    for begin in range(0, len(directions), _BLOCK):
        block = slice(begin, begin + _BLOCK)
        hits = caster.hits(origins[block], directions[block], ranges[block], shapes[block])
        light = _light(hits.normals, directions[block])
        light[hits.things == NOTHING] = 1.0
        shades[block] = srgb(light[:, None] * colours[hits.things])
    return shades


def srgb(linear: Array) -> Pixels:
    """Values in an image of linear brightness from 0 to 1 (IEC 61966-2-1)."""
    return _srgb_table()[np.rint((_STEPS - 1) * np.clip(linear, 0.0, 1.0)).astype(np.intp)]


@cache
def _srgb_table() -> Pixels:
    linear = np.linspace(0.0, 1.0, _STEPS)
    encoded = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1.0 / 2.4) - 0.055)
    return np.rint(255.0 * encoded).astype(np.uint8)


def _light(normals: Array, directions: Array) -> Array:
    """Brightness of surfaces seen along these directions; a mesh is lit on the side that is seen."""
    facing = np.sign(np.einsum("ij,ij->i", normals, directions))
    return np.asarray(AMBIENT + SUN * np.maximum(0.0, facing * (normals @ SUN_DIRECTION)))


class View(NamedTuple):
    """A camera's image."""

    depth: NDArray[np.float32]  # depth along the optical axis [m], infinite without a hit; of shape (rows, columns)
    colour: Pixels | None  # red, green and blue, of shape (rows, columns, 3); None if it was not requested


class Pinhole:
    """The rays of a camera.

    Attributes:
        rays: Vectors to the pixels' middles at the depth 1, in the sensor's frame, of shape (rows, columns, 3).
    """

    def __init__(self, camera: Camera) -> None:
        self._camera = camera
        left = (camera.cx - 0.5 - np.arange(camera.columns)) / camera.fx
        up = (camera.cy - 0.5 - np.arange(camera.rows)) / camera.fy
        self.rays: Array = np.ones((camera.rows, camera.columns, 3))
        self.rays[..., 1], self.rays[..., 2] = left, up[:, None]
        self._lengths = np.linalg.norm(self.rays, axis=-1).ravel()

    def view(self, scene: Scene | None, place: FramePose, *, colour: bool) -> View:
        """Take an image."""
        near, far = self._camera.clip_min, self._camera.clip_max
        shape = self.rays.shape[:2]
        if scene is None:
            sky = np.broadcast_to(srgb(np.array(SKY)), self.rays.shape)
            return View(np.full(shape, np.inf, np.float32), sky if colour else None)
        directions = np.matmul(self.rays, place.rotation.T).reshape(-1, 3)
        origins = place.position + near * directions
        directions /= self._lengths[:, None]
        ranges, shapes = scene.visuals.cast(origins, directions, (far - near) * float(self._lengths.max()))
        depth = near + ranges / self._lengths
        too_far = depth > far
        depth[too_far], shapes[too_far] = np.inf, NOTHING
        seen = shaded(scene.visuals, origins, directions, ranges, shapes).reshape(self.rays.shape) if colour else None
        return View(depth.astype(np.float32).reshape(shape), seen)


def clipped(depth: NDArray[np.float32], near: float, far: float) -> NDArray[np.float32]:
    """Depths [m], with -infinity for those less than ``near`` and infinity for those more than ``far``."""
    clipped_depth = np.where(depth > far, np.float32(np.inf), depth)
    clipped_depth[depth < near] = -np.inf
    return clipped_depth
