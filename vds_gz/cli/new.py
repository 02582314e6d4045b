"""``vds-gz new``: prints a commented parameter file of a vehicle, to be changed."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from vds_gz.core.configuration import LIDAR, NODE_NAME, load_parameters, preset_names
from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.conversion import MODEL_PARAMS, SENSORS
from vds_gz.core.parameters.declaration import Description, describe
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.parameters.schema import schema_line
from vds_gz.core.parameters.yaml_reader import SECTION, yaml_text
from vds_gz.core.ros.program_shell import DONE, CommandLine, command, nearest
from vds_gz.core.vehicle.catalogue import models

#: Parameters of the node in every file, besides those that a preset sets.
OF_NODE = ("world", "simulate_localization", "twist_reference_max_oldness", "dead_time_jitter", "pub_rate")

HEAD = """# {title}
# `vds-gz check FILE` checks this file, `vds-gz parameters` lists all parameters. Values in comments are defaults, most
# of which switch something off; remove `# ` to change one, and from the group above it.
"""

#: Longest line with an aligned comment.
WIDTH = 120


class ParameterLine(NamedTuple):
    """A line of the file."""

    value: str
    comment: str
    given: bool  # else the line is a comment


@command("vds-gz new")
def main(argv: list[str]) -> int:
    """Print a parameter file."""
    parser = CommandLine(
        "vds-gz new",
        description="Print a commented parameter file of a vehicle, as a start for your own.",
        epilog="examples:\n  vds-gz new differential > my_robot.yaml\n  vds-gz new forklift > my_forklift.yaml\n",
    )
    parser.add_argument("vehicle", help=f"a model ({', '.join(models())}) or a preset ({', '.join(preset_names())})")
    print(new_file(parser.parse_args(argv).vehicle), end="")
    return DONE


def new_file(vehicle: str) -> str:
    """A parameter file of a model with its defaults, or of a preset with its values."""
    if vehicle in preset_names():
        parameters, title = load_parameters(vehicle), f"A vehicle like the preset {vehicle}."
    elif vehicle in models():
        model = models()[vehicle]
        parameters = NodeParameters(model=vehicle, model_params={vehicle: model.parameters()})
        title = inspect.cleandoc(model.parameters.__doc__ or f"A vehicle of the model {vehicle}.").splitlines()[0]
    else:
        known = {**dict.fromkeys(models()), **dict.fromkeys(preset_names())}
        raise ArgumentError(f"there is no model or preset '{vehicle}'{nearest(vehicle, known)} (see vds-gz new --help)")
    tree: dict[str, Any] = {}
    for name, entry in _entries(parameters):
        *path, last = name.split(".")
        group = tree
        for key in path:
            group = group.setdefault(key, {})
        group[last] = entry
    lines = _lines({NODE_NAME: {SECTION: tree}}, "")
    return schema_line() + HEAD.format(title=title) + "\n".join(lines) + "\n"


def _entries(parameters: NodeParameters) -> Iterator[tuple[str, ParameterLine]]:
    """The model with all of its parameters, then what concerns the node."""
    model = parameters.model
    unchanged = NodeParameters(model_params={model: models()[model].parameters()})
    defaults = {parameter.name: parameter.default for parameter in describe(unchanged)}
    yield "model", ParameterLine(model, "", True)
    of_model, of_node = [], []
    for parameter in describe(parameters):
        name, changed = parameter.name, parameter.default != defaults.get(parameter.name)
        if name.startswith(f"{MODEL_PARAMS}."):
            of_model.append((name, _entry(parameter, given=changed or not _is_neutral(parameter))))
        elif name != "model" and (changed or name in OF_NODE):
            of_node.append((name, _entry(parameter, given=changed)))
    yield from of_model
    yield from of_node
    if not parameters.sensors:
        lidar = ", ".join(f"{name}: {yaml_text(value)}" for name, value in LIDAR.items())
        yield f"{SENSORS}.lidar", ParameterLine(f"{{{lidar}}}", "a 2D lidar", False)


def _is_neutral(parameter: Description) -> bool:
    """Whether the default switches something off or leaves it as it is."""
    return parameter.default in (0.0, False, "", ()) or (parameter.name.endswith(".gain") and parameter.default == 1.0)


def _entry(parameter: Description, *, given: bool) -> ParameterLine:
    unit = "" if parameter.unit in ("", "-") else f"[{parameter.unit}] "
    words = f"; one of {', '.join(parameter.choices)}" if parameter.choices else ""
    return ParameterLine(yaml_text(parameter.default), f"{unit}{parameter.doc}{words}", given)


def _lines(group: Mapping[str, Any], indent: str) -> Iterator[str]:
    """The lines of a group: given values, groups, and the rest as comments; a group without any value is one too."""
    entries = {name: member for name, member in group.items() if isinstance(member, ParameterLine)}
    column = max((len(_assignment(name, entry)) for name, entry in entries.items()), default=0)

    def line(name: str, entry: ParameterLine) -> str:
        text, comment = indent + _assignment(name, entry), f"  # {entry.comment}" if entry.comment else ""
        aligned = text.ljust(len(indent) + column) + comment
        return aligned if comment and len(aligned) <= WIDTH else text + comment

    yield from (line(name, entry) for name, entry in entries.items() if entry.given)
    for name in (name for name in group if name not in entries):
        inner = list(_lines(group[name], indent + "  "))
        yield f"{indent}{name}:" if any(map(_counts, inner)) else f"{indent}# {name}:"
        yield from inner
    yield from (line(name, entry) for name, entry in entries.items() if not entry.given)


def _assignment(name: str, entry: ParameterLine) -> str:
    return f"{'' if entry.given else '# '}{name}: {entry.value}"


def _counts(line: str) -> bool:
    return not line.lstrip().startswith("#")
