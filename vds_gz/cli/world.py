"""``vds-gz world``: checks a world, lists its contents, and draws it from above."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from vds_gz.cli.shared_options import positive
from vds_gz.core.errors import WorldError
from vds_gz.core.ros.program_shell import DONE, FAILED, CommandLine, command
from vds_gz.core.world.geodesy import NULL_ISLAND
from vds_gz.core.world.load_world import load_world, world_file
from vds_gz.core.world.packing import Thing, packed
from vds_gz.core.world.scene import Scene
from vds_gz.core.world.sdf_scene import DEFAULT_FRICTION
from vds_gz.core.world.shapes import HalfSpace, Mesh

#: Height of the picture's lidar [m].
HEIGHT = 0.3

#: Maximum number of printed names of models.
SHOWN = 12


@command("vds-gz world")
def main(argv: list[str]) -> int:
    """Check a world, and draw it."""
    parser = CommandLine(
        prog="vds-gz world",
        description="Check a world as the node would read it, and list its contents.",
        epilog="exit code: 0 readable, 1 refused, 2 wrong use",
    )
    parser.add_argument("world", help="a world of this package, an SDF file, or the YAML file of a map")
    parser.add_argument("--png", type=Path, metavar="FILE", help="draw it from above into this file")
    parser.add_argument(
        "--height",
        type=positive,
        default=HEIGHT,
        help=f"height of the picture's lidar above z = 0 [m] ({HEIGHT:g})",
    )
    options = parser.parse_args(argv)
    world_file(options.world)  # a missing file is wrong use, not a failed check
    try:
        scene = load_world(options.world)
    except WorldError as error:
        print(error, file=sys.stderr)
        return FAILED
    print(f"{options.world}: OK, world '{scene.name}'")
    for name, text in facts(scene):
        print(f"  {name:10} {text}")
    if options.png is not None:
        from vds_gz.tools.study.report.world_figure import draw

        draw(scene, options.png, options.height)
        print(f"  {'picture':10} {options.png}")
    return DONE


def facts(scene: Scene) -> Iterator[tuple[str, str]]:
    """The contents of a world, in words."""
    seen, felt = scene.visuals.things, scene.collisions.things
    models = list(dict.fromkeys(thing.name.partition("::")[0] for thing in (*seen, *felt)))
    more = f" and {len(models) - SHOWN} more" if len(models) > SHOWN else ""
    yield "models", ", ".join(models[:SHOWN]) + more or "none"
    yield "seen", _counted(seen)
    yield "collides", _counted(felt)
    bounded = [thing for thing in felt if not isinstance(thing.shape, HalfSpace)]
    shapes = packed(bounded or [thing for thing in seen if not isinstance(thing.shape, HalfSpace)])  # not the ground's
    if len(shapes.kinds):
        ends = zip("xyz", shapes.lower.min(axis=0), shapes.upper.max(axis=0), strict=True)
        yield "extent", ", ".join(f"{axis} {low:.2f} to {high:.2f} m" for axis, low, high in ends)
    retro = sorted({thing.retro for thing in seen if thing.retro})
    if retro:
        yield "retro", "reflectivity " + ", ".join(f"{value:g}" for value in retro)
    friction = sorted({thing.friction for thing in felt if math.isfinite(thing.friction)})
    if friction and friction[0] < DEFAULT_FRICTION:
        least = sorted({thing.name.partition("::")[0] for thing in felt if thing.friction == friction[0]})
        yield "friction", f"{friction[0]:g} ({', '.join(least[:SHOWN])}) to {friction[-1]:g}"
    yield "gravity", " ".join(f"{value:g}" for value in scene.gravity) + " m/s^2"
    if scene.origin != NULL_ISLAND:
        here = scene.origin
        place = f"{here.latitude:.6f}, {here.longitude:.6f} degrees, {here.elevation:g} m"
        yield "on Earth", f"{place}, x axis {here.heading_deg:g} degrees north of east"


def _counted(things: Sequence[Thing]) -> str:
    """Number of shapes of each kind."""
    kinds = Counter(type(thing.shape).__name__ for thing in things)
    counted = ", ".join(f"{count} {NAMES[kind][count > 1]}" for kind, count in sorted(kinds.items()))
    triangles = sum(len(thing.shape.faces) for thing in things if isinstance(thing.shape, Mesh))
    return (counted or "nothing") + (f" of {triangles} triangles" if triangles else "")


#: Singular and plural names of the kinds of shapes.
NAMES = {
    "Box": ("box", "boxes"),
    "Capsule": ("capsule", "capsules"),
    "Cylinder": ("cylinder", "cylinders"),
    "Ellipsoid": ("ellipsoid", "ellipsoids"),
    "HalfSpace": ("infinite plane", "infinite planes"),
    "Mesh": ("mesh", "meshes"),
}
