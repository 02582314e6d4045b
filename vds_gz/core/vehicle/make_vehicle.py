"""Makes vehicles from the parameters of a node."""

from __future__ import annotations

from typing import Any

from vds_gz.core.parameters.live_parameters import LiveParameters
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.vehicle import AnyGuardedVehicle, AnyVehicle, GuardedVehicle, Vehicle


def make_vehicle(
    parameters: NodeParameters, *, compiled: bool = False, start: int = 0, moves: bool = True
) -> AnyVehicle:
    """The vehicle of these parameters at rest at the origin."""
    kind: type[AnyVehicle] = Vehicle
    if compiled:
        from vds_gz.core.vehicle.compiled import CompiledVehicle

        kind = CompiledVehicle
    model = models()[parameters.model]
    return kind(model, parameters.vehicle, start=start, moves=moves, **vehicle_settings(parameters))


def make_guarded_vehicle(parameters: NodeParameters, *, start: int = 0) -> AnyGuardedVehicle:
    """The vehicle of these parameters, at rest at the origin at a time [ns], for a plant that checks its path."""
    model = models()[parameters.model]
    return GuardedVehicle(model, parameters.vehicle, start=start, **vehicle_settings(parameters))


def vehicle_settings(parameters: NodeParameters) -> dict[str, Any]:
    """The arguments of a vehicle that come from parameters of its node."""
    return {
        "step_rate": parameters.step_rate,
        "max_command_age": parameters.twist_reference_max_oldness,
        "dead_time_jitter": parameters.dead_time_jitter,
        "seed": parameters.random_seed,
    }


def configure_vehicle(vehicle: AnyVehicle, live: LiveParameters) -> None:
    """Let the vehicle of a running node follow the parameters that may change."""
    live.follow(lambda new: new.vehicle, vehicle.configure)
    live.follow(
        lambda new: (new.twist_reference_max_oldness, new.dead_time_jitter),
        lambda new: vehicle.configure_commands(*new),
    )
