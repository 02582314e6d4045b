"""Data files are found wherever the package lies, and not in a stranger's folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from vds_gz.core import share as module
from vds_gz.core.share import share


@pytest.fixture(autouse=True)
def _no_other_installation(monkeypatch, tmp_path):
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)
    monkeypatch.setattr(module.sysconfig, "get_path", lambda name: str(tmp_path / "python"))


def installed(folder: Path) -> Path:
    """A data folder with a manifest and one file in it."""
    (folder / "config").mkdir(parents=True)
    (folder / "package.xml").touch()
    (folder / "config" / "car.yaml").touch()
    return folder / "config" / "car.yaml"


def lies_in(monkeypatch, folder: Path) -> None:
    """The package's code is in this folder."""
    folder.mkdir(parents=True, exist_ok=True)
    monkeypatch.setattr(module, "CODE", folder / "vds_gz")


def test_checkout():
    root = Path(module.__file__).parents[2]
    assert share("models", "common.xacro") == root / "models" / "common.xacro"


def test_from_another_directory(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert share("models", "common.xacro").is_absolute()


@pytest.mark.parametrize(
    "code",
    [
        "lib/python3.12/site-packages",  # colcon, venv, --user
        "local/lib/python3.12/dist-packages",  # Debian
        "Lib/site-packages",  # Windows
        "",  # --target
    ],
)
def test_installed(monkeypatch, tmp_path, code):
    file = installed(tmp_path / "prefix/share/vds_gz")
    lies_in(monkeypatch, tmp_path / "prefix" / code)
    assert share("config", "car.yaml") == file


def test_ament_prefix(monkeypatch, tmp_path):
    file = installed(tmp_path / "overlay/share/vds_gz")
    lies_in(monkeypatch, tmp_path / "elsewhere")
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{tmp_path / 'empty'}:{tmp_path / 'overlay'}")
    assert share("config", "car.yaml") == file


def test_python_prefix(monkeypatch, tmp_path):
    file = installed(tmp_path / "python/share/vds_gz")
    lies_in(monkeypatch, tmp_path / "elsewhere")
    assert share("config", "car.yaml") == file


def test_the_nearest_wins(monkeypatch, tmp_path):
    installed(tmp_path / "overlay/share/vds_gz")
    near = installed(tmp_path / "prefix/share/vds_gz")
    lies_in(monkeypatch, tmp_path / "prefix/lib")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "overlay"))
    assert share("config", "car.yaml") == near


def test_a_folder_of_someone_else_does_not_count(monkeypatch, tmp_path):
    site = tmp_path / "site-packages"
    (site / "config").mkdir(parents=True)
    (site / "config" / "car.yaml").touch()
    lies_in(monkeypatch, site)
    with pytest.raises(FileNotFoundError):
        share("config", "car.yaml")


def test_missing_file_names_it_and_the_places(monkeypatch, tmp_path):
    lies_in(monkeypatch, tmp_path / "prefix")
    with pytest.raises(FileNotFoundError) as error:
        share("config", "nothing.yaml")
    assert "config/nothing.yaml" in str(error.value)
    assert str(tmp_path / "prefix" / "share" / "vds_gz") in str(error.value)
