"""The reference page of all parameters, made from their descriptions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from vds_gz.parameters.declaration import LARGEST_INTEGER, LEAST_INTEGER, Description

HEAD = """# Parameters

Every parameter of `sim_node`, by group. SI units, radians. "live" parameters may be changed while the node runs.
Values outside the bounds, names that are not here and values of another type are refused when the node starts.
Made by `vds-gz parameters`.
"""


SENSORS = """
## Sensors

A vehicle carries the sensors that its parameter file lists, each under a name of its own, with a `type`:

    sensors:
      lidar1: {type: velodyne_vlp16, xyz: [0.5, 0.0, 0.7], rate: 10.0}
"""


def markdown(descriptions: Iterable[Description]) -> str:
    """One table a group."""
    groups: dict[str, list[Description]] = {}
    for one in descriptions:
        groups.setdefault(one.name.rpartition(".")[0], []).append(one)
    tables = (_table(f"## `{name}`" if name else "## Node", members) for name, members in groups.items())
    return HEAD + "".join(line for table in tables for line in table)


def sensor_tables(sensors: Mapping[str, Iterable[Description]]) -> str:
    """One table for each type of sensor, by its name."""
    tables = (_table(f"### `type: {kind}`", members) for kind, members in sensors.items())
    return SENSORS + "".join(line for table in tables for line in table)


def _table(heading: str, members: Iterable[Description]) -> Iterator[str]:
    yield f"\n{heading}\n\n"
    yield "| parameter | type | default | unit | allowed | live | meaning |\n"
    yield "| --- | --- | --- | --- | --- | --- | --- |\n"
    for one in members:
        last = one.name.rpartition(".")[2]
        also = f" (also `{'`, `'.join(one.aliases)}`)" if one.aliases else ""
        live = "" if one.read_only else "yes"
        yield f"| `{last}` | {one.type} | {_default(one)} | {one.unit} | {_allowed(one)} | {live} | {one.doc}{also} |\n"


def _default(one: Description) -> str:
    if isinstance(one.default, bool):
        return str(one.default).lower()
    if isinstance(one.default, float):
        return f"{one.default:g}"
    if isinstance(one.default, tuple):
        return f"[{', '.join(f'{number:g}' for number in one.default)}]"
    return f"`{one.default}`" if one.default != "" else "(empty)"


def _allowed(one: Description) -> str:
    if one.choices:
        return ", ".join(f"`{word}`" for word in one.choices)
    if one.type in ("bool", "string"):
        return ""
    if one.type == "integer" and one.maximum == LARGEST_INTEGER:
        return f">= {one.minimum}" if one.minimum > LEAST_INTEGER else ""
    return f"{one.minimum:g} to {one.maximum:g}"
