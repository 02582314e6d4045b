"""From names and values, wherever they came from, to parameters that hold together."""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeVar

from vds_gz.parameters.autoware_files import is_autoware, translated
from vds_gz.parameters.declaration import Description, Faults, ParameterError, Value, describe
from vds_gz.parameters.node import NodeParameters
from vds_gz.parameters.override import Override
from vds_gz.parameters.sensors import Registered, sensors_of

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

#: The parameter that the models' own are members of.
MODEL_PARAMS = "model_params"

Group = TypeVar("Group", bound="DataclassInstance")

#: Parameters that every ROS node may be given and that are none of ours.
FOREIGN = ("qos_overrides.", "start_type_description_service", "diagnostic_updater.")


def load(
    overrides: Iterable[Override], models: Mapping[str, type], sensors: Mapping[str, Registered]
) -> NodeParameters:
    """Parameters with these values and defaults for the rest; of several values for one name the last counts.

    Args:
        overrides: Names and values.
        models: Parameter group of every vehicle model by the model's name. A file may hold values for all models;
            every one is checked, the selected model's are used.
        sensors: Every type of sensor, by its name.

    Raises:
        ParameterError: A name is unknown, or a value is not allowed. The message has a line for each.
    """
    faults, overrides = Faults(), list(overrides)
    if is_autoware(overrides):
        translation = translated(overrides, models)
        overrides = [*translation.overrides, *translation.unknown]
    mounted, overrides = sensors_of(overrides, sensors, faults)
    defaults = NodeParameters(model_params={name: kind() for name, kind in models.items()}, sensors=mounted)
    known = {description.name: description for description in describe(defaults)}
    values, names = _checked(overrides, known, faults), _spellings(known.values())
    given = {names.get(override.name, override.name): override for override in overrides}
    chosen = _at(given["model"].origin) if "model" in given else ""
    model = str(values.get("model", defaults.model))
    if model not in models:
        near = difflib.get_close_matches(model, models, n=1, cutoff=0.0)[0]
        faults.messages.append(
            f"parameter 'model' is '{model}'{chosen}; it must be one of {', '.join(models)}; the nearest is '{near}'"
        )
        faults.refuse()
    unused = of_other_models(overrides, model)
    if unused and not any(name.startswith(f"{MODEL_PARAMS}.{model}.") for name in given):
        name, override = next(iter(unused.items()))
        faults.messages.append(
            f"parameter '{override.name}'{_at(override.origin)} is of the model '{name}', and nothing is given for the "
            f"chosen model, '{model}'{chosen}; '{MODEL_PARAMS}.{model}', or 'model: {name}', would be right"
        )
    selected = dataclasses.replace(defaults, model=model, model_params={model: models[model]()})
    with faults.caught():
        selected = replaced(selected, values, given=given)
    faults.refuse()
    return selected


def of_other_models(overrides: Iterable[Override], model: str) -> dict[str, Override]:
    """The first parameter of each model but this one that is given, by the model's name. They have no effect."""
    unused: dict[str, Override] = {}
    for override in overrides:
        group, _, rest = override.name.partition(".")
        if group == MODEL_PARAMS and (name := rest.partition(".")[0]) != model:
            unused.setdefault(name, override)
    return unused


def checked(overrides: Iterable[Override], known: Mapping[str, Description]) -> dict[str, Value]:
    """The values by proper name, each of the right type and within its bounds.

    Raises:
        ParameterError: A name is unknown, or a value is not allowed. The message has a line for each.
    """
    faults = Faults()
    values = _checked(overrides, known, faults)
    faults.refuse()
    return values


def _checked(overrides: Iterable[Override], known: Mapping[str, Description], faults: Faults) -> dict[str, Value]:
    """The values by proper name; those that are wrong are left out."""
    names = _spellings(known.values())
    values: dict[str, Value] = {}
    for override in overrides:
        if override.name.startswith(FOREIGN):
            continue
        if override.name not in names:
            faults.messages.append(_unknown(override, names))
            continue
        name = names[override.name]
        with faults.caught():
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


def replaced(
    group: Group, values: Mapping[str, Value], prefix: str = "", given: Mapping[str, Override] | None = None
) -> Group:
    """The same parameters with some values changed.

    Args:
        group: The parameters.
        values: New values by their full names, checked already.
        prefix: Full name of the group itself, empty for the root.
        given: The values by their full names as they were given, for messages.

    Raises:
        ParameterError: The parameters do not fit each other. The message has a line for each group.
    """
    changes: dict[str, object] = {}
    faults = Faults()
    for item in dataclasses.fields(group):
        name = f"{prefix}.{item.name}" if prefix else item.name
        value = getattr(group, item.name)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            with faults.caught():
                changes[item.name] = replaced(value, values, name, given)
        elif isinstance(value, dict):
            members = changes[item.name] = dict(value)
            for key, member in value.items():
                with faults.caught():
                    members[key] = replaced(member, values, f"{name}.{key}", given)
        elif name in values:
            changes[item.name] = values[name]
    faults.refuse()
    try:
        return dataclasses.replace(group, **changes)
    except ParameterError as error:
        text = f"{prefix}: {error}" if prefix else str(error)
        raise ParameterError(text + _place(str(error), prefix, given or {})) from None


def _place(message: str, prefix: str, given: Mapping[str, Override]) -> str:
    """Where the first parameter stood whose name or value a message has in quotes; empty if none was given."""
    group = f"{prefix}." if prefix else ""
    for word in re.findall(r"'([^']+)'", message):
        for name, override in given.items():
            if name == group + word or (name.startswith(group) and override.value == word):
                return _at(override.origin)
    return ""


def _at(origin: str) -> str:
    """An origin as messages have it; nothing where there is none."""
    return f" ({origin})" if origin else ""


def _spellings(descriptions: Iterable[Description]) -> dict[str, str]:
    """Every accepted name and the proper one that it means."""
    names = {}
    for description in descriptions:
        names[description.name] = description.name
        names |= dict.fromkeys(description.other_names, description.name)
    return names


def _unknown(override: Override, names: Mapping[str, str]) -> str:
    nearest = difflib.get_close_matches(override.name, names, n=1, cutoff=0.0)
    return f"unknown parameter '{override.name}'{_at(override.origin)}; the nearest valid name is '{nearest[0]}'"
