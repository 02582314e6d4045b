"""The robot description (URDF) of a vehicle, from its parameters.

The file ``models/foo.urdf.xacro`` draws the model ``foo``. Its arguments are the model's parameters, named with
underscores for dots: ``steering_actuator.max_position`` is ``$(arg steering_actuator_max_position)``.
``$(arg models)`` is the folder ``models``, for files elsewhere that include ``common.xacro``.

``base_footprint`` is another name of ``base_link``, which some programs need.

A sensor with a Gazebo side is drawn by the macro of its type, from its name, the link to which it is fixed, ``parent``,
and those of its parameters that the macro takes. Another sensor that has ``xyz`` and ``rpy`` is a link without a shape.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from xml.dom.minidom import Document, Element, parse
from xml.parsers.expat import ExpatError

import xacro

from vds_gz.core.description.urdf_reader import BASE_LINK, DescriptionError
from vds_gz.core.parameters.declaration import Value, describe
from vds_gz.core.parameters.sensor_parameters import SensorParameters
from vds_gz.core.sensing.sensor import GazeboSide
from vds_gz.core.sensing.sensor_types import SensorTypes
from vds_gz.core.share import share

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

BASE_FOOTPRINT = "base_footprint"  # the other name of ``base_link``

_SUFFIX = ".urdf.xacro"
_NAMESPACE = "http://www.ros.org/wiki/xacro"


def urdf(
    model: str,
    parameters: DataclassInstance,
    xacro_file: str | Path | None = None,
    sensors: Mapping[str, SensorParameters] | None = None,
) -> str:
    """The URDF of a vehicle, by its model's file or ``xacro_file``; raises DescriptionError if it cannot be made."""
    path = share("models") / xacro_file if xacro_file else _model_file(model)
    if not path.is_file():
        raise DescriptionError(f"there is no xacro file '{path}'")
    types = SensorTypes()
    sides = {name: side for name, sensor in (sensors or {}).items() if (side := types[sensor.type].gazebo)}
    try:
        document = _assembly(model, path, sensors or {}, sides)
        xacro.process_doc(document, mappings={"models": str(share("models")), **arguments(parameters)})
    except (xacro.XacroException, ExpatError) as error:
        raise DescriptionError(f"cannot make a robot description of '{path}': {error}") from error
    root = document.documentElement
    assert root is not None
    for name, sensor in (sensors or {}).items():
        if name not in sides and (places := arguments(sensor)).keys() >= {"xyz", "rpy"}:
            _add_link(root, name, places.get("parent", BASE_LINK), xyz=places["xyz"], rpy=places["rpy"])
    links = [link.getAttribute("name") for link in document.getElementsByTagName("link")]
    if twice := {link for link in links if links.count(link) > 1} & set(sensors or ()):
        raise DescriptionError(f"sensor '{min(twice)}' has the name of a link of '{path}'; give it another name")
    if BASE_LINK in (child.getAttribute("link") for child in document.getElementsByTagName("child")):
        raise DescriptionError(
            f"link '{BASE_LINK}' of '{path}' is the child of a joint; it must be the root, the vehicle's frame"
        )
    if BASE_LINK in links and BASE_FOOTPRINT not in links:
        _add_link(root, BASE_FOOTPRINT)
    return '<?xml version="1.0"?>\n' + root.toprettyxml(indent="  ")


def arguments(parameters: DataclassInstance) -> dict[str, str]:
    """The xacro arguments of a group of parameters: values as text, by name."""
    return {item.name.replace(".", "_"): _text(item.default) for item in describe(parameters)}


def _assembly(
    model: str, path: Path, sensors: Mapping[str, SensorParameters], sides: Mapping[str, GazeboSide]
) -> Document:
    """A xacro document that includes the vehicle's file and calls the macro of each sensor with a Gazebo side."""
    document = Document()
    root = document.createElement("robot")
    document.appendChild(root)
    root.setAttribute("name", model)
    root.setAttribute("xmlns:xacro", _NAMESPACE)

    def call(macro: str, **attributes: str) -> None:
        _append(root, f"xacro:{macro}", _NAMESPACE, **attributes)

    call("include", filename=str(path))
    for file in dict.fromkeys(side.xacro for side in sides.values()):
        call("include", filename=str(share("models") / file))
    for name, side in sides.items():
        values = arguments(sensors[name])
        macro, parent = values.pop("type"), values.pop("parent", BASE_LINK)
        taken = parameters_taken(macro, share("models") / side.xacro, values)
        call(macro, name=name, parent=parent, **{key: value for key, value in values.items() if key in taken})
    return document


def parameters_taken(macro: str, file: Path, names: Container[str]) -> Container[str]:
    """The parameters that a macro of a xacro file takes; ``names`` if it is in a file that this one includes."""
    elements = parse(str(file)).getElementsByTagNameNS(_NAMESPACE, "macro") if file.is_file() else ()
    for element in elements:
        if element.getAttribute("name") == macro:
            return set(re.findall(r"(?:^|\s)(\w+)", element.getAttribute("params")))
    return names


def _add_link(root: Element, name: str, parent: str = BASE_LINK, **origin: str) -> None:
    """Fix a link without a shape or a mass to another one, at its origin by default."""
    _append(root, "link", name=name)
    joint = _append(root, "joint", name=f"{name}_mount", type="fixed")
    if origin:
        _append(joint, "origin", **origin)
    _append(joint, "parent", link=parent)
    _append(joint, "child", link=name)


def _append(above: Element, tag: str, namespace: str | None = None, **attributes: str) -> Element:
    """Append a new element to another one."""
    document = above.ownerDocument
    assert document is not None
    element = document.createElementNS(namespace, tag)
    for key, value in attributes.items():
        element.setAttribute(key, value)
    above.appendChild(element)
    return element


def _model_file(model: str) -> Path:
    folder = share("models")
    path = folder / f"{model}{_SUFFIX}"
    if not path.is_file():
        known = sorted(file.name.removesuffix(_SUFFIX) for file in folder.glob(f"*{_SUFFIX}"))
        raise DescriptionError(
            f"there is no robot description of model '{model}'; set its xacro to a file that draws it, or use "
            f"one of {', '.join(known)}"
        )
    return path


def _text(value: Value) -> str:
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
