"""Plants of other packages: the setup that they are made of, and their factory."""

from __future__ import annotations

import sys
from functools import partial

from vds_gz.core.description.urdf_writer import urdf
from vds_gz.core.errors import ArgumentError, VdsGzError
from vds_gz.core.parameters.declaration import ParameterGroup
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.plant.base import Plant
from vds_gz.core.plant.plant_types import ENTRY_POINTS, PlantSetup, PlantType
from vds_gz.core.share import in_words, raised_at
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.make_vehicle import make_vehicle


def plant_setup(parameters: NodeParameters, own: ParameterGroup | None = None) -> PlantSetup:
    """A setup without a node, for tests and programs: nothing is woken, and warnings go to the standard error.

    Args:
        parameters: Those of the vehicle, as :func:`vds_gz.load_parameters` reads them.
        own: The plant's own parameters; None for those of the plant that ``backend`` selects.
    """
    model = models()[parameters.model]
    text = urdf(model.name, parameters.vehicle, model.xacro, parameters.sensors)
    scene = None
    if parameters.world:
        from vds_gz.core.world.load_world import load_world

        scene = load_world(parameters.world)
    own = own or parameters.plant_params[parameters.backend]
    vehicle = make_vehicle(parameters, moves=False)
    return PlantSetup(parameters, own, vehicle, text, scene, lambda: None, partial(print, file=sys.stderr))


def installed_plant(kind: PlantType, setup: PlantSetup) -> Plant:
    """The plant of another package that the setup's parameters select; ``kind`` is its record."""
    place = f"entry point '{setup.parameters.backend}' of {ENTRY_POINTS}"
    try:
        plant = kind.make(setup)
    except VdsGzError:
        raise
    except Exception as error:  # any exception of the plant's own code
        where = raised_at(error, kind.make.__module__)
        raise ArgumentError(f"{place} raises {in_words(error)} ({where})") from error
    if not isinstance(plant, Plant):
        raise ArgumentError(f"{place} makes {plant!r}; it must make a Plant")
    return plant
