"""All vehicle models: those of the core, of guests and of other installed packages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import EntryPoint

from vds_gz.core.errors import ArgumentError
from vds_gz.core.share import extensions, offered
from vds_gz.core.vehicle.vehicle_model import ActuatorKind, AnyModel, VehicleModel

#: Entry point group under which an installed package offers a :class:`~vds_gz.core.vehicle.vehicle_model.VehicleModel`.
ENTRY_POINTS = "vds_gz.models"

#: The models of the core, by their names.
OWN = ("bicycle", "differential", "four_wheel_steering", "omni", "single_track", "swerve")


class Models(Mapping[str, AnyModel]):
    """Every model by its name; a model is imported when it is looked up."""

    def __init__(self) -> None:
        self._entries = {
            name: EntryPoint(name, f"vds_gz.core.vehicle.{name}:{name.upper()}", ENTRY_POINTS) for name in OWN
        }
        for entry in extensions(ENTRY_POINTS):
            if entry.name in self._entries:
                raise ArgumentError(
                    f"entry point '{entry.name}' of {ENTRY_POINTS}: a model '{entry.name}' exists already"
                )
            self._entries[entry.name] = entry

    def __getitem__(self, name: str) -> AnyModel:
        """The model with a name."""
        model: AnyModel = offered(self._entries[name], VehicleModel)
        if model.name != name:
            raise ArgumentError(
                f"entry point '{name}' of {ENTRY_POINTS} is a model '{model.name}'; both must have the same name"
            )
        return model

    def __contains__(self, name: object) -> bool:
        """Whether there is a model with a name, without importing it."""
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        """The names only, because the models would all be imported."""
        return f"{type(self).__name__}({', '.join(self)})"


def models() -> Models:
    """Every model by its name.

    Raises:
        ArgumentError: Two entry points have one name. The lookup of a model raises it if the entry point cannot be
            imported, or is not a model of that name.
    """
    return Models()


@cache
def actuator_kind(name: str) -> ActuatorKind:
    """The kind of a recorded actuator, by its name.

    Names that begin with ``steering`` are steerings. Others are looked up in the models whose actuators do not depend
    on parameters; unknown ones are drives.
    """
    if name.startswith("steering"):
        return "steering"
    fixed = (model.actuators for model in models().values() if not callable(model.actuators))
    return next((actuator.kind for actuators in fixed for actuator in actuators if actuator.name == name), "drive")
