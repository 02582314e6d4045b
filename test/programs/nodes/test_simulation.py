"""The vehicle's time, without other processes."""

from time import monotonic_ns

import pytest

from vds_gz.core.configuration import parameters_of
from vds_gz.core.parameters.declaration import Override
from vds_gz.core.parameters.live_parameters import LiveParameters
from vds_gz.core.plant.kinematic import KinematicPlant
from vds_gz.core.ros.open_graph import open_graph
from vds_gz.core.vehicle.make_vehicle import make_vehicle
from vds_gz.programs.interface.commands import CommandInputs
from vds_gz.programs.nodes.clock import ReferenceClock
from vds_gz.programs.nodes.simulation import LONGEST_CATCH_UP, Simulation


@pytest.fixture
def simulation(domain):
    """A vehicle whose node gives the time, in real time."""
    parameters = parameters_of([Override("be_reference_clock", True)])
    plant, clock = KinematicPlant(make_vehicle(parameters)), ReferenceClock(1.0)
    graph = open_graph([], "sim_node")
    commands = CommandInputs(graph, plant.vehicle.model.accepts, clock.now, plant.vehicle.enter)
    yield Simulation(graph, LiveParameters(parameters), clock, plant, commands)
    graph.close()


def test_a_restart_forgets_the_arrival_of_commands(simulation):
    """After the restart, their arrival would be in the future."""
    simulation.clock.set_speed(0.0, monotonic_ns())
    for _ in range(20):
        simulation.catch_up()
    assert simulation.now > simulation.clock.BEGIN
    simulation._commands.last_arrival = simulation.now
    simulation.reset(time=True, state=False)
    assert simulation._commands.last_arrival is None
    assert simulation.now == simulation.plant.vehicle.time == simulation.clock.BEGIN


def test_reference_time_waits_for_the_vehicle_and_never_jumps(simulation):
    """However far ahead the clock is, as with a speed factor that no machine reaches."""
    vehicle = simulation.plant.vehicle
    simulation.catch_up()
    simulation.clock.set(simulation.now + 10 * LONGEST_CATCH_UP, monotonic_ns())
    simulation.catch_up()
    assert simulation.now - vehicle.time <= simulation.next_instant - vehicle.time < LONGEST_CATCH_UP
    assert simulation.now < simulation.clock.BEGIN + 9 * LONGEST_CATCH_UP
