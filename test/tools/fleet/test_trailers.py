"""Vehicles with trailers: every engine gives the same bits."""

import dataclasses

import pytest

from vds_gz import modelling
from vds_gz.core.parameters.declaration import group
from vds_gz.core.parameters.trailer_parameters import TrailerParameters
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.command import twist
from vds_gz.core.vehicle.vehicle import Vehicle

pytest.importorskip("numba")

from vds_gz.core.vehicle.compiled import CompiledVehicle
from vds_gz.tools.fleet.fleet import Fleet

NAMES = ("bicycle", "single_track", "differential", "omni", "swerve", "four_wheel_steering")
LISTS = {
    "hitch_offset": (-0.3, -0.2),
    "drawbar": (0.8, 0.9),
    "track": (0.7, 0.7),
    "tire_diameter": (0.3, 0.3),
    "max_angle": (0.6, 0.5),
}


def with_trailers(name, at_limit="stop"):
    """A model whose default parameters have two trailers."""
    model = models()[name]
    default = group(TrailerParameters, **LISTS, at_limit=at_limit)
    fields = [("trailers", TrailerParameters, default)]
    parameters = dataclasses.make_dataclass("Train", fields, bases=(model.parameters,), frozen=True, slots=True)
    return dataclasses.replace(model, parameters=parameters)


@pytest.mark.parametrize("name", ["differential", *(pytest.param(name, marks=pytest.mark.slow) for name in NAMES[:2])])
def test_a_model_with_trailers_passes_the_check(name):
    modelling.check(with_trailers(name))


@pytest.mark.parametrize("at_limit", ["stop", "report"])
@pytest.mark.parametrize("name", ["bicycle", "swerve", *(pytest.param(n, marks=pytest.mark.slow) for n in NAMES[1:4])])
def test_hitches_at_their_limits_give_equal_bits_in_all_engines(name, at_limit):
    model = with_trailers(name, at_limit)
    default = model.parameters()
    trains = [
        dataclasses.replace(
            default, trailers=dataclasses.replace(default.trailers, drawbar=(0.8 + 0.1 * k, 0.9 - 0.1 * k))
        )
        for k in range(3)
    ]
    commands = [twist(1.0, 0.0, 0.5), twist(-1.0, 0.0, 0.2), twist(-1.0, 0.0, -0.4), twist(1.0, 0.0, 0.0)]

    def read(state, parameters):
        model.resize(model.coefficients(parameters, 1e-3), state)  # the oldest entry of a dead time first
        return dataclasses.asdict(state)

    vehicles = [[kind(model, p, max_command_age=1e6) for p in trains] for kind in (Vehicle, CompiledVehicle)]
    fleets = [Fleet(dataclasses.replace(model, lanes=lanes), trains) for lanes in (True, False)]
    stopped = False
    for command in commands:
        for fleet in fleets:
            fleet.commands[:] = command
            fleet.advance(2500)
        for vehicle in (vehicle for kind in vehicles for vehicle in kind):
            vehicle.enter(command, vehicle.time)
            vehicle.advance(vehicle.time + 2_500_000_000)
        expected = [read(vehicle.state, p) for vehicle, p in zip(vehicles[0], trains, strict=True)]
        assert [read(vehicle.state, p) for vehicle, p in zip(vehicles[1], trains, strict=True)] == expected
        for fleet in fleets:
            assert [read(fleet.state(k), p) for k, p in enumerate(trains)] == expected
        stopped |= any(abs(state["trailers"][0]["angle"]) > 0.599 for state in expected)
    assert stopped


def test_a_fleet_shows_the_hitches_of_all_vehicles():
    model = with_trailers("differential")
    fleet = Fleet(model, [model.parameters()] * 3)
    fleet.commands[:] = twist(0.5, 0.0, 0.3)
    fleet.advance(1500)
    shown = [[float(value) for value in fleet.states.trailers[k].angle] for k in range(2)]
    states = [fleet.state(k) for k in range(3)]
    assert shown == [[state.trailers[k].angle for state in states] for k in range(2)]
    assert shown[0][0] < -0.05
