"""Updates the outputs and pictures of the pages on recording, identification, replay and comparison.

It also draws the README's picture of a run, from a replay of what `./dev run` drives.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from vds_gz.core.configuration import load_parameters
from vds_gz.core.share import share
from vds_gz.core.world.load_world import load_world
from vds_gz.programs.commandlog.command_log import stream
from vds_gz.tools.study.offline.offline_replay import Replay
from vds_gz.tools.study.offline.replay_bag import write_mcap
from vds_gz.tools.study.reading.recorded_run import read
from vds_gz.tools.study.report.run_figure import draw, summarize

DOCS = Path(__file__).resolve().parents[1]

#: What its commands write, and the picture that it becomes.
PICTURES = {
    "noisy/identified.png": "identified.png",
    "compare/overlay.png": "compared.png",
    "pedals/accel_map.png": "accel_map_identified.png",
    "steering/identified.png": "steering_identified.png",
}

#: What the README's vehicle is and drives.
PRESET, DRIVE, WORLD = "ackermann_car", "parking_lot.csv", "parking_lot"


def draw_response() -> None:
    """The picture that `./dev run` makes."""
    with tempfile.TemporaryDirectory() as folder:
        run = str(Path(folder) / "run.mcap")
        parameters = load_parameters(PRESET, {"world": WORLD})
        write_mcap(
            Replay(stream(share("config", "drives", DRIVE)), parameters), Path(run), parameters, lambda count: None
        )
        recording = read(run)
    rows = summarize(recording, parameters.vehicle)
    title = f"{PRESET} ({parameters.model}) driven by {DRIVE}"
    draw(recording, rows, parameters, title, DOCS / "pictures" / "response.png", load_world(WORLD))


if __name__ == "__main__":
    sys.path.insert(0, str(DOCS))
    from sessions import STUDY, remade

    remade(STUDY, DOCS / "study", PICTURES)
    draw_response()
