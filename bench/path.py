"""Trace a command through the live node: this package's functions from the arrival of a Twist to the next odom.

The node runs on the graph of this machine, with a subscriber of ``odom`` in the same process. Everything that its loop
calls is traced with :func:`sys.setprofile` and counted once: properties, closures and comprehensions too, but no
code of other packages and none that dataclasses generate. Run by ``./dev bench path``; it prints the functions by file.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import vds_gz
from vds_gz.core.ros.arguments import parse
from vds_gz.core.ros.open_graph import open_graph
from vds_gz.core.ros.program_shell import StopRequest
from vds_gz.programs.interface.topics import ODOM, TWIST_REFERENCE
from vds_gz.programs.nodes.preparation import prepare
from vds_gz.programs.nodes.sim_node import SimNode

ROOT = f"{Path(vds_gz.__file__).parent}{os.sep}"

#: Real time before the traced Twist, in which peers find each other and earlier commands take effect [s].
SETTLING = 3.0


class Trace:
    """Notes all functions of this package from a Twist to the next odom, which stops the node."""

    def __init__(self) -> None:
        os.environ.setdefault("ROS_DOMAIN_ID", str(120 + os.getpid() % 50))
        self.functions: dict[CodeType, None] = {}
        self.stop = StopRequest()
        self.node = SimNode(open_graph(parse([], "sim_node"), "sim_node"), prepare([]), stop=self.stop)
        self.peer = open_graph(parse([], "peer"), "peer")
        self.peer.subscribe(ODOM.name, ODOM.type, ODOM.qos, self.on_odom)
        self.twists = self.peer.publisher(TWIST_REFERENCE.name, TWIST_REFERENCE.type, TWIST_REFERENCE.qos)
        self.traced = False

    def on_odom(self, message: Any, arrival: int) -> None:
        if self.traced:
            self.stop.request()

    def note(self, frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(ROOT):
            self.functions[frame.f_code] = None

    def run(self) -> None:
        """Turn the loop as :meth:`Simulation.run` does, with the peer in between."""
        simulation, end = self.node.simulation, time.monotonic() + SETTLING
        twist = self.peer.message(TWIST_REFERENCE.type)
        twist.linear.x, twist.angular.z = 0.5, 0.1
        while time.monotonic() < end:
            self.twists.publish(twist)
            simulation.turn()
            self.peer.wait(0.0)
        self.peer.wait(0.05)
        simulation.turn(0.0)
        self.peer.wait(0.05)
        self.twists.publish(twist)
        self.traced = True
        while not self.stop.requested:
            sys.setprofile(self.note)
            simulation.turn()
            sys.setprofile(None)
            self.peer.wait(0.0)
        self.peer.close()
        self.node.graph.close()


def main() -> None:
    trace = Trace()
    trace.run()
    files: dict[str, list[str]] = {}
    for code in trace.functions:
        name = getattr(code, "co_qualname", code.co_name)
        files.setdefault(code.co_filename.removeprefix(ROOT), []).append(name)
    for file, names in files.items():
        print(f"{file}: {', '.join(names)}")
    print(f"{len(trace.functions)} functions in {len(files)} files")


if __name__ == "__main__":
    main()
