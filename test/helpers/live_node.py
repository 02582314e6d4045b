"""A node in this process, and everything that it publishes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from vds_gz.core.parameters.declaration import Override, Value
from vds_gz.core.ros.graph import QoS
from vds_gz.core.ros.open_graph import open_graph
from vds_gz.core.vehicle.command import Command
from vds_gz.programs.nodes.preparation import prepare
from vds_gz.programs.nodes.sim_node import SimNode

#: Topics of every node that say nothing about its vehicle.
OF_ANY_NODE = {"/rosout", "/parameter_events", "/diagnostics", "ros_discovery_info"}


class LiveNode:
    """A node that listens to itself.

    Attributes:
        received: The messages of each topic, or with ``raw`` their bytes.
    """

    def __init__(self, node: SimNode, raw: bool) -> None:
        self.node = node
        self.graph = node.graph
        self.simulation = node.simulation
        self.received: dict[str, list[Any]] = defaultdict(list)
        offers: dict[str, Any] = {}
        while len(offers) < 5:
            self.graph.wait(0.01)
            offers = {name: offer for name, offer in self.graph.offers().items() if name not in OF_ANY_NODE}
            offers = {name: offer for name, offer in offers.items() if "/_action/" not in name}
        for name, offer in offers.items():
            self.graph.subscribe(name, offer.type, QoS(1000), self._keeper(name), raw)
        self.topics = list(offers)

    def _keeper(self, name: str) -> Callable[[Any, int], None]:
        return lambda message, _: self.received[name].append(message)

    def command(self, command: Command) -> None:
        """Give the vehicle a command now."""
        vehicle = self.simulation.plant.vehicle
        vehicle.enter(command, self.simulation.now or vehicle.time)

    def turn_until(self, condition: Callable[[], Any], before_each: Callable[[], None] = lambda: None) -> None:
        """Run the node's loop until the condition holds."""
        for _ in range(5000):
            if condition():
                return
            before_each()
            self.simulation.turn(0.01)
        raise AssertionError(
            f"it did not come about; got { ({name: len(all_) for name, all_ in self.received.items()}) }"
        )

    def step(self, seconds: float) -> None:
        """Advance a node that is paused and gives the time."""
        self.simulation.step(round(seconds * self.simulation.plant.vehicle.step_rate))
        self.graph.wait(0.0)

    def set(self, values: Mapping[str, Value]) -> None:
        """Set parameters, as their services do."""
        self.node.live.change(values)


@contextmanager
def live_node(*, raw: bool = False, **parameters: Value) -> Iterator[LiveNode]:
    """A node with these parameters; ``__`` in a name stands for a dot."""
    overrides = [Override(name.replace("__", "."), value) for name, value in parameters.items()]
    graph = open_graph([], "sim_node")
    try:
        node = SimNode(graph, prepare(overrides))
        node.begin()
        yield LiveNode(node, raw)
    finally:
        graph.close()


def level(status: Any) -> int:
    """The level of a status, which is bytes over rclpy."""
    return ord(status.level) if isinstance(status.level, bytes) else int(status.level)


def numbers(message: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """All numbers of a message by their paths, but its stamps."""
    for field in _fields(message):
        value, place = getattr(message, field), f"{path}.{field}"
        if field in ("stamp", "__msgtype__"):
            continue
        for index, part in enumerate(value if hasattr(value, "__len__") and not isinstance(value, str) else [value]):
            inside = place if part is value else f"{place}[{index}]"
            if _fields(part):
                yield from numbers(part, inside)
            elif not isinstance(part, str):
                yield inside, float(part)


def _fields(message: Any) -> Collection[str]:
    """The fields of a message of either graph; none of a number."""
    over_rclpy = getattr(message, "get_fields_and_field_types", dict)
    return over_rclpy() or getattr(message, "__dataclass_fields__", ())
