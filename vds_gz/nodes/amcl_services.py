"""AMCL's services, and its life cycle for those who wait for it: Nav2's ``BasicNavigator`` and lifecycle managers."""

from __future__ import annotations

from typing import Any

from vds_gz.interface import topics
from vds_gz.ros.graph import Graph
from vds_gz.sensing.amcl import Amcl

#: States of a managed node: https://design.ros2.org/articles/node_lifecycle.html
UNCONFIGURED, INACTIVE, ACTIVE, FINALIZED = 1, 2, 3, 4
LABELS = {UNCONFIGURED: "unconfigured", INACTIVE: "inactive", ACTIVE: "active", FINALIZED: "finalized"}

#: Where each transition of ``lifecycle_msgs/Transition`` leads from and to.
TRANSITIONS = {
    1: (UNCONFIGURED, INACTIVE),
    2: (INACTIVE, UNCONFIGURED),
    3: (INACTIVE, ACTIVE),
    4: (ACTIVE, INACTIVE),
    5: (UNCONFIGURED, FINALIZED),
    6: (INACTIVE, FINALIZED),
    7: (ACTIVE, FINALIZED),
}


class LifeCycle:
    """The services of a managed node. There is no bond: a manager needs ``bond_timeout: 0.0``."""

    def __init__(self, graph: Graph, amcl: Amcl) -> None:
        """Offer them; the node is active if it takes scans, and else unconfigured."""
        self._amcl = amcl
        self._state = ACTIVE if amcl.active else UNCONFIGURED
        graph.service(*topics.AMCL_GET_STATE, self._get_state)
        graph.service(*topics.AMCL_CHANGE_STATE, self._change_state)

    def _get_state(self, request: object, response: Any) -> None:
        response.current_state.id, response.current_state.label = self._state, LABELS[self._state]

    def _change_state(self, request: Any, response: Any) -> None:
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


def offer(graph: Graph, amcl: Amcl) -> None:
    """Offer what AMCL offers, and its life cycle where the parameters say so."""
    graph.service(*topics.REINITIALIZE_LOCALIZATION, lambda request, response: amcl.globalise())
    graph.service(*topics.NOMOTION_UPDATE, lambda request, response: amcl.request_update())
    if amcl.parameters.amcl.lifecycle != "none":
        LifeCycle(graph, amcl)
