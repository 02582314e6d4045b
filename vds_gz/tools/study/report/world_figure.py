"""The picture of a world from above: its outlines, a lidar's hits at one height, and the names of its models."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from vds_gz.core.arrays import Array
from vds_gz.core.world.packing import Thing, heights, outlines
from vds_gz.core.world.scene import Scene
from vds_gz.tools.study.report.style import INK, OBSTACLE, STYLE, TOUCHED, png

#: Things up to this height are ground, without a name in the picture [m].
FLAT = 0.05

#: Things above this height cannot touch a vehicle [m].
ABOVE = 2.5

#: Margin of the world that is shown around a path, as a part of its extent.
AROUND = 0.3

#: Number of rays from a place for a lidar's hits, and of places along each axis.
RAYS, PLACES = 720, 12


@mpl.rc_context(STYLE)
def draw(scene: Scene, path: Path, height: float) -> None:
    """Draw a world as a PNG file, with the hits of a lidar at a height [m]."""
    things = sorted(scene.visuals.things, key=lambda thing: heights(thing)[1])
    covered = {thing: outlines(thing) for thing in things}
    low, high = _extent(covered)
    width, depth = np.maximum(high - low, 1.0)
    figure = Figure(figsize=(9.0, min(14.0, max(4.0, 8.2 * depth / width + 0.8))), dpi=130, layout="constrained")
    axes = figure.subplots()
    for thing in things:
        edge = "face" if heights(thing)[1] <= FLAT else (*mpl.colors.to_rgb(INK), 0.35)
        axes.add_collection(PolyCollection(covered[thing], facecolors=[thing.colour], edgecolors=edge, lw=0.6))
    hits = _hits(scene, low, high, height)
    axes.plot(*hits.T, ".", color=TOUCHED, markersize=1.6, label=f"hits of level rays {height:g} m above z = 0")
    _name_models(axes, covered)
    axes.set(title=scene.name, xlabel="x [m]", ylabel="y [m]", aspect="equal")
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), borderpad=0.0, markerscale=5.0)
    path.write_bytes(png(figure))


def draw_obstacles(axes: Axes, scene: Scene, path: Array) -> None:
    """Draw the collision shapes near a path (n, 2) [m], beneath it."""
    for thing in scene.collisions.things:
        lowest, highest = heights(thing)
        if lowest < ABOVE and highest > FLAT:
            polygons = PolyCollection(outlines(thing), facecolors=[OBSTACLE], edgecolors="face", lw=0.6, zorder=1)
            axes.add_collection(polygons, autolim=False)
    low, high = path.min(axis=0), path.max(axis=0)
    margin = AROUND * max(high - low) + 1.0
    axes.update_datalim([low - margin, high + margin])


def _extent(covered: Mapping[Thing, list[Array]]) -> tuple[Array, Array]:
    """Corners of the visible part: all standing things with a margin, or the ground if there are none."""
    standing = [polygon for thing, polygons in covered.items() if heights(thing)[1] > FLAT for polygon in polygons]
    polygons = standing or [polygon for polygons in covered.values() for polygon in polygons]
    points = np.concatenate(polygons) if polygons else np.zeros((1, 2))
    low, high = points.min(axis=0), points.max(axis=0)
    margin = 0.04 * max(high - low) + 0.5
    return low - margin, high + margin


def _hits(scene: Scene, low: Array, high: Array, height: float) -> Array:
    """Hits of level rays from many places, of shape (n, 2)."""
    angles = np.linspace(0.0, 2.0 * np.pi, RAYS, endpoint=False)
    around = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(RAYS)])
    columns, rows = (np.linspace(low[axis], high[axis], PLACES) for axis in (0, 1))
    places = np.array([(x, y, height) for x in columns for y in rows])
    origins, rays = places.repeat(RAYS, axis=0), np.tile(around, (len(places), 1))
    ranges, _ = scene.visuals.cast(origins, rays, float(np.linalg.norm(high - low)))
    hit = np.isfinite(ranges)
    return np.asarray((origins[hit] + ranges[hit, None] * rays[hit])[:, :2])


def _name_models(axes: Axes, covered: Mapping[Thing, list[Array]]) -> None:
    """Write the name of each model that stands on the ground into the middle of one of its things."""
    models: dict[str, list[Array]] = {}
    for thing, polygons in covered.items():
        if polygons and heights(thing)[1] > FLAT:
            models.setdefault(thing.name.partition("::")[0], []).extend(polygons)
    box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.75}
    for model, polygons in models.items():
        x, y = max(polygons, key=lambda polygon: float(np.ptp(polygon, axis=0).prod())).mean(axis=0)
        axes.annotate(model, (x, y), ha="center", va="center", fontsize=7.5, bbox=box, annotation_clip=True)
