from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from helpers.dds import Peer


@pytest.fixture
def domain(domain: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """A ROS domain that no one else uses, in an environment without other settings of discovery."""
    for name in ("ROS_AUTOMATIC_DISCOVERY_RANGE", "ROS_LOCALHOST_ONLY", "ROS_STATIC_PEERS", "CYCLONEDDS_URI"):
        monkeypatch.delenv(name, raising=False)
    return domain


@pytest.fixture
def start(domain: int) -> Iterator[Callable[..., Peer]]:
    """Starts peers and stops them at the end."""
    from helpers.dds import Peer  # needs the packages of the DDS graph, which not every test here does

    started: list[Peer] = []

    def start_peer(role: str, *arguments: str, **environment: str) -> Peer:
        started.append(Peer(role, *arguments, **environment))
        return started[-1]

    yield start_peer
    for peer in started:
        peer.stop()


@pytest.fixture
def join(domain: int) -> Iterator[Callable[..., Any]]:
    """Makes graphs in this process and closes them at the end."""
    from vds_gz.core.ros.arguments import parse
    from vds_gz.core.ros.dds.dds_graph import DdsGraph

    joined = []

    def join_graph(*arguments: str, name: str = "probe", **environment: str) -> Any:
        known: Mapping[str, str] = {**os.environ, **environment}
        joined.append(DdsGraph(parse(["--ros-args", *arguments] if arguments else [], name), known))
        return joined[-1]

    yield join_graph
    for graph in joined:
        graph.close()
