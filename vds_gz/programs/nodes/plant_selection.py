"""The plant, which moves the vehicle: the one that the parameters name, or the one that is available.

Modules that only Gazebo or a world needs are imported when they are chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from vds_gz.core.parameters.node import GazeboParameters, NodeParameters
from vds_gz.core.plant.base import LinkError, Plant
from vds_gz.core.plant.kinematic import KinematicPlant
from vds_gz.core.ros.graph import Graph, Severity
from vds_gz.core.sensing.sensor_types import needs_of
from vds_gz.core.vehicle.make_vehicle import make_vehicle
from vds_gz.programs.interface.topics import CLOCK
from vds_gz.programs.nodes.preparation import Preparation

if TYPE_CHECKING:
    from vds_gz.core.plant.gazebo.gazebo_plant import GazeboPlant
    from vds_gz.core.plant.gazebo.links.gazebo_link import GazeboLink
    from vds_gz.core.world.scene import Scene
    from vds_gz.core.world.surroundings import Surroundings

#: How long `backend: auto` waits for a server [s].
SERVER_TIMEOUT = 1.0

#: The user is told why the node starts late if Python prepares a world for longer than this [s].
PATIENCE = 2.0


def make_plant(graph: Graph, preparation: Preparation) -> tuple[Plant, Surroundings | None]:
    """The plant that the parameters select, and the world around it, if the node simulates that."""
    backend = preparation.parameters.backend
    if backend == "auto":
        backend, why = choose(preparation.parameters.gazebo)
        graph.log(Severity.INFO, f"backend: {backend}, because {why}")
    return PLANTS.get(backend, _installed)(graph, preparation)


def _kinematic(graph: Graph, preparation: Preparation) -> tuple[Plant, Surroundings | None]:
    """The vehicle moved by its own kinematics."""
    parameters = preparation.parameters
    felt = "motion" in needs_of(parameters.sensors.values())
    surroundings = _surroundings(graph, preparation)
    if surroundings is None:
        return KinematicPlant(make_vehicle(parameters), felt=felt), None
    from vds_gz.core.plant.in_world import plant_in_world

    return plant_in_world(parameters, preparation.urdf, surroundings, felt=felt), surroundings


def _surroundings(graph: Graph, preparation: Preparation) -> Surroundings | None:
    """The world that the node simulates, with all that moves in it; None without a world."""
    if preparation.scene is None:
        return None
    from vds_gz.core.world.surroundings import Movers, Surroundings

    if delay := delay_without_numba(preparation.scene):
        graph.log(Severity.INFO, delay)
    still, namespaces = preparation.scene.interpreted(), preparation.parameters.other_vehicles
    movers: list[Movers] = [] if preparation.obstacles is None else [preparation.obstacles]
    if not namespaces.strip():
        return Surroundings(still, movers)
    from vds_gz.programs.nodes.other_vehicles import OtherVehicles

    others = OtherVehicles(graph, namespaces)
    return Surroundings(still, [*movers, others], others.look)


def delay_without_numba(scene: Scene) -> str:
    """What a user is told about a world that Python takes long to prepare; empty with numba and for small worlds."""
    seconds = scene.visuals.building_time + scene.collisions.building_time
    if seconds <= PATIENCE:
        return ""
    return (
        f"the world has {scene.visuals.shapes} visual and {scene.collisions.shapes} collision shapes (of meshes, "
        f"triangles); without numba, preparing them for rays takes up to {seconds:.0f} s; install numba (the extra "
        "'compiled')"
    )


def _gazebo(graph: Graph, preparation: Preparation) -> tuple[Plant, None]:
    """The vehicle in Gazebo, over the link that the parameters name."""
    parameters = preparation.parameters
    link = make_link(graph, parameters.gazebo, be_reference_clock=parameters.be_reference_clock)
    return gazebo_plant(graph, parameters, link), None


def _relay(graph: Graph, preparation: Preparation) -> tuple[Plant, None]:
    """The vehicle's response, as a command for another simulator or a robot."""
    from vds_gz.core.plant.relay.relay_plant import RelayPlant

    assert preparation.robot is not None
    return RelayPlant(graph, preparation.parameters, preparation.robot), None


def _installed(graph: Graph, preparation: Preparation) -> tuple[Plant, Surroundings | None]:
    """A plant of another package; its vehicle sees what moves, and meets what the plant simulates."""
    from vds_gz.core.plant.plant_setup import installed_plant
    from vds_gz.core.plant.plant_types import PlantSetup, PlantTypes

    parameters, backend = preparation.parameters, preparation.parameters.backend
    vehicle, own = make_vehicle(parameters, moves=False), parameters.plant_params[backend]
    warn = partial(graph.log, Severity.WARN)
    setup = PlantSetup(parameters, own, vehicle, preparation.urdf, preparation.scene, graph.wake, warn)
    plant = installed_plant(PlantTypes()[backend], setup)
    return plant, None if plant.simulates_sensors else _surroundings(graph, preparation)


#: Every plant of this package, by the parameter ``backend``: makes it, and the world around it, if the node simulates
#: that.
PLANTS: Mapping[str, Callable[[Graph, Preparation], tuple[Plant, Surroundings | None]]] = {
    "kinematic": _kinematic,
    "gazebo": _gazebo,
    "relay": _relay,
}


def gazebo_plant(graph: Graph, parameters: NodeParameters, link: GazeboLink) -> GazeboPlant:
    """The vehicle in Gazebo, over this link."""
    from vds_gz.core.plant.gazebo.gazebo_plant import GazeboPlant

    vehicle = make_vehicle(parameters, moves=False)
    return GazeboPlant(vehicle, parameters.gazebo, link, graph.wake, lambda text: graph.log(Severity.WARN, text))


def choose(parameters: GazeboParameters) -> tuple[str, str]:
    """The backend that ``auto`` selects now, and why."""
    from vds_gz.core.plant.gazebo.links.link_types import LINKS
    from vds_gz.core.plant.gazebo.links.transport import answering_world

    if fault := LINKS["transport"].fault():
        return "kinematic", f"{fault}; for the links over ROS set backend: gazebo"
    world = answering_world(parameters, SERVER_TIMEOUT)
    if world is None:
        return "kinematic", f"no Gazebo answered within {SERVER_TIMEOUT:g} s"
    return "gazebo", f"the world '{world}' answered"


def make_link(graph: Graph, parameters: GazeboParameters, *, be_reference_clock: bool) -> GazeboLink:
    """The link that ``gazebo.link`` names."""
    from vds_gz.core.plant.gazebo.links.link_types import LINKS, automatic_link

    name = parameters.link
    if name == "auto":
        name, why = automatic_link()
        graph.log(Severity.INFO, f"gazebo.link: {name}, because {why}")
    link = LINKS[name]
    if link.clock_over_ros and be_reference_clock and parameters.clock_topic == CLOCK.name:
        raise LinkError(
            f"parameter 'be_reference_clock' is true with gazebo.link '{name}', where ros_gz_bridge publishes /clock; "
            "set it to false, or gazebo.clock_topic to another topic, to which the bridge brings Gazebo's clock"
        )
    if not link.inside and (fault := link.fault()):
        raise LinkError(f"parameter 'gazebo.link' is '{name}', but {fault}; install them or set it to bridge")
    return link.make(graph, parameters)
