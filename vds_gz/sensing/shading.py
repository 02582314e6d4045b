"""Colours of rays' hits: diffuse light of the sky and of a sun (Lambert), without shadows, as sRGB.

In Gazebo, a surface of the colour c that faces the sun by the cosine n has the linear brightness c (A / pi + S n), with
A the scene's ambient light; S was measured (gz-rendering 8, ogre2, a sun of 0.8).
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from vds_gz.world.ray_caster import NOTHING, JoinedCaster, RayCaster
from vds_gz.world.shapes import Array, Indices

Bytes = NDArray[np.uint8]

#: Colour of the background, and light of sky and sun, linear: those of this package's worlds.
SKY = (0.7, 0.8, 0.9)
AMBIENT = 0.5 / np.pi
SUN = 0.56
SUN_DIRECTION = np.array((-0.4, 0.2, -0.9)) / np.sqrt(0.4**2 + 0.2**2 + 0.9**2)

#: Number of levels of linear brightness.
_STEPS = 4096

#: Number of rays that are shaded at once, to limit memory.
_BLOCK = 1 << 15


def shaded(
    caster: RayCaster | JoinedCaster, origins: Array, directions: Array, ranges: Array, shapes: Indices
) -> Bytes:
    """The colours of rays' hits.

    Args:
        caster: The caster of the rays.
        origins, directions: The rays, of shape (n, 3).
        ranges, shapes: Their hits, see :meth:`RayCaster.cast`.

    Returns:
        Red, green and blue, of shape (n, 3).
    """
    colours = np.array([*(thing.colour for thing in caster.things), SKY])
    found = np.empty(directions.shape, np.uint8)
    for begin in range(0, len(directions), _BLOCK):
        block = slice(begin, begin + _BLOCK)
        hits = caster.hits(origins[block], directions[block], ranges[block], shapes[block])
        light = _light(hits.normals, directions[block])
        light[hits.things == NOTHING] = 1.0
        found[block] = srgb(light[:, None] * colours[hits.things])
    return found


def srgb(linear: Array) -> Bytes:
    """Linear brightness, 0 to 1, as a value in an image (IEC 61966-2-1)."""
    return _srgb_table()[np.rint((_STEPS - 1) * np.clip(linear, 0.0, 1.0)).astype(np.intp)]


@cache
def _srgb_table() -> Bytes:
    linear = np.linspace(0.0, 1.0, _STEPS)
    encoded = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1.0 / 2.4) - 0.055)
    return np.rint(255.0 * encoded).astype(np.uint8)


def _light(normals: Array, directions: Array) -> Array:
    """Brightness of surfaces seen along these directions; those of a mesh have two sides."""
    facing = np.sign(np.einsum("ij,ij->i", normals, directions))
    return np.asarray(AMBIENT + SUN * np.maximum(0.0, facing * (normals @ SUN_DIRECTION)))
