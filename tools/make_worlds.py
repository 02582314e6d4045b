#!/usr/bin/env python3
"""Makes the worlds in worlds/: ``python tools/make_worlds.py``. They need no other file, and nothing is downloaded.

Metres, radians; x ahead, y left. A vehicle finds free ground at the origin and ahead of it. Things that belong together
are one model, and what is only to be seen has no collision: that keeps the physics fast.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element, fromstring, indent, tostring

FOLDER = Path(__file__).resolve().parents[1] / "worlds"

#: What every world needs. Sensors only starts to render when a camera or a lidar appears.
SYSTEMS = {
    "physics": "Physics",
    "user-commands": "UserCommands",
    "scene-broadcaster": "SceneBroadcaster",
    "imu": "Imu",
    "navsat": "NavSat",
    "contact": "Contact",
    "sensors": "Sensors",
}

#: Of the ground: more than any tyre has, so that the tyre decides.
FRICTION = 1000.0

ASPHALT = "0.32 0.32 0.34 1"
CONCRETE = "0.62 0.62 0.60 1"
GRASS = "0.33 0.45 0.24 1"
LEAVES = "0.20 0.38 0.18 1"
ORANGE = "0.95 0.42 0.08 1"
STEEL = "0.28 0.36 0.48 1"
WALL = "0.80 0.78 0.74 1"
WHITE = "0.92 0.92 0.90 1"
WOOD = "0.60 0.44 0.28 1"


@dataclass(frozen=True)
class Part:
    """A shape somewhere.

    Attributes:
        shape: SDF geometry.
        pose: x, y, z, roll, pitch, yaw of its centre.
        colour: Red, green, blue, opacity.
        solid: One can bump into it and drive on it; else it is only to be seen.
    """

    shape: str
    pose: tuple[float, ...]
    colour: str
    solid: bool = True


def box(size: tuple[float, float, float], pose: tuple[float, ...], colour: str, solid: bool = True) -> Part:
    """A box. What is missing of the pose is 0."""
    return Part(f"<box><size>{numbers(size)}</size></box>", pose, colour, solid)


def pillar(
    radius: float, height: float, x: float, y: float, colour: str, bottom: float = 0.0, solid: bool = True
) -> Part:
    """An upright cylinder."""
    shape = f"<cylinder><radius>{radius:g}</radius><length>{height:g}</length></cylinder>"
    return Part(shape, (x, y, bottom + height / 2), colour, solid)


def ball(radius: float, x: float, y: float, z: float, colour: str) -> Part:
    """A sphere to look at."""
    return Part(f"<sphere><radius>{radius:g}</radius></sphere>", (x, y, z), colour, False)


def ground(size: float, colour: str) -> Element:
    """The plane z = 0; what is drawn of it is ``size`` metres wide."""
    shape = f"<plane><normal>0 0 1</normal><size>{size:g} {size:g}</size></plane>"
    return model("ground", [Part(shape, (), colour)])


def model(name: str, parts: Iterable[Part]) -> Element:
    """Parts that do not move."""
    inside = "".join(_part(index, part) for index, part in enumerate(parts))
    return fromstring(f'<model name="{name}"><static>true</static><link name="link">{inside}</link></model>')


def _part(index: int, part: Part) -> str:
    where = f"<pose>{numbers((*part.pose, *[0.0] * (6 - len(part.pose))))}</pose><geometry>{part.shape}</geometry>"
    visual = f"""<visual name="visual_{index}">{where}<material><ambient>{part.colour}</ambient>
        <diffuse>{part.colour}</diffuse><specular>0.1 0.1 0.1 1</specular></material></visual>"""
    if not part.solid:
        return visual
    return f"""<collision name="collision_{index}">{where}<surface><friction><ode><mu>{FRICTION:g}</mu>
        <mu2>{FRICTION:g}</mu2></ode></friction></surface></collision>{visual}"""


def numbers(values: Iterable[float]) -> str:
    """Numbers to a tenth of a millimetre and milliradian, with blanks between them."""
    return " ".join(f"{round(value, 5) + 0.0:g}" for value in values)


def world(name: str, *models: Element, georeference: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Element:
    """A world with light, steps of 1 ms and the systems.

    Args:
        name: Name of the world.
        models: What is in it.
        georeference: Latitude, longitude [degrees] and height [m] of the origin. The x axis points east.
    """
    latitude, longitude, height = georeference
    result = fromstring(f"""<world name="{name}">
      <physics name="1ms" type="ignored">
        <max_step_size>0.001</max_step_size><real_time_factor>1.0</real_time_factor>
      </physics>
      {"".join(map(_system, SYSTEMS, SYSTEMS.values()))}
      <spherical_coordinates>
        <surface_model>EARTH_WGS84</surface_model><world_frame_orientation>ENU</world_frame_orientation>
        <latitude_deg>{latitude}</latitude_deg><longitude_deg>{longitude}</longitude_deg>
        <elevation>{height}</elevation><heading_deg>0</heading_deg>
      </spherical_coordinates>
      <scene><ambient>0.5 0.5 0.5 1</ambient><background>0.7 0.8 0.9 1</background><shadows>false</shadows></scene>
      <light name="sun" type="directional">
        <pose>0 0 50 0 0 0</pose><diffuse>0.8 0.8 0.8 1</diffuse><specular>0.2 0.2 0.2 1</specular>
        <direction>-0.4 0.2 -0.9</direction><cast_shadows>false</cast_shadows>
      </light>
    </world>""")
    result.extend(models)
    return result


def _system(file: str, name: str) -> str:
    engine = "<render_engine>ogre2</render_engine>" if name == "Sensors" else ""
    return f'<plugin filename="gz-sim-{file}-system" name="gz::sim::systems::{name}">{engine}</plugin>'


# Nothing but the ground


def empty() -> Element:
    """Nothing but the ground."""
    return world("empty", ground(200.0, CONCRETE))


# A test track

STRAIGHT = 40.0
LANE = 3.5
#: From the middle of a bend to the line between the lanes. The origin is in the middle of the outer lane.
BEND = 12.0
MIDDLE_Y = BEND + LANE / 2
LINE = 0.12


def track() -> Element:
    """An oval with two lanes, driven to the left, with a slalom of cones on the far straight and a box to park in."""
    slalom = [(x, 2 * BEND + LANE) for x in range(5, 36, 5)]
    gate = [(STRAIGHT / 2, side * LANE / 2 * 0.9) for side in (-1, 1)]
    parking = [(x, y) for x in (14.0, 17.0, 20.0, 23.0, 26.0) for y in (9.5, 18.0)]
    return world(
        "track",
        ground(160.0, ASPHALT),
        model("infield", infield()),
        model("lines", lines()),
        model("cones", [part for x, y in (*slalom, *gate, *parking) for part in cone(x, y)]),
    )


def infield() -> list[Part]:
    """The grass inside the oval, but for the parking box."""
    inner = BEND - LANE - 0.5
    ends = [pillar(inner, 0.004, x, MIDDLE_Y, GRASS, solid=False) for x in (0.0, STRAIGHT)]
    middle = box((STRAIGHT, 2 * inner, 0.008), (STRAIGHT / 2, MIDDLE_Y, 0.004), GRASS, solid=False)
    return [*ends, middle, box((16.0, 12.0, 0.012), (STRAIGHT / 2, MIDDLE_Y, 0.006), ASPHALT, solid=False)]


def lines() -> Iterator[Part]:
    """White lines: both edges, and dashes between the lanes."""
    for radius, dash, gap in ((BEND - LANE, 1.5, 0.0), (BEND, 2.0, 2.0), (BEND + LANE, 1.5, 0.0)):
        # Not dashed, a straight is one piece.
        straight = [(STRAIGHT / 2, STRAIGHT)] if not gap else [(x, dash) for x in steps(STRAIGHT, dash + gap)]
        for side in (-1, 1):
            for x, length in straight:
                yield line(x, MIDDLE_Y + side * radius, length, 0.0)
        for end, turn in ((STRAIGHT, -math.pi / 2), (0.0, math.pi / 2)):
            for way in steps(math.pi * radius, dash + gap):
                angle = turn + way / radius
                yield line(
                    end + radius * math.cos(angle), MIDDLE_Y + radius * math.sin(angle), dash, angle + math.pi / 2
                )


def steps(length: float, pitch: float) -> list[float]:
    """Middles of pieces of about ``pitch`` metres that divide a length evenly."""
    count = round(length / pitch)
    return [(index + 0.5) * length / count for index in range(count)]


def line(x: float, y: float, length: float, yaw: float) -> Part:
    """A piece of a line on the ground, a little longer to leave no gaps in a bend."""
    return box((1.03 * length, LINE, 0.004), (x, y, 0.002, 0.0, 0.0, yaw), WHITE, solid=False)


def cone(x: float, y: float) -> list[Part]:
    """A traffic cone, 0.5 m high, that stands fast."""
    plate = box((0.36, 0.36, 0.03), (x, y, 0.015), ORANGE, solid=False)
    body = pillar(0.14, 0.2, x, y, ORANGE, bottom=0.03, solid=False)
    band = pillar(0.10, 0.14, x, y, WHITE, bottom=0.23, solid=False)
    top = pillar(0.06, 0.13, x, y, ORANGE, bottom=0.37, solid=False)
    return [plate, body, band, top, pillar(0.14, 0.5, x, y, ORANGE)]


# A hall

HALL = (-6.0, 24.0, -10.0, 10.0)
HEIGHT = 3.0
THICK = 0.2


def hall() -> Element:
    """A hall of 30 m by 20 m with a room that has a door, pillars, shelves, crates and a round table."""
    return world(
        "hall",
        ground(60.0, CONCRETE),
        model("walls", walls()),
        model("pillars", [box((0.5, 0.5, HEIGHT), (x, y, HEIGHT / 2), WALL) for x in (0, 8, 16) for y in (-5, 5)]),
        model("shelves", [part for y in (-8.0, -6.5, 6.5, 8.0) for part in shelf(8.0, y)]),
        model("crates", crates()),
    )


def walls() -> list[Part]:
    """The outer walls, and a room at the far end with a door 2 m wide."""
    left, right, bottom, top = HALL
    long, deep = right - left + THICK, top - bottom + THICK
    middle_x, middle_y = (left + right) / 2, (bottom + top) / 2
    room, door = 18.0, 2.0
    piece = (top - bottom - door) / 2
    return [
        *(box((long, THICK, HEIGHT), (middle_x, y, HEIGHT / 2), WALL) for y in (bottom, top)),
        *(box((THICK, deep, HEIGHT), (x, middle_y, HEIGHT / 2), WALL) for x in (left, right)),
        *(
            box((THICK, piece, HEIGHT), (room, middle_y + side * (door + piece) / 2, HEIGHT / 2), WALL)
            for side in (-1, 1)
        ),
    ]


def shelf(x: float, y: float) -> list[Part]:
    """A shelf, 6 m long: four posts and three boards."""
    posts = [pillar(0.04, 2.0, x + dx, y + dy, STEEL) for dx in (-2.9, 2.9) for dy in (-0.3, 0.3)]
    return [*posts, *(box((6.0, 0.7, 0.05), (x, y, z), WOOD) for z in (0.3, 1.1, 1.9))]


def crates() -> list[Part]:
    """Crates and a table that stand in the way."""
    places = (
        (5.0, 3.0, 0.3, 0.8),
        (6.0, 2.6, 0.9, 0.6),
        (11.0, -2.5, 0.5, 1.0),
        (14.0, 1.8, 0.0, 0.7),
        (-3.0, 7.0, 0.2, 1.2),
    )
    boxes = [box((size, size, size), (x, y, size / 2, 0.0, 0.0, yaw), WOOD) for x, y, yaw, size in places]
    return [*boxes, pillar(0.1, 0.7, 21.0, 3.0, STEEL), pillar(0.8, 0.05, 21.0, 3.0, WOOD, bottom=0.7)]


# Outdoors

#: The Greenwich meridian and the parallel of Paris: a round longitude, and degrees that differ in length.
GEOREFERENCE = (48.8566, 0.0, 100.0)


def outdoor() -> Element:
    """A road up a hill and down again, a bank to drive along, trees and a house; the origin has a place on Earth."""
    return world(
        "outdoor",
        ground(200.0, GRASS),
        model("hill", hill()),
        model("bank", [slab(-10.0, 12.0, 0.0, 30.0, 8.0, roll=math.radians(8.0))]),
        model(
            "house", [box((10.0, 8.0, 5.0), (30.0, -20.0, 2.5), WALL), box((10.4, 8.4, 0.4), (30.0, -20.0, 5.2), STEEL)]
        ),
        model("trees", [part for x, y in TREES for part in tree(x, y)]),
        georeference=GEOREFERENCE,
    )


TREES = (
    (-12.0, -6.0),
    (-8.0, -14.0),
    (2.0, -10.0),
    (12.0, -14.0),
    (20.0, -9.0),
    (40.0, 9.0),
    (48.0, -9.0),
    (55.0, 7.0),
)


def hill() -> list[Part]:
    """6 degrees up for 20 m, 10 m level, 12 degrees down."""
    up, down, width, start, length = math.radians(6.0), math.radians(12.0), 6.0, 10.0, 20.0
    height = length * math.sin(up)
    crest = start + length * math.cos(up)
    return [
        slab(start, 0.0, 0.0, length, width, pitch=-up),
        slab(crest, 0.0, height, 10.0, width),
        slab(crest + 10.0, 0.0, height, height / math.sin(down), width, pitch=down),
    ]


def slab(x: float, y: float, z: float, length: float, width: float, pitch: float = 0.0, roll: float = 0.0) -> Part:
    """A slab whose top begins at the middle of its rear edge (x, y, z); with a roll, its right edge is at z."""
    thick = 1.0
    (cp, sp), (cr, sr) = ((math.cos(angle), math.sin(angle)) for angle in (pitch, roll))
    # Half a length along the slab's own x axis, half a thickness against its z axis
    centre = (
        x + length / 2 * cp - thick / 2 * sp * cr,
        y + thick / 2 * sr,
        z + width / 2 * sr - length / 2 * sp - thick / 2 * cp * cr,
    )
    return box((length, width, thick), (*centre, roll, pitch), ASPHALT)


def tree(x: float, y: float) -> list[Part]:
    """A trunk one can bump into, and leaves."""
    return [pillar(0.2, 3.0, x, y, WOOD), ball(1.6, x, y, 3.8, LEAVES)]


# A parking lot


def parking_lot() -> Element:
    """A walled lot with two rows of parked cars, lamps, a kiosk; between the rows there is room to drive."""
    rows = [(x, y, yaw) for y, yaw in ((-9.0, 0.5), (24.0, -0.5)) for x in PARKED]
    return world(
        "parking_lot",
        ground(100.0, ASPHALT),
        model("walls", lot_walls()),
        model("cars", [part for x, y, yaw in rows for part in parked_car(x, y, yaw * math.pi)]),
        model("lamps", [pillar(0.1, 5.0, x, y, STEEL) for x in (-7.0, 20.0) for y in (-4.0, 8.0, 19.0)]),
        model("kiosk", [box((3.0, 3.0, 2.6), (24.0, 4.0, 1.3, 0.0, 0.0, 0.4), WOOD)]),
        model("planter", [pillar(1.2, 0.5, -9.0, 8.0, CONCRETE), ball(1.0, -9.0, 8.0, 1.2, LEAVES)]),
    )


#: Where cars are parked in their row; a few places are free.
PARKED = (-6.0, -3.2, 2.4, 5.2, 8.0, 13.6, 16.4)

LOT = (-13.0, 28.0, -13.0, 28.0)


def lot_walls() -> list[Part]:
    """The walls around the lot, 1.2 m high."""
    left, right, bottom, top = LOT
    x, y, width, depth = (left + right) / 2, (bottom + top) / 2, right - left, top - bottom
    return [
        *(box((width, THICK, 1.2), (x, side, 0.6), WALL) for side in (bottom, top)),
        *(box((THICK, depth, 1.2), (side, y, 0.6), WALL) for side in (left, right)),
    ]


def parked_car(x: float, y: float, yaw: float) -> list[Part]:
    """The body and the cabin of a car, off the ground as on its wheels."""
    body = box((4.2, 1.8, 0.7), (x, y, 0.65, 0.0, 0.0, yaw), STEEL)
    return [body, box((2.2, 1.6, 0.5), (x, y, 1.25, 0.0, 0.0, yaw), WHITE)]


WORLDS: dict[str, Callable[[], Element]] = {
    "empty": empty,
    "track": track,
    "hall": hall,
    "outdoor": outdoor,
    "parking_lot": parking_lot,
}


def text(element: Element) -> str:
    """The file of a world."""
    root = Element("sdf", version="1.9")
    root.append(element)
    indent(root)
    return '<?xml version="1.0"?>\n<!-- Made by tools/make_worlds.py. -->\n' + tostring(root, encoding="unicode") + "\n"


if __name__ == "__main__":
    for name, make in WORLDS.items():
        (FOLDER / f"{name}.sdf").write_text(text(make()), encoding="utf-8")
