"""From names and values, wherever they came from, to parameters that hold together."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeVar

from vds_gz.parameters.autoware_files import is_autoware, translated
from vds_gz.parameters.declaration import Description, ParameterError, Value, describe
from vds_gz.parameters.node import NodeParameters
from vds_gz.parameters.override import Override
from vds_gz.parameters.sensors import sensors_of

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Group = TypeVar("Group", bound="DataclassInstance")

#: Parameters that every ROS node may be given and that are none of ours.
FOREIGN = ("qos_overrides.", "start_type_description_service", "diagnostic_updater.")


def load(overrides: Iterable[Override], models: Mapping[str, type]) -> NodeParameters:
    """Parameters with these values and defaults for the rest; of several values for one name the last counts.

    Args:
        overrides: Names and values.
        models: Parameter group of every vehicle model by the model's name. A file may hold values for all models;
            every one is checked, the selected model's are used.

    Raises:
        ParameterError: A name is unknown, or a value is not allowed.
    """
    overrides = list(overrides)
    if is_autoware(overrides):
        translation = translated(overrides, models)
        overrides = [*translation.overrides, *translation.unknown]
    every = NodeParameters(model_params={name: kind() for name, kind in models.items()}, sensors=sensors_of(overrides))
    known = {one.name: one for one in describe(every)}
    values = checked(overrides, known)
    model = values.get("model", every.model)
    if model not in models:
        raise ParameterError(f"parameter 'model' is '{model}'; it must be one of {', '.join(models)}")
    selected = dataclasses.replace(every, model=str(model), model_params={str(model): models[str(model)]()})
    return replaced(selected, values)


def checked(overrides: Iterable[Override], known: Mapping[str, Description]) -> dict[str, Value]:
    """The values by proper name, each of the right type and within its bounds.

    Raises:
        ParameterError: A name is unknown, or a value is not allowed.
    """
    names = _spellings(known.values())
    values: dict[str, Value] = {}
    for override in overrides:
        if override.name.startswith(FOREIGN):
            continue
        if override.name not in names:
            raise ParameterError(_unknown(override, names))
        name = names[override.name]
        values[name] = known[name].check(override.value, override.origin)
    return values


def proper_name(name: str, known: Mapping[str, Description], origin: str = "") -> str:
    """The proper name of a parameter that was given by any of its names.

    Raises:
        ParameterError: The name is unknown.
    """
    names = _spellings(known.values())
    if name not in names:
        raise ParameterError(_unknown(Override(name, None, origin), names))
    return names[name]


def replaced(group: Group, values: Mapping[str, Value], prefix: str = "") -> Group:
    """The same parameters with some values changed; names are full, values are checked already.

    Raises:
        ParameterError: The parameters do not fit each other.
    """
    changes: dict[str, object] = {}
    for item in dataclasses.fields(group):
        name = f"{prefix}.{item.name}" if prefix else item.name
        value = getattr(group, item.name)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            changes[item.name] = replaced(value, values, name)
        elif isinstance(value, dict):
            changes[item.name] = {key: replaced(member, values, f"{name}.{key}") for key, member in value.items()}
        elif name in values:
            changes[item.name] = values[name]
    try:
        return dataclasses.replace(group, **changes)
    except ParameterError as error:
        raise ParameterError(f"{prefix}: {error}" if prefix else str(error)) from None


def _spellings(descriptions: Iterable[Description]) -> dict[str, str]:
    """Every accepted name and the proper one that it means."""
    names = {}
    for one in descriptions:
        names[one.name] = one.name
        names |= dict.fromkeys(one.other_names, one.name)
    return names


def _unknown(override: Override, names: Mapping[str, str]) -> str:
    place = f" ({override.origin})" if override.origin else ""
    nearest = difflib.get_close_matches(override.name, names, n=1, cutoff=0.0)
    return f"unknown parameter '{override.name}'{place}; the nearest valid name is '{nearest[0]}'"
