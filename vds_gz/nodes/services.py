"""The node's services: its own, the standard simulator services, and AMCL's, which Nav2's ``BasicNavigator`` needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from vds_gz.errors import VdsGzError
from vds_gz.interface import topics
from vds_gz.nodes.simulation import Simulation
from vds_gz.nodes.standard_services import offer_standard
from vds_gz.ros.graph import Graph, Message

if TYPE_CHECKING:
    from vds_gz.sensing.amcl import Amcl

#: States of a managed node: https://design.ros2.org/articles/node_lifecycle.html
UNCONFIGURED, INACTIVE, ACTIVE, FINALIZED = 1, 2, 3, 4
LABELS = {UNCONFIGURED: "unconfigured", INACTIVE: "inactive", ACTIVE: "active", FINALIZED: "finalized"}

#: First and last state of each transition of ``lifecycle_msgs/Transition``.
TRANSITIONS = {
    1: (UNCONFIGURED, INACTIVE),
    2: (INACTIVE, UNCONFIGURED),
    3: (INACTIVE, ACTIVE),
    4: (ACTIVE, INACTIVE),
    5: (UNCONFIGURED, FINALIZED),
    6: (INACTIVE, FINALIZED),
    7: (ACTIVE, FINALIZED),
}


def offer(graph: Graph, simulation: Simulation, world: str, amcl: Amcl | None) -> None:
    """Offer all services.

    Args:
        graph: Where.
        simulation: The simulation that they control.
        world: The frame of the world.
        amcl: The simulated AMCL.
    """

    def reset(request: object, response: Message) -> None:
        _respond(response, lambda: simulation.reset(time=False, state=True), "the vehicle stands where it began")

    def pause(request: Message, response: Message) -> None:
        _respond(response, lambda: simulation.pause(request.data), "paused" if request.data else "running")

    graph.service(*topics.RESET, reset)
    graph.service(*topics.PAUSE, pause)
    offer_standard(graph, simulation, world)
    if amcl is not None:
        graph.service(*topics.REINITIALIZE_LOCALIZATION, lambda request, response: amcl.globalise())
        graph.service(*topics.NOMOTION_UPDATE, lambda request, response: amcl.request_update())
        if amcl.parameters.amcl.lifecycle != "none":
            LifeCycle(graph, amcl)


def _respond(response: Message, act: Callable[[], None], done: str) -> None:
    try:
        act()
        response.success, response.message = True, done
    except VdsGzError as error:
        response.success, response.message = False, str(error)


class LifeCycle:
    """The services of a managed node. There is no bond: a manager needs ``bond_timeout: 0.0``."""

    def __init__(self, graph: Graph, amcl: Amcl) -> None:
        """Offer the services; the node is active if it processes scans, otherwise unconfigured."""
        self._amcl = amcl
        self._state = ACTIVE if amcl.active else UNCONFIGURED
        graph.service(*topics.AMCL_GET_STATE, self._get_state)
        graph.service(*topics.AMCL_CHANGE_STATE, self._change_state)

    def _get_state(self, request: object, response: Message) -> None:
        response.current_state.id, response.current_state.label = self._state, LABELS[self._state]

    def _change_state(self, request: Message, response: Message) -> None:
        begin, end = TRANSITIONS.get(int(request.transition.id), (None, self._state))
        response.success = begin == self._state
        if not response.success:
            return
        if end == ACTIVE:
            self._amcl.activate()
        elif begin == ACTIVE:
            self._amcl.deactivate()
        if end in (UNCONFIGURED, FINALIZED):
            self._amcl.forget()
        self._state = end
