"""How far a box comes on a piece of its way before it meets something: plain loops, compiled where numba is.

The box moves in its own plane, along a straight line while it turns about the plane's normal. Between it and a
shape that is some distance away there is a plane that parts them; as long as no corner of the box has come so far along
the plane's normal, nothing is met. Where a corner has, the box is moved as far as is surely free, and the distance is
taken again (conservative advancement: Mirtich, Impulse-based Dynamic Simulation, 1996).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from vds_gz.world.distance import along, separation

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

#: What is nearer than this touches [m]. The box is stopped between half of it and all of it before a shape.
SKIN = 1e-4

#: A box that overlaps a shape may come so much deeper in a piece, which is rounding [m].
DEEPER = 1e-9

#: Distances taken on one piece at most; then the box stops where it is.
ITERATIONS = 64

#: Contacts that are noted at most, and numbers of each: shape, distance, normal, point.
CONTACTS = 16
WIDTH = 8


def place(start: Array, way: Array, body: Array, part: float, box: Array) -> None:
    """Fill in the box's row at a part of its way.

    Args:
        start: Axes x, y and z of the body at the beginning, and its origin [m], in the world.
        way: Displacement of the origin [m], and turn about z [rad].
        body: Middle of the box in the body, and its half sizes [m].
        part: From 0 to 1.
        box: The row, see :mod:`vds_gz.world.intersection`.
    """
    cosine, sine = math.cos(part * way[3]), math.sin(part * way[3])
    for d in range(3):
        x, y, z = start[d], start[3 + d], start[6 + d]
        box[d], box[3 + d], box[6 + d] = cosine * x + sine * y, cosine * y - sine * x, z
        box[9 + d] = start[9 + d] + part * way[d] + body[0] * box[d] + body[1] * box[3 + d] + body[2] * z
        box[12 + d] = body[3 + d]


def extent(box: Array, x: float, y: float, z: float) -> float:
    """How far a box reaches along a direction of length 1 [m]."""
    reach = box[9] * x + box[10] * y + box[11] * z
    for k in range(3):
        reach += box[12 + k] * abs(along(box, 3 * k, x, y, z))
    return float(reach)


def note(contacts: Array, number: int, shape: int, gap: float, n: tuple[float, ...], point: tuple[float, ...]) -> int:
    """Add a contact if there is room, or replace that of the same shape; how many there are."""
    place_of = number
    for k in range(number):
        if contacts[WIDTH * k] == shape:
            place_of = k
    if place_of >= CONTACTS:
        return number
    k = WIDTH * place_of
    contacts[k], contacts[k + 1] = shape, gap
    for d in range(3):
        contacts[k + 2 + d], contacts[k + 5 + d] = n[d], point[d]
    return max(number, place_of + 1)


def room(gap: float) -> float:
    """How far the box may come nearer to a shape that is so far away [m]."""
    return max(gap - 0.5 * SKIN, 1e-6 * gap) if gap > 0.0 else DEEPER


def sweep(
    kinds: Indices,
    rows: Array,
    shapes: Indices,
    start: Array,
    way: Array,
    body: Array,
    horizon: float,
    end: float,
    stops: bool,
    box: Array,
    contacts: Array,
) -> tuple[float, float, int]:
    """Move a box along its way until it meets a shape.

    Args:
        kinds, rows: All shapes.
        shapes: Those that may be met.
        start, way, body: See :func:`place`.
        horizon: How far away the shapes that were left out are at least [m].
        end: Part of the way that it shall go.
        stops: Shapes stop it; else they are only noted.
        box: Room for a row.
        contacts: Filled with the contacts, room for ``WIDTH * CONTACTS`` numbers.

    Returns:
        Which part of the way is free; how far every part of the box may move from there in its plane before something
        can be met [m]; and how many contacts there are.
    """
    turn = abs(way[3])
    reach = math.hypot(abs(body[0]) + body[3], abs(body[1]) + body[4])
    moved = math.sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2]) + reach * turn
    free, touching = horizon, 0
    for shape in shapes:
        part = 0.0
        for iteration in range(ITERATIONS):
            place(start, way, body, part, box)
            gap, nx, ny, nz, px, py, pz = separation(box, kinds[shape], rows[shape])
            height = nx * start[6] + ny * start[7] + nz * start[8]
            planar = math.sqrt(max(1e-18, 1.0 - height * height))
            if gap <= SKIN:
                touching = note(contacts, touching, shape, gap, (nx, ny, nz), (px, py, pz))
            left = end - part
            allowed = room(gap)
            if left * moved * planar <= allowed:
                free = min(free, allowed / planar - left * moved)
                break
            now = extent(box, nx, ny, nz)
            place(start, way, body, end, box)
            approach = extent(box, nx, ny, nz) - now
            bulge = reach * planar * (left * turn) * (left * turn) / 8.0
            if approach <= allowed and (gap <= 0.0 or approach + bulge <= max(allowed, 0.5 * gap)):
                free = min(free, max(0.0, allowed - max(0.0, approach)) / planar)
                break
            if gap <= SKIN or iteration == ITERATIONS - 1:
                free = 0.0
                if stops:
                    end = part
                break
            toward = max(0.0, way[0] * nx + way[1] * ny + way[2] * nz) + reach * turn * planar
            part = min(end, part + allowed / toward)
    return end, max(0.0, free), touching
