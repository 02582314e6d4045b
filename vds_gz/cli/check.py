"""``vds-gz check`` and ``vds-gz parameters``: checks of parameter files, and the reference page of all parameters."""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from vds_gz.configuration import NODE_NAME, default_parameters
from vds_gz.errors import ArgumentError, VdsGzError
from vds_gz.nodes.preparation import prepare
from vds_gz.parameters.declaration import (
    LARGEST,
    LARGEST_INTEGER,
    LEAST_INTEGER,
    SMALLEST,
    Description,
    Faults,
    Value,
    describe,
)
from vds_gz.parameters.maps import read_map
from vds_gz.parameters.node import NodeParameters
from vds_gz.parameters.yaml_reader import read_parameter_file
from vds_gz.ros.programs import DONE, FAILED, CommandLine, command
from vds_gz.sensing.sensor import SensorTypes
from vds_gz.vehicle.catalogue import models

HEAD = """# Parameters

Every parameter of `sim_node`, by group, in SI units and radians. A parameter with `*` may change while the node runs.
Parentheses have the other allowed words, or bounds. Numbers are at most 1e6; `>0` is at least 1e-6. Unknown
names and values that are not allowed are refused when the node starts. Made by `vds-gz parameters`.
"""

SENSORS = """
## Sensors

A parameter file lists sensors by name, each with a `type`:

    sensors:
      lidar1: {type: velodyne_vlp16, xyz: [0.5, 0.0, 0.7], rate: 10.0}
"""

#: A group is written as the differences to another one if their likeness is at least this.
COMMON_ROWS = 3


class ParameterRow(NamedTuple):
    """A parameter in a table."""

    name: str
    live: str  # a star if it may change while the node runs
    default: str
    allowed: str  # other allowed values
    meaning: str


Rows = dict[str, ParameterRow]


def markdown(descriptions: Iterable[Description]) -> str:
    """A section for each group: a table, or the differences to an earlier group."""
    groups: dict[str, Rows] = {}
    for parameter in descriptions:
        group, _, name = parameter.name.rpartition(".")
        groups.setdefault(f"`{group}`" if group else "Node", {})[name] = _row(name, parameter)
    return HEAD + "".join(_sections("##", groups))


def sensor_tables(sensors: Mapping[str, Iterable[Description]]) -> str:
    """A section for each type of sensor, by its name."""
    groups = {
        f"`type: {kind}`": {member.name: _row(member.name, member) for member in members if member.name != "type"}
        for kind, members in sensors.items()
    }
    return SENSORS + "".join(_sections("###", groups))


def _sections(level: str, groups: Mapping[str, Rows]) -> Iterator[str]:
    """Equal groups share a section."""
    alike: dict[tuple[ParameterRow, ...], list[str]] = {}
    for title, rows in groups.items():
        alike.setdefault(tuple(rows.values()), []).append(title)
    earlier: dict[str, Rows] = {}
    for first, *others in alike.values():
        rows = groups[first]
        yield f"\n{level} {first}\n"
        if others:
            yield f"\nAlso {', '.join(others)}.\n"
        base = max(earlier, key=lambda title: _likeness(rows, earlier[title]), default=None)
        if base is not None and _likeness(rows, earlier[base]) >= COMMON_ROWS:
            same = [row for name, row in rows.items() if _shares(row, earlier[base].get(name))]
            lacking = [f"`{name}`" for name in earlier[base] if name not in rows]
            changed = [f"`{row.name}` {row.default}" for row in same if row not in earlier[base].values()]
            without = f" without {', '.join(lacking)}" if lacking else ""
            but = f", with {', '.join(changed)}" if changed else ""
            own = [row for row in rows.values() if row not in same]
            yield f"\nAs {base}{without}{but}{', and:' if own else '.'}\n"
            yield from _table(own)
        else:
            yield from _table(rows.values())
        earlier[first] = rows


def _shares(row: ParameterRow, other: ParameterRow | None) -> bool:
    """Whether parameters differ in their defaults alone."""
    return other is not None and row._replace(default="") == other._replace(default="")


def _likeness(rows: Rows, base: Rows) -> int:
    """Number of shared rows, less half of those that the group lacks: a name is shorter than a row."""
    return sum(_shares(row, base.get(name)) for name, row in rows.items()) - len(base.keys() - rows.keys()) // 2


def _table(rows: Collection[ParameterRow]) -> Iterator[str]:
    if rows:
        yield "\n| parameter | default | meaning |\n|---|---|---|\n"
    yield from (f"| `{row.name}`{row.live} | {row.default}{row.allowed} | {row.meaning} |\n" for row in rows)


def _row(name: str, parameter: Description) -> ParameterRow:
    also = f" (also `{'`, `'.join(parameter.aliases)}`)" if parameter.aliases else ""
    default = f"{_default(parameter)} {'' if parameter.unit == '-' else parameter.unit}".rstrip()
    allowed = f" ({', '.join(parts)})" if (parts := list(_allowed(parameter))) else ""
    return ParameterRow(name, "" if parameter.read_only else "*", default, allowed, parameter.doc + also)


def _default(parameter: Description) -> str:
    default = parameter.default
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, tuple):
        return f"[{', '.join(f'{number:g}' for number in default)}]"
    if isinstance(default, str):
        return f"`{default}`" if default else "(empty)"
    return f"{default:g}" if isinstance(default, float) else str(default)


def _allowed(parameter: Description) -> Iterator[str]:
    """The other allowed values, in short."""
    least, most = parameter.minimum, parameter.maximum
    if parameter.choices:
        yield from (f"`{word}`" for word in parameter.choices if word != parameter.default)
    elif parameter.type == "integer":
        yield "integer"
        if least > LEAST_INTEGER:
            yield f">={least}" if most == LARGEST_INTEGER else f"{least}..{most}"
    elif parameter.type in ("double", "double_array") and most == LARGEST and least in (SMALLEST, 0.0):
        yield ">0" if least else ">=0"
    elif parameter.type in ("double", "double_array") and (least, most) != (-LARGEST, LARGEST):
        yield f"{least:g}..{most:g}"


@command("vds-gz check")
def main(argv: list[str]) -> int:
    """Check parameter files."""
    parser = CommandLine(
        "vds-gz check",
        description="Check parameter files as the node does when it starts, with the files that they name; print all "
        "errors, or the values that differ from the defaults.",
        epilog="exit code: 0 all are valid, 1 one is not, 2 wrong use",
    )
    parser.add_argument("files", nargs="*", metavar="FILE", help="a ROS 2 parameter file (YAML) for sim_node")
    parser.add_argument(
        "--model", metavar="NAME", help="test a vehicle model, such as one of an installed package (needs numba)"
    )
    options = parser.parse_args(argv)
    if not options.files and options.model is None:
        parser.error("give a parameter file or --model NAME")
    if missing := next((file for file in options.files if not Path(file).exists()), None):
        raise ArgumentError(f"parameter file '{missing}' does not exist (looked in {Path.cwd()})")
    codes = [_check(file) for file in options.files]
    return max(codes if options.model is None else [*codes, _check_model(options.model)])


@command("vds-gz parameters")
def reference(argv: list[str]) -> int:
    """Print the reference of all parameters in Markdown."""
    parser = CommandLine("vds-gz parameters", description="Print all parameters of sim_node as Markdown.")
    parser.parse_args(argv)
    print(reference_page(), end="")
    return DONE


def reference_page() -> str:
    """The reference of all parameters: of the node, of all models and of all sensors."""
    return markdown(describe(default_parameters())) + sensor_tables(
        {name: describe(sensor.parameters()) for name, sensor in SensorTypes().items()}
    )


def _check(file: str) -> int:
    """Check one file, and return the exit code."""
    try:
        faults = Faults()
        prepared = prepare(read_parameter_file(file, f"/{NODE_NAME}", faults=faults), faults)
    except VdsGzError as error:
        for line in sorted(str(error).splitlines(), key=_line_number):
            print(f"{file}: {line}" if file not in line else line, file=sys.stderr)
        return FAILED
    print(f"{file}: OK, model {prepared.parameters.model}")
    for hint in prepared.hints:
        print(f"  hint: {hint}")
    for name, value, default in _differences(prepared.parameters):
        print(f"  {name}: {value}  (default {default})")
    return DONE


def _line_number(message: str) -> int:
    """The line of the file that a message names; 0 without one."""
    named = re.search(r"line (\d+)", message)
    return int(named[1]) if named else 0


def _check_model(name: str) -> int:
    """Test a vehicle model, and return the exit code."""
    known = models()
    if name not in known:
        raise ArgumentError(f"there is no vehicle model '{name}'; there are {', '.join(known)}")
    from vds_gz.modelling.declared import faults  # with numba, which takes a second to load

    print(f"testing vehicle model '{name}'; functions that are not compiled yet are compiled", file=sys.stderr)
    mistakes = faults(known[name])
    for fault in mistakes:
        print(f"{name}: {fault}", file=sys.stderr)
    if not mistakes:
        print(f"{name}: OK")
    return FAILED if mistakes else DONE


def _differences(parameters: NodeParameters) -> Iterator[tuple[str, str, str]]:
    """Names and values that differ from their defaults."""
    sensors = {name: type(sensor)() for name, sensor in parameters.sensors.items()}
    defaults = {
        parameter.name: parameter for parameter in describe(dataclasses.replace(default_parameters(), sensors=sensors))
    }
    for parameter in describe(parameters):
        default = defaults[parameter.name]
        if _text(parameter.default) != _text(default.default) and parameter.name != "model":
            yield parameter.name, f"{_text(parameter.default)} {parameter.unit}".rstrip(), _text(default.default)


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else f"'{value}'" if isinstance(value, str) else str(value)


@command("vds-gz maps")
def maps(argv: list[str]) -> int:
    """Check a map and draw it."""
    from vds_gz.study.report.actuation_map import draw

    parser = CommandLine("vds-gz maps", description="Check a map of actuation, and draw it.")
    parser.add_argument("file", help="CSV file in Autoware's format, e.g. accel_map.csv")
    parser.add_argument("-o", "--output", type=Path, help="the PNG file (named after the map, in this folder)")
    options = parser.parse_args(argv)
    table = read_map(options.file)
    output = options.output or Path(Path(options.file).stem + ".png")
    draw(table, table.label if table.label not in ("", "default") else Path(options.file).name, output)
    print(f"{output}: {len(table.actuations)} actuations by {len(table.states)} states")
    return DONE
