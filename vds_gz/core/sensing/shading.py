"""Colours of what a camera sees.

They are diffuse light of the sky and of a sun (Lambert), without shadows, as sRGB. In Gazebo, a surface of the
colour c that faces the sun with the cosine n has the linear brightness c (A / pi + S n), where A is the scene's ambient
light, and S the light of the sun, measured in gz-rendering 8 (ogre2) for a sun of 0.8.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from vds_gz.core.arrays import Array, Integers, Pixels
from vds_gz.core.world.ray_caster import NOTHING, RayCaster

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
