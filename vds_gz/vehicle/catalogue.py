"""All vehicle models there are: those of this package, and those that other installed packages bring."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points

from vds_gz.errors import ArgumentError
from vds_gz.vehicle.autoware.models import AUTOWARE_MODELS
from vds_gz.vehicle.bicycle import BICYCLE
from vds_gz.vehicle.differential import DIFFERENTIAL
from vds_gz.vehicle.model import ActuatorKind, AnyModel, VehicleModel
from vds_gz.vehicle.omni import OMNI

#: Entry point group under which an installed package offers a :class:`~vds_gz.vehicle.model.VehicleModel`.
ENTRY_POINTS = "vds_gz.models"

OWN: tuple[AnyModel, ...] = (BICYCLE, DIFFERENTIAL, OMNI, *AUTOWARE_MODELS)


@cache
def actuator_kind(name: str) -> ActuatorKind:
    """The kind of an actuator that a recording knows by its name; a drive where no model has one of this name."""
    return next((one.kind for model in models().values() for one in model.actuators if one.name == name), "drive")


def models() -> dict[str, AnyModel]:
    """Every model by its name.

    Raises:
        ArgumentError: A package offers something else than a model, or a name that is taken.
    """
    found = {model.name: model for model in OWN}
    for entry in entry_points(group=ENTRY_POINTS):
        model = entry.load()
        if not isinstance(model, VehicleModel):
            raise ArgumentError(f"entry point '{entry.name}' of {ENTRY_POINTS} is {model!r}; it must be a VehicleModel")
        if model.name in found:
            raise ArgumentError(f"entry point '{entry.name}' of {ENTRY_POINTS}: a model '{model.name}' exists already")
        found[model.name] = model
    return found
