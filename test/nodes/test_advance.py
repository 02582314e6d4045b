"""The vehicle's time by itself."""

from vds_gz.configuration import make_vehicle, parameters_of
from vds_gz.nodes.advance import TimeKeeper
from vds_gz.nodes.clock import ReferenceClock
from vds_gz.nodes.observations import Observations
from vds_gz.nodes.sensors import Sensors
from vds_gz.parameters.override import Override
from vds_gz.plant.kinematic import KinematicPlant
from vds_gz.ros.factory import open_graph


def test_a_restart_forgets_when_commands_came(domain):
    """They came at a time that is yet to come."""
    parameters = parameters_of([Override("be_reference_clock", True)])
    plant = KinematicPlant(make_vehicle(parameters))
    graph = open_graph([], "sim_node")
    try:
        forgotten = []
        observations = Observations(graph, parameters, plant)
        clock = ReferenceClock(0.0)
        sensors = Sensors([], plant, lambda time: None)

        def forget():
            forgotten.append(keeper.now)

        keeper = TimeKeeper(graph, parameters, clock, plant, observations, sensors, forget)
        for _ in range(20):
            keeper.catch_up()
        assert (keeper.now > clock.BEGIN, forgotten) == (True, [])
        keeper.restart(clock.BEGIN)
        assert len(forgotten) == 1
        assert keeper.now == plant.vehicle.time == clock.BEGIN
    finally:
        graph.close()
