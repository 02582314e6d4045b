"""Make the generated pages and pictures anew: ``./dev docs``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from vds_gz.cli.check import reference_page

DOCS = Path(__file__).resolve().parent

#: Scripts whose pictures need nothing else; the other ones in figures/ need a recording or a Gazebo and say which.
FIGURES = ("autoware.py", "delay_margin.py", "study.py", "train.py", "worlds.py")


def main() -> None:
    """Write the parameter reference and draw the pictures."""
    (DOCS / "parameters.md").write_text(reference_page(), encoding="utf-8")
    for script in FIGURES:
        subprocess.run([sys.executable, str(DOCS / "figures" / script)], check=True)


if __name__ == "__main__":
    main()
