"""The folders of ROS packages and of Gazebo's models, in an installation or in plain clones beside a file."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterator
from pathlib import Path

#: How far above a file packages are searched, how deep below each folder, and in how many folders at most.
ABOVE, BELOW, MOST_FOLDERS = 5, 3, 4000

#: Folders in which no package's source is.
_SKIPPED = {"build", "install", "log", "node_modules", "__pycache__", "meshes", "materials", "venv", "site-packages"}

_NAME = re.compile(r"<name>\s*([\w.-]+)\s*</name>")

#: Lists of folders that hold models or packages, by Gazebo's releases.
MODEL_PATHS = ("GZ_SIM_RESOURCE_PATH", "IGN_GAZEBO_RESOURCE_PATH", "SDF_PATH", "GAZEBO_MODEL_PATH")


class Packages:
    """Finds packages by name.

    An installed package counts first, then one whose source stands in a folder above ``beside``, the nearest one first.
    """

    def __init__(self, beside: Path) -> None:
        self._beside = beside.resolve()
        self._known: dict[str, Path] = {}
        self._levels = self._above()

    def find(self, name: str) -> Path | None:
        """The folder of a package with its share files; None if there is none."""
        return self._installed(name) or self._source(name)

    def model(self, name: str) -> Path | None:
        """The folder of a model, as ``model://name`` means it: a folder of that name in a list, or a package."""
        for folder in _listed(*MODEL_PATHS):
            if (folder / name).is_dir():
                return folder / name
        above = [self._beside, *self._beside.parents][: ABOVE + 1]
        for folder in above:
            for place in (folder / name, folder / "models" / name):
                if place.is_dir():
                    return place
        return self.find(name)

    def _installed(self, name: str) -> Path | None:
        for prefix in _listed("AMENT_PREFIX_PATH"):
            if (share := prefix / "share" / name).is_dir():
                return share
        return None

    def _source(self, name: str) -> Path | None:
        while name not in self._known:
            level = next(self._levels, None)
            if level is None:
                return None
            for package, folder in level:
                self._known.setdefault(package, folder)
        return self._known[name]

    def _above(self) -> Iterator[list[tuple[str, Path]]]:
        """The packages below the folder, then those below the one above it, and so on."""
        above = [self._beside, *self._beside.parents][: ABOVE + 1]
        seen: set[Path] = set()
        for folder in above:
            if folder.parent == folder or folder == Path.home():
                return
            yield list(_packages(folder, seen))


def _listed(*variables: str) -> list[Path]:
    """The folders in lists of the environment."""
    texts = (os.environ.get(variable, "") for variable in variables)
    return [Path(part) for text in texts for part in text.split(os.pathsep) if part]


def _packages(top: Path, seen: set[Path]) -> Iterator[tuple[str, Path]]:
    """Names and folders of the packages in a folder, the topmost ones first."""
    waiting = deque([(top, 0)])
    count = 0
    while waiting and count < MOST_FOLDERS:
        folder, depth = waiting.popleft()
        count += 1
        if folder in seen:
            continue
        seen.add(folder)
        if (name := _package_name(folder)) is not None:
            yield name, folder
        if depth < BELOW:
            waiting.extend((inner, depth + 1) for inner in _folders(folder))


def _package_name(folder: Path) -> str | None:
    try:
        with (folder / "package.xml").open("rb") as file:
            match = _NAME.search(file.read(1 << 16).decode("utf-8", "replace"))
    except OSError:
        return None
    return match[1] if match else folder.name


def _folders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            inner = [
                entry.name
                for entry in entries
                if entry.is_dir() and not entry.name.startswith(".") and entry.name not in _SKIPPED
            ]
    except OSError:
        return []
    return [folder / name for name in sorted(inner)]
