"""Conversion of names and values from any source to consistent parameters."""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Collection, Iterable, Mapping
from types import FunctionType, MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from vds_gz.core.parameters.declaration import (
    Description,
    Faults,
    Override,
    ParameterError,
    Registered,
    Value,
    describe,
)
from vds_gz.core.parameters.node import BACKENDS, NodeParameters
from vds_gz.core.share import extensions, offered

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

#: Entry point group of parameter files of other programs: a function (overrides, models) that converts their values to
#: parameters of this package. Its name is a parameter that only such files have.
ENTRY_POINTS = "vds_gz.parameter_files"

#: The groups above those of models, sensors and plants of other packages.
MODEL_PARAMS, SENSORS, PLANT_PARAMS = "model_params", "sensors", "plant_params"

Group = TypeVar("Group", bound="DataclassInstance")

#: The plants of other packages, where there are none.
NO_PLANTS: Mapping[str, Registered] = MappingProxyType({})

#: Maximum number of unknown names in messages, because the nearest ones take time.
MOST_UNKNOWN = 20

#: Parameters that every ROS node may get and that do not belong to this package.
FOREIGN = ("qos_overrides.", "start_type_description_service", "diagnostic_updater.")


def load(
    overrides: Iterable[Override],
    models: Mapping[str, Registered],
    sensors: Mapping[str, Registered],
    plants: Mapping[str, Registered] = NO_PLANTS,
) -> NodeParameters:
    """Parameters with these values and defaults for the rest; the last of several values for a name counts."""
    faults, overrides = Faults(), list(overrides)
    for entry in extensions(ENTRY_POINTS):
        if any(override.name == entry.name for override in overrides):
            overrides = offered(entry, FunctionType)(overrides, models)
    mounted, overrides = _sensors_of(overrides, sensors, faults)
    backend = _backend(overrides, plants, faults)
    plant_groups = {} if backend in BACKENDS or backend not in plants else {backend: plants[backend].parameters()}
    unused_plants = {name for name in of_other_plants(overrides, backend) if name in plants}  # need not be importable
    overrides = [override for override in overrides if _member_of(override.name, PLANT_PARAMS) not in unused_plants]
    mentioned = {_member_of(override.name, MODEL_PARAMS) for override in overrides}
    known = _known(mentioned, models, mounted, plant_groups)
    names = _spellings(known.values())
    if any(override.name not in names for override in overrides):  # the nearest name may be of any model
        known = _known(models, models, mounted, plant_groups)
        names = _spellings(known.values())
    chosen = [str(override.value) for override in overrides if override.name == "model"]
    values = _checked(overrides, known, faults, chosen[-1] if chosen else str(known["model"].default))
    by_name = {names.get(override.name, override.name): override for override in overrides}
    origin = _at(by_name["model"].origin) if "model" in by_name else ""
    model = str(values.get("model", known["model"].default))
    if model not in models:
        near = difflib.get_close_matches(model, models, n=1, cutoff=0.0)[0]
        faults.messages.append(
            f"parameter 'model' is '{model}'{origin}; it must be one of {', '.join(models)}; the nearest is '{near}'"
        )
        faults.refuse()
    unused = of_other_models(overrides, model)
    if unused and not any(name.startswith(f"{MODEL_PARAMS}.{model}.") for name in by_name):
        name, override = next(iter(unused.items()))
        faults.messages.append(
            f"parameter '{override.name}'{_at(override.origin)} is of the model '{name}', and nothing is given for the "
            f"chosen model, '{model}'{origin}; '{MODEL_PARAMS}.{model}', or 'model: {name}', would be right"
        )
    selected = NodeParameters(
        model=model,
        model_params={model: models[model].parameters()},
        sensors=mounted,
        plant_params=dict(plant_groups),
    )
    with faults.caught():
        selected = replaced(selected, values, overrides=by_name)
    faults.refuse()
    return selected


def _backend(overrides: Iterable[Override], plants: Mapping[str, Registered], faults: Faults) -> str:
    """The plant that is chosen: one of this package, or one of ``plants``."""
    backend, origin = BACKENDS[0], ""
    for override in overrides:
        if override.name == "backend":
            backend, origin = str(override.value), _at(override.origin)
    if backend not in BACKENDS and backend not in plants:
        known = (*BACKENDS, *plants)
        nearest = difflib.get_close_matches(backend, known, n=1, cutoff=0.0)[0]
        faults.messages.append(
            f"parameter 'backend' is '{backend}'{origin}; it must be one of {', '.join(known)}; the nearest is "
            f"'{nearest}'"
        )
    return backend


def _known(
    names: Collection[str],
    models: Mapping[str, Registered],
    sensors: Mapping[str, Any],
    plant_groups: Mapping[str, Any],
) -> dict[str, Description]:
    """The parameters of the node, of these models and of the sensors, by their names."""
    groups = {name: models[name].parameters() for name in models if name in names}
    defaults = NodeParameters(model_params=groups, sensors=dict(sensors), plant_params=dict(plant_groups))
    return {description.name: description for description in describe(defaults)}


def of_other_models(overrides: Iterable[Override], model: str) -> dict[str, Override]:
    """The first given parameter of each other model, by the model's name. Such parameters have no effect."""
    return _of_others(overrides, MODEL_PARAMS, model)


def of_other_plants(overrides: Iterable[Override], backend: str) -> dict[str, Override]:
    """The first given parameter of each plant that is not the chosen one, by the plant's name."""
    return _of_others(overrides, PLANT_PARAMS, backend)


def _of_others(overrides: Iterable[Override], group: str, chosen: str) -> dict[str, Override]:
    """The first given parameter of each member of a group but the chosen one, by the member's name."""
    unused: dict[str, Override] = {}
    for override in overrides:
        if (name := _member_of(override.name, group)) not in ("", chosen):
            unused.setdefault(name, override)
    return unused


def refuse_other_models(overrides: Iterable[Override], parameters: NodeParameters) -> None:
    """Refuse values for another model than that of the parameters; the message has its nearest parameter."""
    for name, override in of_other_models(overrides, parameters.model).items():
        near = override.name.replace(f".{name}.", f".{parameters.model}.", 1)
        names = [description.name for description in describe(parameters)]
        nearest = difflib.get_close_matches(near, names, n=1, cutoff=0.0)[0]
        raise ParameterError(
            f"parameter '{override.name}'{_at(override.origin)} is of the model '{name}', and the vehicle's model is "
            f"'{parameters.model}'; the nearest parameter of '{parameters.model}' is '{nearest}'"
        )


def checked(overrides: Iterable[Override], known: Mapping[str, Description]) -> dict[str, Value]:
    """The values by proper name, each of the right type and within its bounds; raises ParameterError otherwise."""
    faults = Faults()
    values = _checked(overrides, known, faults)
    faults.refuse()
    return values


def _checked(
    overrides: Iterable[Override], known: Mapping[str, Description], faults: Faults, model: str = ""
) -> dict[str, Value]:
    """The valid values by proper name; errors go into ``faults``. Nearest names are those of the chosen model."""
    names = _spellings(known.values())
    values: dict[str, Value] = {}
    unknown = 0
    for override in overrides:
        if override.name.startswith(FOREIGN):
            continue
        if override.name not in names:
            unknown += 1
            if unknown <= MOST_UNKNOWN:
                faults.messages.append(_unknown(override, names, model))
            continue
        name = names[override.name]
        with faults.caught():
            values[name] = known[name].check(override.value, override.origin)
    if unknown > MOST_UNKNOWN:
        faults.messages.append(f"{unknown - MOST_UNKNOWN} further parameters are unknown")
    return values


def proper_name(name: str, known: Mapping[str, Description], origin: str = "") -> str:
    """The proper name of a parameter, from any of its names."""
    names = _spellings(known.values())
    if name not in names:
        raise ParameterError(_unknown(Override(name, None, origin), names))
    return names[name]


def replaced(
    group: Group, values: Mapping[str, Value], prefix: str = "", overrides: Mapping[str, Override] | None = None
) -> Group:
    """The same parameters with some values changed; errors name the origin of an override."""
    changes: dict[str, object] = {}
    faults = Faults()
    for item in dataclasses.fields(group):
        name = f"{prefix}.{item.name}" if prefix else item.name
        value = getattr(group, item.name)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            with faults.caught():
                changes[item.name] = replaced(value, values, name, overrides)
        elif isinstance(value, dict):
            members = changes[item.name] = dict(value)
            for key, member in value.items():
                with faults.caught():
                    members[key] = replaced(member, values, f"{name}.{key}", overrides)
        elif name in values:
            changes[item.name] = values[name]
    faults.refuse()
    try:
        return dataclasses.replace(group, **changes)
    except ParameterError as error:
        text = f"{prefix}: {error}" if prefix else str(error)
        raise ParameterError(text + _place(str(error), prefix, overrides or {})) from None


def _place(message: str, prefix: str, overrides: Mapping[str, Override]) -> str:
    """The origin of the first parameter whose name or value a message quotes; empty without one."""
    group = f"{prefix}." if prefix else ""
    for word in re.findall(r"'([^']+)'", message):
        for name, override in overrides.items():
            if name == group + word or (name.startswith(group) and override.value == word):
                return _at(override.origin)
    return ""


def _at(origin: str) -> str:
    """An origin as in messages; empty without one."""
    return f" ({origin})" if origin else ""


def _spellings(descriptions: Iterable[Description]) -> dict[str, str]:
    """The proper names of parameters by every accepted name."""
    names = {}
    for description in descriptions:
        names[description.name] = description.name
        names |= dict.fromkeys(description.other_names, description.name)
    return names


def _unknown(override: Override, names: Mapping[str, str], model: str = "") -> str:
    prefixes = {f"{MODEL_PARAMS}.{name}." for name in (model, _member_of(override.name, MODEL_PARAMS)) if name}
    near = [name for name in names if not _member_of(name, MODEL_PARAMS) or name.startswith(tuple(prefixes))]
    nearest = max(near or names, key=lambda name: _likeness(override.name, name))
    return f"unknown parameter '{override.name}'{_at(override.origin)}; the nearest valid name is '{nearest}'"


def _likeness(name: str, other: str) -> float:
    """How alike two names are; the same last word counts for more, since it says what the number is."""
    same_last_word = re.split(r"[._]", name)[-1] == re.split(r"[._]", other)[-1]
    return difflib.SequenceMatcher(None, other, name).ratio() + 0.1 * same_last_word


def _member_of(name: str, group: str) -> str:
    """The model, or the plant, of a parameter's name; empty for other parameters."""
    first, _, rest = name.partition(".")
    return rest.partition(".")[0] if first == group else ""


def _sensors_of(
    overrides: Iterable[Override], types: Mapping[str, Registered], faults: Faults
) -> tuple[dict[str, Any], list[Override]]:
    """The sensors with the defaults of their types, by name, and the overrides without those of faulty sensors."""
    overrides = list(overrides)
    origins: dict[str, str] = {}
    type_overrides: dict[str, Override] = {}
    for override in overrides:
        if (parts := override.name.split("."))[0] == SENSORS and len(parts) == 3:
            origins.setdefault(parts[1], override.origin)
            if parts[2] == "type":
                type_overrides[parts[1]] = override
    sensors: dict[str, Any] = {}
    for name, origin in origins.items():
        with faults.caught():
            sensors[name] = _group_of(name, type_overrides.get(name), origin, types)()
    faulty = tuple(f"{SENSORS}.{name}." for name in origins.keys() - sensors.keys())
    return sensors, [override for override in overrides if not override.name.startswith(faulty)]


def _group_of(name: str, override: Override | None, origin: str, types: Mapping[str, Registered]) -> type[Any]:
    """The parameter group of a sensor's type."""
    known = ", ".join(types)
    if not re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII):
        raise ParameterError(
            f"sensor '{name}' ({origin}): its name must be a letter and then letters, digits or '_', as in 'lidar_1'"
        )
    if override is None:
        raise ParameterError(f"sensor '{name}' ({origin}) has no type; '{SENSORS}.{name}.type' must be one of {known}")
    if str(override.value) not in types:
        nearest = difflib.get_close_matches(str(override.value), types, n=1, cutoff=0.0)[0]
        raise ParameterError(
            f"parameter '{override.name}' is '{override.value}' ({override.origin}); it must be one of {known}; "
            f"the nearest is '{nearest}'"
        )
    return types[str(override.value)].parameters
