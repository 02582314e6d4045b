"""Make the generated pages and pictures anew: ``./dev docs``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from vds_gz.check import reference_page

DOCS = Path(__file__).resolve().parent


def main() -> None:
    """Write the parameter reference and run every script that draws a picture."""
    (DOCS / "parameters.md").write_text(reference_page(), encoding="utf-8")
    for script in sorted((DOCS / "figures").glob("*.py")):
        subprocess.run([sys.executable, str(script)], check=True)


if __name__ == "__main__":
    main()
