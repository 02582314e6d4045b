#!/usr/bin/env python3
"""Makes the worlds in this folder: ``python worlds/make.py``. They need no other file, and nothing is downloaded."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, fromstring, indent, tostring

FOLDER = Path(__file__).resolve().parent

#: What every world needs. Sensors only starts to render when a camera or a lidar appears.
SYSTEMS = {
    "physics": "Physics",
    "user-commands": "UserCommands",
    "scene-broadcaster": "SceneBroadcaster",
    "imu": "Imu",
    "navsat": "NavSat",
    "sensors": "Sensors",
}

GREY = "0.45 0.46 0.48 1"

#: Far more than any tyre has, so that the tyre decides.
FRICTION = 1000.0


def world(name: str, georeference: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Element:
    """An empty world with light, steps of 1 ms and the systems.

    Args:
        name: Name of the world.
        georeference: Latitude, longitude [degrees] and height [m] of the origin. The x axis points east.
    """
    latitude, longitude, elevation = georeference
    return fromstring(f"""<world name="{name}">
      <physics name="1ms" type="ignored">
        <max_step_size>0.001</max_step_size><real_time_factor>1.0</real_time_factor>
      </physics>
      {"".join(map(system, SYSTEMS.items()))}
      <spherical_coordinates>
        <surface_model>EARTH_WGS84</surface_model><world_frame_orientation>ENU</world_frame_orientation>
        <latitude_deg>{latitude}</latitude_deg><longitude_deg>{longitude}</longitude_deg>
        <elevation>{elevation}</elevation><heading_deg>0</heading_deg>
      </spherical_coordinates>
      <scene><ambient>0.5 0.5 0.5 1</ambient><background>0.7 0.8 0.9 1</background><shadows>false</shadows></scene>
      <light name="sun" type="directional">
        <pose>0 0 50 0 0 0</pose><diffuse>0.8 0.8 0.8 1</diffuse><specular>0.2 0.2 0.2 1</specular>
        <direction>-0.4 0.2 -0.9</direction><cast_shadows>false</cast_shadows>
      </light>
    </world>""")


def system(item: tuple[str, str]) -> str:
    """A system of Gazebo's."""
    file, name = item
    engine = "<render_engine>ogre2</render_engine>" if name == "Sensors" else ""
    return f'<plugin filename="gz-sim-{file}-system" name="gz::sim::systems::{name}">{engine}</plugin>'


def box(name: str, size: tuple[float, float, float], pose: str, colour: str = GREY, solid: bool = True) -> Element:
    """A box that does not move.

    Args:
        name: Name of the model.
        size: Lengths [m].
        pose: Centre, ``x y z roll pitch yaw`` [m, rad].
        colour: Red, green, blue, opacity.
        solid: One can bump into it; else it is only to be seen.
    """
    return still(name, pose, f"<box><size>{size[0]} {size[1]} {size[2]}</size></box>", colour, solid)


def still(name: str, pose: str, shape: str, colour: str = GREY, solid: bool = True) -> Element:
    """A thing of one shape that does not move."""
    collision = f"""<collision name="collision"><geometry>{shape}</geometry><surface><friction><ode>
      <mu>{FRICTION}</mu><mu2>{FRICTION}</mu2></ode></friction></surface></collision>"""
    return fromstring(f"""<model name="{name}"><static>true</static><pose>{pose}</pose><link name="link">
      {collision if solid else ""}
      <visual name="visual"><geometry>{shape}</geometry><material><ambient>{colour}</ambient>
        <diffuse>{colour}</diffuse><specular>0.1 0.1 0.1 1</specular></material></visual>
    </link></model>""")


def ground(size: float, colour: str = GREY) -> Element:
    """The plane z = 0; what is drawn of it is ``size`` metres wide."""
    shape = f"<plane><normal>0 0 1</normal><size>{size} {size}</size></plane>"
    return still("ground", "0 0 0 0 0 0", shape, colour)


def empty() -> Element:
    """Nothing but the ground."""
    result = world("empty")
    result.append(ground(200.0))
    return result


WORLDS: dict[str, Callable[[], Element]] = {"empty": empty}


def text(element: Element) -> str:
    """The file of a world."""
    root = Element("sdf", version="1.9")
    root.append(element)
    indent(root)
    return '<?xml version="1.0"?>\n<!-- Made by make.py. -->\n' + tostring(root, encoding="unicode") + "\n"


if __name__ == "__main__":
    for name, make in WORLDS.items():
        (FOLDER / f"{name}.sdf").write_text(text(make()), encoding="utf-8")
