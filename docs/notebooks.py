"""Run a notebook from top to bottom and write it with what its cells give: ``python docs/notebooks.py FILE [OUT]``.

The cells of examples/notebooks are plain Python that prints and draws, so they need no Jupyter to be run: one after the
other, in one namespace and in a temporary folder, each gives what it prints and the figures that it leaves open.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import io
import json
import linecache
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def run_cell(source: str, name: str, namespace: dict[str, Any]) -> list[dict[str, Any]]:
    """The outputs of a cell, as a notebook holds them; ``name`` stands for its file in tracebacks."""
    lines = source.splitlines(keepends=True)
    linecache.cache[name] = (len(source), None, lines, name)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(source, name, "exec"), namespace)
    text = printed.getvalue().splitlines(keepends=True)
    outputs: list[dict[str, Any]] = [{"name": "stdout", "output_type": "stream", "text": text}] if text else []
    outputs += [
        {"data": {"image/png": figure}, "metadata": {}, "output_type": "display_data"} for figure in open_figures()
    ]
    return outputs


def open_figures() -> list[str]:
    """Matplotlib's open figures as PNG files in base64; they are closed."""
    if "matplotlib.pyplot" not in sys.modules:
        return []
    from matplotlib import pyplot

    pictures = []
    for number in pyplot.get_fignums():
        file = io.BytesIO()
        pyplot.figure(number).savefig(file, format="png")
        pictures.append(base64.b64encode(file.getvalue()).decode() + "\n")
    pyplot.close("all")
    return pictures


def main(arguments: Sequence[str]) -> None:
    """Run the notebook of the first argument and write it to the second one, or over the first."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="the notebook")
    parser.add_argument("out", type=Path, nargs="?", help="where it is written; over the notebook itself if left out")
    options = parser.parse_args(arguments)
    file, out = options.file, (options.out or options.file).absolute()
    notebook = json.loads(file.read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    namespace: dict[str, Any] = {"__name__": "__main__"}
    os.environ["MPLBACKEND"] = "agg"
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for count, cell in enumerate(cells, start=1):
            cell["outputs"] = run_cell("".join(cell["source"]), f"{file.name}, cell {cell['id']}", namespace)
            cell["execution_count"] = count
    out.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
