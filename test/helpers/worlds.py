"""Worlds and maps in files, for tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from vds_gz.core.errors import WorldError
from vds_gz.core.world.load_world import load_world
from vds_gz.core.world.scene import Scene

BALL = "<visual name='v'>{pose}<geometry><sphere><radius>0.5</radius></sphere></geometry></visual>"


def world(tmp_path: Path, inside: str, environment: dict[str, str] | None = None) -> Scene:
    file = tmp_path / "world.sdf"
    file.write_text(f"<?xml version='1.0'?>\n<sdf version='1.9'>\n<world name='w'>\n{inside}\n</world>\n</sdf>\n")
    return load_world(file, environment or {})


def model(name: str, inside: str, pose: str = "") -> str:
    return f"<model name='{name}'>{pose and f'<pose>{pose}</pose>'}<link name='l'>{inside}</link></model>"


def places(scene: Scene) -> dict[str, list[float]]:
    return {thing.name: np.round(thing.pose[:3, 3], 9).tolist() for thing in scene.visuals.things}


def geometry(shape: str) -> str:
    return model("m", f"<visual name='v'><geometry>{shape}</geometry></visual>")


def looking(scene: Scene, origin: tuple[float, float, float], direction: tuple[float, float, float]) -> float:
    return float(scene.cast(np.array(origin), np.array([direction]))[0][0])


def write_map(tmp_path: Path, pixels: list[list[int]], **values: object) -> Path:
    data = bytes(pixel for row in pixels for pixel in row)
    (tmp_path / "map.pgm").write_bytes(b"P5\n# a comment\n%d %d\n255\n" % (len(pixels[0]), len(pixels)) + data)
    given_values = {"image": "map.pgm", "resolution": 0.5, "origin": [0.0, 0.0, 0.0], "negate": 0, **values}
    file = tmp_path / "map.yaml"
    file.write_text("".join(f"{name}: {value}\n" for name, value in given_values.items()))
    return file


def refusal(file: Path) -> str | None:
    """Why a world is refused; None if it is read."""
    try:
        load_world(file)
    except WorldError as error:
        return str(error)
    return None
