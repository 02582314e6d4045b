"""Files that an SDF file names: found on this machine, by the rules of Gazebo, and never downloaded."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlparse

from vds_gz.world.xml_reader import Node

#: Where Gazebo keeps what it has downloaded.
FUEL_CACHE = Path(".gz", "fuel")


@dataclass(frozen=True, slots=True)
class Resources:
    """Where files are looked for.

    Attributes:
        environment: ``GZ_SIM_RESOURCE_PATH`` for ``model://`` and relative names, ``AMENT_PREFIX_PATH`` for
            ``package://``, ``GZ_FUEL_CACHE_PATH`` for ``https://``.
    """

    environment: Mapping[str, str]

    def find(self, uri: Node) -> Path:
        """The file or folder that the text of an element names.

        Raises:
            WorldError: It is not on this machine, or leads out of the folders named above.
        """
        text = unquote((uri.text or "").strip())
        parsed = urlparse(text)
        inner = PurePosixPath(parsed.netloc + parsed.path if parsed.scheme in ("model", "package") else parsed.path)
        if not text or ".." in inner.parts:
            uri.fail(f"<{uri.tag}> is '{text}'; it must name a file without '..'")
        looked: list[Path] = []
        for candidate in self._candidates(parsed.scheme, parsed.netloc, inner, uri.file.parent):
            if candidate.exists():
                return candidate
            looked.append(candidate)
        places = ", ".join(map(str, looked)) or "nowhere: no folder for such names is set"
        uri.fail(f"<{uri.tag}> '{text}' is not on this machine, and nothing is downloaded; looked for {places}")

    def _candidates(self, scheme: str, host: str, inner: PurePosixPath, beside: Path) -> Iterator[Path]:
        if scheme in ("http", "https"):
            yield from self._in_fuel_cache(host, inner)
        elif scheme == "package":
            name, rest = inner.parts[0], PurePosixPath(*inner.parts[1:])
            for prefix in self._folders("AMENT_PREFIX_PATH"):
                yield prefix / "share" / name / rest
        elif scheme == "file" or inner.is_absolute():
            yield Path(inner)
        else:
            yield beside / inner
            if scheme == "model":
                yield beside.parent / inner
            for folder in self._folders("GZ_SIM_RESOURCE_PATH"):
                yield folder / inner

    def _in_fuel_cache(self, host: str, inner: PurePosixPath) -> Iterator[Path]:
        """``https://SERVER/1.0/OWNER/models/NAME[/VERSION][/files/...]``, in its highest version."""
        pattern = r"/1\.0/([^/]+)/(?:models|worlds)/([^/]+)(?:/(\d+|tip))?(?:/files/(.+))?/?"
        match = re.fullmatch(pattern, str(inner).lower())
        if match is None:
            return
        cache = self.environment.get("GZ_FUEL_CACHE_PATH") or str(Path(self.environment.get("HOME", "")) / FUEL_CACHE)
        owner, name, version, rest = match.groups()
        model = Path(cache) / host / owner / "models" / name
        versions = sorted((int(one.name) for one in model.glob("*") if one.name.isdecimal()), reverse=True)
        chosen = int(version) if version and version != "tip" else versions[0] if versions else 1
        yield model / str(chosen) / (rest or "")

    def _folders(self, variable: str) -> list[Path]:
        return [Path(part) for part in self.environment.get(variable, "").split(os.pathsep) if part]
