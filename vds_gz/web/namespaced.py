"""A graph as a node in another namespace would see it."""

from __future__ import annotations

from typing import Any, cast

from vds_gz.ros.graph import Graph


def in_namespace(graph: Graph, namespace: str) -> Graph:
    """The graph, with relative names meant below an absolute namespace."""
    return cast(Graph, _Namespaced(graph, namespace))


class _Namespaced:
    """Passes everything on, names with their namespace."""

    def __init__(self, graph: Graph, namespace: str) -> None:
        self._graph = graph
        self._prefix = namespace.rstrip("/")

    def publisher(self, topic: str, *rest: Any) -> Any:
        return self._graph.publisher(self._absolute(topic), *rest)

    def subscribe(self, topic: str, *rest: Any) -> Any:
        return self._graph.subscribe(self._absolute(topic), *rest)

    def client(self, name: str, *rest: Any) -> Any:
        return self._graph.client(self._absolute(name), *rest)

    def _absolute(self, name: str) -> str:
        return name if name.startswith("/") else f"{self._prefix}/{name}"

    def __getattr__(self, name: str) -> Any:
        return getattr(self._graph, name)
