"""The table of links to a vehicle in Gazebo, by the names that the parameter ``gazebo.link`` selects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from vds_gz.core.description.gz_bridge import BridgeEntry, joint_entries, odometry_entry
from vds_gz.core.parameters.node import GazeboParameters
from vds_gz.core.plant.base import LinkError
from vds_gz.core.plant.gazebo.links.bindings import bindings_fault, system_fault
from vds_gz.core.plant.gazebo.links.gazebo_link import GazeboLink
from vds_gz.core.plant.gazebo.links.ros_links import BridgeLink, Ros2ControlLink
from vds_gz.core.plant.gazebo.links.transport import TransportLink
from vds_gz.core.ros.graph import Graph


@dataclass(frozen=True, slots=True)
class LinkType:
    """A link to a vehicle in Gazebo: how it is made, and what it needs.

    Attributes:
        make: Factory of the link for a node outside of Gazebo. It raises :class:`LinkError` if the link is not for one.
        fault: Why this link cannot be used here; empty if it can.
        bridged: Topics that ``ros_gz_bridge`` brings for the link, by the name of the model.
        clock_over_ros: Gazebo's clock comes over ROS, on the topic ``gazebo.clock_topic``.
        controllers: ROS packages whose controllers move the joints, in place of Gazebo's own; a launch file starts
            them.
        inside: The node runs inside Gazebo, as a system of the model, and moves the joints itself.
    """

    make: Callable[[Graph, GazeboParameters], GazeboLink]
    fault: Callable[[], str] = lambda: ""
    bridged: Callable[[str], list[BridgeEntry]] = lambda model: []
    clock_over_ros: bool = False
    controllers: tuple[str, ...] = ()
    inside: bool = False


def _system(graph: Graph, parameters: GazeboParameters) -> GazeboLink:
    raise LinkError(
        "parameter 'gazebo.link' is 'system', which runs inside Gazebo: load "
        "vds_gz.programs.nodes.gazebo_system into the model with PythonSystemLoader, as `vds-gz gazebo --link system` "
        "does; outside of Gazebo take another link"
    )


LINKS: Mapping[str, LinkType] = {
    "transport": LinkType(lambda graph, parameters: TransportLink(parameters), bindings_fault),
    "bridge": LinkType(
        BridgeLink,
        bridged=lambda model: [*joint_entries(model), odometry_entry(model)],
        clock_over_ros=True,
    ),
    "ros2_control": LinkType(
        Ros2ControlLink,
        bridged=lambda model: [odometry_entry(model)],
        clock_over_ros=True,
        controllers=("gz_ros2_control", "controller_manager", "forward_command_controller", "joint_state_broadcaster"),
    ),
    "system": LinkType(_system, system_fault, inside=True),
}


def automatic_link() -> tuple[str, str]:
    """The link that ``auto`` stands for here, and why."""
    fault = LINKS["transport"].fault()
    return ("bridge", fault) if fault else ("transport", "Python bindings of Gazebo are installed")


def runs_inside(link: str) -> bool:
    """Whether the node of a link, or of ``auto``, runs inside Gazebo."""
    return link in LINKS and LINKS[link].inside


#: The links that need no launch file.
WITHOUT_LAUNCH = ("auto", *(name for name, link in LINKS.items() if not link.controllers))
