"""Where the package's data lie: config, models, worlds, launch."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterator
from pathlib import Path

PACKAGE = "vds_gz"


def share(*parts: str) -> Path:
    """The path of a data file or folder of this package, e.g. ``share("config", "forklift.yaml")``.

    Raises:
        FileNotFoundError: It is nowhere; the message lists where it was looked for.
    """
    places = [place.joinpath(*parts) for place in _places()]
    for path in places:
        if path.exists():
            return path
    wanted = "/".join(parts) or "the data folder"
    looked = "".join(f"\n  {path}" for path in places) or " (no data folder of the package was found at all)"
    raise FileNotFoundError(f"{PACKAGE} has no {wanted}; looked for:{looked}")


def _places() -> Iterator[Path]:
    """The data folders there are, nearest to the running code first.

    A folder counts only with a ``package.xml`` in it, so that a stranger's ``config`` in site-packages is not ours.
    """
    return (place for place in dict.fromkeys(_candidates()) if (place / "package.xml").is_file())


def _candidates() -> Iterator[Path]:
    package = Path(__file__).resolve().parent
    yield package.parent  # a checkout, an editable install, colcon build --symlink-install
    # Installed: <prefix>/share is beside an ancestor of this module, whatever the scheme (colcon, venv, --user, --target).
    for prefix in package.parents:
        yield prefix / "share" / PACKAGE
    # The code was zipped or moved away from its data: what ROS and Python know of their prefixes is left.
    for prefix in filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)):
        yield Path(prefix) / "share" / PACKAGE
    yield Path(sysconfig.get_path("data")) / "share" / PACKAGE
