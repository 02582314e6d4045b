"""Draws the pictures of docs/study.md by the commands that stand there, and the README's picture of a run.

The README's comes from a replay of what `./dev run` drives: the vehicle is the same, and nothing waits for the clock.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from vds_gz.cli import main as vds_gz
from vds_gz.configuration import parameters_of_preset
from vds_gz.share import share
from vds_gz.study.recording import read
from vds_gz.study.report import plots
from vds_gz.study.report.summary import summarize

DOCS = Path(__file__).resolve().parents[1]

#: Of docs/study.md, as they stand there, without `vds-gz`.
TUTORIAL = (
    "profile steps --speed 2 --steering 0.5 --seed 1 -o steps.csv",
    "replay steps.csv --params robot.yaml -o recording.mcap",
    "identify recording.mcap --params my_robot.yaml",
    "compare recording.mcap identified/parameters.yaml",
    "profile pedals --speed 15 --accel 0.8 --brake 0.6 --seed 1",
    "replay pedals.csv --params car.yaml -o pedals.mcap",
    "identify pedals.mcap --model pedals --velocity /velocity_status -o pedals",
    "profile turns --seed 1",
    "replay turns.csv --params car.yaml -o turns.mcap",
    "identify turns.mcap --model steering --velocity /velocity_status --steering /steering_status -o steering",
)

#: What these write, and the picture that it becomes.
PICTURES = {
    "identified/identified.png": "identified.png",
    "compare/overlay.png": "compared.png",
    "pedals/accel_map.png": "accel_map_identified.png",
    "steering/identified.png": "steering_identified.png",
}

#: What the README's vehicle is and drives.
PRESET, DRIVE = "ackermann_car", "parking_lot.csv"


def run(command: str) -> None:
    """Run a command of the tutorial."""
    if vds_gz(command.split()) != 0:
        raise SystemExit(f"docs/figures/study.py: vds-gz {command} failed")


def draw_response() -> None:
    """The picture that `./dev run` makes."""
    run(f"replay {share('config', 'drives', DRIVE)} --preset {PRESET} -o run.mcap")
    parameters, recording = parameters_of_preset(PRESET), read("run.mcap")
    rows = summarize(recording, parameters.vehicle)
    title = f"{PRESET} ({parameters.model}) driven by {DRIVE}"
    plots.draw(recording, rows, parameters, title, DOCS / "pictures" / "response.png")


def main() -> None:
    """Draw everything."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for file in (DOCS / "study").glob("*.yaml"):
            shutil.copy(file, folder)
        for command in TUTORIAL:
            run(command)
        for made, picture in PICTURES.items():
            shutil.copy(made, DOCS / "pictures" / picture)
        draw_response()
        os.chdir(DOCS)


if __name__ == "__main__":
    main()
