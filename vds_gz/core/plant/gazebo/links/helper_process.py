"""A process for work that would block the node: ``python -m vds_gz.core.plant.gazebo.links.helper_process``.

The process calls Gazebo's services and looks for worlds. Both block their caller, by Python's lock or by the second
that the program ``gz`` takes to start. It is also the watchdog of the joints.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from vds_gz.core.plant.base import LinkError
from vds_gz.core.plant.gazebo.links import bindings
from vds_gz.core.plant.gazebo.links.world_services import Request, call_by_program
from vds_gz.core.plant.watchdog import INTERVAL, REPETITIONS, Guard, NotedMessage, Watchdog

LOOKING = 0.5  # time without tasks after which the process looks for worlds [s]


class Helper(Watchdog):
    """The node's side of the process.

    With ``actuators``, the topic of joint commands in Gazebo, the process uses gz-transport. Without, it uses the
    program ``gz`` for services and ROS for the joints.

    Attributes:
        worlds: The worlds that were found over gz-transport.
    """

    def __init__(self, partition: str, actuators: str = "") -> None:
        super().__init__(__name__, partition, actuators)
        self.worlds: list[str] = []
        self._by_program = not actuators
        self._rest = b""
        assert self._process.stdout is not None
        os.set_blocking(self._process.stdout.fileno(), False)

    @property
    def fault(self) -> str:
        """Why the process can do nothing more; empty while it can."""
        text = "the helper process has ended, so no service of Gazebo can be called; restart the node"
        return text if self.ended else ""

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
        self.tell(call=[world, *request])

    def poll(self) -> list[str]:
        """Read the results of the process; return why calls have failed since the last time."""
        assert self._process.stdout is not None
        data = self._process.stdout.read() or b""
        *lines, self._rest = (self._rest + data).split(b"\n")
        results = [json.loads(line) for line in lines]
        for result in results:
            self.worlds = result.get("worlds", self.worlds)
        return [result["failure"] for result in results if "failure" in result]


# ---------------------------------------------------------------------- in the helper process


class Worker(Guard):
    """The process's side."""

    patience = LOOKING

    def __init__(self, partition: str, actuators: str) -> None:
        """Join gz-transport if ``actuators`` is given."""
        super().__init__()
        self._worlds: list[str] = []
        self._node: Any = None
        self._call = partial(call_by_program, partition)
        if actuators:
            self._node = bindings.node(partition)
            self._call = partial(bindings.call, self._node)
            self._actuators = bindings.message("actuators", "Actuators")
            self._publisher = self._node.advertise(actuators, self._actuators)

    def idle(self) -> None:
        """Look for worlds."""
        if self._node is None:
            return
        names = (re.fullmatch(r"/world/([^/]+)/clock", topic) for topic in self._node.topic_list())
        worlds = sorted({name[1] for name in names if name})
        if worlds != self._worlds:
            self._worlds = worlds
            report(worlds=worlds)

    def serve(self, task: dict[str, list[str]]) -> None:
        """Call a world's service."""
        world, *request = task["call"]
        try:
            self._call(world, Request(*request))
        except LinkError as error:
            report(failure=str(error))

    def stop(self, messages: Sequence[NotedMessage]) -> None:
        """Stop the joints."""
        if self._node is None:
            super().stop(messages)
            return
        for _ in range(REPETITIONS):
            for _, _, data in messages:
                self._publisher.publish(self._actuators.FromString(data))
            time.sleep(INTERVAL)


def report(**result: object) -> None:
    """Send a result to the node, which may have ended."""
    try:
        print(json.dumps(result), flush=True)
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - for the rest of the process


if __name__ == "__main__":
    Worker(*sys.argv[1:]).run()
