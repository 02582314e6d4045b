"""Tables as text, HTML pages, and values for JSON."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path


def text_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table with a head, and columns as wide as their widest cell."""
    cells = [tuple(head), *map(tuple, rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells)
    return "\n".join(lines)


def finite(numbers: Mapping[str, object]) -> dict[str, object]:
    """The same with None in place of NaN and infinity, which JSON does not have."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in numbers.items()
    }


_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #22303c; max-width: 1100px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; margin: 0.5rem 0; } img { max-width: 100%; }
th, td { text-align: left; padding: 0.25rem 0.9rem 0.25rem 0; border-bottom: 1px solid #d9e0e6; }
td:not(:first-child) { font-variant-numeric: tabular-nums; } .bad { color: #b3261e; font-weight: 600; }
"""


class ReportPage:
    """A report that grows from top to bottom."""

    def __init__(self, title: str) -> None:
        """Begin with the title."""
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

    def picture(self, png: bytes, what: str) -> None:
        """Add a picture."""
        data = base64.b64encode(png).decode()
        self._parts.append(f'<img alt="{escape(what)}" src="data:image/png;base64,{data}">')

    def write(self, folder: Path, content: Mapping[str, object]) -> None:
        """Write report.html, and report.json with this content."""
        (folder / "report.html").write_text(self.html(), encoding="utf-8")
        (folder / "report.json").write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")

    def html(self) -> str:
        """The text of report.html."""
        head = f'<meta charset="utf-8"><title>{self._title}</title><style>{_STYLE}</style>'
        body = "\n".join(self._parts)
        return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n</body></html>\n'


def _row(cells: Sequence[str], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"
