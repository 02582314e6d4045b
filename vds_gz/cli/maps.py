"""The picture of a map of actuation: one line an actuation, over the states."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from vds_gz.parameters.description import ParameterError
from vds_gz.parameters.maps import ActuationMap, read_map
from vds_gz.study.report.plots import STYLE


def draw(table: ActuationMap, title: str, path: Path) -> None:
    """Draw a map.

    Args:
        table: The map.
        title: What it is.
        path: The PNG file.
    """
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8.0, 5.0), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots()
        colours = mpl.colormaps["viridis"]
        last = len(table.actuations) - 1
        for i, (actuation, row) in enumerate(zip(table.actuations, table.values, strict=True)):
            axes.plot(table.states, row, ".-", color=colours(0.95 * i / last), linewidth=1.4, label=f"{actuation:g}")
        axes.set_title(title)
        axes.set_xlabel("state (columns)")
        axes.set_ylabel("value")
        handles, labels = axes.get_legend_handles_labels()
        axes.legend(handles[::-1], labels[::-1], title="actuation (rows)", loc="upper left", bbox_to_anchor=(1.01, 1.0))
        figure.savefig(path, dpi=130)


def main(argv: Sequence[str] | None = None) -> int:
    """Check a map and draw it.

    Args:
        argv: The command line without the program's name; ``sys.argv`` where none is given.

    Returns:
        0 when it is drawn, 2 when the file is no map or the picture cannot be made.
    """
    parser = argparse.ArgumentParser(prog="vds-gz maps", description="Check a map of actuation, and draw it.")
    parser.add_argument("file", help="CSV file as Autoware has them, e.g. accel_map.csv")
    parser.add_argument("-o", "--output", type=Path, help="the PNG file; else named as the map, in this folder")
    arguments = parser.parse_args(argv)
    try:
        table = read_map(arguments.file)
        output = arguments.output or Path(Path(arguments.file).stem + ".png")
        draw(table, table.label if table.label not in ("", "default") else Path(arguments.file).name, output)
    except (ParameterError, OSError) as error:
        print(f"vds-gz maps: {error}", file=sys.stderr)
        return 2
    print(f"{output}: {len(table.actuations)} actuations by {len(table.states)} states")
    return 0


if __name__ == "__main__":
    sys.exit(main())
