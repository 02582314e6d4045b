"""What setup.cfg cannot say well: data files found by walking the folders, and two values that colcon trips over there.

colcon reads the package's data from a copy of some of its files, as plain Python values: the readme is not among those
files, and from setup.cfg the version of Python would come as an object.
"""

from pathlib import Path

from setuptools import setup

README = Path("README.md")
SHARE = Path("share") / "vds_gz"


def data_files() -> list[tuple[str, list[str]]]:
    """Every folder to install into, with its files."""
    found = [
        ("share/ament_index/resource_index/packages", ["resource/vds_gz"]),
        (SHARE.as_posix(), ["package.xml"]),
    ]
    for top in ("config", "launch", "models", "worlds"):
        files = sorted(path for path in Path(top).rglob("*") if path.is_file() and path.suffix != ".pyc")
        for folder in sorted({file.parent for file in files}):
            inside = [file.as_posix() for file in files if file.parent == folder]
            found.append(((SHARE / folder).as_posix(), inside))
    return found


setup(
    python_requires=">=3.10",
    long_description=README.read_text(encoding="utf-8") if README.is_file() else "",
    long_description_content_type="text/markdown",
    data_files=data_files(),
)
