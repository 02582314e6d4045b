"""A process beside the node that stops the joints should the node die: ``python -m vds_gz.plant.gazebo.watchdog``.

Nothing behind a ROS topic misses a node that has died: neither Gazebo's joint controllers nor a
``forward_command_controller`` knows a time-out, and the wheels go on with their last command for ever. This process
holds the messages that would stop them. It does nothing, and is not on the graph, until the node dies; then it joins
the graph, sends them and leaves.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterable

#: Between two changes of the will [s].
CHANGING = 0.1

#: How long whoever moves the joints may take to be found [s].
PATIENCE = 10.0

#: How often the joints are told to stop; a message can be lost while connections come up.
FAREWELLS = 5

#: How long the process may take to end when its will is revoked [s].
GOODBYE = 3.0

#: What a node says that ends as it should.
REVOKED = "revoked"

#: A topic's full name, its type and a serialized message.
Message = tuple[str, str, bytes]


class Watchdog:
    """The process, as the node sees it. No call waits for it."""

    def __init__(self) -> None:
        """Start it, with nothing to send yet."""
        self._changed = float("-inf")
        # A session of its own: Ctrl-C is for the node, which then revokes the will.
        self._process = subprocess.Popen(
            [sys.executable, "-m", __spec__.name], stdin=subprocess.PIPE, text=True, start_new_session=True
        )

    def due(self) -> bool:
        """Whether the will is so old that it should be written anew."""
        now = time.monotonic()
        if now - self._changed < CHANGING:
            return False
        self._changed = now
        return True

    def write(self, messages: Iterable[Message]) -> None:
        """Have these messages sent should the node die."""
        self._tell(json.dumps([(topic, type_name, bytes(data).hex()) for topic, type_name, data in messages]))

    def revoke(self) -> None:
        """The node ends as it should: send nothing."""
        self._tell(REVOKED)
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(GOODBYE)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def _tell(self, line: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except (BrokenPipeError, ValueError):
            return  # it was killed; then there is no will


def carry_out(messages: Iterable[tuple[str, str, str]]) -> None:
    """Join the graph, and send each message as soon as somebody listens to its topic."""
    from vds_gz.ros.arguments import parse
    from vds_gz.ros.factory import open_graph
    from vds_gz.ros.graph import QoS

    graph = open_graph(parse([], "last_will"), "last_will")
    left = [(graph.publisher(topic, kind, QoS(depth=1)), bytearray.fromhex(data)) for topic, kind, data in messages]
    end = time.monotonic() + PATIENCE
    while left and time.monotonic() < end:
        for one in [one for one in left if one[0].subscription_count()]:
            left.remove(one)
            for _ in range(FAREWELLS):
                one[0].publish_raw(one[1])
                time.sleep(0.02)
        graph.wait(0.02)
    graph.close()


def main() -> None:
    """Keep the last will, and carry it out when the node ends without revoking it."""
    will = REVOKED
    for line in sys.stdin:
        will = line.strip()
    if will != REVOKED:
        carry_out(json.loads(will))


if __name__ == "__main__":
    main()
