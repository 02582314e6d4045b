"""Colours of what rays have met: diffuse light of the sky and of a sun, without shadows (Lambert)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vds_gz.world.scene import NOTHING, JoinedCaster, RayCaster
from vds_gz.world.shapes import Array, Indices

Bytes = NDArray[np.uint8]

#: What is seen where nothing is, how bright the shade is, and the sun: those of the worlds of this package.
SKY = (0.7, 0.8, 0.9)
AMBIENT = 0.5
SUN = 0.8
SUN_DIRECTION = np.array((-0.4, 0.2, -0.9)) / np.sqrt(0.4**2 + 0.2**2 + 0.9**2)

#: So many rays are shaded at once, for the sake of memory.
_BLOCK = 1 << 15


def shaded(
    caster: RayCaster | JoinedCaster, origins: Array, directions: Array, ranges: Array, shapes: Indices
) -> Bytes:
    """The colours that rays see.

    Args:
        caster: What they were cast at.
        origins, directions: The rays, of shape (n, 3).
        ranges, shapes: What they have met, see :meth:`RayCaster.cast`.

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
        found[block] = np.rint(255.0 * np.clip(light[:, None] * colours[hits.things], 0.0, 1.0))
    return found


def _light(normals: Array, directions: Array) -> Array:
    """How bright surfaces are that are seen along these directions; those of a mesh have two sides."""
    facing = np.sign(np.einsum("ij,ij->i", normals, directions))
    return np.asarray(AMBIENT + SUN * np.maximum(0.0, facing * (normals @ SUN_DIRECTION)))
