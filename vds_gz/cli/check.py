"""``vds-gz check`` and ``vds-gz parameters``: checks of parameter files, and the reference page of all parameters."""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from vds_gz.configuration import NODE_NAME, default_parameters
from vds_gz.errors import ArgumentError, VdsGzError
from vds_gz.nodes.preparation import prepare
from vds_gz.parameters.declaration import LARGEST_INTEGER, LEAST_INTEGER, Description, Faults, Value, describe
from vds_gz.parameters.maps import read_map
from vds_gz.parameters.node import NodeParameters
from vds_gz.parameters.yaml_reader import read_parameter_file
from vds_gz.ros.programs import DONE, FAILED, CommandLine, command
from vds_gz.sensing.sensor import SensorTypes
from vds_gz.vehicle.catalogue import models

HEAD = """# Parameters

Every parameter of `sim_node`, by group. SI units, radians. "live" parameters may be changed while the node runs.
Numbers are of type double unless their default says integer. Values outside the bounds, unknown names and values of
another type are refused when the node starts.
"As" another group means the same parameters with the same defaults, except for those listed.
Made by `vds-gz parameters`.
"""


SENSORS = """
## Sensors

A parameter file lists sensors by name, each with a `type`:

    sensors:
      lidar1: {type: velodyne_vlp16, xyz: [0.5, 0.0, 0.7], rate: 10.0}
"""


#: A group is written as the differences to another one if they have so many rows in common.
COMMON_ROWS = 4


def markdown(descriptions: Iterable[Description]) -> str:
    """A section for each group: a table, or what differs from an earlier group."""
    groups: dict[str, list[Description]] = {}
    for one in descriptions:
        groups.setdefault(f"`{one.name.rpartition('.')[0]}`" if "." in one.name else "Node", []).append(one)
    return HEAD + "".join(_sections("##", groups))


def sensor_tables(sensors: Mapping[str, Iterable[Description]]) -> str:
    """A section for each type of sensor, by its name."""
    return SENSORS + "".join(_sections("###", {f"`type: {kind}`": members for kind, members in sensors.items()}))


def _sections(level: str, groups: Mapping[str, Iterable[Description]]) -> Iterator[str]:
    earlier: dict[str, dict[str, str]] = {}
    for title, members in groups.items():
        rows = {one.name.rpartition(".")[2]: _row(one) for one in members}
        base = _most_similar(rows, earlier)
        differences = [row for name, row in rows.items() if base is None or earlier[base].get(name) != row]
        yield f"\n{level} {title}\n\n"
        if base is not None:
            yield f"As {base}, and:\n\n" if differences else f"As {base}.\n"
        if differences:
            yield "| parameter | default | allowed | live | meaning |\n"
            yield "| --- | --- | --- | --- | --- |\n"
            yield from differences
        earlier[title] = rows


def _most_similar(rows: Mapping[str, str], earlier: Mapping[str, Mapping[str, str]]) -> str | None:
    """The earlier group with the most rows of this one, all of whose parameters this one has."""
    common = {
        title: len(rows.items() & others.items()) for title, others in earlier.items() if rows.keys() >= others.keys()
    }
    title = max(common, key=common.__getitem__, default=None)
    return title if title is not None and common[title] >= COMMON_ROWS else None


def _row(one: Description) -> str:
    last = one.name.rpartition(".")[2]
    also = f" (also `{'`, `'.join(one.aliases)}`)" if one.aliases else ""
    live = "" if one.read_only else "yes"
    default = f"{_default(one)} {'' if one.unit == '-' else one.unit}".rstrip()
    return f"| `{last}` | {default} | {_allowed(one)} | {live} | {one.doc}{also} |\n"


def _default(one: Description) -> str:
    if isinstance(one.default, bool):
        return str(one.default).lower()
    if isinstance(one.default, float):
        return f"{one.default:g}"
    if isinstance(one.default, tuple):
        return f"[{', '.join(f'{number:g}' for number in one.default)}]"
    if one.type == "integer":
        return f"{one.default} (integer)"
    return f"`{one.default}`" if one.default != "" else "(empty)"


def _allowed(one: Description) -> str:
    if one.choices:
        return ", ".join(f"`{word}`" for word in one.choices)
    if one.type in ("bool", "string"):
        return ""
    if one.type == "integer" and one.maximum == LARGEST_INTEGER:
        return f">= {one.minimum}" if one.minimum > LEAST_INTEGER else ""
    return f"{one.minimum:g} to {one.maximum:g}"


@command("vds-gz check")
def main(argv: list[str]) -> int:
    """Check parameter files."""
    parser = CommandLine(
        "vds-gz check",
        description="Check parameter files as the node does when it starts, with the files that they name; print all "
        "errors, or the values that differ from the defaults.",
        epilog="exit code: 0 all are right, 1 one is not, 2 wrong use",
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
    from vds_gz.modelling.declared import faults  # with numba, which takes a second to load

    known = models()
    if name not in known:
        raise ArgumentError(f"there is no vehicle model '{name}'; there are {', '.join(known)}")
    print(f"testing vehicle model '{name}'; functions that are not compiled yet are compiled", file=sys.stderr)
    found = faults(known[name])
    for fault in found:
        print(f"{name}: {fault}", file=sys.stderr)
    if not found:
        print(f"{name}: OK")
    return FAILED if found else DONE


def _differences(parameters: NodeParameters) -> Iterator[tuple[str, str, str]]:
    """Names and values that differ from their defaults."""
    sensors = {name: type(sensor)() for name, sensor in parameters.sensors.items()}
    defaults = {one.name: one for one in describe(dataclasses.replace(default_parameters(), sensors=sensors))}
    for one in describe(parameters):
        default = defaults[one.name]
        if _text(one.default) != _text(default.default) and one.name != "model":
            yield one.name, f"{_text(one.default)} {one.unit}".rstrip(), _text(default.default)


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else f"'{value}'" if isinstance(value, str) else str(value)


@command("vds-gz maps")
def maps(argv: list[str]) -> int:
    """Check a map and draw it."""
    from vds_gz.study.report.actuation import draw

    parser = CommandLine("vds-gz maps", description="Check a map of actuation, and draw it.")
    parser.add_argument("file", help="CSV file as Autoware has them, e.g. accel_map.csv")
    parser.add_argument("-o", "--output", type=Path, help="the PNG file; else named as the map, in this folder")
    options = parser.parse_args(argv)
    table = read_map(options.file)
    output = options.output or Path(Path(options.file).stem + ".png")
    draw(table, table.label if table.label not in ("", "default") else Path(options.file).name, output)
    print(f"{output}: {len(table.actuations)} actuations by {len(table.states)} states")
    return DONE
