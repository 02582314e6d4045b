"""A process beside the node for what must not be done in it: ``python -m vds_gz.plant.gazebo.links.helper_process``.

Requests to Gazebo's services, and looking for worlds, hold Python's lock while they wait, so the node would stand still
with them. And when the node dies without a word, Gazebo's joints go on with their last command for ever: this process
outlives it and stops them.

Both talk in lines of JSON: requests in, what was found out.
"""

from __future__ import annotations

import json
import os
import re
import select
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

from vds_gz.plant.gazebo.links import bindings
from vds_gz.plant.gazebo.links.base import LinkError

#: Between two looks for worlds [s].
LOOKING = 0.5

#: Between two notes of where the steering stands [s].
NOTING = 0.1

#: How often the joints are told to stop when the node has died; a message can be lost while connections come up.
FAREWELLS = 5


class Helper:
    """The process, as the node sees it. No call waits for it.

    Attributes:
        fault: What went wrong last, in words; empty if nothing did.
    """

    def __init__(self, partition: str, actuators: str) -> None:
        """Start it.

        Args:
            partition: Gazebo's partition; empty for that of the environment.
            actuators: Topic of the joint commands.
        """
        self.fault = ""
        self._worlds: list[str] = []
        self._rest = b""
        self._noted = 0.0
        # A session of its own: Ctrl-C is for the node, which then ends this process as it should.
        self._process = subprocess.Popen(
            [sys.executable, "-m", __spec__.name, partition, actuators],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._process.stdout is not None
        os.set_blocking(self._process.stdout.fileno(), False)

    def ask(self, request: Mapping[str, Any]) -> None:
        """Have something done."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        except (BrokenPipeError, ValueError):
            self.fault = "the helper process has ended, so no service of Gazebo can be called; start the node again"

    def remember(self, wheels: int, positions: Sequence[float]) -> None:
        """Note now and then what would stop the joints: so many wheels that stand, and the steering as it is [rad]."""
        now = time.monotonic()
        if now - self._noted >= NOTING:
            self._noted = now
            self.ask({"do": "remember", "wheels": wheels, "positions": list(positions)})

    def worlds(self) -> list[str]:
        """The worlds there are."""
        self._read()
        return self._worlds

    def _read(self) -> None:
        assert self._process.stdout is not None
        data = self._process.stdout.read()
        if not data:
            return
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            told = json.loads(line)
            self._worlds = told.get("worlds", self._worlds)
            self.fault = told.get("fault", self.fault)

    def close(self) -> None:
        """End it."""
        self.ask({"do": "end"})
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=3.0)
        except subprocess.TimeoutExpired:
            self._process.kill()


# ---------------------------------------------------------------------- in the helper process


class Worker:
    """What the process does."""

    def __init__(self, partition: str, actuators: str) -> None:
        """Join Gazebo's network."""
        self._node = bindings.node(partition)
        self._message = bindings.message("actuators", "Actuators")()
        self._publisher = self._node.advertise(actuators, type(self._message))
        self._worlds: list[str] = []

    def run(self) -> None:
        """Serve until the node ends; stop the joints if it did not say so before."""
        data = b""
        while True:
            if not select.select([sys.stdin], [], [], LOOKING)[0]:
                self._look()
                continue
            piece = os.read(sys.stdin.fileno(), 65536)
            if not piece:
                self._stop_joints()
                return
            *lines, data = (data + piece).split(b"\n")
            for line in lines:
                request = json.loads(line)
                if request["do"] == "end":
                    return
                getattr(self, f"_{request['do']}")(request)

    def _look(self) -> None:
        names = (re.fullmatch(r"/world/([^/]+)/clock", topic) for topic in self._node.topic_list())
        worlds = sorted({name[1] for name in names if name})
        if worlds != self._worlds:
            self._worlds = worlds
            tell(worlds=worlds)

    def _set_pose(self, request: Mapping[str, Any]) -> None:
        pose = bindings.message("pose", "Pose")(name=request["name"])
        pose.position.x, pose.position.y, pose.position.z = request["position"]
        turn = pose.orientation
        turn.x, turn.y, turn.z, turn.w = request["orientation"]
        self._ask(request["world"], "set_pose", pose)

    def _pause(self, request: Mapping[str, Any]) -> None:
        control = bindings.message("world_control", "WorldControl")(pause=request["paused"])
        self._ask(request["world"], "control", control)

    def _ask(self, world: str, service: str, message: Any) -> None:
        try:
            bindings.ask(self._node, world, service, message)
            tell(fault="")
        except LinkError as error:
            tell(fault=str(error))

    def _remember(self, request: Mapping[str, Any]) -> None:
        self._message.velocity[:] = [0.0] * request["wheels"]
        self._message.position[:] = request["positions"]

    def _stop_joints(self) -> None:
        for _ in range(FAREWELLS):
            self._publisher.publish(self._message)
            time.sleep(0.02)


def tell(**what: Any) -> None:
    """Say something to the node, which may have gone."""
    try:
        print(json.dumps(what), flush=True)
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - for the rest of the process


if __name__ == "__main__":
    Worker(*sys.argv[1:]).run()
