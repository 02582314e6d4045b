"""Programs in processes of their own, and a probe on the graph beside them. What tests of several folders need."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from vds_gz.interface import topics
from vds_gz.ros.arguments import parse
from vds_gz.ros.factory import open_graph
from vds_gz.ros.graph import Graph, Publisher

PATIENCE = 20.0


class Program:
    """A Python module as a user starts it, and what it says."""

    def __init__(self, module: str, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        self.lines.extend(iter(self.process.stdout.readline, ""))

    @property
    def output(self) -> str:
        return "".join(self.lines)

    def stop(self, number: int = signal.SIGINT) -> int:
        """Ask it to stop and return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            code = self.process.wait(timeout=PATIENCE)
        finally:
            self.process.kill()
        self._reader.join()
        return code


class Probe:
    """Listens to topics and publishes on them."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.received: dict[str, list[Any]] = defaultdict(list)
        self._publishers: dict[str, Publisher] = {}

    def listen(self, *wanted: topics.Topic, name: str | None = None) -> None:
        for topic in wanted:
            self.graph.subscribe(
                name or topic.name, topic.type, topic.qos, lambda message, _, key=topic.name: self._take(key, message)
            )

    def _take(self, key: str, message: Any) -> None:
        self.received[key].append(message)

    def until(self, condition: Callable[[], Any], what: str = "the condition", patience: float = PATIENCE) -> Any:
        """Serve the graph until the condition holds and return what it gave."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            result = condition()
            if result:
                return result
            self.graph.wait(0.02)
        raise AssertionError(f"{what} did not come about within {patience} s; got {dict_sizes(self.received)}")

    def next(self, topic: topics.Topic, after: int = 0) -> Any:
        """The next message of a topic that was listened to."""
        seen = max(after, len(self.received[topic.name]))
        self.until(lambda: len(self.received[topic.name]) > seen, f"a message on {topic.name}")
        return self.received[topic.name][-1]

    def until_heard(self, topic: topics.Topic, name: str | None = None) -> Publisher:
        """A publisher of ours that the node has found."""
        key = name or topic.name
        if key not in self._publishers:
            self._publishers[key] = self.graph.publisher(key, topic.type, topic.qos)
        publisher = self._publishers[key]
        self.until(publisher.subscription_count, f"a subscription of {key}")
        return publisher

    def serve(self, seconds: float) -> None:
        """Serve the graph for a while."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.graph.wait(0.02)

    def until_quiet(self, topic: topics.Topic) -> None:
        """Serve the graph until nothing more comes on a topic that was listened to."""
        received = self.received[topic.name]

        def quiet() -> bool:
            before = len(received)
            self.serve(0.3)
            return len(received) == before

        self.until(quiet, f"silence on {topic.name}")

    def send(
        self, topic: topics.Topic, fill: Callable[[Any], None], *, every: float = 0.1, seconds: float = 0.0
    ) -> None:
        """Publish a message once, or again and again for a while."""
        publisher = self.until_heard(topic)
        message = self.graph.message(topic.type)
        fill(message)
        end = time.monotonic() + seconds
        publisher.publish(message)
        while time.monotonic() < end:
            self.serve(every)
            publisher.publish(message)


def dict_sizes(received: dict[str, list[Any]]) -> dict[str, int]:
    return {topic: len(messages) for topic, messages in received.items()}


@pytest.fixture
def run(domain: int) -> Iterator[Callable[..., Program]]:
    """Starts programs and stops them at the end."""
    started: list[Program] = []

    def run_module(module: str, *arguments: str) -> Program:
        started.append(Program(module, *arguments))
        return started[-1]

    yield run_module
    for one in started:
        one.stop()


@pytest.fixture
def start(run: Callable[..., Program]) -> Callable[..., Program]:
    """Starts ``sim_node`` with ROS arguments."""
    return lambda *arguments: run("vds_gz.nodes.sim_node", "--ros-args", *arguments)


@pytest.fixture
def probe(domain: int) -> Iterator[Probe]:
    """A node of the test's own on the same domain."""
    graph = open_graph(parse([], "probe"), "probe")
    yield Probe(graph)
    graph.close()
