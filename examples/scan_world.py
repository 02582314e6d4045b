"""Scan a world with a planar lidar, without a vehicle, and draw the scan from above with characters.

python examples/scan_world.py [WORLD [X Y]]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import vds_gz

HEIGHT = 0.5  # [m]
REACH = 16.0  # [m]


def scan(world: str, x: float, y: float, rays: int = 720) -> NDArray[np.float64]:
    """The points that the rays hit [m], of shape (n, 2)."""
    azimuth = np.linspace(-np.pi, np.pi, rays, endpoint=False)
    directions = np.column_stack([np.cos(azimuth), np.sin(azimuth), np.zeros(rays)])
    ranges, _ = vds_gz.load_world(world).cast(np.array([x, y, HEIGHT]), directions, REACH)
    hit = np.isfinite(ranges)
    return np.asarray(directions[hit, :2] * ranges[hit, None] + (x, y))


def main(arguments: Sequence[str] = ()) -> None:
    """Draw the scan, and print the distance to the nearest point."""
    world = arguments[0] if arguments else "hall"
    x, y = (float(number) for number in arguments[1:3]) if len(arguments) > 2 else (0.0, 0.0)
    points = scan(world, x, y)
    canvas = [[" "] * 64 for _ in range(32)]
    for a, b in (points - (x, y)) / REACH:
        canvas[round(15.5 - 15.5 * b)][round(31.5 + 31.5 * a)] = "#"
    canvas[16][32] = "o"
    print("\n".join("".join(row).rstrip() for row in canvas))
    nearest = np.hypot(*(points - (x, y)).T).min()
    print(f"{len(points)} rays meet something in '{world}'; the nearest is {nearest:.2f} m away")


if __name__ == "__main__":
    main(sys.argv[1:])
