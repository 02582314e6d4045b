"""The reference page of all parameters, made from their descriptions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from vds_gz.parameters.declaration import LARGEST_INTEGER, LEAST_INTEGER, Description

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
