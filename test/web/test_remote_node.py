"""What the page asks of a node, and odd responses."""

from __future__ import annotations

from typing import Any

import pytest

from vds_gz.ros.messages.fields import DOUBLE
from vds_gz.web.remote_node import RemoteNode

SERVICES = "rcl_interfaces/srv"


@pytest.mark.parametrize("count", [0, 2])
def test_a_response_without_the_one_result_is_explained(probe, count):
    """Any program may offer services by the names of a vehicle's."""

    def list_one(request: Any, response: Any) -> None:
        response.result.names = ["mass"]

    def get_one(request: Any, response: Any) -> None:
        response.values = [probe.graph.message("rcl_interfaces/msg/ParameterValue")]
        response.values[0].type = DOUBLE

    def set_some(request: Any, response: Any) -> None:
        response.results = [probe.graph.message("rcl_interfaces/msg/SetParametersResult") for _ in range(count)]

    def describe_none(request: Any, response: Any) -> None:
        pass

    for name, kind, respond in (
        ("list_parameters", "ListParameters", list_one),
        ("describe_parameters", "DescribeParameters", describe_none),
        ("get_parameters", "GetParameters", get_one),
        ("set_parameters", "SetParameters", set_some),
    ):
        probe.graph.service(f"/odd/{name}", f"{SERVICES}/{kind}", respond)
    node, outcomes = RemoteNode(probe.graph, "/odd"), list[str]()

    def known() -> bool:
        node.tick()
        return bool(node.values)

    probe.until(known, "the parameters")
    assert node.table == []
    node.set_parameter("mass", 1.0, outcomes.append)
    probe.until(lambda: outcomes, "the outcome")
    assert outcomes == [f"the node responded with {count} results; it must be 1"]
