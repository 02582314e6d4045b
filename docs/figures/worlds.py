"""Draws the picture of docs/world.md: ``python docs/figures/worlds.py``."""

from __future__ import annotations

from pathlib import Path

from vds_gz.cli import main as vds_gz

PICTURES = Path(__file__).resolve().parents[1] / "pictures"


def main() -> None:
    """Draw the hall from above."""
    vds_gz(["world", "hall", "--png", str(PICTURES / "world_hall.png")])


if __name__ == "__main__":
    main()
