"""The faults of a parameter group, as models and types of sensors have."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import cast

from vds_gz.core.parameters.declaration import Description, ParameterError, ParameterGroup, describe


def declaration_faults(default: ParameterGroup) -> Iterator[str]:
    """Parameters without a declaration, unit, meaning or bounds, and bounds that do not hold."""
    yield from _group_faults(default)
    for described in describe(default):
        name = f"parameter '{described.name}'"
        if not described.doc:
            yield f"{name} has no meaning; describe it in one sentence"
        if described.type not in ("double", "integer"):
            continue
        if described.type == "double" and not described.unit:
            yield f"{name} has no unit; give its SI unit, or '-' for a ratio"
        if not (math.isfinite(described.minimum) and math.isfinite(described.maximum)):
            yield f"{name} has no bounds; give a finite minimum and maximum"
        elif not _refuses_wrong_values(default, described):
            yield (
                f"{name} takes values outside its bounds; leave __post_init__ to ParameterGroup and put conditions on "
                "several parameters into check_together"
            )


def _group_faults(group: ParameterGroup, prefix: str = "") -> Iterator[str]:
    """Groups that do not derive from ParameterGroup, and fields without a declaration, nested groups included."""
    kind = type(group).__name__
    if not isinstance(group, ParameterGroup):
        yield (
            f"parameters: {kind} is not a ParameterGroup, so nothing checks its values; derive it from "
            "vds_gz.modelling.ParameterGroup"
        )
    described = {description.name for description in describe(group)}
    for field in dataclasses.fields(group):
        value = getattr(group, field.name)
        if dataclasses.is_dataclass(value):
            yield from _group_faults(cast(ParameterGroup, value), f"{prefix}{field.name}.")
        elif field.name not in described:
            yield (
                f"parameter '{prefix}{field.name}' of {kind} has no unit, bounds and meaning; declare it with real(), "
                "integer(), flag() or choice()"
            )


def _refuses_wrong_values(group: ParameterGroup, described: Description) -> bool:
    low, high = described.minimum, described.maximum
    if described.type == "double":
        below, above = math.nextafter(low, -math.inf), math.nextafter(high, math.inf)
    else:
        below, above = int(low) - 1, int(high) + 1
    for wrong in (math.nan, below, above):
        try:
            with_values(group, {described.name: wrong})
        except ParameterError:
            continue
        return False
    return True


def with_values(parameters: ParameterGroup, values: Mapping[str, object]) -> ParameterGroup:
    """A copy of a parameter group with other values, by their dotted names."""
    fields: dict[str, object] = {}
    nested: dict[str, dict[str, object]] = {}
    for name, value in values.items():
        first, _, rest = name.partition(".")
        if rest:
            nested.setdefault(first, {})[rest] = value
        else:
            fields[first] = value
    groups = {name: with_values(getattr(parameters, name), inner) for name, inner in nested.items()}
    return dataclasses.replace(parameters, **fields, **groups)
