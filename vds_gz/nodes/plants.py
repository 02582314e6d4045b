"""What moves the vehicle: as the parameters say, or whichever is there.

What only Gazebo needs is imported where it is needed: the node shall be quick to listen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vds_gz.configuration import make_vehicle
from vds_gz.interface.topics import CLOCK
from vds_gz.parameters.node import NodeParameters
from vds_gz.plant.base import Plant
from vds_gz.plant.gazebo.links.base import GazeboLink, LinkError
from vds_gz.plant.in_world import plant_in_world
from vds_gz.plant.kinematic import KinematicPlant
from vds_gz.ros.graph import Graph, Severity
from vds_gz.vehicle.model import AnyModel
from vds_gz.world.surroundings import Surroundings

if TYPE_CHECKING:
    from vds_gz.plant.gazebo.plant import GazeboPlant

#: How long `backend: auto` waits for a server [s].
SERVER_TIMEOUT = 1.0


def make_plant(
    graph: Graph, parameters: NodeParameters, model: AnyModel, urdf: str, surroundings: Surroundings | None
) -> Plant:
    """The plant that the parameters select.

    Args:
        graph: The node's place on the graph.
        parameters: Of the node.
        model: The vehicle model.
        urdf: The robot's description.
        surroundings: The world; none if there is none.

    Raises:
        DescriptionError: The description cannot be read.
        LinkError: The link that they select cannot be had here.
    """
    backend = parameters.backend
    if backend == "auto":
        backend, why = choose(parameters)
        graph.log(Severity.INFO, f"backend: {backend}, because {why}")
    if backend == "kinematic":
        felt = bool(parameters.sensors)
        if surroundings is None:
            return KinematicPlant(make_vehicle(parameters), felt=felt)
        return plant_in_world(parameters, urdf, surroundings, felt=felt)
    return gazebo_plant(graph, parameters, model, make_link(graph, parameters))


def gazebo_plant(graph: Graph, parameters: NodeParameters, model: AnyModel, link: GazeboLink) -> GazeboPlant:
    """The vehicle in Gazebo, over this link."""
    from vds_gz.plant.gazebo.plant import GazeboPlant

    vehicle = make_vehicle(parameters, moves=False)
    return GazeboPlant(vehicle, parameters.gazebo, link, graph.wake, lambda text: graph.log(Severity.WARN, text))


def choose(parameters: NodeParameters) -> tuple[str, str]:
    """The backend that ``auto`` stands for now, and why."""
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
        LinkError: It cannot be had here.
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
        from vds_gz.plant.gazebo.links.bridge import BridgeLink

        return BridgeLink(graph, parameters.gazebo)
    if name == "ros2_control":
        from vds_gz.plant.gazebo.links.ros2_control import Ros2ControlLink

        return Ros2ControlLink(graph, parameters.gazebo)
    raise LinkError(
        "parameter 'gazebo.link' is 'system', which runs inside Gazebo: load vds_gz.nodes.gazebo_system into the "
        "model with PythonSystemLoader, as `vds-gz gazebo --link system` does; a node of its own takes another link"
    )
