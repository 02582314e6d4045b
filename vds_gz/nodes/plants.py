"""The plant, which moves the vehicle: the one that the parameters name, or the one that is available.

What only Gazebo or a world needs is imported when it is chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vds_gz.configuration import make_vehicle
from vds_gz.interface.topics import CLOCK
from vds_gz.nodes.preparation import Preparation
from vds_gz.parameters.node import NodeParameters
from vds_gz.plant.base import LinkError, Plant
from vds_gz.plant.kinematic import KinematicPlant
from vds_gz.ros.graph import Graph, Severity
from vds_gz.sensing.sensor import needs_of
from vds_gz.vehicle.model import AnyModel

if TYPE_CHECKING:
    from vds_gz.plant.gazebo.links.base import GazeboLink
    from vds_gz.plant.gazebo.plant import GazeboPlant
    from vds_gz.world.surroundings import Surroundings

#: How long `backend: auto` waits for a server [s].
SERVER_TIMEOUT = 1.0


@dataclass(frozen=True, slots=True)
class PlantSetup:
    """What a plant is made from.

    Attributes:
        graph: The node's place on the graph.
        preparation: What the node starts with.
        surroundings: The world around the vehicle, if the node simulates it; None without a world.
    """

    graph: Graph
    preparation: Preparation
    surroundings: Surroundings | None


@dataclass(frozen=True, slots=True)
class PlantType:
    """A plant that the parameter ``backend`` may name.

    Attributes:
        make: Makes it.
        in_our_world: The node simulates the world around the vehicle, not the plant.
    """

    make: Callable[[PlantSetup], Plant]
    in_our_world: bool


def make_plant(graph: Graph, preparation: Preparation) -> tuple[Plant, Surroundings | None]:
    """The plant that the parameters select, and the surroundings that the node simulates.

    Args:
        graph: The node's place on the graph.
        preparation: What the node starts with.

    Raises:
        DescriptionError: The description cannot be read.
        LinkError: The link that they select is not available here.
    """
    parameters = preparation.parameters
    backend = parameters.backend
    if backend == "auto":
        backend, why = choose(parameters)
        graph.log(Severity.INFO, f"backend: {backend}, because {why}")
    plant = PLANTS[backend]
    surroundings = _surroundings(graph, preparation) if plant.in_our_world and preparation.scene else None
    return plant.make(PlantSetup(graph, preparation, surroundings)), surroundings


def _kinematic(setup: PlantSetup) -> Plant:
    """The vehicle moved by its own kinematics."""
    parameters = setup.preparation.parameters
    felt = "motion" in needs_of(parameters.sensors.values())
    if setup.surroundings is None:
        return KinematicPlant(make_vehicle(parameters), felt=felt)
    from vds_gz.plant.in_world import plant_in_world

    return plant_in_world(parameters, setup.preparation.urdf, setup.surroundings, felt=felt)


def _surroundings(graph: Graph, preparation: Preparation) -> Surroundings:
    """What is around a vehicle that the node itself moves: a scene, obstacles on paths, other vehicles."""
    from vds_gz.nodes.other_vehicles import OtherVehicles
    from vds_gz.world.surroundings import Movers, Surroundings

    assert preparation.scene is not None
    still, namespaces = preparation.scene.vectorised(), preparation.parameters.other_vehicles
    movers: list[Movers] = [] if preparation.obstacles is None else [preparation.obstacles]
    if not namespaces.strip():
        return Surroundings(still, movers)
    others = OtherVehicles(graph, namespaces)
    return Surroundings(still, [*movers, others], others.look)


def _gazebo(setup: PlantSetup) -> Plant:
    """The vehicle in Gazebo, over the link that the parameters name."""
    parameters, model = setup.preparation.parameters, setup.preparation.model
    return gazebo_plant(setup.graph, parameters, model, make_link(setup.graph, parameters))


#: Every plant, by the parameter ``backend``.
PLANTS: Mapping[str, PlantType] = {
    "kinematic": PlantType(_kinematic, in_our_world=True),
    "gazebo": PlantType(_gazebo, in_our_world=False),
}


def gazebo_plant(graph: Graph, parameters: NodeParameters, model: AnyModel, link: GazeboLink) -> GazeboPlant:
    """The vehicle in Gazebo, over this link."""
    from vds_gz.plant.gazebo.plant import GazeboPlant

    vehicle = make_vehicle(parameters, moves=False)
    return GazeboPlant(vehicle, parameters.gazebo, link, graph.wake, lambda text: graph.log(Severity.WARN, text))


def choose(parameters: NodeParameters) -> tuple[str, str]:
    """The backend that ``auto`` selects now, and why."""
    from vds_gz.plant.gazebo.links.bindings import bindings_fault

    fault = bindings_fault()
    if fault:
        return "kinematic", f"{fault}; for the links over ROS set backend: gazebo"
    from vds_gz.plant.gazebo.links.transport import answering_world

    world = answering_world(parameters.gazebo, SERVER_TIMEOUT)
    if world is None:
        return "kinematic", f"no Gazebo answered within {SERVER_TIMEOUT:g} s"
    return "gazebo", f"the world '{world}' answered"


def make_link(graph: Graph, parameters: NodeParameters) -> GazeboLink:
    """The link that ``gazebo.link`` names.

    Raises:
        LinkError: It is not available here.
    """
    from vds_gz.plant.gazebo.links.bindings import bindings_fault

    name, fault = parameters.gazebo.link, bindings_fault()
    if name == "auto":
        name = "bridge" if fault else "transport"
        graph.log(Severity.INFO, f"gazebo.link: {name}, because {fault or 'the Python bindings of Gazebo are here'}")
    clock = parameters.gazebo.clock_topic
    if name in ("bridge", "ros2_control") and parameters.be_reference_clock and clock == CLOCK.name:
        raise LinkError(
            f"parameter 'be_reference_clock' is true with gazebo.link '{name}', where ros_gz_bridge publishes /clock; "
            "it must be false, or gazebo.clock_topic be another topic, to which the bridge brings Gazebo's clock"
        )
    if name == "transport":
        if fault:
            raise LinkError(f"parameter 'gazebo.link' is 'transport', but {fault}; install them or set it to bridge")
        from vds_gz.plant.gazebo.links.transport import TransportLink

        return TransportLink(parameters.gazebo)
    if name == "bridge":
        from vds_gz.plant.gazebo.links.ros_links import BridgeLink

        return BridgeLink(graph, parameters.gazebo)
    if name == "ros2_control":
        from vds_gz.plant.gazebo.links.ros_links import Ros2ControlLink

        return Ros2ControlLink(graph, parameters.gazebo)
    raise LinkError(
        "parameter 'gazebo.link' is 'system', which runs inside Gazebo: load vds_gz.nodes.gazebo_system into the "
        "model with PythonSystemLoader, as `vds-gz gazebo --link system` does; outside of Gazebo take another link"
    )
