"""A Gazebo server with a world and vehicles in it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from vds_gz.core.child_process import ChildProcess
from vds_gz.core.plant.base import LinkError
from vds_gz.core.plant.gazebo.links.bindings import server_options

ElementTree.register_namespace("gz", "http://gazebosim.org/schema")


@dataclass(frozen=True, slots=True)
class Spawn:
    """A model to add to a world."""

    sdf: str  # its SDF, with one model
    #: Pose: x, y, z [m], roll, pitch, yaw [rad].
    pose: tuple[float, float, float, float, float, float] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Inclusion:
    """A model to add to a world by the path of its file, SDF or URDF, which Gazebo itself reads."""

    path: Path
    name: str
    pose: tuple[float, float, float, float, float, float] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def populated(
    world: Path, spawns: Iterable[Spawn | Inclusion], real_time_factor: float | None = None
) -> tuple[str, str]:
    """A world's name, and its SDF with models added.

    Models in the file exist from the first step on and after a reset of Gazebo, which removes spawned models.
    """
    try:
        root = ElementTree.parse(world).getroot()
    except (OSError, ElementTree.ParseError) as error:
        raise LinkError(f"world file '{world}' cannot be read: {error}") from None
    element = root.find("world")
    if element is None:
        raise LinkError(f"file '{world}' has no <world>; it must be an SDF world")
    for spawn in spawns:
        element.append(_model(spawn))
    if real_time_factor is not None:
        _set(_child(element, "physics"), "real_time_factor", f"{real_time_factor:g}")
    return element.get("name", "default"), ElementTree.tostring(root, encoding="unicode")


def _model(spawn: Spawn | Inclusion) -> Element:
    if isinstance(spawn, Inclusion):
        include = Element("include")
        for tag, text in (("name", spawn.name), ("uri", str(spawn.path.resolve())), ("pose", _pose(spawn.pose))):
            _set(include, tag, text)
        return include
    root = ElementTree.fromstring(spawn.sdf)
    model = root if root.tag == "model" else root.find("model")
    if model is None:
        raise LinkError("an SDF to be spawned has no <model>; it must have one")
    _set(model, "pose", _pose(spawn.pose))
    return model


def _pose(pose: Iterable[float]) -> str:
    return " ".join(f"{number:.9g}" for number in pose)


def _child(parent: Element, tag: str) -> Element:
    child = parent.find(tag)
    return SubElement(parent, tag) if child is None else child


def _set(parent: Element, tag: str, text: str) -> None:
    _child(parent, tag).text = text


def gz_program() -> str:
    """The path of the program ``gz``."""
    program = shutil.which("gz")
    if program is None:
        raise LinkError(
            "the program 'gz' is not in the PATH; install Gazebo (https://gazebosim.org/docs), or use the kinematic "
            "backend, which does not need it"
        )
    return program


def gz_command(
    world: Path, *, headless: bool = True, run: bool = True, rendering: bool = False, steps: int = 0
) -> list[str]:
    """The command that starts a server; the arguments are those of :class:`Server`."""
    options = (("-s", headless), ("-r", run), ("--headless-rendering", rendering and headless))
    chosen = [option for option, enabled in options if enabled]
    program, count = gz_program(), ["--iterations", str(steps)] if steps else []
    return [program, "sim", *server_options(program), *chosen, *count, str(world)]


@contextmanager
def _file_with(sdf: str) -> Iterator[Path]:
    """A temporary file with an SDF."""
    with tempfile.NamedTemporaryFile("w", suffix=".sdf", prefix="vds_gz_", encoding="utf-8") as file:
        file.write(sdf)
        file.flush()
        yield Path(file.name)


class Server:
    """A ``gz sim`` process, or two with a window.

    The world is an SDF text, or a file. It has no window if ``headless``, is paused unless ``run``, and ends after
    ``steps`` unless they are 0. Cameras and lidars of a headless server need ``rendering``. Relative paths of models in
    the world start at ``folder``. ``GZ_PARTITION`` separates it from other servers.
    """

    def __init__(
        self,
        sdf: str | Path,
        *,
        headless: bool = True,
        run: bool = True,
        rendering: bool = False,
        steps: int = 0,
        folder: Path | None = None,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        gz_program()
        self._files = ExitStack()
        world = sdf if isinstance(sdf, Path) else self._files.enter_context(_file_with(sdf))
        command = gz_command(world, headless=headless, run=run, rendering=rendering, steps=steps)
        variables = dict(environment)
        if folder is not None:
            paths = [str(folder), variables.get("GZ_SIM_RESOURCE_PATH", "")]
            variables["GZ_SIM_RESOURCE_PATH"] = os.pathsep.join(filter(None, paths))
        self.process = ChildProcess(command, env=variables)  # with a window there are two processes in its group

    def running(self) -> bool:
        """Whether the server still runs."""
        return self.process.poll() is None

    def stop(self) -> None:
        """End the server and all processes that it started."""
        self.process.stop()
        self._files.close()
