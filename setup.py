"""What setup.cfg cannot say: the data files, found by walking the folders."""

from pathlib import Path

from setuptools import setup

SHARE = Path("share") / "vds_gz"


def data_files() -> list[tuple[str, list[str]]]:
    """Every folder to install into, with its files."""
    found = [
        ("share/ament_index/resource_index/packages", ["resource/vds_gz"]),
        (SHARE.as_posix(), ["package.xml"]),
    ]
    for top in ("config", "launch", "models", "worlds"):
        for folder in sorted({file.parent for file in Path(top).rglob("*") if _is_data(file)}):
            files = sorted(file.as_posix() for file in folder.iterdir() if _is_data(file))
            found.append(((SHARE / folder).as_posix(), files))
    return found


def _is_data(path: Path) -> bool:
    return path.is_file() and path.suffix != ".pyc"


# From setup.cfg the version of Python would come as an object, which colcon cannot take over from this process.
setup(data_files=data_files(), python_requires=">=3.10")
