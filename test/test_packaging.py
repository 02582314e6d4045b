"""The package as pip and as colcon install it, with nothing fetched."""

from __future__ import annotations

import configparser
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
import zipfile
from pathlib import Path

import pytest
import yaml

import vds_gz

ROOT = Path(vds_gz.__file__).parents[1]
PROGRAMS = {"sim_node", "joystick_teleop", "vds-gz"}
FOLDERS = ("config", "launch", "models", "worlds")

setuptools = pytest.importorskip("setuptools")
pytestmark = pytest.mark.skipif(not (ROOT / "setup.py").is_file(), reason="this is an installation, not a checkout")


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A copy of the checkout, so that no build leaves anything behind in it."""
    copy = tmp_path_factory.mktemp("source") / "vds_gz"
    for path in ROOT.iterdir():
        if path.is_dir() and path.name in (*FOLDERS, "resource", "vds_gz"):
            shutil.copytree(path, copy / path.name, ignore=shutil.ignore_patterns("__pycache__"))
        elif path.is_file():
            copy.mkdir(exist_ok=True)
            shutil.copy(path, copy)
    return copy


@pytest.fixture(scope="module")
def wheel(source, tmp_path_factory):
    """What pip makes of it on the way."""
    if tuple(int(part) for part in setuptools.__version__.split(".")[:2]) < (70, 1):
        pytest.importorskip("wheel", reason="setuptools < 70.1 makes a wheel only with the package 'wheel'")
    out = tmp_path_factory.mktemp("wheel")
    run(source, "-c", f"from setuptools.build_meta import build_wheel; build_wheel({str(out)!r})")
    return next(out.glob("*.whl"))


@pytest.fixture(scope="module")
def prefix(source, tmp_path_factory):
    """An installation the way colcon does it."""
    root = tmp_path_factory.mktemp("colcon")
    build = ["egg_info", "--egg-base", str(root), "build", "--build-base", str(root / "build")]
    install = ["install", "--prefix", str(root / "install"), "--record", str(root / "log")]
    run(source, "setup.py", *build, *install, "--single-version-externally-managed", "install_data")
    return root / "install"


def run(folder: Path, *command: str, **environment: str) -> str:
    """Run Python in a folder; what it printed."""
    done = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": "", **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def tree(root: Path) -> set[str]:
    """The data files below a folder."""
    files = [file for folder in FOLDERS for file in (root / folder).rglob("*")]
    return {file.relative_to(root).as_posix() for file in files if file.is_file() and file.suffix != ".pyc"}


def definitions(package: Path) -> set[str]:
    """The message and service definitions below a folder, and the files of the live page."""
    patterns = ("*.msg", "*.srv", "static/*")
    return {file.name for pattern in patterns for file in package.rglob(pattern)}


def test_colcon_puts_programs_where_ros2_run_looks(prefix):
    assert {path.name for path in (prefix / "lib" / "vds_gz").iterdir()} == PROGRAMS
    assert not (prefix / "bin").exists()


def test_colcon_installs_all_data(prefix):
    assert tree(prefix / "share" / "vds_gz") == tree(ROOT)
    assert (prefix / "share" / "ament_index" / "resource_index" / "packages" / "vds_gz").is_file()
    assert (prefix / "share" / "vds_gz" / "package.xml").is_file()


def test_colcon_can_read_the_version_of_python(source):
    """It takes over what setuptools knows as the text of Python literals; an object in it stops the build."""
    code = "import setuptools; from distutils.core import run_setup; "
    code += "print(repr(run_setup('setup.py', stop_after='config').python_requires))"
    assert run(source, "-c", code) == "'>=3.10'"


def test_pip_leaves_the_programs_to_bin(wheel):
    """Entry points become programs in bin/; scripts inside the wheel would be those of colcon."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        points = archive.read(next(name for name in names if name.endswith(".dist-info/entry_points.txt"))).decode()
    assert {line.split(" = ")[0] for line in points.splitlines() if " = " in line} == PROGRAMS
    assert not any("lib/vds_gz" in name or ".data/scripts" in name for name in names)


def test_pip_installs_everything_and_it_is_found_from_anywhere(wheel, tmp_path):
    pytest.importorskip("pip")
    run(tmp_path, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", "there", str(wheel))
    there = tmp_path / "there"
    assert {path.stem for path in (there / "bin").iterdir()} == PROGRAMS
    assert definitions(there / "vds_gz") == definitions(ROOT / "vds_gz")
    assert (there / "vds_gz" / "py.typed").is_file()
    result = run(tmp_path, "-c", "from vds_gz.core.share import share; print(share())", PYTHONPATH=str(there))
    assert Path(result) == there / "share" / "vds_gz"
    assert tree(Path(result)) == tree(ROOT)


def test_all_files_agree_on_name_version_licence_and_maintainer():
    manifest = ElementTree.parse(ROOT / "package.xml").getroot()
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    metadata = setup["metadata"]
    assert manifest.findtext("name") == metadata["name"] == "vds_gz"
    assert manifest.findtext("version") == citation["version"] == vds_gz.__version__

    licence = manifest.find("license")
    assert licence.text == metadata["license"] == citation["license"] == "Apache-2.0"
    assert licence.get("file") == metadata["license_files"]
    title = (ROOT / licence.get("file")).read_text(encoding="utf-8").split("http")[0]
    assert title.split() == ["Apache", "License", "Version", "2.0,", "January", "2004"]

    assert manifest.findtext("maintainer") == metadata["author"]
    assert [author["name"] for author in citation["authors"]] == [f"The {metadata['author']}"]
    security = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert "the maintainers' address in `package.xml`" in security
    assert "@" not in security, "the address stands in package.xml only"
