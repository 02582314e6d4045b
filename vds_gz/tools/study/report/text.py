"""Tables as text, and reports as HTML pages with a JSON file for programs."""

from __future__ import annotations

import base64
import dataclasses
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def text_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table with a head, and columns as wide as their widest cell."""
    cells = [tuple(head), *map(tuple, rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells)
    return "\n".join(lines)


def plain(value: object) -> object:
    """Dataclasses, mappings, sequences and arrays in a form for JSON; NaN and infinity, which it lacks, become None."""
    if dataclasses.is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(item) for item in (value.tolist() if isinstance(value, np.ndarray) else value)]
    return None if isinstance(value, float) and not math.isfinite(value) else value


_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #22303c; max-width: 1100px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; margin: 0.5rem 0; } img { max-width: 100%; }
th, td { text-align: left; padding: 0.25rem 0.9rem 0.25rem 0; border-bottom: 1px solid #d9e0e6; }
td:not(:first-child) { font-variant-numeric: tabular-nums; } .bad { color: #b3261e; font-weight: 600; }
"""


class ReportPage:
    """A report in a folder, to which parts are added from top to bottom."""

    def __init__(self, folder: Path, title: str) -> None:
        """Begin with the title."""
        self._folder = folder
        self._title = escape(title)
        self._parts = [f"<h1>{self._title}</h1>"]

    def heading(self, text: str) -> None:
        """Begin a section."""
        self._parts.append(f"<h2>{escape(text)}</h2>")

    def text(self, text: str, *, bad: bool = False) -> None:
        """Add a paragraph."""
        self._parts.append(f'<p class="{"bad" if bad else "good"}">{escape(text)}</p>')

    def table(self, head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Add a table."""
        lines = [_row(head, "th"), *(_row(row, "td") for row in rows)]
        self._parts.append(f"<table>{''.join(lines)}</table>")

    def picture(self, name: str, figure: Figure, what: str) -> None:
        """Add a picture, and write it as a PNG file with this name."""
        from vds_gz.tools.study.report.style import png

        picture = png(figure)
        (self._folder / name).write_bytes(picture)
        data = base64.b64encode(picture).decode()
        self._parts.append(f'<img alt="{escape(what)}" src="data:image/png;base64,{data}">')

    def write(self, content: Mapping[str, object]) -> None:
        """Write report.html, and report.json with this content."""
        head = f'<meta charset="utf-8"><title>{self._title}</title><style>{_STYLE}</style>'
        body = "\n".join(self._parts)
        html = f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n</body></html>\n'
        (self._folder / "report.html").write_text(html, encoding="utf-8")
        text = json.dumps(plain(content), indent=2, allow_nan=False)
        (self._folder / "report.json").write_text(text + "\n", encoding="utf-8")


def _row(cells: Sequence[str], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"
