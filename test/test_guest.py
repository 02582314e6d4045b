"""Without the folder of Autoware's vehicles, everything else works: nothing else of the package knows this guest."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.guest import needs_autoware

ROOT = Path(__file__).resolve().parents[1]

#: What tests need of a checkout.
PARTS = ("bench", "config", "docs", "examples", "launch", "models", "test", "tools", "vds_gz", "worlds")
FILES = ("package.xml", "pyproject.toml", "setup.cfg", "setup.py", "README.md", "CONTRIBUTING.md", "dev")

#: Tests of the whole distribution: its pages and its packages, which are about the guest too.
OF_THE_WHOLE = ("test_docs.py", "test_guest.py", "test_notebooks.py", "test_packaging.py", "test_release.py", "bench")

#: Enough to find what needs the guest in each group of packages.
QUICK = (
    *("test_api.py", "core/parameters/test_presets.py", "core/parameters/test_schema.py"),
    *("programs/interface/test_commands.py", "programs/commandlog/test_log.py", "tools/study/reading"),
)

#: An editable install finds what is missing in the copy.
WITHOUT_EDITABLE = """
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "__editable__" not in getattr(finder, "__module__", "")]
"""

pytestmark = needs_autoware


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the checkout without the folder."""
    folder = tmp_path_factory.mktemp("without_guest")
    for part in PARTS:
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__", "site", "autoware"))
    for name in FILES:
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "models" / "autoware", folder / "models" / "autoware")
    shutil.copytree(ROOT / "test" / "reference" / "autoware", folder / "test" / "reference" / "autoware")
    (folder / "sitecustomize.py").write_text(WITHOUT_EDITABLE)
    assert run(folder, "-c", "import vds_gz.autoware").returncode == 1
    return folder


def run(folder, *words, timeout=600.0):
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=timeout
    )


def test_every_module_is_imported_without_the_guest(copy):
    """But those that need what is not installed here."""
    code = (
        "import importlib, pkgutil, vds_gz\n"
        "for module in pkgutil.walk_packages(vds_gz.__path__, 'vds_gz.'):\n"
        "    if module.name.endswith('__main__'): continue\n"
        "    try: importlib.import_module(module.name)\n"
        "    except ModuleNotFoundError as error:\n"
        "        if error.name.startswith('vds_gz'): raise\n"
        "    except ImportError as error:\n"
        "        if 'vds_gz' in str(error): raise\n"
        "print(vds_gz.__file__, *vds_gz.models())\n"
    )
    done = run(copy, "-c", code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [
        str(copy / "vds_gz" / "__init__.py"),
        *("bicycle", "differential", "four_wheel_steering", "omni", "single_track", "swerve"),
    ]


def test_a_vehicle_is_configured_and_driven_without_the_guest(copy):
    for words in (["check", "config/forklift.yaml"], ["identify", "--help"], ["profile", "slalom", "-o", "log.csv"]):
        done = run(copy, "-m", "vds_gz.cli", *words)
        assert done.returncode == 0, done.stderr
    done = run(copy, "-m", "vds_gz.cli", "replay", "log.csv", "--preset", "indoor_robot", "-o", "replay.csv")
    assert done.returncode == 0, done.stderr
    refused = run(copy, "-m", "vds_gz.cli", "maps", "config/maps/accel_map.csv")
    assert (refused.returncode, "there is no command 'maps'" in refused.stderr) == (2, True)
    refused = run(copy, "-m", "vds_gz.cli", "check", "config/autoware_car.yaml")
    assert refused.returncode == 1
    assert "'model' is 'actuation_cmd_mechanical'" in refused.stderr


def test_tests_of_every_group_pass_without_the_guest(copy):
    done = run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(f"test/{name}" for name in QUICK))
    assert done.returncode == 0, done.stdout[-5000:]


@pytest.mark.slow
def test_all_other_tests_pass_without_the_guest(copy):
    left_out = [f"--ignore=test/{name}" for name in OF_THE_WHOLE]
    done = run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "2", *left_out, "test", timeout=7200.0)
    assert done.returncode == 0, done.stdout[-10000:]
