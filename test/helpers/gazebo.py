"""A real Gazebo server with vehicles, and the node beside it."""

from __future__ import annotations

import itertools
import math
import os
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from helpers.processes import PATIENCE, Probe
from vds_gz.core.configuration import load_parameters
from vds_gz.core.description.sdf import sdf
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.plant.gazebo.gazebo_server import Server, Spawn, populated
from vds_gz.core.ros.messages.fields import stamp_ns
from vds_gz.core.share import share
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.vehicle import NANOSECONDS
from vds_gz.programs.interface import topics

PARTITIONS = (f"vds_gz_test_{os.getpid()}_{number}" for number in itertools.count())


def preset(name: str, **overrides: object) -> NodeParameters:
    """The parameters of a preset; dots in names are two underscores here."""
    return load_parameters(name, {key.replace("__", "."): value for key, value in overrides.items()})


def vehicle(parameters: NodeParameters, name: str = "vehicle", x: float = 0.0, y: float = 0.0) -> Spawn:
    return Spawn(sdf(models()[parameters.model], parameters.vehicle, name), (x, y, 0.0, 0.0, 0.0, 0.0))


@pytest.fixture
def partition(monkeypatch: pytest.MonkeyPatch) -> str:
    """A partition of Gazebo's that no one else uses, on this machine only."""
    name = next(PARTITIONS)
    monkeypatch.setenv("GZ_PARTITION", name)
    monkeypatch.setenv("GZ_IP", "127.0.0.1")
    return name


@pytest.fixture
def serve(partition: str) -> Iterator[Callable[..., Server]]:
    """Starts servers with vehicles in the empty world, and ends them."""
    servers: list[Server] = []

    def start_server(*spawns: Spawn, **options: Any) -> Server:
        servers.append(Server(populated(share("worlds", "empty.sdf"), spawns)[1], **options))
        return servers[-1]

    yield start_server
    for server in servers:
        server.stop()


def control(request: str, service: str = "control", kind: str = "WorldControl") -> None:
    """Ask the world for something, as a user would on the command line."""
    command = ["gz", "service", "-s", f"/world/empty/{service}", "--reqtype", f"gz.msgs.{kind}"]
    command += ["--reptype", "gz.msgs.Boolean", "--timeout", "5000", "--req", request]
    assert "true" in subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True).stdout


class Driver:
    """What a test sees of a node, and tells it."""

    def __init__(self, probe: Probe) -> None:
        self.probe = probe
        probe.listen(topics.DIAGNOSTICS, topics.GROUND_TRUTH, topics.JOINT_STATES, topics.TWIST_ACTUAL)

    def drive(self, speed: float, seconds: float, yaw_rate: float = 0.0) -> None:
        """Send commands for a duration of simulated time, which is slower than the clock on a busy machine."""

        def fill(message: Any) -> None:
            message.linear.x, message.angular.z = speed, yaw_rate

        self.hold(topics.TWIST_REFERENCE, fill, seconds)

    def serve(self, seconds: float) -> None:
        """Wait for a duration of simulated time."""
        end = self._simulated(seconds)
        twists = self.probe.received[topics.TWIST_ACTUAL.name]
        self.probe.until(lambda: stamp_ns(twists[-1].header.stamp) >= end, f"{seconds} s of simulated time")

    def _simulated(self, seconds: float) -> int:
        """The simulated time this long after the present one [ns]."""
        return stamp_ns(self.probe.next(topics.TWIST_ACTUAL).header.stamp) + round(seconds * NANOSECONDS)

    def hold(self, topic: topics.Topic, fill: Callable[[Any], None], seconds: float) -> None:
        """Send messages for a duration of simulated time."""
        self.probe.until_heard(topic)
        end = self._simulated(seconds)
        twists = self.probe.received[topics.TWIST_ACTUAL.name]
        self.probe.hold(topic, fill, lambda: stamp_ns(twists[-1].header.stamp) >= end, f"{seconds} s of driving")

    def until_says(self, *words: str) -> str:
        """The next diagnosis with these words, and never mind those before."""
        seen = len(self.reports())

        def found() -> str:
            texts = [report.message for report in self.reports()[seen:]]
            return next((text for text in texts if all(word in text for word in words)), "")

        return self.probe.until(found, f"a diagnosis with {words}", patience=2 * PATIENCE)

    def reports(self) -> list[Any]:
        """What nodes of ours have said of their vehicles; others may be on the topic too."""
        said = [status for message in self.probe.received[topics.DIAGNOSTICS.name] for status in message.status]
        return [status for status in said if status.name.endswith(": vehicle")]

    def values(self) -> dict[str, str]:
        seen = len(self.reports())
        report = self.probe.until(lambda: self.reports()[seen:], "a diagnosis")[-1]
        return {pair.key: pair.value for pair in report.values}

    def call(self, service: tuple[str, str], **fields: Any) -> Any:
        """The answer of a service of the node."""
        name, kind = service
        client = self.probe.graph.client(name.replace("~", "/sim_node"), kind)
        self.probe.until(client.ready, f"the service {client.name}")
        request = client.request()
        for field, value in fields.items():
            setattr(request, field, value)
        answers: list[Any] = []
        client.call(request, answers.append)
        return self.probe.until(lambda: answers, f"an answer of {client.name}")[0]

    def put(self, x: float, y: float, heading: float) -> None:
        """Send an initialpose."""

        def fill(message: Any) -> None:
            message.pose.pose.position.x, message.pose.pose.position.y = x, y
            message.pose.pose.orientation.z, message.pose.pose.orientation.w = (
                math.sin(heading / 2),
                math.cos(heading / 2),
            )

        self.probe.send(topics.INITIALPOSE, fill)

    def until_at(self, x: float, y: float) -> None:
        self.probe.until(lambda: self.at() == pytest.approx((x, y), abs=0.01), f"the vehicle at {x}, {y}")

    def wheels(self) -> list[float]:
        """Velocities of the joints, as Gazebo tells them [rad/s]."""
        return [float(velocity) for velocity in self.probe.next(topics.JOINT_STATES).velocity]

    def speed(self) -> float:
        return float(self.probe.next(topics.TWIST_ACTUAL).twist.linear.x)

    def at(self) -> tuple[float, float]:
        position = self.probe.next(topics.GROUND_TRUTH).pose.pose.position
        return float(position.x), float(position.y)


@pytest.fixture
def driver(probe: Probe) -> Driver:
    return Driver(probe)
