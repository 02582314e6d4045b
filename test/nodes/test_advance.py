"""The vehicle's time by itself."""

from time import monotonic_ns

import pytest

from vds_gz.configuration import make_vehicle, parameters_of
from vds_gz.nodes.advance import LONGEST_CATCH_UP, TimeKeeper
from vds_gz.nodes.clock import ReferenceClock
from vds_gz.nodes.observations import Observations
from vds_gz.nodes.sensors import Sensors
from vds_gz.parameters.override import Override
from vds_gz.plant.kinematic import KinematicPlant
from vds_gz.ros.factory import open_graph


@pytest.fixture
def reference(domain):
    """A node that gives the time as fast as the system's: its keeper, its plant, and when commands were forgotten."""
    parameters = parameters_of([Override("be_reference_clock", True)])
    plant = KinematicPlant(make_vehicle(parameters))
    graph = open_graph([], "sim_node")
    forgotten = []
    observations = Observations(graph, parameters, plant)
    sensors = Sensors([], plant, lambda time: None)
    keeper = TimeKeeper(
        graph, parameters, ReferenceClock(1.0), plant, observations, sensors, lambda: forgotten.append(keeper.now)
    )
    yield keeper, plant, forgotten
    graph.close()


def test_a_restart_forgets_when_commands_came(reference):
    """They came at a time that is yet to come."""
    keeper, plant, forgotten = reference
    keeper.clock.set_speed(0.0, monotonic_ns())
    for _ in range(20):
        keeper.catch_up()
    assert (keeper.now > keeper.clock.BEGIN, forgotten) == (True, [])
    keeper.restart(keeper.clock.BEGIN)
    assert len(forgotten) == 1
    assert keeper.now == plant.vehicle.time == keeper.clock.BEGIN


def test_time_that_the_node_gives_waits_for_the_vehicle_and_never_jumps(reference):
    """However far ahead it is, as with a speed factor that no machine keeps."""
    keeper, plant, _ = reference
    keeper.catch_up()
    keeper.clock.set(keeper.now + 10 * LONGEST_CATCH_UP, monotonic_ns())
    keeper.catch_up()
    assert keeper.now - plant.vehicle.time <= keeper.next_instant - plant.vehicle.time < LONGEST_CATCH_UP
    assert keeper.now < keeper.clock.BEGIN + 9 * LONGEST_CATCH_UP
