"""All vehicle models: those of this package and those of other installed packages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module

from vds_gz.core.errors import ArgumentError
from vds_gz.core.share import extensions, offered
from vds_gz.core.vehicle.vehicle_model import ActuatorKind, AnyModel, VehicleModel

#: Entry point group under which an installed package offers a :class:`~vds_gz.core.vehicle.vehicle_model.VehicleModel`.
ENTRY_POINTS = "vds_gz.models"

#: The models of this package and their modules, where the constant is the name in capitals.
OWN: Mapping[str, str] = {
    "bicycle": "vds_gz.core.vehicle.bicycle",
    "differential": "vds_gz.core.vehicle.differential",
    "omni": "vds_gz.core.vehicle.omni",
    "single_track": "vds_gz.core.vehicle.single_track",
    "ideal_steer_vel": "vds_gz.autoware.vehicle.models",
    "ideal_steer_acc": "vds_gz.autoware.vehicle.models",
    "ideal_steer_acc_geared": "vds_gz.autoware.vehicle.models",
    "delay_steer_vel": "vds_gz.autoware.vehicle.models",
    "delay_steer_acc": "vds_gz.autoware.vehicle.models",
    "delay_steer_acc_geared": "vds_gz.autoware.vehicle.models",
    "delay_steer_acc_geared_wo_fall_guard": "vds_gz.autoware.vehicle.models",
    "delay_steer_map_acc_geared": "vds_gz.autoware.vehicle.models",
    "actuation_cmd": "vds_gz.autoware.vehicle.models",
    "actuation_cmd_steer_map": "vds_gz.autoware.vehicle.models",
    "actuation_cmd_vgr": "vds_gz.autoware.vehicle.models",
    "actuation_cmd_mechanical": "vds_gz.autoware.vehicle.models",
}


class Models(Mapping[str, AnyModel]):
    """Every model by its name; one of this package is imported when it is looked up."""

    def __init__(self) -> None:
        """Find the models of other packages."""
        self._models: dict[str, AnyModel | None] = dict.fromkeys(OWN)
        for entry in extensions(ENTRY_POINTS):
            model: AnyModel = offered(entry, VehicleModel)
            if model.name in self._models:
                raise ArgumentError(
                    f"entry point '{entry.name}' of {ENTRY_POINTS}: a model '{model.name}' exists already"
                )
            self._models[model.name] = model

    def __getitem__(self, name: str) -> AnyModel:
        model = self._models[name]
        if model is None:
            model = self._models[name] = getattr(import_module(OWN[name]), name.upper())
        return model

    def __iter__(self) -> Iterator[str]:
        return iter(self._models)

    def __len__(self) -> int:
        return len(self._models)

    def __repr__(self) -> str:
        """The names only, because the models would all be imported."""
        return f"{type(self).__name__}({', '.join(self)})"


def models() -> Models:
    """Every model by its name.

    Raises:
        ArgumentError: An entry point cannot be imported, is not a model, or has a name that is taken.
    """
    return Models()


@cache
def actuator_kind(name: str) -> ActuatorKind:
    """The kind of a recorded actuator, by its name; a drive if no model has an actuator of this name."""
    return next(
        (actuator.kind for model in models().values() for actuator in model.actuators if actuator.name == name), "drive"
    )
