"""The folder of an adopted robot: what ``vds-gz adopt`` writes, and what ``vds-gz gazebo`` and the launch file read."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from vds_gz.core import files
from vds_gz.core.description.gz_bridge import bridge_text
from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.yaml_reader import compose, read_sections
from vds_gz.core.plant.gazebo.links.link_types import LINKS
from vds_gz.tools.adopt.robot_sensors import JOINT_STATES, WORLD

#: Files of the folder.
PARAMETERS, START, BRIDGE, CONTROLLERS = "robot.yaml", "start.yaml", "bridge.yaml", "controllers.yaml"
WORLD_COPY, CONTROLLED = "world.sdf", "model_ros2_control.urdf"

_HEAD = "# How to start the robot: `vds-gz gazebo FOLDER`, `ros2 launch vds_gz gazebo.launch.py robot:=FOLDER`.\n"


@dataclass(frozen=True, slots=True)
class Start:
    """How an adopted robot is started.

    Attributes:
        model: The file of its model, in the folder.
        name: Its name in Gazebo.
        world: The world in which it stands already; empty for any.
        height: Height of its frame when it stands on the ground [m].
        resources: Folders in which Gazebo finds its meshes.
        remaps: Topics of the node under the robot's names, as ``ours:=theirs``.
        renders: Whether a sensor needs rendering.
        controllers: Whether it has a model for ros2_control.
    """

    model: str
    name: str
    world: str = ""
    height: float = 0.0
    resources: tuple[str, ...] = ()
    remaps: tuple[str, ...] = ()
    renders: bool = False
    controllers: bool = False

    def text(self) -> str:
        """The content of its file."""
        values = {**asdict(self), "resources": list(self.resources), "remaps": list(self.remaps)}
        return _HEAD + yaml.safe_dump(values, sort_keys=False, allow_unicode=True)


@dataclass(frozen=True, slots=True)
class RobotFolder:
    """An adopted robot."""

    path: Path
    start: Start

    def file(self, name: str) -> Path:
        """A file of the folder."""
        return self.path / name

    @property
    def model(self) -> Path:
        """The file of its model."""
        return self.path / self.start.model

    @property
    def description(self) -> Path | None:
        """Its URDF, for robot_state_publisher; None if its model is SDF."""
        return self.model if self.model.suffix == ".urdf" else None

    def for_ros2_control(self) -> RobotFolder:
        """The same robot with the model whose joints ros2_control moves; raises ArgumentError if it has none."""
        if not self.start.controllers:
            raise ArgumentError(f"robot '{self.start.name}' is not moved by ros2_control; use link transport or bridge")
        return replace(self, start=replace(self.start, model=CONTROLLED))

    def controllers(self) -> list[str]:
        """The controllers to spawn, for ros2_control."""
        sections = read_sections(str(self.file(CONTROLLERS)))
        names = [name.rpartition("/")[2] for name, _ in sections]
        return [name for name in names if name != "controller_manager"]

    def remaps(self) -> list[tuple[str, str]]:
        """The node's topics and their names: ours, theirs."""
        pairs = (text.partition(":=") for text in self.start.remaps)
        return [(ours, theirs) for ours, _, theirs in pairs]

    def arguments(self) -> list[str]:
        """The remaps as ROS arguments."""
        return [word for text in self.start.remaps for word in ("-r", text)]

    def bridge(self, world: str, link: str, *, sensors: bool = True, joints: bool = True) -> str:
        """The configuration of its bridge in a world; empty without entries.

        Args:
            world: Name of the world.
            link: The link, whose topics are in it.
            sensors: Whether it has the sensors.
            joints: Whether it has the joint states, which a robot_state_publisher needs.
        """
        entries = LINKS[link].bridged(self.start.name)
        file = self.file(BRIDGE)
        if (sensors or joints) and file.is_file():
            given = yaml.safe_load(files.read_text(file, largest=files.LARGEST_YAML)) or []
            if not isinstance(given, list) or not all(isinstance(item, dict) for item in given):
                raise ArgumentError(f"'{file}' must be a list of topics, as ros_gz_bridge reads it")
            for item in given:
                if joints if item.get("ros_topic_name") == JOINT_STATES else sensors:
                    topic = str(item.get("gz_topic_name", ""))
                    entries.append(item | {"gz_topic_name": topic.replace(f"/world/{WORLD}/", f"/world/{world}/", 1)})
        return bridge_text(entries) if entries else ""


def read_folder(path: Path) -> RobotFolder:
    """The robot in a folder.

    Raises:
        ArgumentError: There is no folder that ``vds-gz adopt`` has written, or it was damaged.
    """
    file = path / START
    if not file.is_file():
        raise ArgumentError(f"'{path}' has no {START}; it must be a folder that `vds-gz adopt` has written")
    try:
        text = files.read_text(file, largest=files.LARGEST_YAML)
        compose(text, f"file {file}")
        values = yaml.safe_load(text)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ArgumentError(f"'{file}' cannot be read: {error}") from None
    start = _start(values, file)
    folder = RobotFolder(path.resolve(), start)
    for name in (start.model, PARAMETERS, *([start.world] if start.world else [])):
        if not folder.file(name).is_file():
            raise ArgumentError(f"'{path}' has no file '{name}', which {START} names; adopt the robot again")
    return folder


def _start(values: Any, file: Path) -> Start:
    defaults = asdict(Start("", ""))
    if not isinstance(values, dict) or not {"model", "name"} <= values.keys() or values.keys() - defaults.keys():
        raise ArgumentError(f"'{file}' must have the keys {', '.join(defaults)}")
    for name, value in values.items():
        kind: Any = type(defaults[name])
        if kind is tuple:
            right = isinstance(value, list) and all(isinstance(item, str) for item in value)
        elif kind is float:
            right = isinstance(value, int | float) and not isinstance(value, bool)
        else:
            right = isinstance(value, kind)
        if not right:
            raise ArgumentError(f"'{file}': {name} is {value!r}; it must be {_WORDS[kind]}")
    start: dict[str, Any] = {name: tuple(item) if isinstance(item, list) else item for name, item in values.items()}
    for name in ("model", "world"):
        if Path(start.get(name, "")).name != start.get(name, ""):
            raise ArgumentError(f"'{file}': {name} is '{start[name]}'; it must be the name of a file in the folder")
    for text in start.get("remaps", ()):
        ours, equals, theirs = text.partition(":=")
        if not (ours and equals and theirs):
            raise ArgumentError(f"'{file}': remaps have '{text}'; they must be ours:=theirs")
    return Start(**start)


_WORDS: dict[Any, str] = {str: "a text", bool: "true or false", float: "a number", tuple: "a list of texts"}
