"""Programs in processes of their own, and a probe on the graph beside them. What tests of several folders need."""

from __future__ import annotations

import signal
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import pytest

from helpers.forks import Fork
from vds_gz.core.ros.arguments import parse
from vds_gz.core.ros.graph import Graph, Publisher
from vds_gz.core.ros.open_graph import open_graph
from vds_gz.programs.interface import topics

#: How long to wait for what must come about, on a machine that has other things to do too [s].
PATIENCE = 60.0

#: So many messages one after the other that say the same are a steady state.
STEADY = 25


def has_messages(package: str) -> bool:
    """Whether the messages of a package are there: over DDS they come with this one."""
    return find_spec("rclpy") is None or find_spec(package) is not None


def need_messages(*packages: str) -> pytest.MarkDecorator:
    """Skips where the messages of one of these packages are missing."""
    missing = [package for package in packages if not has_messages(package)]
    return pytest.mark.skipif(bool(missing), reason=f"the ROS packages {', '.join(missing)} are not installed")


class Program:
    """One of our programs, and what it says."""

    def __init__(self, module: str, *arguments: str) -> None:
        self.process = Fork(module, *arguments)
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        with self.process.stdout as output:
            self.lines.extend(iter(output.readline, ""))

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
        raise AssertionError(f"{what} did not come about within {patience} s; got {newest(self.received)}")

    def steadily(self, topic: topics.Topic, condition: Callable[[Any], Any]) -> bool:
        """Whether the last messages of a topic that was listened to all meet a condition."""
        last = self.received[topic.name][-STEADY:]
        return len(last) == STEADY and all(map(condition, last))

    def next(self, topic: topics.Topic, after: int = 0) -> Any:
        """The next message of a topic that was listened to."""
        seen = max(after, len(self.received[topic.name]))
        self.until(lambda: len(self.received[topic.name]) > seen, f"a message on {topic.name}")
        return self.received[topic.name][-1]

    def until_heard(self, topic: topics.Topic) -> Publisher:
        """A publisher of ours that the node has found."""
        if topic.name not in self._publishers:
            self._publishers[topic.name] = self.graph.publisher(topic.name, topic.type, topic.qos)
        publisher = self._publishers[topic.name]
        self.until(publisher.subscription_count, f"a subscription of {topic.name}")
        return publisher

    def until_known(self, topic: topics.Topic) -> None:
        """A publisher of ours that a node without Gazebo listens to: what is sent before that may be lost."""
        self.until_heard(topic)
        if topics.DIAGNOSTICS.name not in self.received:
            self.listen(topics.DIAGNOSTICS)
        self.until(
            lambda: self.diagnosed("command publishers", "0") != "0", f"the node that knows of us on {topic.name}"
        )

    def diagnosed(self, key: str, default: str = "") -> str:
        """What the next diagnostics say, of one node that somebody listens to."""
        (status,) = self.next(topics.DIAGNOSTICS).status
        return {pair.key: pair.value for pair in status.values}.get(key, default)

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

    def hold(
        self,
        topic: topics.Topic,
        fill: Callable[[Any], None],
        condition: Callable[[], Any],
        what: str = "the condition",
        *,
        every: float = 0.05,
    ) -> Any:
        """Publish a message again and again until the condition holds, and return what it gave."""
        publisher = self.until_heard(topic)
        message = self.graph.message(topic.type)
        fill(message)

        def holds() -> Any:
            publisher.publish(message)
            self.serve(every)
            return condition()

        return self.until(holds, what)


def newest(received: dict[str, list[Any]]) -> str:
    """How many messages came on each topic, and the last one of each."""
    return "; ".join(f"{len(all_)} on {topic}, {str(all_[-1])[:500]}" for topic, all_ in received.items() if all_)


@pytest.fixture
def run(domain: int) -> Iterator[Callable[..., Program]]:
    """Starts programs and stops them at the end."""
    started: list[Program] = []

    def run_module(module: str, *arguments: str) -> Program:
        started.append(Program(module, *arguments))
        return started[-1]

    yield run_module
    for process in started:
        process.stop()


@pytest.fixture
def start(run: Callable[..., Program]) -> Callable[..., Program]:
    """Starts ``sim_node`` with ROS arguments."""
    return lambda *arguments: run("vds_gz.programs.nodes.sim_node", "--ros-args", *arguments)


@pytest.fixture
def probe(domain: int) -> Iterator[Probe]:
    """A node of the test's own on the same domain."""
    graph = open_graph(parse([], "probe"), "probe")
    yield Probe(graph)
    graph.close()
