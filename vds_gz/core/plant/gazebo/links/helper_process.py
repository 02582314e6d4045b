"""A process for work that would block the node: ``python -m vds_gz.core.plant.gazebo.links.helper_process``.

The process calls Gazebo's services and looks for worlds. Both block their caller, by Python's lock or by the second
that the program ``gz`` takes to start.

The process is also the watchdog of the joints. Neither Gazebo's joint controllers nor a ``forward_command_controller``
has a time-out: if the node were killed, the wheels would follow their last command for ever. The process outlives the
node and sends the messages that stop them.

Node and process exchange lines of JSON: tasks in, results out.
"""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from vds_gz.core.plant.base import LinkError
from vds_gz.core.plant.gazebo.links import bindings
from vds_gz.core.plant.gazebo.links.world_services import Request, call_by_program

LOOKING = 0.5  # time without tasks after which the process looks for worlds [s]
NOTING = 0.1  # minimum time between updates of the messages that stop the joints [s]

#: Number of times that a message is sent to stop the joints, because messages can be lost during connection.
REPETITIONS = 5
INTERVAL = 0.02  # time between them [s]

PATIENCE = 10.0  # time to find the controllers of the joints over ROS [s]

HelperMessage = tuple[str, str, bytes]  # a topic's full name, its type and a serialized message


class Helper:
    """The node's side of the process. Only :meth:`close` waits, for a process that it has killed.

    With ``actuators``, the topic of joint commands in Gazebo, the process uses gz-transport. Without, it uses the
    program ``gz`` for services and ROS for the joints.

    Attributes:
        worlds: The worlds that were found over gz-transport.
        fault: Why the process can do nothing more; empty while it can.
    """

    def __init__(self, partition: str, actuators: str = "") -> None:
        self.worlds: list[str] = []
        self.fault = ""
        self._by_program = not actuators
        self._rest = b""
        self._noted = float("-inf")
        # Its own session: Ctrl-C is for the node, which then ends this process as it should.
        self._process = subprocess.Popen(
            [sys.executable, "-m", __spec__.name, partition, actuators],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._process.stdout is not None
        os.set_blocking(self._process.stdout.fileno(), False)

    def call(self, world: str, request: Request) -> None:
        """Request a call of a world's service."""
        if not world:
            raise LinkError(
                "parameter 'gazebo.world' is empty; it must name the world whose service "
                f"'{request.service}' is to be called"
            )
        if self._by_program and shutil.which("gz") is None:
            raise LinkError(
                f"the program 'gz' is not in the PATH; it is needed to call the world's service '{request.service}'"
            )
        self._tell(call=[world, *request])

    def due(self) -> bool:
        """Whether the messages that stop the joints should be updated."""
        now = time.monotonic()
        if now - self._noted < NOTING:
            return False
        self._noted = now
        return True

    def note(self, *messages: HelperMessage) -> None:
        """Set the messages that are sent if the node dies."""
        self._tell(note=[(topic, type_name, data.hex()) for topic, type_name, data in messages])

    def poll(self) -> list[str]:
        """Read the results of the process; return why calls have failed since the last time."""
        assert self._process.stdout is not None
        data = self._process.stdout.read() or b""
        *lines, self._rest = (self._rest + data).split(b"\n")
        results = [json.loads(line) for line in lines]
        for result in results:
            self.worlds = result.get("worlds", self.worlds)
        return [result["failure"] for result in results if "failure" in result]

    def close(self) -> None:
        """End the process at a regular end of the node, without messages to the joints.

        Its program ``gz`` may still wait for Gazebo, so both are killed.
        """
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()

    def _tell(self, **task: object) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(task).encode() + b"\n")
            self._process.stdin.flush()
        except (BrokenPipeError, ValueError):
            self.fault = "the helper process has ended, so no service of Gazebo can be called; restart the node"


# ---------------------------------------------------------------------- in the helper process


class Worker:
    """The process's side."""

    def __init__(self, partition: str, actuators: str) -> None:
        """Join gz-transport if ``actuators`` is given."""
        self._messages: list[HelperMessage] = []
        self._worlds: list[str] = []
        self._node: Any = None
        self._call = partial(call_by_program, partition)
        if actuators:
            self._node = bindings.node(partition)
            self._call = partial(bindings.call, self._node)
            self._actuators = bindings.message("actuators", "Actuators")
            self._publisher = self._node.advertise(actuators, self._actuators)

    def run(self) -> None:
        """Serve until the node ends; stop the joints if it ends without :meth:`Helper.close`."""
        data = b""
        while True:
            if not select.select([sys.stdin], [], [], LOOKING)[0]:
                self._look()
                continue
            piece = os.read(sys.stdin.fileno(), 65536)
            if not piece:
                if self._messages:
                    self._stop_joints()
                return
            *lines, data = (data + piece).split(b"\n")
            for task in map(json.loads, lines):
                if "note" in task:
                    self._messages = [(topic, kind, bytes.fromhex(text)) for topic, kind, text in task["note"]]
                else:
                    self._serve(*task["call"])

    def _look(self) -> None:
        if self._node is None:
            return
        names = (re.fullmatch(r"/world/([^/]+)/clock", topic) for topic in self._node.topic_list())
        worlds = sorted({name[1] for name in names if name})
        if worlds != self._worlds:
            self._worlds = worlds
            report(worlds=worlds)

    def _serve(self, world: str, *request: str) -> None:
        try:
            self._call(world, Request(*request))
        except LinkError as error:
            report(failure=str(error))

    def _stop_joints(self) -> None:
        if self._node is None:
            send_over_ros(self._messages)
            return
        for _ in range(REPETITIONS):
            for _, _, data in self._messages:
                self._publisher.publish(self._actuators.FromString(data))
            time.sleep(INTERVAL)


def send_over_ros(messages: Sequence[HelperMessage]) -> None:
    """Join the graph, and send each message as soon as its topic has a subscriber."""
    from vds_gz.core.ros.arguments import parse
    from vds_gz.core.ros.graph import QoS
    from vds_gz.core.ros.open_graph import open_graph

    graph = open_graph(parse([], "watchdog"), "watchdog")
    left = [(graph.publisher(topic, kind, QoS(depth=1)), bytearray(data)) for topic, kind, data in messages]
    end = time.monotonic() + PATIENCE
    while left and time.monotonic() < end:
        for publisher, data in [message for message in left if message[0].subscription_count()]:
            left.remove((publisher, data))
            for _ in range(REPETITIONS):
                publisher.publish_raw(data)
                time.sleep(INTERVAL)
        graph.wait(0.02)
    graph.close()


def report(**result: object) -> None:
    """Send a result to the node, which may have ended."""
    try:
        print(json.dumps(result), flush=True)
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - for the rest of the process


if __name__ == "__main__":
    Worker(*sys.argv[1:]).run()
