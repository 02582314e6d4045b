"""The time for stamps."""

from __future__ import annotations

import time
from typing import Any

from vds_gz.interface import topics
from vds_gz.interface.conversions import stamp_ns
from vds_gz.ros.graph import Graph


class RosTime:
    """The system's time, or what ``/clock`` last told."""

    def __init__(self, graph: Graph, use_sim_time: bool) -> None:
        """Listen to ``/clock`` if ``use_sim_time``."""
        self._graph = graph
        self._told: int | None = None
        if use_sim_time:
            self._told = 0
            clock = topics.CLOCK_IN
            graph.subscribe(clock.name, clock.type, clock.qos, self._on_clock)

    def __call__(self) -> int:
        """Now [ns]; 0, which in ROS is no time, while ``/clock`` has not told any."""
        return time.time_ns() if self._told is None else self._told

    def _on_clock(self, message: Any, arrival: int) -> None:
        self._told = stamp_ns(message.clock)
        self._graph.set_time(self._told)
