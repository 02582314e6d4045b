"""A graph as seen by a node in another namespace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from vds_gz.ros.graph import Client, Graph, Publisher, QoS, Subscription


def in_namespace(graph: Graph, namespace: str) -> Graph:
    """The graph, with relative names resolved in an absolute namespace."""
    return cast(Graph, _Namespaced(graph, namespace))


class _Namespaced:
    """Forwards all calls, with names in the namespace."""

    def __init__(self, graph: Graph, namespace: str) -> None:
        self._graph = graph
        self._prefix = namespace.rstrip("/")

    def publisher(self, topic: str, type_name: str, qos: QoS) -> Publisher:
        return self._graph.publisher(self._absolute(topic), type_name, qos)

    def subscribe(
        self, topic: str, type_name: str, qos: QoS, callback: Callable[[Any, int], None], raw: bool = False
    ) -> Subscription:
        return self._graph.subscribe(self._absolute(topic), type_name, qos, callback, raw)

    def client(self, name: str, type_name: str) -> Client:
        return self._graph.client(self._absolute(name), type_name)

    def _absolute(self, name: str) -> str:
        return name if name.startswith("/") else f"{self._prefix}/{name}"

    def __getattr__(self, name: str) -> object:
        return getattr(self._graph, name)
