"""The plants of other installed packages, by the names that the parameter ``backend`` selects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.declaration import ParameterGroup
from vds_gz.core.parameters.node import BACKENDS, NodeParameters
from vds_gz.core.share import extensions, offered
from vds_gz.core.vehicle.vehicle import AnyVehicle

if TYPE_CHECKING:
    from vds_gz.core.plant.base import Plant
    from vds_gz.core.world.scene import Scene

#: Entry point group under which an installed package offers a :class:`PlantType`. Its name is that of the plant.
ENTRY_POINTS = "vds_gz.plants"


@dataclass(frozen=True, slots=True)
class PlantSetup:
    """Everything that a plant is made of; the argument of :attr:`PlantType.make <vds_gz.plant.PlantType.make>`.

    Attributes:
        parameters: The node's parameters, such as ``step_rate`` [Hz], ``world`` and ``random_seed``.
        own: The plant's own parameters: the values under ``plant_params.<name>``.
        vehicle: The vehicle, at rest. It simulates actuators and wheels, and never moves the body.
        urdf: The robot's description, with the friction of wheels and casters.
        scene: The world that ``world`` names, of which the node simulates sensors; None without one.
        wake: Ends the node's waiting for messages. A plant with a thread of its own calls it when there is something
            new for :meth:`Plant.observe`. Any thread may call it.
        warn: Logs a warning, from the thread that calls the plant.
    """

    parameters: NodeParameters
    own: ParameterGroup
    vehicle: AnyVehicle
    urdf: str
    scene: Scene | None
    wake: Callable[[], None]
    warn: Callable[[str], None]


@dataclass(frozen=True, slots=True)
class NoParameters(ParameterGroup):
    """The parameters of a plant that has none."""


@dataclass(frozen=True, slots=True)
class PlantType:
    """A plant that an installed package offers.

    Attributes:
        make: Factory of the plant, which a node calls once when it starts. It may raise a
            :class:`~vds_gz.ParameterError` if parameters ask for what the plant cannot do, and a
            :class:`~vds_gz.plant.LinkError` if something that it needs does not answer. The node then ends with the
            message.
        parameters: The parameter group under ``plant_params.<name>``.
    """

    make: Callable[[PlantSetup], Plant]
    parameters: type[ParameterGroup] = NoParameters

    def __post_init__(self) -> None:
        """Refuse a record that cannot make a plant.

        Raises:
            ArgumentError: ``make`` cannot be called, or the parameters are not a parameter group.
        """
        if not callable(self.make):
            raise ArgumentError(f"make of a plant is {self.make!r}; it must be a function of a PlantSetup")
        if not (isinstance(self.parameters, type) and issubclass(self.parameters, ParameterGroup)):
            raise ArgumentError(
                f"the parameters of a plant are {self.parameters!r}; they must be a dataclass that derives from "
                "ParameterGroup, so that they are checked"
            )


class PlantTypes(Mapping[str, PlantType]):
    """All plants of other packages by name. They are looked for at the first use; one is imported by ``[name]``."""

    def __getitem__(self, name: str) -> PlantType:
        """The plant with a name."""
        for entry in extensions(ENTRY_POINTS):
            if entry.name == name:
                return offered(entry, PlantType)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        names: list[str] = []
        for entry in extensions(ENTRY_POINTS):
            if entry.name in (*BACKENDS, *names):
                raise ArgumentError(
                    f"entry point '{entry.name}' of {ENTRY_POINTS}: a plant '{entry.name}' exists already"
                )
            names.append(entry.name)
        return iter(names)

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __contains__(self, name: object) -> bool:
        """Whether there is a plant with a name, without importing it."""
        return name in list(iter(self))
