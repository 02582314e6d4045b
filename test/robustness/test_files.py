"""Files that were damaged or made to harm: each is read, or refused with an error of ours in one line.

``VDS_GZ_HOSTILE_FILES`` says how many files of each kind are tried; the weekly job tries ten thousand.
"""

from __future__ import annotations

import json
import random
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest
from helpers.bag_files import SUFFIXES, write_bag
from helpers.guest import of_guest
from helpers.hostile import FILES, changed, fill, rewritten

from vds_gz.core.configuration import load_parameters, parameters_of
from vds_gz.core.description.footprint import outline_of, things_of
from vds_gz.core.errors import VdsGzError
from vds_gz.core.parameters import teleop
from vds_gz.core.parameters.yaml_reader import read_intervals
from vds_gz.core.ros.arguments import parse
from vds_gz.core.ros.messages.message_types import open_types
from vds_gz.core.share import share
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.world.load_world import load_world
from vds_gz.core.world.surroundings import read_obstacles
from vds_gz.programs.commandlog import command_log
from vds_gz.programs.interface import topics
from vds_gz.programs.nodes.preparation import description
from vds_gz.programs.web.page_messages import read as read_page_message
from vds_gz.tools.fleet.path import read_path
from vds_gz.tools.study.compare.differences import load_bounds
from vds_gz.tools.study.reading import recorded_run
from vds_gz.tools.study.reading.bag import read_signals
from vds_gz.tools.study.sweep.plan_file import read_sweep

SEED = 21

OBSTACLES = """obstacles:
  - {name: cart, box: [1.2, 0.6, 1.0], path: [[5, -3], [5, 3], [9, 3]], speed: 0.8, repeat: back_and_forth}
  - {name: pedestrian, cylinder: [0.25, 1.8], path: [[0, 4], [6, 4]], times: [2.0, 7.0], repeat: loop, z: 0.1}
"""
MAP = (
    "image: map.pgm\nresolution: 0.05\norigin: [-1.0, -2.0, 0.1]\nnegate: 0\noccupied_thresh: 0.65\nfree_thresh: 0.25\n"
)
WORLD = """<?xml version="1.0"?><sdf version="1.10"><world name="w"><gravity>0 0 -9.8</gravity>
<spherical_coordinates><latitude_deg>48</latitude_deg><longitude_deg>9</longitude_deg></spherical_coordinates>
<model name="a"><static>1</static><pose relative_to="b">1 2 0 0 0 0.3</pose><link name="l">
<visual name="v"><geometry><box><size>1 2 3</size></box></geometry></visual>
<collision name="c"><geometry><cylinder><radius>1</radius><length>2</length></cylinder></geometry></collision>
</link></model>
<model name="b"><link name="l"><visual name="v"><geometry><polyline><point>0 0</point><point>1 0</point>
<point>0 1</point><height>2</height></polyline></geometry></visual><collision name="c"><geometry>
<plane><normal>0 0 1</normal></plane></geometry></collision></link></model></world></sdf>
"""
TOLERANCE = "speed: {rms: 0.05, delay: 0.01}\nyaw_rate:\n  rms: 0.1\n"
COMMANDS = "time,v_x,v_y,yaw_rate\n" + "".join(f"{0.1 * k:.1f},{k % 7 / 5},0,{k % 3 / 10}\n" for k in range(30))
MEASURED = "time,cmd_v_x,cmd_yaw_rate,v_x,yaw_rate\n" + "".join(
    f"{0.02 * k:.2f},{k // 10 % 2},0.1,{k // 12 % 2},0.1\n" for k in range(120)
)
COMPARED = "time,x,y,heading,v_x,v_y,yaw_rate,drive_reference,drive_actual\n" + "".join(
    f"{0.1 * k},{k},0,0,1,0,0,1,1\n" for k in range(20)
)
PATH = "x,y,speed\n" + "".join(f"{k},{k * k / 50},{1 + k % 3}\n" for k in range(20))
JOYSTICK = (share("config", "joystick", "xbox.yaml")).read_text(encoding="utf-8")
PAGE = [
    {"kind": "drive", "v_x": 1.0, "v_y": 0.0, "yaw_rate": 0.1, "steering_angle": 0.2},
    {"kind": "set", "number": 1, "name": "pub_rate", "value": 20.0},
    {"kind": "pause", "number": 2, "paused": True},
    {"kind": "reset", "number": 3},
    {"kind": "seen"},
]


class Kind(NamedTuple):
    """A kind of file.

    Attributes:
        name: The name that a changed file gets.
        originals: Contents to change, texts or bytes.
        read: Reads it all.
        beside: Other files that it needs.
    """

    name: str
    originals: list[str] | list[bytes]
    read: Callable[[Path], object]
    beside: Mapping[str, bytes] = MappingProxyType({})


def read_parameters(path: Path) -> None:
    parameters = parameters_of(parse(["--ros-args", "--params-file", str(path)], "sim_node").overrides)
    description(parameters, models()[parameters.model])
    read_intervals(path, "/sim_node")


def read_joystick(path: Path) -> None:
    teleop.load(
        parse(["--ros-args", "--params-file", str(path)], "joystick_teleop").overrides, teleop.JoystickParameters()
    )


def read_moving(path: Path) -> None:
    obstacles = read_obstacles(path)
    for time in (0, 1_000_000_000, 10**15, 2**61):
        assert obstacles.next_turn(time) > time
        obstacles.visuals(time)


def read_urdf(path: Path) -> None:
    text = path.read_text(encoding="utf-8", errors="replace")
    outline_of(text)
    for tag in ("visual", "collision"):
        things_of(text, "other", tag)


def read_page(path: Path) -> None:
    read_page_message(path.read_text(encoding="utf-8", errors="surrogateescape"))


def read_runs(path: Path) -> None:
    """A bag, by every reader that there is; it is enough to be refused by all."""
    refusals = []
    for read in (recorded_run.read, command_log.read, read_signals):
        try:
            read(path)
        except VdsGzError as error:
            refusals.append(error)
    if refusals:
        raise refusals[-1]


def texts(*places: str) -> list[str]:
    return [
        file.read_text(encoding="utf-8")
        for place in places
        for file in sorted(share(*place.split("/")).glob("*"))
        if file.suffix in (".yaml", ".csv")
    ]


def urdf() -> str:
    parameters = load_parameters("deepracer")
    return description(parameters, models()[parameters.model])


KINDS = {
    "parameters": Kind("a.yaml", [*texts("config")], read_parameters),
    "sweep": Kind(
        "a.yaml",
        [share("config", "sweeps", "slalom.yaml").read_text()],
        read_sweep,
        {"slalom.csv": share("config", "sweeps", "slalom.csv").read_bytes()},
    ),
    "tolerance": Kind("a.yaml", [TOLERANCE], load_bounds),
    "joystick": Kind("a.yaml", [JOYSTICK], read_joystick),
    "moving": Kind("a.yaml", [OBSTACLES], read_moving),
    "map": Kind("a.yaml", [MAP], load_world, {"map.pgm": b"P5 4 4 255\n" + bytes(range(16))}),
    "pgm": Kind(
        "map.pgm",
        [b"P5 4 4 255\n" + bytes(range(16)), b"P2 2 2 9\n1 2 3 4\n"],
        lambda path: load_world(path.with_name("a.yaml")),
        {"a.yaml": MAP.encode()},
    ),
    "sdf": Kind("a.sdf", [WORLD], load_world),
    "urdf": Kind("a.urdf", [urdf()], read_urdf),
    "commands": Kind("a.csv", [COMMANDS, *texts("config/drives")], command_log.read),
    "measured": Kind("a.csv", [MEASURED], read_signals),
    "compared": Kind("a.csv", [COMPARED], recorded_run.read),
    "path": Kind("a.csv", [PATH], read_path),
    "page": Kind("a.json", [json.dumps(one) for one in PAGE], read_page),
}
for read_map in of_guest("vds_gz.autoware.parameters.map_files:read_map"):
    KINDS["actuation_map"] = Kind("a.csv", texts("config/maps"), lambda path, read_map=read_map: read_map(str(path)))


def tried(draw: random.Random, path: Path, data: bytes, read: Callable[[Path], object]) -> str:
    """Read a file; why it was refused, empty if it was not."""
    path.write_bytes(data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read(path)
    except VdsGzError as error:
        return str(error)
    return ""


def check(reason: str, path: Path) -> None:
    assert "\n" not in reason, f"{reason!r}; the file is {path}"


@pytest.mark.parametrize("name", KINDS)
def test_a_damaged_file_is_read_or_refused_in_one_line(tmp_path, name):
    kind, refused = KINDS[name], 0
    for other, content in kind.beside.items():
        (tmp_path / other).write_bytes(content)
    for number in range(FILES):
        draw = random.Random(f"{SEED} {name} {number}")
        original = draw.choice(kind.originals)
        data = rewritten(draw, original) if isinstance(original, str) else changed(draw, original)
        reason = tried(draw, tmp_path / kind.name, data, kind.read)
        check(reason, tmp_path / kind.name)
        refused += bool(reason)
    assert refused, "nothing was refused; the files are not damaged"


# ---------------------------------------------------------------------- recordings

TYPES = {
    f"/{topic.name}": topic.type
    for topic in (topics.GROUND_TRUTH, topics.ACTUATOR_REFERENCES, topics.ACTUATOR_STATES, topics.TWIST_REFERENCE)
} | {"/clock": topics.CLOCK.type}


def messages(types: Any, draw: random.Random | None) -> Iterator[tuple[str, int, Any]]:
    """A short run; with odd values in some of its messages."""
    for step in range(20):
        for name, kind in TYPES.items():
            message, now = types.new(kind), 1_000_000_000 + 20_000_000 * step
            stamp = message.clock if name == "/clock" else message.header.stamp if hasattr(message, "header") else None
            if stamp is not None:
                stamp.sec, stamp.nanosec = divmod(now, 1_000_000_000)
            if name.startswith("/actuator"):
                message.name = ["drive", "steering"]
                message.position, message.velocity = types.array("float64", [0, 0.1]), types.array("float64", [1, 0])
            if draw is not None and draw.random() < 0.1:
                fill(draw, types, message, kind, draw.choice((0.1, 0.5)))
            yield name, now, message


@pytest.mark.parametrize("plugin", SUFFIXES)
@pytest.mark.parametrize("part", ["file", "metadata.yaml"])
def test_a_damaged_bag_is_read_or_refused_in_one_line(tmp_path, plugin, part):
    bag = tmp_path / "bag"
    write_bag(bag, plugin, TYPES, messages(open_types(), None))
    file = next(bag.glob(f"*{SUFFIXES[plugin]}")) if part == "file" else bag / part
    original = file.read_bytes()
    for number in range(FILES):
        draw = random.Random(f"{SEED} {plugin} {part} {number}")
        data = rewritten(draw, original.decode()) if part == "metadata.yaml" else changed(draw, original)
        file.write_bytes(data)
        for path in {bag, file} - {bag / "metadata.yaml"}:
            check(tried(draw, file, data, lambda _, path=path: read_runs(path)), file)


def test_a_bag_of_hostile_messages_is_read_or_refused_in_one_line(tmp_path):
    types = open_types()
    for number in range(max(FILES // 10, 3)):
        draw = random.Random(f"{SEED} messages {number}")
        bag = tmp_path / f"bag{number}"
        write_bag(bag, "mcap", TYPES, messages(types, draw))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                read_runs(bag)
        except VdsGzError as error:
            check(str(error), bag)
