"""The configuration of a vehicle: which model, its parameters and those of its node, from a preset or a file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from vds_gz.core.errors import MAPPING, NUMBER, PATH, ArgumentError, takes
from vds_gz.core.parameters import conversion
from vds_gz.core.parameters.declaration import Override
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.parameters.yaml_reader import read_parameter_file
from vds_gz.core.plant.plant_types import PlantTypes
from vds_gz.core.sensing.sensor_types import SensorTypes
from vds_gz.core.share import share
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.make_vehicle import make_vehicle
from vds_gz.core.vehicle.vehicle import AnyVehicle

#: The node that simulates a vehicle, and its section in parameter files.
NODE_NAME = "sim_node"

#: The sensor that a vehicle without sensors gets in a world.
LIDAR: Mapping[str, str | list[float]] = {"type": "rplidar_a2", "xyz": [0.0, 0.0, 0.5]}


def parameters_of(overrides: Iterable[Override]) -> NodeParameters:
    """Parameters with these values and defaults for the rest."""
    return conversion.load(overrides, models(), SensorTypes(), PlantTypes())


def in_world(overrides: Sequence[Override], world: str, origin: str) -> list[Override]:
    """Put a vehicle into a world, and give it a lidar called ``lidar`` if it has no sensor."""
    added = [Override("world", world, origin)]
    if not parameters_of([*overrides, *added]).sensors:
        added += [Override(f"sensors.lidar.{name}", value, origin) for name, value in LIDAR.items()]
    return added


@takes(source=PATH, values=MAPPING.or_none)
def load_parameters(source: str | Path, values: Mapping[str, object] | None = None) -> NodeParameters:
    """The parameters of a vehicle: its model, the model's own, and those of the node that simulates it.

    Args:
        source: The name of a preset (a vehicle of this package), or the path of a parameter file.
        values: Parameters with other values, by their dotted names.

    Raises:
        ArgumentError: The preset or file does not exist.
        ParameterError: A name is unknown or of another model, or a value is not allowed.

    >>> load_parameters("deepracer").model
    'bicycle'
    >>> load_parameters("deepracer", {"model_params.bicycle.wheel_base": 0.2}).vehicle.wheel_base
    0.2
    """
    overrides = [Override(name, value, "values") for name, value in (values or {}).items()]
    parameters = parameters_of([*read_parameter_file(str(parameter_file(source)), f"/{NODE_NAME}"), *overrides])
    conversion.refuse_other_models(overrides, parameters)
    return parameters


def parameter_file(source: str | Path) -> Path:
    """The parameter file of a vehicle."""
    file = preset_file(str(source)) if str(source) in preset_names() else Path(source)
    if not file.is_file():
        raise ArgumentError(
            f"'{source}' is no parameter file (looked in {Path.cwd()}) and no preset; "
            f"presets are {', '.join(preset_names())}"
        )
    return file


def read_vehicle_file(path: str | Path, full_name: str) -> list[Override]:
    """The values in a parameter file for a vehicle's node, in any namespace and under any name.

    ROS reads the section ``sim_node:`` for the node ``/sim_node`` only. Here it applies to every node of a vehicle; a
    section for the node's full name overrides it, and it overrides sections with wildcards.
    """
    return read_parameter_file(str(path), f"/{NODE_NAME}", full_name)


@takes(source=PATH, values=MAPPING.or_none, start=NUMBER)
def load_vehicle(
    source: str | Path, values: Mapping[str, object] | None = None, *, compiled: bool = False, start: int = 0
) -> AnyVehicle:
    """A vehicle at rest at the origin, ready for commands.

    Args:
        source: The name of a preset, or the path of a parameter file.
        values: Parameters with other values, by their dotted names.
        compiled: Whether to compile the steps, which needs numba; the vehicle is about 100 times faster then.
        start: Start time [ns].

    Raises:
        ArgumentError: The preset or file does not exist.
        ParameterError: A name is unknown or of another model, or a value is not allowed.

    >>> from vds_gz import twist
    >>> vehicle = load_vehicle("forklift")
    >>> vehicle.enter(twist(1.0, 0.0, 0.0), time=0)
    >>> vehicle.advance(500_000_000)
    500
    >>> 0.0 < vehicle.motion().v_x < 1.0
    True
    """
    return make_vehicle(load_parameters(source, values), compiled=compiled, start=start)


def default_parameters() -> NodeParameters:
    """The default parameters, with those of all models."""
    return NodeParameters(model_params={name: model.parameters() for name, model in models().items()})


def parameters_of_file(path: str | Path) -> NodeParameters:
    """The parameters in a ROS 2 parameter file for the node."""
    return parameters_of(read_parameter_file(str(path), f"/{NODE_NAME}"))


def preset_file(name: str) -> Path:
    """The parameter file of a preset, e.g. of ``deepracer``."""
    if name not in preset_names():
        raise ArgumentError(f"there is no preset '{name}'; presets are {', '.join(preset_names())}")
    return share("config", f"{name}.yaml")


def preset_names() -> list[str]:
    """The vehicles of this package: files of ``config/`` for the node, with a model that is there."""
    known, named = models(), re.compile(rf"^{NODE_NAME}:.*?^ +model: *(\w+)", re.MULTILINE | re.DOTALL)
    files = ((file.stem, named.search(file.read_text(encoding="utf-8"))) for file in share("config").glob("*.yaml"))
    return sorted(name for name, model in files if model and model[1] in known)
