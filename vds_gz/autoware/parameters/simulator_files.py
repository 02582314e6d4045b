"""Parameter files of Autoware's simple_planning_simulator, converted to parameters of this package.

Autoware has separate files for the simulator, the vehicle's size and the mechanical steering. Their values may be given
together, in any order.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping

from vds_gz.core.parameters.declaration import Override, ParameterError, Registered, describe
from vds_gz.core.parameters.node import MeasurementNoiseParameters

#: The parameter that marks these files; it is the name of the entry point too.
MODEL_TYPE = "vehicle_model_type"

#: The parameter of the node's period [ms].
TIMER = "timer_sampling_time_ms"

#: Names without meaning here: their values come from other places, or are not simulated.
WITHOUT_MEANING = frozenset(
    (
        "simulated_frame_id",
        "origin_frame_id",
        "initialize_source",
        "initial_engage_state",
        "x_stddev",
        "y_stddev",
        "convert_steer_cmd_method",
        "model_module_paths",
        "model_param_paths",
        "model_class_names",
        "wheel_width",
        "front_overhang",
        "rear_overhang",
        "left_overhang",
        "right_overhang",
        "vehicle_height",
        "max_steer_angle",
    )
)

_FIND_SHARE = re.compile(r"\$\(find-pkg-share\s+([\w-]+)\)")


def translated(values: Iterable[Override], models: Mapping[str, Registered]) -> list[Override]:
    """Values under Autoware's names, converted to the names of this package.

    Names without meaning for the model are left out. Unknown names stay, so that they are refused.
    """
    by_name = {value.name: value for value in values}
    model = _model_of(by_name, models)
    prefix = f"model_params.{model}"
    ours = _names_of(models[model].parameters)
    noise = _names_of(MeasurementNoiseParameters)
    theirs = {name for item in models.values() for name in _names_of(item.parameters)} | WITHOUT_MEANING
    overrides = [Override("model", model, by_name[MODEL_TYPE].origin)]
    for name, value in by_name.items():
        if name == MODEL_TYPE:
            continue
        if name in noise:
            overrides.append(Override(f"measurement_noise.{name}", value.value, value.origin))
        elif name in ours:
            converted = _FIND_SHARE.sub(r"package://\1", value.value) if isinstance(value.value, str) else value.value
            overrides.append(Override(f"{prefix}.{name}", converted, value.origin))
        elif name in _DERIVED:
            for our_name, number in _DERIVED[name](_number(value)).items():
                full_name = our_name if name == TIMER else f"{prefix}.{our_name}"
                overrides.append(Override(full_name, number, value.origin))
        elif name not in theirs and not name.startswith("mechanical_params."):
            overrides.append(value)
    return overrides


def _model_of(by_name: Mapping[str, Override], models: Mapping[str, Registered]) -> str:
    if MODEL_TYPE not in by_name:
        raise ParameterError(f"parameter '{MODEL_TYPE}' is missing; files of Autoware's simulator have it")
    override = by_name[MODEL_TYPE]
    model = str(override.value).lower()
    if model not in models:
        place = f" ({override.origin})" if override.origin else ""
        known = ", ".join(name.upper() for name in models if "steer" in name or "actuation" in name)
        raise ParameterError(f"parameter '{MODEL_TYPE}' is '{override.value}'{place}; it must be one of {known}")
    return model


def _names_of(group: type) -> set[str]:
    return {parameter.name for parameter in describe(group())} if dataclasses.is_dataclass(group) else set()


def _number(value: Override) -> float:
    if isinstance(value.value, bool) or not isinstance(value.value, (int, float)) or not value.value > 0.0:
        raise ParameterError(
            f"parameter '{value.name}' is {value.value!r} ({value.origin}); it must be a number greater than 0"
        )
    return float(value.value)


#: Parameters of this package that follow from Autoware's; those of ``TIMER`` are the node's, the others the vehicle's.
_DERIVED: dict[str, Callable[[float], dict[str, float]]] = {
    TIMER: lambda milliseconds: {"pub_rate": 1000.0 / milliseconds},
    "wheel_radius": lambda radius: {"tire_diameter": 2.0 * radius},
    "wheel_tread": lambda tread: {"track_fixed": tread, "track_steered": tread},
}
