"""A process that stops the robot if its node dies: ``python -m vds_gz.core.plant.watchdog``.

A robot behind a relay, Gazebo's joint controllers and a ``forward_command_controller`` may have no time-out: if the
node were killed, they would follow their last command for ever. The process outlives the node and sends the messages
that stop them.

Node and process exchange lines of JSON: tasks in, results out. A process with further tasks has classes that derive
from both, as in :mod:`vds_gz.core.plant.gazebo.links.helper_process`.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence

NOTING = 0.1  # minimum time between updates of the messages that stop the robot [s]

#: Number of times that a message is sent to stop the robot, because messages can be lost during connection.
REPETITIONS = 5
INTERVAL = 0.02  # time between them [s]

PATIENCE = 10.0  # time to find the subscribers of these messages over ROS [s]

NotedMessage = tuple[str, str, bytes]  # a topic's full name, its type and a serialized message


class Watchdog:
    """The node's side of the process. Only :meth:`close` waits, for a process that it has killed.

    Attributes:
        ended: Whether the process has ended, and can do nothing more.
    """

    def __init__(self, module: str = __name__, *arguments: str) -> None:
        """Start the process: a module that runs a :class:`Guard`, and its arguments."""
        self.ended = False
        self._noted = float("-inf")
        # Its own session: Ctrl-C is for the node, which then ends this process as it should.
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )

    def due(self) -> bool:
        """Whether the messages should be updated."""
        now = time.monotonic()
        if now - self._noted < NOTING:
            return False
        self._noted = now
        return True

    def note(self, *messages: NotedMessage) -> None:
        """Set the messages that are sent if the node dies."""
        self.tell(note=[(topic, type_name, data.hex()) for topic, type_name, data in messages])

    def tell(self, **task: object) -> None:
        """Give the process a task."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(task).encode() + b"\n")
            self._process.stdin.flush()
        except (BrokenPipeError, ValueError):
            self.ended = True

    def close(self) -> None:
        """End the process and those that it started, at a regular end of the node; no message is sent."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()


# ------------------------------------------------------------------------------ in the process


class Guard:
    """The process's side.

    Attributes:
        patience: Longest wait for a task before :meth:`idle` is called [s]; None: no limit.
    """

    patience: float | None = None

    def __init__(self) -> None:
        self._messages: list[NotedMessage] = []

    def run(self) -> None:
        """Serve until the node ends; stop the robot if it ends without :meth:`Watchdog.close`."""
        data = b""
        while True:
            if not select.select([sys.stdin], [], [], self.patience)[0]:
                self.idle()
                continue
            piece = os.read(sys.stdin.fileno(), 65536)
            if not piece:
                if self._messages:
                    self.stop(self._messages)
                return
            *lines, data = (data + piece).split(b"\n")
            for task in map(json.loads, lines):
                if "note" in task:
                    self._messages = [(topic, kind, bytes.fromhex(text)) for topic, kind, text in task["note"]]
                else:
                    self.serve(task)

    def idle(self) -> None:
        """Do what is due while there are no tasks."""

    def serve(self, task: dict[str, list[str]]) -> None:
        """Do a task other than to note messages."""
        raise NotImplementedError

    def stop(self, messages: Sequence[NotedMessage]) -> None:
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


if __name__ == "__main__":
    Guard().run()
