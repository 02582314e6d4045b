"""The node's own services and parameters: what is refused becomes text here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from vds_gz.errors import VdsGzError
from vds_gz.interface import topics
from vds_gz.nodes.service_actions import Simulation
from vds_gz.ros.graph import Graph


class Switch(Protocol):
    """A request of ``std_srvs/srv/SetBool``."""

    data: bool


class Outcome(Protocol):
    """A response of ``std_srvs/srv/Trigger`` or ``SetBool``."""

    success: bool
    message: str


def offer(graph: Graph, simulation: Simulation) -> None:
    """Offer ``~/reset`` and ``~/pause``."""

    def reset(request: object, response: Outcome) -> None:
        _respond(response, lambda: simulation.reset(time=False, state=True), "the vehicle stands where it began")

    def pause(request: Switch, response: Outcome) -> None:
        _respond(response, lambda: simulation.pause(request.data), "paused" if request.data else "running")

    graph.service(*topics.RESET, reset)
    graph.service(*topics.PAUSE, pause)


def _respond(response: Outcome, act: Callable[[], None], done: str) -> None:
    try:
        act()
        response.success, response.message = True, done
    except VdsGzError as error:
        response.success, response.message = False, str(error)
