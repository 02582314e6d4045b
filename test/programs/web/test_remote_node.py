"""What the page asks of a node, and odd responses."""

from __future__ import annotations

from typing import Any

from vds_gz.core.ros.messages.fields import DOUBLE
from vds_gz.programs.web.remote_node import RemoteNode

SERVICES = "rcl_interfaces/srv"


def test_a_refusal_without_a_reason_is_explained(probe):
    """Any program may offer services by the names of a vehicle's."""

    def list_one(request: Any, response: Any) -> None:
        response.result.names = ["mass"]

    def get_one(request: Any, response: Any) -> None:
        response.values = [probe.graph.message("rcl_interfaces/msg/ParameterValue")]
        response.values[0].type = DOUBLE

    def do_nothing(request: Any, response: Any) -> None:
        pass

    for name, kind, respond in (
        ("list_parameters", "ListParameters", list_one),
        ("describe_parameters", "DescribeParameters", do_nothing),
        ("get_parameters", "GetParameters", get_one),
        ("set_parameters_atomically", "SetParametersAtomically", do_nothing),
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
    assert outcomes == ["the node gives no reason"]


def test_lists_are_set_too(start, probe):
    start()
    node = RemoteNode(probe.graph, "/sim_node")

    def outcome(name: str, value: object) -> str:
        outcomes = list[str]()
        node.set_parameter(f"model_params.bicycle.drive_actuator.{name}", value, outcomes.append)
        probe.until(lambda: outcomes, "the outcome")
        return outcomes[0]

    def known() -> bool:
        node.tick()
        return bool(node.values)

    probe.until(known, "the parameters")
    assert "have 2 and 0 numbers" in outcome("map_references", (0.0, 1.0))
    assert outcome("map_responses", (0.0, 0.9)) == ""
    maps = "model_params.bicycle.drive_actuator.map_"
    probe.until(lambda: node.values[f"{maps}references"], "the new values")
    assert [node.values[f"{maps}{name}"] for name in ("references", "responses")] == [[0.0, 1.0], [0.0, 0.9]]
    assert "have 2 and 0 numbers" in outcome("map_responses", ())
    assert outcome("map_references", ()) == ""
