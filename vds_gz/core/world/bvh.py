"""A tree of boxes around shapes (bounding volume hierarchy), and its traversal by rays.

Plain loops over arrays of numbers, for numba to compile and for Python to run. Node ``n`` has the bounds ``bounds[n]``
(minimum x, y, z, then maximum x, y, z); its children are ``first[n]`` and ``first[n] + 1``, or, if ``count[n]`` is not
0, it is a leaf that holds the shapes ``order[first[n] : first[n] + count[n]]``.
"""

from __future__ import annotations

import math

import numpy as np

from vds_gz.core.arrays import Array, Integers
from vds_gz.core.world.intersection import away_from_zero, ray_shape

BINS = 12  # number of bins along a node's longest side
VISIT = 0.5  # cost of visiting a node, in tests of a shape

#: Depth down to which the surface area heuristic cuts nodes. Deeper nodes are cut in halves, so that no tree is deeper
#: than the stack of a traversal.
UNEVEN = 40

DEPTH = UNEVEN + 40 + 2  # size of a traversal's stack: 2**40 shapes cut in halves below the uneven cuts


def build(
    lower: Array, upper: Array, centres: Array, order: Integers, bounds: Array, first: Integers, count: Integers
) -> int:
    """Sort shapes into a tree by the surface area heuristic with bins (Wald 2007); return the number of nodes.

    ``order`` is sorted in place; ``bounds``, ``first`` and ``count``, with room for two nodes per shape, are filled.
    """
    used = 1
    stack = [(0, 0, len(order), 0)]
    while stack:
        node, begin, end, depth = stack.pop()
        enclose(lower, upper, order, begin, end, bounds, node)
        middle = cut(lower, upper, centres, order, begin, end) if depth < UNEVEN else halves(begin, end)
        if middle == begin:
            first[node], count[node] = begin, end - begin
        else:
            first[node], count[node] = used, 0
            stack.append((used, begin, middle, depth + 1))
            stack.append((used + 1, middle, end, depth + 1))
            used += 2
    return used


def enclose(lower: Array, upper: Array, order: Integers, begin: int, end: int, bounds: Array, node: int) -> None:
    """Set a node's bounds to those of its shapes."""
    for axis in range(3):
        low, high = math.inf, -math.inf
        for k in range(begin, end):
            low = min(low, lower[order[k], axis])
            high = max(high, upper[order[k], axis])
        bounds[node, axis], bounds[node, 3 + axis] = low, high


def halves(begin: int, end: int) -> int:
    """The start of the second half of some shapes; ``begin`` if there are at most 8."""
    return begin if end - begin <= 8 else (begin + end) // 2


def cut(lower: Array, upper: Array, centres: Array, order: Integers, begin: int, end: int) -> int:
    """Divide the shapes ``order[begin:end]`` in two; return the start of the second part, or ``begin`` for no cut."""
    axis, low, high = widest(centres, order, begin, end)
    if end - begin <= 1 or high <= low:
        return halves(begin, end)
    costs = cut_costs(lower, upper, centres, order, begin, end, axis, low, high)
    best = 1
    for place in range(2, BINS):
        if costs[place] < costs[best]:
            best = place
    if end - begin <= 4 and costs[best] + VISIT * costs[0] >= costs[0] * (end - begin):
        return begin
    left, right = begin, end - 1
    while left <= right:
        if bin_of(centres[order[left], axis], low, high) < best:
            left += 1
        else:
            order[left], order[right] = order[right], order[left]
            right -= 1
    return left if begin < left < end else (begin + end) // 2


def widest(centres: Array, order: Integers, begin: int, end: int) -> tuple[int, float, float]:
    """The axis along which the centres are farthest apart, and their lowest and highest coordinate on it."""
    best, lowest, highest = 0, 0.0, -1.0
    for axis in range(3):
        low, high = math.inf, -math.inf
        for k in range(begin, end):
            low = min(low, centres[order[k], axis])
            high = max(high, centres[order[k], axis])
        if high - low > highest - lowest:
            best, lowest, highest = axis, low, high
    return best, lowest, highest


def bin_of(value: float, low: float, high: float) -> int:
    """The bin of a value in a range."""
    return min(BINS - 1, int((value - low) / (high - low) * BINS))


def cut_costs(
    lower: Array,
    upper: Array,
    centres: Array,
    order: Integers,
    begin: int,
    end: int,
    axis: int,
    low: float,
    high: float,
) -> Array:
    """Costs of a cut before each bin: surface times number of shapes, for both parts. Entry 0 is the surface of all."""
    boxes = np.empty((BINS, 6))
    boxes[:, :3], boxes[:, 3:] = math.inf, -math.inf
    members = np.zeros(BINS)
    for k in range(begin, end):
        shape = order[k]
        place = bin_of(centres[shape, axis], low, high)
        members[place] += 1
        for d in range(3):
            boxes[place, d] = min(boxes[place, d], lower[shape, d])
            boxes[place, 3 + d] = max(boxes[place, 3 + d], upper[shape, d])
    costs = np.zeros(BINS)
    box = np.empty(6)
    for forwards in (True, False):
        box[:3], box[3:] = math.inf, -math.inf
        total = 0.0
        for step in range(BINS):
            place = step if forwards else BINS - 1 - step
            total += members[place]
            for d in range(3):
                box[d], box[3 + d] = min(box[d], boxes[place, d]), max(box[3 + d], boxes[place, 3 + d])
            cost = total * surface(box)
            if forwards and place + 1 < BINS:
                costs[place + 1] += cost if 0.0 < total < end - begin else math.inf
            elif not forwards and place > 0:
                costs[place] += cost
    costs[0] = surface(box)
    return costs


def surface(box: Array) -> float:
    """Half the surface of a box; 0 for an empty one."""
    x, y, z = box[3] - box[0], box[4] - box[1], box[5] - box[2]
    return x * y + y * z + z * x if x >= 0.0 else 0.0


def entry(bounds: Array, node: int, ox: float, oy: float, oz: float, ix: float, iy: float, iz: float) -> float:
    """Distance at which a ray from ``o`` with the inverse direction ``i`` enters a node's box; infinity for a miss."""
    a, b = (bounds[node, 0] - ox) * ix, (bounds[node, 3] - ox) * ix
    near, far = min(a, b), max(a, b)
    a, b = (bounds[node, 1] - oy) * iy, (bounds[node, 4] - oy) * iy
    near, far = max(near, min(a, b)), min(far, max(a, b))
    a, b = (bounds[node, 2] - oz) * iz, (bounds[node, 5] - oz) * iz
    near, far = max(near, min(a, b)), min(far, max(a, b))
    near = max(near, 0.0)
    return near if near <= far else math.inf


def cast(
    bounds: Array,
    first: Integers,
    count: Integers,
    order: Integers,
    unbounded: Integers,
    kinds: Integers,
    rows: Array,
    origins: Array,
    directions: Array,
    max_range: float,
    ranges: Array,
    hits: Integers,
) -> None:
    """Find the first hit of every ray; of shapes at the same distance, the one with the lowest index.

    Shapes in ``unbounded`` are not in the tree. ``origins`` has shape (n, 3), or (1, 3) if all rays begin at one point.
    ``ranges`` and ``hits`` are filled; a ray without a hit nearer than ``max_range`` [m] gets infinity and -1.
    """
    stack = np.empty(DEPTH, np.int64)
    distances = np.empty(DEPTH)
    step = 1 if len(origins) > 1 else 0
    for i in range(len(directions)):
        ox, oy, oz = origins[step * i, 0], origins[step * i, 1], origins[step * i, 2]
        dx, dy, dz = directions[i, 0], directions[i, 1], directions[i, 2]
        best, hit = max_range, -1
        for shape in unbounded:
            t = ray_shape(kinds[shape], rows, shape, ox, oy, oz, dx, dy, dz)
            if t < best:
                best, hit = t, shape
        ix, iy, iz = 1.0 / away_from_zero(dx), 1.0 / away_from_zero(dy), 1.0 / away_from_zero(dz)
        top = 1 if len(order) else 0
        stack[0], distances[0] = 0, 0.0
        while top:
            top -= 1
            node = stack[top]
            if distances[top] >= best:
                continue
            while not count[node]:
                near, far = first[node], first[node] + 1
                near_at = entry(bounds, near, ox, oy, oz, ix, iy, iz)
                far_at = entry(bounds, far, ox, oy, oz, ix, iy, iz)
                if far_at < near_at:
                    near, far, near_at, far_at = far, near, far_at, near_at
                if near_at >= best:
                    break
                if far_at < best:
                    stack[top], distances[top] = far, far_at
                    top += 1
                node = near
            for k in range(first[node], first[node] + count[node]):
                shape = order[k]
                t = ray_shape(kinds[shape], rows, shape, ox, oy, oz, dx, dy, dz)
                if t < best or (t == best and shape < hit):
                    best, hit = t, shape
        ranges[i] = best if hit >= 0 else math.inf
        hits[i] = hit
