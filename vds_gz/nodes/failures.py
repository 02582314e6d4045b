"""Exceptions in sensors and command types, mostly of other packages: each is logged once, and the node goes on."""

from __future__ import annotations

from vds_gz.ros.graph import Graph, Severity
from vds_gz.share import raised_at


class Failures:
    """The parts of a node that have failed.

    Attributes:
        texts: For each part, in words, its first exception and where it was raised.
    """

    def __init__(self, graph: Graph) -> None:
        self.texts: dict[str, str] = {}
        self._graph = graph

    def add(self, part: str, module: str, error: Exception) -> None:
        """Note an exception of a part whose code is in the package of a module; log the first one."""
        if part not in self.texts:
            reason = " ".join(str(error).split())
            self.texts[part] = f"{part} raised {type(error).__name__}: {reason} ({raised_at(error, module)})"
            self._graph.log(Severity.ERROR, f"{self.texts[part]}; the node goes on without it")
