"""Updates the outputs and the picture of docs/sweep.md."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(DOCS))

from sessions import remade  # noqa: E402

#: What the page's commands write, and the picture that it becomes.
PICTURES = {"dead_time/cases.png": "sweep_dead_time.png"}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(DOCS.parent / "config" / "sweeps", Path(folder) / "config" / "sweeps")
        remade([DOCS / "sweep.md"], Path(folder), PICTURES)
