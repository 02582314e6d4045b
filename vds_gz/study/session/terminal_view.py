"""The live view on a terminal: references and actual values."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from vds_gz.geometry.se2 import Pose
from vds_gz.study.session.newest import Pair, Telemetry

if TYPE_CHECKING:
    from rich.console import RenderableType

#: Period of pictures on a terminal, and of lines elsewhere [s].
PICTURE_PERIOD, LINE_PERIOD = 0.1, 1.0

#: Width of a bar, and size of the map, in characters.
BAR, MAP_COLUMNS, MAP_ROWS = 41, 44, 14

#: Minimum width of the map [m].
LEAST_MAP = 4.0

_BRAILLE = 0x2800
# Bit of each dot of a braille character, by column and row.
_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
_ARROWS = "→↗↑↖←↙↓↘"


class View(Protocol):
    """A view of the telemetry."""

    def refresh(self) -> None:
        """Show the present state, if it is time; must be called often."""

    def close(self) -> None:
        """Restore the terminal."""


def open_view(telemetry: Telemetry, title: str) -> View:
    """A picture on a terminal; lines elsewhere, or if rich is not installed."""
    if sys.stdout.isatty():
        try:
            return PictureView(telemetry, title)
        except ModuleNotFoundError:
            pass
    return LineView(telemetry)


class LineView:
    """Prints a line once a second."""

    def __init__(self, telemetry: Telemetry) -> None:
        """Show this."""
        self._telemetry = telemetry
        self._next = time.monotonic() + LINE_PERIOD

    def refresh(self) -> None:
        """Print a line, if it is time."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + LINE_PERIOD
        telemetry = self._telemetry
        telemetry.update()
        pairs = "  ".join(
            f"{pair.label} {_number(pair.reference)} -> {_number(pair.actual)}" for pair in telemetry.pairs()
        )
        pose = telemetry.pose
        print(
            f"{telemetry.elapsed:6.1f} s  {pairs or 'no vehicle yet'}  at ({pose.x:.2f}, {pose.y:.2f}), "
            f"{math.degrees(pose.heading):.0f} deg  real-time factor {telemetry.real_time_factor:.2f}",
            flush=True,
        )

    def close(self) -> None:
        """Nothing to leave."""


class PictureView:
    """Draws a picture ten times a second."""

    def __init__(self, telemetry: Telemetry, title: str) -> None:
        """Show this under a title."""
        from rich.live import Live

        self._telemetry = telemetry
        self._title = title
        self._maximum: dict[str, float] = {}
        self._next = 0.0
        self._live = Live(auto_refresh=False, transient=False)
        self._live.start()

    def refresh(self) -> None:
        """Draw a picture, if it is time."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + PICTURE_PERIOD
        self._telemetry.update()
        self._live.update(self.picture(), refresh=True)

    def close(self) -> None:
        """Keep the last picture on the terminal."""
        self._live.stop()

    def picture(self) -> RenderableType:
        """The picture of the present state."""
        from rich.columns import Columns
        from rich.console import Group
        from rich.panel import Panel
        from rich.text import Text

        telemetry = self._telemetry
        head = Text.assemble(
            (f"{telemetry.elapsed:5.1f} s", "bold"),
            f"   real-time factor {telemetry.real_time_factor:.2f}   ",
            (telemetry.verdict, "cyan"),
            (f"   {telemetry.refused} refused", "bold red" if telemetry.refused else "dim"),
        )
        body = Columns([self._bars(), self._map()], padding=(0, 2)) if telemetry.pairs() else Text("no vehicle yet")
        rates = "  ".join(f"{topic} {rate:.0f}" for topic, rate in sorted(telemetry.rates.items()))
        return Panel(Group(head, Text(), body, Text(f"messages/s: {rates}", "dim")), title=self._title)

    def _bars(self) -> RenderableType:
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 1))
        for pair in self._telemetry.pairs():
            scale = self._scale(pair)
            for label, value, style in ((pair.label, pair.reference, "yellow"), ("", pair.actual, "green")):
                number = Text(f"{_number(value)} {pair.unit if label else ''}", style)
                table.add_row(Text(label, "bold"), Text(bar(value, scale), style), number)
        table.add_row("", Text("commanded", "yellow") + Text(" above ", "dim") + Text("actual", "green"), "")
        return table

    def _scale(self, pair: Pair) -> float:
        """The maximum so far."""
        maximum = max(self._maximum.get(pair.label, 0.1), abs(pair.reference or 0.0), abs(pair.actual or 0.0))
        self._maximum[pair.label] = maximum
        return maximum

    def _map(self) -> RenderableType:
        from rich.table import Table
        from rich.text import Text

        pose = self._telemetry.pose
        lines, width = chart(list(self._telemetry.path), pose)
        table = Table.grid()
        table.add_row(Text("\n".join(lines), "blue"))
        place = f"x {pose.x:.2f} m  y {pose.y:.2f} m  {math.degrees(pose.heading):.0f} deg"
        table.add_row(Text(f"{place}   map {width:.0f} m wide", "dim"))
        return table


def bar(value: float | None, scale: float) -> str:
    """A bar from the middle to the right for positive values, and to the left for negative ones."""
    middle = BAR // 2
    length = 0 if value is None else min(middle, round(abs(value) / scale * middle))
    left = value is not None and value < 0.0
    return ("█" * length if left else "").rjust(middle) + "│" + ("" if left else "█" * length).ljust(middle)


def chart(path: Sequence[tuple[float, float]], pose: Pose) -> tuple[list[str], float]:
    """The path as lines of braille, with an arrow for the vehicle and x to the right; and the width shown [m]."""
    points = [*path, (pose.x, pose.y)]
    x_middle, y_middle = ((min(values) + max(values)) / 2.0 for values in zip(*points, strict=True))
    x_span, y_span = (max(values) - min(values) for values in zip(*points, strict=True))
    width = max(LEAST_MAP, 1.1 * x_span, 1.1 * y_span * 2 * MAP_COLUMNS / (4 * MAP_ROWS))
    dots = 2 * MAP_COLUMNS / width
    cells = [[0] * MAP_COLUMNS for _ in range(MAP_ROWS)]

    def place(x: float, y: float) -> tuple[int, int]:
        column = round(MAP_COLUMNS + (x - x_middle) * dots)
        row = round(2 * MAP_ROWS - (y - y_middle) * dots)
        return min(max(column, 0), 2 * MAP_COLUMNS - 1), min(max(row, 0), 4 * MAP_ROWS - 1)

    for point in points:
        column, row = place(*point)
        cells[row // 4][column // 2] |= _DOTS[column % 2][row % 4]
    lines = [[chr(_BRAILLE + cell) for cell in row] for row in cells]
    column, row = place(pose.x, pose.y)
    lines[row // 4][column // 2] = _ARROWS[round(pose.heading / (math.pi / 4)) % 8]
    return ["".join(line) for line in lines], width


def _number(value: float | None) -> str:
    return "    - " if value is None else f"{round(value, 2) + 0.0:6.2f}"
