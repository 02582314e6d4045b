"""A JSON schema of parameter files, by which editors check and complete them, from the descriptions of parameters.

The schema of this package's own models and sensors is shipped as ``config/schema/parameters.json``. Groups of other
models and sensors pass it unchecked; the node checks them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from vds_gz.core.parameters.conversion import FOREIGN, MODEL_PARAMS, PLANT_PARAMS, SENSORS
from vds_gz.core.parameters.declaration import Description, Registered, describe
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.parameters.yaml_reader import SECTION
from vds_gz.core.share import share

Schema = dict[str, Any]

DIALECT = "http://json-schema.org/draft-07/schema#"

#: JSON's types of parameters that are not arrays; the reader takes a whole number for a real one.
_TYPES = {"double": "number", "integer": "integer", "bool": "boolean", "string": "string"}

#: Keys with dots join several levels into one, and pass unchecked, as parameters of ROS itself do.
_UNCHECKED: Schema = {"\\.": {}, f"^({'|'.join(name.rstrip('.') for name in FOREIGN)})$": {}}


def schema_line() -> str:
    """A comment by which editors find the shipped schema, for the first line of a parameter file."""
    return f"# yaml-language-server: $schema={share('config', 'schema', 'parameters.json').as_uri()}\n"


def schema(models: Mapping[str, Registered], sensors: Mapping[str, Registered]) -> Schema:
    """The schema of a parameter file for a vehicle's node, with these models and types of sensors."""
    node = _group(describe(NodeParameters()))
    node["properties"]["model"] = _names("the vehicle model", models)
    node["properties"][PLANT_PARAMS] = {"description": "parameters of plants of other packages", "type": "object"}
    node["properties"][MODEL_PARAMS] = {
        "description": "parameters of models; only those of the chosen model count",
        "type": "object",
        "properties": {name: _group(describe(model.parameters())) for name, model in models.items()},
    }
    node["properties"][SENSORS] = {
        "description": "sensors by name, each with a type",
        "type": "object",
        "patternProperties": {r"^[A-Za-z]\w*$": {"$ref": "#/definitions/sensor"}},
    }
    section = {"type": "object", "properties": {SECTION: node}}
    return {
        "$schema": DIALECT,
        "title": "Parameters of a vehicle of vds_gz",
        "type": "object",
        "patternProperties": {r"(^|/)sim_node$|^/\*\*$": section},
        "definitions": {
            "sensor": {
                "type": "object",
                "properties": {"type": _names("the type of the sensor", sensors)},
                "required": ["type"],
                "allOf": [
                    {
                        "if": {"properties": {"type": {"const": name}}, "required": ["type"]},
                        "then": _group(describe(sensor.parameters())),
                    }
                    for name, sensor in sensors.items()
                ],
            }
        },
    }


def _names(what: str, known: Iterable[str]) -> Schema:
    """One of these names, which editors offer, or that of another package."""
    return {"description": what, "anyOf": [{"enum": list(known)}, {"type": "string"}]}


def _group(descriptions: Iterable[Description]) -> Schema:
    """A group of parameters with the groups below it. Other names are refused."""
    root = _empty_group()
    for parameter in descriptions:
        *path, name = parameter.name.split(".")
        group = root
        for key in path:
            group = group["properties"].setdefault(key, _empty_group())
        group["properties"] |= dict.fromkeys((name, *parameter.aliases), _value(parameter))
    return root


def _empty_group() -> Schema:
    return {"type": "object", "properties": {}, "patternProperties": _UNCHECKED, "additionalProperties": False}


def _value(parameter: Description) -> Schema:
    """One parameter."""
    unit = f" [{parameter.unit}]" if parameter.unit not in ("", "-") else ""
    described: Schema = {"description": f"{parameter.doc}{unit}", "default": parameter.default}
    bounds = {"minimum": parameter.minimum, "maximum": parameter.maximum}
    if isinstance(parameter.default, tuple):
        lengths = {"maxItems": parameter.most} if parameter.most else {"minItems": len(parameter.default)}
        lengths.setdefault("maxItems", len(parameter.default))
        return {**described, "type": "array", "items": {"type": "number", **bounds}, **lengths}
    described["type"] = _TYPES[parameter.type]
    if parameter.type in ("double", "integer"):
        described |= bounds
    if parameter.extensible:
        return {**described, "anyOf": [{"enum": list(parameter.choices)}, {"type": "string"}]}
    return {**described, "enum": list(parameter.choices)} if parameter.choices else described
