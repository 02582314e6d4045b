"""Writing a parameter file of the node, with remarks."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from vds_gz.parameters.override import Override


def write(path: Path, overrides: Iterable[Override], head: str) -> None:
    """Write parameters with their origins as remarks; whoever writes them has seen that the node takes them.

    Maps that lie beside the file are named without their folder, so that all can be moved together.

    Args:
        path: The file.
        overrides: Names and values; of several for one name the last counts.
        head: Remark at the top.
    """
    last = {override.name: override for override in overrides}
    tree: dict[str, Any] = {}
    for override in last.values():
        *groups, name = override.name.split(".")
        branch = tree
        for group in groups:
            branch = branch.setdefault(group, {})
        branch[name] = override._replace(value=_beside(override.value, path.parent))
    lines = [f"# {line}" for line in head.splitlines()]
    lines += ["sim_node:", "  ros__parameters:", *_lines(tree, "    ")]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _beside(value: object, folder: Path) -> object:
    """A path of a file in this folder as its name; other values as they are."""
    if isinstance(value, str) and Path(value).is_absolute() and Path(value).parent == folder.resolve():
        return Path(value).name
    return value


def _lines(tree: dict[str, Any], indent: str) -> Iterable[str]:
    for name, item in tree.items():
        if isinstance(item, Override):
            value = yaml.safe_dump(item.value, default_flow_style=True).removesuffix("\n...\n").strip()
            yield f"{indent}{name}: {value}" + (f"  # {item.origin}" if item.origin else "")
        else:
            yield f"{indent}{name}:"
            yield from _lines(item, indent + "  ")
