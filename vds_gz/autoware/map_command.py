"""``vds-gz maps``: checks and draws an actuation map."""

from __future__ import annotations

from pathlib import Path

from vds_gz.autoware.parameters.map_files import read_map
from vds_gz.core.ros.program_shell import DONE, CommandLine, command


@command("vds-gz maps")
def maps(argv: list[str]) -> int:
    """Check and draw an actuation map."""
    from vds_gz.autoware.identify.map_figure import map_figure  # with matplotlib, which help does not need
    from vds_gz.tools.study.report.style import png

    parser = CommandLine("vds-gz maps", description="Check a map of actuation, and draw it.")
    parser.add_argument("file", help="CSV file in Autoware's format, e.g. accel_map.csv")
    parser.add_argument("-o", "--output", type=Path, help="the PNG file (named after the map, in the current folder)")
    options = parser.parse_args(argv)
    table = read_map(options.file)
    output = options.output or Path(Path(options.file).stem + ".png")
    title = table.label if table.label not in ("", "default") else Path(options.file).name
    output.write_bytes(png(map_figure(table, title)))
    print(f"{output}: {len(table.actuations)} actuations by {len(table.states)} states")
    return DONE
