"""Makes anew what docs/study.md shows of its commands, outputs and pictures, and the README's picture of a run.

The README's comes from a replay of what `./dev run` drives: the vehicle is the same, and nothing waits for the clock.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from vds_gz.cli import main as vds_gz
from vds_gz.configuration import load_parameters
from vds_gz.share import share
from vds_gz.study.recording import read
from vds_gz.study.report.run_figure import draw
from vds_gz.study.report.summary import summarize

DOCS = Path(__file__).resolve().parents[1]

PAGE = DOCS / "study.md"

#: What its commands write, and the picture that it becomes.
PICTURES = {
    "identified/identified.png": "identified.png",
    "compare/overlay.png": "compared.png",
    "pedals/accel_map.png": "accel_map_identified.png",
    "steering/identified.png": "steering_identified.png",
}

#: What the README's vehicle is and drives.
PRESET, DRIVE = "ackermann_car", "parking_lot.csv"


def draw_response() -> None:
    """The picture that `./dev run` makes."""
    vds_gz(["replay", str(share("config", "drives", DRIVE)), "--preset", PRESET, "-o", "run.mcap"])
    parameters, recording = load_parameters(PRESET), read("run.mcap")
    rows = summarize(recording, parameters.vehicle)
    title = f"{PRESET} ({parameters.model}) driven by {DRIVE}"
    draw(recording, rows, parameters, title, DOCS / "pictures" / "response.png")


def main() -> None:
    """Draw everything."""
    page = PAGE.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(DOCS / "study", folder, dirs_exist_ok=True)
        os.chdir(folder)
        outputs = {one.text: printed(one.words) for one in repeatable(page)}
        for made, picture in PICTURES.items():
            shutil.copy(made, DOCS / "pictures" / picture)
        draw_response()
        os.chdir(DOCS)
    PAGE.write_text(replaced(page, outputs), encoding="utf-8")


if __name__ == "__main__":
    sys.path.insert(0, str(DOCS))
    from sessions import printed, repeatable, replaced

    main()
