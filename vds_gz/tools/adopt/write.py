"""Adoption of a robot: from its file to the files of its folder."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from vds_gz.core.arrays import Array
from vds_gz.core.description import ros2_control
from vds_gz.core.description.gz_bridge import bridge_text
from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.declaration import ParameterError
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.vehicle_model import Joint
from vds_gz.tools.adopt import parameter_text, robot_folder
from vds_gz.tools.adopt.adopted_vehicle import AdoptedVehicle
from vds_gz.tools.adopt.find import find_drive, has_drive
from vds_gz.tools.adopt.model_copy import Exchange, difference, exchanged, plugins, text_of
from vds_gz.tools.adopt.robot_drive import RobotDrive, ros_name
from vds_gz.tools.adopt.robot_file import RobotFile, read_robot
from vds_gz.tools.adopt.robot_folder import Start
from vds_gz.tools.adopt.robot_sensors import NOT_SIMULATED, RobotSensor, joint_states, sensors_of
from vds_gz.tools.adopt.robot_vehicle import vehicle
from vds_gz.tools.adopt.xml_text import Tag

#: Topics of the node whose contents are not the robot's: its joint states and its description have our names.
OWN_TOPICS = ("joint_states:=~/joint_states", "robot_description:=~/robot_description")

#: Elements and attributes with URIs of meshes and images.
_URI = re.compile(
    r"""(?:<uri>\s*([^<]+?)\s*</uri>|\bfilename\s*=\s*["']([^"']+)["']|<(?:albedo_map|normal_map|"""
    r"""roughness_map|metalness_map|environment_map|ambient_occlusion_map|emissive_map)>\s*([^<]+?)\s*<)"""
)

#: Files that are no meshes or images: plugins.
_NO_MESH = re.compile(r"\.so$|-system$|^(?!.*[./])")


@dataclass(slots=True)
class Adoption:
    """A robot that has been read, and the files of its folder.

    Attributes:
        files: Contents by name.
        links: Folders of the original that the copy needs beside it, by name.
        diff: What was exchanged.
    """

    robot: RobotFile
    drive: RobotDrive
    vehicle: AdoptedVehicle
    parameters: NodeParameters
    sensors: list[RobotSensor]
    start: Start
    files: dict[str, bytes] = field(default_factory=dict)
    links: dict[str, Path] = field(default_factory=dict)
    diff: str = ""
    findings: list[str] = field(default_factory=list)

    def write(self, path: Path, *, overwrite: bool = False) -> None:
        """Write the folder; refuses one with the robot's own files, and one that is not empty unless it may be
        overwritten."""
        if any(path.resolve() in own.parents for own in self.robot.library.documents):
            raise ArgumentError(f"'{path}' has the robot's own files; name another folder: --output FOLDER")
        if path.exists() and not path.is_dir():
            raise ArgumentError(f"'{path}' is there and no folder; name another one: --output FOLDER")
        if not overwrite and path.is_dir() and any(path.iterdir()):
            raise ArgumentError(f"folder '{path}' is not empty; name another one, --output FOLDER, or add --overwrite")
        path.mkdir(parents=True, exist_ok=True)
        for name, data in self.files.items():
            (path / name).write_bytes(data)
        for name, target in self.links.items():
            link = path / name
            if link.is_symlink():
                link.unlink()
            if not link.exists():
                link.symlink_to(target)


def adopt(
    path: Path,
    output: Path | None = None,
    *,
    model: str | None = None,
    controllers: Path | None = None,
    stamped: bool | None = None,
    arguments: Sequence[str] = (),
) -> tuple[Adoption, Path]:
    """Read a robot and make the files of its folder, whose path is returned too; nothing is written yet.

    Args:
        path: An SDF, URDF or xacro file, or a model's folder.
        output: The folder; ``./NAME`` by default.
        model: The model's name, if the file has several.
        controllers: The controllers' YAML, if the plugin's own path is none here.
        stamped: Whether commands are TwistStamped; None for what the robot's files say.
        arguments: Arguments of xacro.

    Raises:
        VdsGzError: The robot cannot be read; the message says where and why.
    """
    robot = read_robot(path, model, arguments, drives=has_drive)
    if not robot.name or "/" in robot.name or not robot.name.isprintable():
        robot.model.fail(f"the model's name is '{robot.name}'; it must be a name without '/'")
    structure = robot.structure()
    drive = find_drive(robot, structure, controllers, stamped)
    drive.stamped = drive.stamped if stamped is None else stamped
    adopted = vehicle(drive, structure)
    adopted.findings[:0] = robot.library.findings
    adopted.findings += _displaced(drive, structure.links)
    values = [
        value._replace(origin=short(value.origin, robot, controllers))
        for value in parameter_text.overrides(drive, adopted, robot.name)
    ]
    try:
        text, parameters = parameter_text.text(values)
    except ParameterError as error:
        raise ArgumentError(f"{robot.path}: the robot has a figure that no vehicle of ours has: {error}") from None
    folder = (output if output is not None else Path(robot.name)).resolve()
    sensors = sensors_of(robot, structure)
    if still := [f"{sensor.name} ({sensor.kind})" for sensor in sensors if sensor.kind in NOT_SIMULATED]:
        adopted.findings.append(f"Gazebo does not simulate the type of {', '.join(still)}; make it gpu_lidar")
    ground = adopted.parts.ground
    copy = "model.urdf" if robot.is_urdf else "model.sdf"
    adoption = Adoption(
        robot,
        drive,
        adopted,
        parameters,
        sensors,
        Start(
            model=robot_folder.WORLD_COPY if robot.world is robot.document else copy,
            name=robot.name,
            world=robot_folder.WORLD_COPY if robot.world is not None else "",
            height=round(-ground, 6) + 0.0 if ground is not None else 0.0,
            remaps=tuple(_remaps(drive, adopted.findings)),
            renders=any(sensor.renders for sensor in sensors),
            controllers=drive.controllers and robot.is_urdf,
        ),
    )
    adoption.files[robot_folder.PARAMETERS] = text.encode("utf-8")
    joints = models()[adopted.model].joints(parameters.vehicle)
    _copy(adoption, folder, joints)
    _meshes(adoption)
    entries = [joint_states(robot.name), *(item for sensor in sensors for item in sensor.entries)]
    adoption.files[robot_folder.BRIDGE] = bridge_text(entries).encode("utf-8")
    adoption.files[robot_folder.START] = adoption.start.text().encode("utf-8")
    adoption.findings = adopted.findings
    return adoption, folder


def short(text: str, robot: RobotFile, controllers: Path | None = None) -> str:
    """A text with files beside the robot's by their names alone."""
    folders = {
        path.parent for path in (robot.path.resolve(), *robot.library.documents, controllers) if path is not None
    }
    for folder in sorted(map(str, folders), key=len, reverse=True):
        text = text.replace(f"{folder}/", "")
    return " ".join(text.split())


def _copy(adoption: Adoption, folder: Path, joints: Sequence[Joint]) -> None:
    """The copies of the model, and of the world in which it stands."""
    robot, drive, adopted = adoption.robot, adoption.drive, adoption.vehicle
    document, tag = robot.document, drive.tag
    elements = plugins(joints, adopted.parts, robot.name, adopted.yaw)
    comment = f"vds_gz: joint controllers in place of {drive.what}"
    exchange = (
        _inserted(robot, text_of(elements, document, tag, comment))
        if tag is robot.model
        else Exchange(tag, text_of(elements, document, tag, comment))
    )
    data = exchanged(document, [exchange])
    name = adoption.start.model
    adoption.files[name] = data
    adoption.diff = difference(document, [exchange], name)
    if robot.include is not None and robot.world is not None:
        uri = robot.include.needed("uri")
        assert isinstance(uri, Tag)
        own = [Exchange(uri, f"<uri>{escape(str(folder / name))}</uri>")]
        adoption.files[robot_folder.WORLD_COPY] = exchanged(robot.world, own)
        adoption.diff += difference(robot.world, own, robot_folder.WORLD_COPY)
    if adoption.start.controllers:
        adoption.files[robot_folder.CONTROLLERS] = ros2_control.controllers(_renamed(joints, adopted)).encode("utf-8")
        states = plugins([], adopted.parts, robot.name, adopted.yaw)
        controlled = _with_controllers(adoption, folder / robot_folder.CONTROLLERS)
        controlled += "\n" + text_of(states, document, tag, "vds_gz: joint states and pose")
        adoption.files[robot_folder.CONTROLLED] = exchanged(document, [Exchange(tag, controlled)])


def _inserted(robot: RobotFile, text: str) -> Exchange:
    """Plugins before the end of a URDF that has no plugin to exchange."""
    model = robot.model
    end = robot.document.data.rfind(b"</", model.start, model.end)
    point = Tag("gazebo")
    point.file, point.line, point.start, point.end = model.file, model.line, end, end
    return Exchange(point, f"<gazebo>\n{text}\n</gazebo>\n")


def _with_controllers(adoption: Adoption, controllers: Path) -> str:
    """The plugin of ros2_control with our controllers' YAML, and a position interface without lag."""
    tag, document = adoption.drive.tag, adoption.robot.document
    attributes = "".join(f" {name}={quoteattr(value)}" for name, value in tag.items())
    children = [f"<parameters>{escape(str(controllers))}</parameters>"]
    children += [document.text(child) for child in tag.tags() if child.tag != "parameters"]
    if not tag.tags("position_proportional_gain"):
        children.append("<position_proportional_gain>1.0</position_proportional_gain>")
    return "\n".join([f"<plugin{attributes}>", *children, "</plugin>"])


def _renamed(joints: Sequence[Joint], adopted: AdoptedVehicle) -> list[Joint]:
    """The driven joints under the robot's names."""
    return [
        Joint(name, joint.kind)
        for joint in joints
        if joint.name in adopted.parts.driven
        for name in adopted.parts.joints[joint.name]
    ]


def _remaps(drive: RobotDrive, findings: list[str]) -> Iterator[str]:
    """The node's topics under the robot's names."""
    command = "twist_stamped_reference" if drive.stamped else "twist_reference"
    for ours, theirs in ((command, drive.command_topic), ("odom", drive.odometry_topic)):
        if not ros_name(theirs):
            findings.append(f"topic '{theirs}' is no name of a topic in ROS; the node uses '{ours}'")
        elif ours != theirs:
            yield f"{ours}:={theirs}"
    yield from OWN_TOPICS


def _displaced(drive: RobotDrive, links: Mapping[str, Array]) -> Iterator[str]:
    """A finding if the frame of the odometry is not that of the model."""
    name = drive.base_frame.rpartition("/")[2]
    pose = links.get(name)
    if pose is None:
        return
    place = pose[:3, 3]
    if float(abs(place[:2]).max()) > 1e-3 or abs(float(place[2])) > 0.02:
        at = " ".join(f"{value:.4g}" for value in place)
        yield (
            f"link '{name}' is at {at} in the model, and Gazebo's odometry is that of the model's own frame; the node "
            f"publishes it as '{drive.base_frame}'"
        )


def _meshes(adoption: Adoption) -> None:
    """Where Gazebo finds the meshes of the copies: folders for its search path, and links beside the copy."""
    robot = adoption.robot
    resources: dict[str, None] = {}
    missing: dict[str, None] = {}
    for text, beside in _texts(robot):
        for uri in dict.fromkeys(next(filter(None, groups)) for groups in _URI.findall(text)):
            scheme, _, rest = uri.rpartition("://")
            if scheme in ("http", "https", "file") or rest.startswith("/") or _NO_MESH.search(uri):
                continue
            path = robot.library.find(uri, beside)
            if path is None:
                missing[uri] = None
            elif scheme in ("model", "package"):
                resources[str(path.parents[len(Path(rest).parts) - 1])] = None
            elif not _linked(adoption.links, beside, Path(rest).parts[0]):
                missing[uri] = None
    if missing:
        names = list(missing)
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        adoption.vehicle.findings.append(
            f"not found from the copy, so Gazebo shows no such mesh: {', '.join(names[:3])}{more}"
        )
    adoption.start = replace(adoption.start, resources=tuple(resources))


def _texts(robot: RobotFile) -> Iterator[tuple[str, Path]]:
    """The texts that are copied, and the folders of their files: the robot's, and that of the world around it."""
    if robot.world is not robot.document:
        yield robot.document.text(robot.model), robot.path.parent
    if robot.world is not None:
        data, include = robot.world.data, robot.include
        rest = data if include is None else data[: include.start] + data[include.end :]
        yield rest.decode("utf-8"), robot.world.path.parent


def _linked(links: dict[str, Path], beside: Path, first: str) -> bool:
    """Add a link to a file or folder beside an original; False if it cannot be reached so from the copy."""
    if first == "..":
        return False
    target = (beside / first).resolve()
    return not target.exists() or links.setdefault(first, target) == target
