"""Paths of the package's data (config, models, worlds, launch), and entry points of guests and other packages.

A guest is a folder of this package that registers itself as other packages do: its ``entry_points.txt`` is the file
that pip writes for them. Without the folder, the rest works as before.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Collection, Iterator
from configparser import ConfigParser
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from traceback import walk_tb
from typing import TypeVar

from vds_gz.core.errors import ArgumentError

T = TypeVar("T")

PACKAGE = "vds_gz"

#: The folder of the package's code.
CODE = Path(__file__).resolve().parents[1]


def share(*parts: str) -> Path:
    """The path of a data file or folder of this package, e.g. ``share("config", "forklift.yaml")``."""
    places = list(dict.fromkeys(_places()))
    for place in places:
        path = place.joinpath(*parts)
        # The manifest distinguishes this package's folder from others, such as a `config` in site-packages.
        if (place / "package.xml").is_file() and path.exists():
            return path
    name = "/".join(parts) or "data folder"
    raise FileNotFoundError(f"{PACKAGE} has no {name}; looked in\n  " + "\n  ".join(map(str, places)))


def _places() -> Iterator[Path]:
    """Possible places of a data folder, nearest to the running code first."""
    yield CODE.parent  # a checkout, an editable install, colcon build --symlink-install
    # Installed: share/ is beside an ancestor of this module in every scheme (colcon, venv, --user, --target).
    for prefix in CODE.parents:
        yield prefix / "share" / PACKAGE
    # Code that was moved away from its data: the prefixes of ROS and Python.
    for ros_prefix in filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)):
        yield Path(ros_prefix) / "share" / PACKAGE
    yield Path(sysconfig.get_path("data")) / "share" / PACKAGE


def extensions(group: str) -> tuple[EntryPoint, ...]:
    """The entry points of guests and of installed packages in a group."""
    return _extensions(group, tuple(sys.path))


def offered(entry: EntryPoint, kind: type[T]) -> T:
    """The object of an entry point.

    Raises:
        ArgumentError: The object cannot be imported, or is not of this kind.
    """
    place = f"entry point '{entry.name}' of {entry.group}"
    try:
        loaded = entry.load()
    except Exception as error:  # any exception of the package's module
        raise ArgumentError(f"{place}, {entry.value}, raises {in_words(error)}") from error
    if not isinstance(loaded, kind):
        raise ArgumentError(f"{place} is {loaded!r}; it must be a {kind.__name__}")
    return loaded


def additions(kind: type[T], group: str, taken: Collection[str]) -> dict[str, T]:
    """The objects of a group by the names of their entry points.

    Raises:
        ArgumentError: A name is taken, or an object cannot be imported or is not of this kind.
    """
    objects: dict[str, T] = {}
    for entry in extensions(group):
        if entry.name in (*taken, *objects):
            raise ArgumentError(f"entry point '{entry.name}' of {group}: there is a '{entry.name}' already")
        objects[entry.name] = offered(entry, kind)
    return objects


def in_words(error: BaseException) -> str:
    """Type and text of an exception, in one line. One of another package may have no text, or raise at it."""
    try:
        text = " ".join(str(error).split())
    except Exception:
        text = "its text cannot be shown"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def raised_at(error: BaseException, module: str) -> str:
    """File and line of the code of a package that raised an error; ``module`` is any of the package's modules."""
    frames = [(frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__)]
    for file, line in reversed(_of_package(frames, module) or frames):
        return f"{file}, line {line}"
    return f"module {module}"


def is_raised_by(error: BaseException, module: str) -> bool:
    """Whether an error was raised in the code of a package, or below it; ``module`` is any of the package's modules."""
    frames = [(frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__)]
    return bool(_of_package(frames, module))


def _of_package(frames: list[tuple[str, int]], module: str) -> list[tuple[str, int]]:
    """Those of some files and lines that are in a module's package. Compiled code tells only the files."""
    package = _package_of(module)
    names = [name for name in sys.modules if _package_of(name) == package]
    files = {getattr(sys.modules[name], "__file__", None) for name in names}
    return [frame for frame in frames if frame[0] in files]


def _package_of(module: str) -> list[str]:
    """The package of a module, by the parts of its name; a guest counts as a package."""
    parts = module.split(".")
    return parts[: 2 if parts[0] == PACKAGE else 1]


def origin(group: str, name: str) -> str:
    """Where something that another package or a guest offers comes from, in words; empty if the core has it."""
    entry = next((entry for entry in extensions(group) if entry.name == name), None)
    return f"entry point '{name}' of {group}, {entry.value}" if entry else ""


@cache
def _extensions(group: str, path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """The entry points of guests and of packages in these folders; finding them takes milliseconds."""
    return *(entry for entry in _of_guests() if entry.group == group), *entry_points(group=group)


@cache
def _of_guests() -> tuple[EntryPoint, ...]:
    """The entry points of all guests."""
    entries: list[EntryPoint] = []
    for file in sorted(CODE.glob("*/entry_points.txt")):
        table = ConfigParser(delimiters="=", interpolation=None)
        table.optionxform = str  # type: ignore[assignment,method-assign]  # names keep their capitals
        table.read(file, encoding="utf-8")
        entries += (
            EntryPoint(name, value, group) for group in table.sections() for name, value in table[group].items()
        )
    return tuple(entries)
