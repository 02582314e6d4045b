"""The notebooks run from top to bottom, and give what they show.

Their cells are run by a plain Python in its own process, not by a Jupyter kernel: see docs/notebooks.py.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.outputs import check_output

import vds_gz

ROOT = Path(vds_gz.__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
pytestmark = pytest.mark.skipif(not NOTEBOOKS, reason="this is an installation, not a checkout")

#: What they need beside NumPy.
NEEDS = {
    "first_steps": ("matplotlib",),
    "identify": ("matplotlib", "numba", "scipy"),
    "delay_margin": ("matplotlib", "numba"),
    "train_with_latency": ("matplotlib", "numba", "gymnasium"),
}
LONG = ("delay_margin", "identify", "train_with_latency")


def run(notebook: Path, out: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "docs" / "notebooks.py"), str(notebook), str(out)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def outputs(notebook: Path) -> dict[str, tuple[list[str], int]]:
    """Of each cell of code what it printed, and how many pictures it drew."""
    result = {}
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            texts = ["".join(one["text"]) for one in cell["outputs"] if one["output_type"] == "stream"]
            pictures = [one for one in cell["outputs"] if "image/png" in one.get("data", {})]
            result[cell["id"]] = "".join(texts).splitlines(), len(pictures)
    return result


@pytest.mark.parametrize(
    "notebook",
    [pytest.param(one, id=one.stem, marks=pytest.mark.slow if one.stem in LONG else ()) for one in NOTEBOOKS],
)
def test_a_notebook_gives_what_it_shows(notebook, tmp_path):
    for module in NEEDS[notebook.stem]:
        pytest.importorskip(module)
    done = run(notebook, tmp_path / "out.ipynb")
    assert done.returncode == 0, done.stderr
    shown, given = outputs(notebook), outputs(tmp_path / "out.ipynb")
    assert any(pictures for _, pictures in shown.values())
    assert shown.keys() == given.keys()
    for cell, (lines, pictures) in shown.items():
        check_output(lines, given[cell][0])
        assert pictures == given[cell][1], cell


def test_a_cell_that_fails_is_found_by_its_name(tmp_path):
    cells = [("good", "x = 3"), ("bad", "y = 4\nassert x == y")]
    cells = [{"cell_type": "code", "id": name, "source": source, "outputs": []} for name, source in cells]
    (tmp_path / "wrong.ipynb").write_text(json.dumps({"cells": cells}), encoding="utf-8")
    done = run(tmp_path / "wrong.ipynb", tmp_path / "out.ipynb")
    assert done.returncode == 1
    assert 'File "wrong.ipynb, cell bad", line 2' in done.stderr
    assert not (tmp_path / "out.ipynb").exists()


def test_every_notebook_is_small_and_named_where_examples_are():
    assert {notebook.stem for notebook in NOTEBOOKS} == NEEDS.keys()
    for notebook in NOTEBOOKS:
        assert notebook.stat().st_size < 100_000
        assert f"](notebooks/{notebook.name})" in (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
