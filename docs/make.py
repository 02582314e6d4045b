"""Regenerate the generated pages, pictures and notebooks' outputs, and build the site: ``./dev docs``."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from sessions import help_of

from vds_gz.cli.check import reference_page
from vds_gz.cli.program import COMMANDS

DOCS = Path(__file__).resolve().parent

#: How wide the page of commands is.
COLUMNS = "110"

#: Scripts whose pictures need nothing else; the other ones need a browser, a recording or a Gazebo and say which.
FIGURES = (
    "autoware.py",
    "delay_margin.py",
    "model.py",
    "nav2.py",
    "single_track.py",
    "study.py",
    "train.py",
    "worlds.py",
    "your_robot.py",
)


def commands_page() -> str:
    """The options of every command, in as many columns as ``COLUMNS`` in the environment says."""
    page = ["# Commands", "", "Options and exit codes of every command; `--help` shows explanations and examples too."]
    page += ["Made by `./dev docs`.", ""]
    for name, (_, _, what) in COMMANDS.items():
        paragraphs = re.sub(r"\n  -h, --help.*", "", help_of(name)).split("\n\n")
        shown = [text for text in paragraphs if re.match(r"(positional arguments|options):\n", text)]
        shown += re.findall(r"^exit code: .*", paragraphs[-1], re.IGNORECASE | re.MULTILINE)
        page += [f"## {name}", "", f"{what[0].upper()}{what[1:]}.", ""]
        page += ["```text", *"\n\n".join(shown).splitlines(), "```", ""] if shown else []
    return "\n".join(page)


def main() -> None:
    """Write the references, draw the pictures, run the notebooks, and make the site in docs/site."""
    (DOCS / "parameters.md").write_text(reference_page(), encoding="utf-8")
    os.environ["COLUMNS"] = COLUMNS
    if sys.version_info < (3, 13):  # since then argparse prints options in another way
        (DOCS / "commands.md").write_text(commands_page(), encoding="utf-8")
    for script in FIGURES:
        subprocess.run([sys.executable, str(DOCS / "figures" / script)], check=True)
    for notebook in sorted((DOCS.parent / "examples" / "notebooks").glob("*.ipynb")):
        subprocess.run([sys.executable, str(DOCS / "notebooks.py"), str(notebook)], check=True)
    site = [
        sys.executable,
        "-m",
        "sphinx",
        "--fail-on-warning",
        "--keep-going",
        "--quiet",
        str(DOCS),
        str(DOCS / "site"),
    ]
    subprocess.run(site, check=True)


if __name__ == "__main__":
    main()
