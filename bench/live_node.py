"""Measure the live node: time to the first message, processor, memory, and its maximum speed.

Run by ``./dev bench live_node``, or in a ROS 2 environment by ``python bench/live_node.py``. Another simulator that
takes ``twist_reference`` and publishes ``odom`` is measured beside it, in the same run, by ``--peer 'COMMAND'``.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from vds_gz.core.ros.arguments import parse
from vds_gz.core.ros.graph import Graph
from vds_gz.core.ros.messages.fields import stamp_ns
from vds_gz.core.ros.open_graph import open_graph
from vds_gz.programs.interface import topics

NODE = [sys.executable, "-m", "vds_gz.programs.nodes.sim_node", "--ros-args"]
DOMAINS = count(120 + os.getpid() % 50)
LISTENED = (
    topics.GROUND_TRUTH,
    topics.TWIST_ACTUAL,
    topics.TF,
    topics.JOINT_STATES,
    topics.ACTUATOR_REFERENCES,
    topics.ACTUATOR_STATES,
)


class Measured:
    """A simulator's process, and a peer that listens and sends commands at 10 Hz."""

    def __init__(self, command: list[str], everything: bool) -> None:
        os.environ["ROS_DOMAIN_ID"] = str(next(DOMAINS))
        self.graph: Graph = open_graph(parse([], "bench"), "bench")
        self.stamps: list[int] = []
        self.graph.subscribe(topics.ODOM.name, topics.ODOM.type, topics.ODOM.qos, self._on_odom)
        for topic in LISTENED if everything else ():
            self.graph.subscribe(topic.name, topic.type, topic.qos, lambda message, arrival: None)
        reference = topics.TWIST_REFERENCE
        self.publisher = self.graph.publisher(reference.name, reference.type, reference.qos)
        self.twist = self.graph.message(reference.type)
        self.twist.linear.x = 0.5
        begin = time.monotonic()
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not self.stamps:
            self.graph.wait(0.01)
        self.start_up = time.monotonic() - begin

    def _on_odom(self, message: object, arrival: int) -> None:
        self.stamps.append(stamp_ns(message.header.stamp))  # type: ignore[attr-defined]

    def drive(self, seconds: float) -> float:
        """Send commands for a while and return the true duration [s]."""
        begin = now = time.monotonic()
        following = begin
        while now < begin + seconds:
            if now >= following:
                self.publisher.publish(self.twist)
                following += 0.1
            self.graph.wait(0.02)
            now = time.monotonic()
        return now - begin

    def processor_seconds(self) -> float:
        """Processor time of the process's threads so far, counted by the scheduler [s].

        The time in ``stat`` is sampled at clock ticks, which is wrong for programs that wake at them.
        """
        threads = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(thread.read_text().split()[0]) for thread in threads) * 1e-9

    def memory(self) -> float:
        """Resident memory [MB]."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024

    def close(self) -> None:
        self.process.terminate()
        self.process.wait()
        self.graph.close()


@dataclass
class Row:
    name: str
    start_up: float
    processor: float
    memory: float
    rate: float
    factor: float

    def __str__(self) -> str:
        return (
            f"| {self.name} | {self.start_up:.2f} | {100 * self.processor:.1f} | {self.memory:.0f} "
            f"| {self.rate:.1f} | {self.factor:.1f} |"
        )


def measure(name: str, command: list[str], seconds: float, everything: bool = True) -> Row:
    node = Measured(command, everything)
    node.drive(2.0)
    used, first, heard = node.processor_seconds(), node.stamps[-1], len(node.stamps)
    passed = node.drive(seconds)
    row = Row(
        name,
        node.start_up,
        (node.processor_seconds() - used) / passed,
        node.memory(),
        (len(node.stamps) - heard) / passed,
        (node.stamps[-1] - first) * 1e-9 / passed,
    )
    node.close()
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="length of each measurement")
    parser.add_argument("--peer", help="command line of another simulator")
    options = parser.parse_args()
    print("| node | first odom [s] | core [%] | memory [MB] | odom [Hz] | real-time factor |")
    print("| --- | --- | --- | --- | --- | --- |")
    rates = ["-p", "step_rate:=1000.0", "-p", "pub_rate:=50.0"]
    for heard, everything in (("all topics heard", True), ("odom heard", False)):
        print(measure(f"sim_node, {heard}", [*NODE, *rates], options.seconds, everything), flush=True)
        if options.peer:
            print(measure(f"peer, {heard}", shlex.split(options.peer), options.seconds, everything), flush=True)
    flat_out = [*NODE, *rates, "-p", "be_reference_clock:=true", "-p", "speed_factor:=0.0"]
    print(measure("sim_node, speed_factor 0", flat_out, options.seconds), flush=True)


if __name__ == "__main__":
    main()
