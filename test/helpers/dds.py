"""What the tests of the graph share: other processes, and what ROS tools do, done by hand."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from vds_gz.core.ros.dds.endpoints import EndpointProperties, Reader, Writer
from vds_gz.core.ros.graph import QoS

INFO = "rmw_dds_common/msg/ParticipantEntitiesInfo"
PATIENCE = 60.0
ROOT = Path(__file__).resolve().parents[2]


def until(condition: Callable[[], Any], *graphs: Any, patience: float = PATIENCE) -> Any:
    """Serve graphs until a condition holds, and return what it gave."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        if result := condition():
            return result
        for graph in graphs:
            graph.wait(0.01)
    raise AssertionError(f"it did not come about within {patience} s")


class Peer:
    """Another process on the graph, see ``dds_peer.py``."""

    def __init__(self, role: str, *arguments: str, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("dds_peer.py")), role, *arguments],
            env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def stop(self) -> str:
        """Ask it to stop; what it has said."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            return self.process.communicate(timeout=PATIENCE)[0]
        finally:
            self.process.kill()


class NodeList:
    """Which nodes there are, as ROS tools find out."""

    def __init__(self, graph: Any) -> None:
        self._reader = Reader(
            graph.context, EndpointProperties("ros_discovery_info", INFO, QoS(100, transient_local=True), {})
        )
        self._codec = graph.context.types.codec(INFO)
        self.infos: dict[bytes, Any] = {}

    def __call__(self) -> dict[str, Any]:
        for data, _ in self._reader.take():
            info = self._codec.decode(data)
            self.infos[bytes(info.gid.data)] = info
        nodes = [node for info in self.infos.values() for node in info.node_entities_info_seq]
        return {f"{node.node_namespace.rstrip('/')}/{node.node_name}": node for node in nodes}


class Client:
    """Calls a service in the way of rmw_cyclonedds."""

    def __init__(self, graph: Any, name: str, kind: str) -> None:
        self._graph = graph
        self._response = graph.context.types.codec(f"{kind}_Response")
        self._request = graph.context.types.codec(f"{kind}_Request")
        self.new_request = lambda: graph.message(f"{kind}_Request")
        self._reply_channel = EndpointProperties(
            f"rr{name}Reply", f"{kind}_Response", QoS(), {"clientid": f"{id(self):x}"}
        )
        self.writer = Writer(
            graph.context,
            EndpointProperties(f"rq{name}Request", f"{kind}_Request", QoS(), {"clientid": f"{id(self):x}"}),
        )
        self._reader: Reader | None = None
        self._sequence = 0

    def listen(self) -> Reader:
        if self._reader is None:
            self._reader = Reader(self._graph.context, self._reply_channel)
        return self._reader

    def send(self, request: Any) -> bytes:
        """The header that the reply will have."""
        self._sequence += 1
        header = self.writer.gid[:8] + self._sequence.to_bytes(8, "little")
        self.writer.write(self._request.encode(request, header))
        return header

    def reply(self, header: bytes) -> Any:
        for data, _ in self.listen().take():
            if bytes(data[4:20]) == header:
                return self._response.decode(data, 16)
        return None

    def call(self, request: Any) -> Any:
        until(lambda: self.writer.matched() and self.listen().matched(), self._graph)
        header = self.send(request)
        return until(lambda: self.reply(header), self._graph)
