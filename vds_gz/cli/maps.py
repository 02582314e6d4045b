"""``vds-gz maps``: checks and draws an actuation map."""

from __future__ import annotations

from pathlib import Path

from vds_gz.parameters.maps import read_map
from vds_gz.ros.programs import DONE, CommandLine, command
from vds_gz.study.report.actuation import draw


@command("vds-gz maps")
def main(argv: list[str]) -> int:
    """Check a map and draw it.

    Returns:
        0 if it is drawn, 2 if the file is not a map or the picture cannot be made.
    """
    parser = CommandLine("vds-gz maps", description="Check a map of actuation, and draw it.")
    parser.add_argument("file", help="CSV file as Autoware has them, e.g. accel_map.csv")
    parser.add_argument("-o", "--output", type=Path, help="the PNG file; else named as the map, in this folder")
    options = parser.parse_args(argv)
    table = read_map(options.file)
    output = options.output or Path(Path(options.file).stem + ".png")
    draw(table, table.label if table.label not in ("", "default") else Path(options.file).name, output)
    print(f"{output}: {len(table.actuations)} actuations by {len(table.states)} states")
    return DONE
