"""A robot as it stands in a repository: an SDF file, a model's folder, a world, a URDF or a xacro file."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from vds_gz.core import files
from vds_gz.core.errors import ArgumentError
from vds_gz.tools.adopt.robot_files import RobotFiles, model_file
from vds_gz.tools.adopt.sdf_structure import of_sdf
from vds_gz.tools.adopt.structure import Structure
from vds_gz.tools.adopt.urdf_structure import of_urdf
from vds_gz.tools.adopt.xacro_worker import FINDING
from vds_gz.tools.adopt.xml_text import Document, Tag, document_of

#: Time for xacro to expand a file [s].
XACRO_TIMEOUT = 60.0


@dataclass(frozen=True)
class RobotFile:
    """A robot's model in its file.

    Attributes:
        document: The file with the model; of a xacro file, the expanded text.
        model: The element ``<model>`` or ``<robot>``.
        name: The model's name in Gazebo.
        version: Version of SDF.
        library: The files around it.
        world: The world in which the model stands; None for a model of its own.
        include: The world's ``<include>`` of the model; None if it stands in the world's file, or without a world.
        expanded: Whether the document is not the file itself but xacro's output.
    """

    document: Document
    model: Tag
    name: str
    version: str
    library: RobotFiles
    world: Document | None = None
    include: Tag | None = None
    expanded: bool = False

    @property
    def is_urdf(self) -> bool:
        """Whether it is URDF, else SDF."""
        return self.model.tag == "robot"

    @property
    def path(self) -> Path:
        """The file as the user knows it."""
        return self.document.path

    def structure(self) -> Structure:
        """Its joints and collisions."""
        return of_urdf(self.model, self.library) if self.is_urdf else of_sdf(self.model, self.version, self.library)


def read_robot(
    path: Path, model: str | None = None, arguments: Sequence[str] = (), *, drives: Callable[[Tag], bool]
) -> RobotFile:
    """The robot that a path names.

    Args:
        path: A file or a model's folder.
        model: Name of the model, if the file has several.
        arguments: Arguments of a xacro file, as ``name:=value``.
        drives: Whether a model has a drive; it chooses among several models.

    Raises:
        ArgumentError: There is no such file, it is none of these, or it needs another ``model``.
        WorldError: A file that it includes is damaged or missing.
    """
    if path.is_dir():
        path = model_file(path)
    if not path.exists():
        raise ArgumentError(f"there is no file '{path}' (looked in {Path.cwd()})")
    library = RobotFiles(path.resolve().parent)
    document, expanded = _document(path, library, arguments)
    root = document.root
    if root.tag == "robot":
        return RobotFile(document, root, _name_of(root, model), "", library, expanded=expanded)
    if root.tag != "sdf":
        root.fail(f"the root element is <{root.tag}>; it must be <sdf> or, in URDF, <robot>")
    worlds = root.tags("world")
    outer = worlds[0] if worlds else root
    if worlds and expanded:
        root.fail("a world made by xacro is not read; expand it with xacro, and adopt the file")
    candidates = outer.tags("model", "include") if worlds else outer.tags("model")
    return _chosen(candidates, model, document, library, drives, bool(worlds), expanded)


def _chosen(
    candidates: Sequence[Tag],
    wanted: str | None,
    document: Document,
    library: RobotFiles,
    drives: Callable[[Tag], bool],
    in_world: bool,
    expanded: bool,
) -> RobotFile:
    """The model of this name, or the only one that drives."""
    robots: dict[str, RobotFile] = {}
    missing: list[str] = []
    for tag in candidates:
        node, version, where = tag, document.root.get("version", ""), document
        if tag.tag == "include":
            try:
                node, version = library.included(tag)
            except (ArgumentError, ValueError) as error:  # a model that is not here is only needed if it is the robot
                missing.append(str(error))
                continue
            where = library.document(node)
        name = (tag.value("name") if tag.tag == "include" else "") or node.get("name", "")
        include = tag if tag.tag == "include" else None
        robots.setdefault(
            name,
            RobotFile(where, node, name, version, library, document if in_world else None, include, expanded),
        )
    if wanted is not None:
        if wanted in robots:
            return robots[wanted]
        why = f"; {missing[0]}" if missing else ""
        raise ArgumentError(f"{document.path} has no model '{wanted}'; it has {', '.join(robots) or 'none'}{why}")
    able = [robot for robot in robots.values() if drives(robot.model)] if len(robots) != 1 else [*robots.values()]
    if len(able) == 1:
        return able[0]
    if not robots:
        raise ArgumentError(missing[0] if missing else f"{document.path} has no <model>; a robot must have one")
    what = ", ".join(robot.name for robot in able) if able else f"none of {', '.join(robots)}"
    raise ArgumentError(
        f"{document.path} has {len(robots)} models, and those with a drive that is known are {what}; name one: "
        "--model NAME"
    )


def _name_of(robot: Tag, wanted: str | None) -> str:
    name = robot.get("name", "")
    if not name:
        robot.fail("<robot> has no name")
    if wanted not in (None, name):
        robot.fail(f"<robot> is '{name}', not '{wanted}'")
    return name


def _document(path: Path, library: RobotFiles, arguments: Sequence[str]) -> tuple[Document, bool]:
    """The file, and whether xacro has expanded it."""
    try:
        files.check(path, files.LARGEST_TEXT)
        data = path.read_bytes()
    except OSError as error:
        raise ArgumentError(f"'{path}' cannot be read: {error.strerror or error}") from None
    if ".xacro" in path.suffixes or b"<xacro:" in data:
        text, findings = expand(path, arguments)
        document = document_of(path.resolve(), text)
        library.documents[path.resolve()] = document
        library.findings += findings
        return document, True
    if arguments:
        raise ArgumentError(f"'{arguments[0]}' is an argument of xacro, and '{path}' is no xacro file; leave it out")
    return library.read(path), False


def expand(path: Path, arguments: Sequence[str]) -> tuple[bytes, list[str]]:
    """The text that xacro makes of a file, in a process of its own, and findings on what it left out."""
    for argument in arguments:
        if not argument.partition(":=")[1] or argument.startswith(":="):
            raise ArgumentError(f"argument '{argument}' of the xacro file must be NAME:=VALUE")
    command = [sys.executable, "-m", "vds_gz.tools.adopt.xacro_worker", str(path.resolve()), *arguments]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(part for part in sys.path if part)}
    try:
        run = subprocess.run(command, capture_output=True, timeout=XACRO_TIMEOUT, env=environment, check=False)
    except subprocess.TimeoutExpired:
        raise ArgumentError(f"{path}: xacro has not ended after {XACRO_TIMEOUT:g} s; a macro may call itself") from None
    words = run.stderr.decode("utf-8", "replace").strip().splitlines()
    findings = list(dict.fromkeys(word.removeprefix(FINDING) for word in words if word.startswith(FINDING)))
    if run.returncode != 0:
        why = f"; {'; '.join(findings)}" if findings else ""
        raise ArgumentError(f"{path}: xacro: {words[-1] if words else 'it ended with a crash'}{why}")
    if len(run.stdout) > files.LARGEST_TEXT:
        raise ArgumentError(f"{path}: xacro makes {len(run.stdout)} bytes of it; at most {files.LARGEST_TEXT} are read")
    return run.stdout, findings
