"""The parts of the package's description that setup.cfg cannot hold.

Data files are found by walking the folders. colcon reads setup.cfg from a copy of some of the package's files and needs
plain Python values: the readme is missing in that copy, and setuptools turns `python_requires` into an object.
"""

from pathlib import Path

from setuptools import setup

README = Path("README.md")
SHARE = Path("share") / "vds_gz"


def data_files() -> list[tuple[str, list[str]]]:
    """The folders to install into, each with its files."""
    installed = [
        ("share/ament_index/resource_index/packages", ["resource/vds_gz"]),
        (SHARE.as_posix(), ["package.xml"]),
    ]
    for top in ("config", "launch", "models", "worlds"):
        files = sorted(path for path in Path(top).rglob("*") if path.is_file() and path.suffix != ".pyc")
        for folder in sorted({file.parent for file in files}):
            members = [file.as_posix() for file in files if file.parent == folder]
            installed.append(((SHARE / folder).as_posix(), members))
    return installed


setup(
    python_requires=">=3.10",
    long_description=README.read_text(encoding="utf-8") if README.is_file() else "",
    long_description_content_type="text/markdown",
    data_files=data_files(),
)
