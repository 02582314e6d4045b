"""Draws the map config/nav2/map.pgm and writes map.yaml beside it: ``python tools/make_nav2_map.py``.

A hall with pillars, shelves and a room behind a door.

All lengths are metres. The origin of the map frame is in the middle of the hall, where the vehicle starts.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

RESOLUTION = 0.05
LENGTH, WIDTH = 20.0, 12.0
WALL = 0.2

FREE, OCCUPIED = 254, 0

FOLDER = Path(__file__).resolve().parents[1] / "config" / "nav2"

#: x and y of two corners of everything that stands in the hall.
OBSTACLES = [
    # the walls
    (-10.0, -6.0, 10.0, -6.0 + WALL),
    (-10.0, 6.0 - WALL, 10.0, 6.0),
    (-10.0, -6.0, -10.0 + WALL, 6.0),
    (10.0 - WALL, -6.0, 10.0, 6.0),
    # a room in the upper right corner; its door is 1.6 m wide
    (4.0, 1.6, 4.0 + WALL, 3.2),
    (4.0, 4.8, 4.0 + WALL, 6.0),
    (4.0, 1.6, 10.0, 1.6 + WALL),
    # two rows of shelves with an aisle of 2 m between them
    (-8.0, 2.6, -2.0, 3.4),
    (-8.0, -0.2, -2.6, 0.6),
    # four pillars
    *((x - 0.2, y - 0.2, x + 0.2, y + 0.2) for x in (-4.0, 2.0) for y in (-4.0, -1.6)),
    # a table and a crate
    (5.5, -4.4, 7.5, -3.2),
    (8.2, -1.0, 9.0, -0.2),
]


def draw() -> np.ndarray:
    """The map, its first row at the top (maximum y)."""
    image = np.full((round(WIDTH / RESOLUTION), round(LENGTH / RESOLUTION)), FREE, dtype=np.uint8)
    for left, bottom, right, top in OBSTACLES:
        columns = slice(round((left + LENGTH / 2) / RESOLUTION), round((right + LENGTH / 2) / RESOLUTION))
        rows = slice(round((WIDTH / 2 - top) / RESOLUTION), round((WIDTH / 2 - bottom) / RESOLUTION))
        image[rows, columns] = OCCUPIED
    return image


def main(folder: Path = FOLDER) -> None:
    """Write both files into a folder."""
    image = draw()
    header = f"P5\n{image.shape[1]} {image.shape[0]}\n255\n"
    (folder / "map.pgm").write_bytes(header.encode() + image.tobytes())
    (folder / "map.yaml").write_text(
        "# Made by tools/make_nav2_map.py.\n"
        "image: map.pgm\n"
        "mode: trinary\n"
        f"resolution: {RESOLUTION}  # [m] per pixel\n"
        f"origin: [{-LENGTH / 2}, {-WIDTH / 2}, 0.0]  # [m, m, rad] of the lower left pixel\n"
        "negate: 0\n"
        "occupied_thresh: 0.65\n"
        "free_thresh: 0.25\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
