from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from helpers.dds import Client, until
from helpers.dds_peer import DESCRIPTIONS
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.parameters.declaration import Description, ParameterError
from vds_gz.core.ros.dds.services import Parameters
from vds_gz.core.ros.graph import QoS
from vds_gz.core.ros.messages.portable import MessageTypes

NAMES = ["use_sim_time", "rate", "gain", "steps", "plant.kind", "plant.mass"]
EVENT = "rcl_interfaces/msg/ParameterEvent"
FIELDS = {bool: (1, "bool_value"), int: (2, "integer_value"), float: (3, "double_value"), str: (4, "string_value")}


class Tool:
    """What ``ros2 param`` does."""

    def __init__(self, graph: Any) -> None:
        self.graph = graph
        self._clients: dict[str, Client] = {}

    def ask(self, service: str, **fields: Any) -> Any:
        kind = "".join(part.capitalize() for part in service.split("_"))
        client = self._clients.setdefault(service, Client(self.graph, f"/peer/{service}", f"rcl_interfaces/srv/{kind}"))
        request = client.new_request()
        for name, value in fields.items():
            setattr(request, name, value)
        return client.call(request)

    def parameter(self, name: str, value: Any) -> Any:
        parameter = self.graph.message("rcl_interfaces/msg/Parameter")
        parameter.name = name
        if value is not None:
            parameter.value.type, field = FIELDS[type(value)]
            setattr(parameter.value, field, value)
        return parameter

    def set(self, **values: Any) -> list[tuple[bool, str]]:
        parameters = [self.parameter(name.replace("__", "."), value) for name, value in values.items()]
        results = self.ask("set_parameters", parameters=parameters).results
        return [(result.successful, result.reason) for result in results]

    def get(self, *names: str) -> list[Any]:
        values = self.ask("get_parameters", names=list(names)).values
        fields = dict(FIELDS.values())
        return [getattr(value, fields[value.type]) if value.type else None for value in values]


@pytest.fixture
def tool(start: Callable[..., Any], join: Callable[..., Any]) -> Tool:
    start("node")
    return Tool(join())


def test_parameters_can_be_listed_and_read(tool: Tool) -> None:
    result = tool.ask("list_parameters").result
    assert (result.names, result.prefixes) == (NAMES, ["plant"])
    assert tool.ask("list_parameters", prefixes=["plant"], depth=1).result.names == ["plant.kind", "plant.mass"]
    assert tool.ask("list_parameters", depth=1).result.names == NAMES[:4]
    assert tool.get(*NAMES, "nothing") == [False, 50.0, 1.0, 20, "kinematic", 900.0, None]
    assert list(tool.ask("get_parameter_types", names=[*NAMES, "nothing"]).types) == [1, 3, 3, 2, 4, 3, 0]


def test_parameters_describe_themselves(tool: Tool) -> None:
    result = {d.name: d for d in tool.ask("describe_parameters", names=[*NAMES, "nothing"]).descriptors}
    rate, gain, steps, kind = result["rate"], result["gain"], result["steps"], result["plant.kind"]
    assert (rate.type, rate.description, rate.read_only) == (3, "Publications a second. [Hz]", False)
    assert (rate.floating_point_range[0].from_value, rate.floating_point_range[0].to_value) == (1.0, 100.0)
    assert (gain.floating_point_range[0].from_value, gain.additional_constraints) == (1e-6, "")
    assert (steps.integer_range[0].from_value, steps.integer_range[0].to_value) == (1, 2**63 - 1)
    assert kind.additional_constraints == "one of kinematic, gazebo"
    assert result["plant.mass"].read_only
    assert result["use_sim_time"].floating_point_range == []
    assert result["nothing"].type == 0


def test_parameters_can_be_set_one_by_one(tool: Tool) -> None:
    assert tool.set(rate=20.0, gain=2, steps=5, plant__kind="gazebo", use_sim_time=True) == 5 * [(True, "")]
    assert tool.get(*NAMES) == [True, 20.0, 2.0, 5, "gazebo", 900.0]


def test_wrong_values_are_refused_with_a_reason(tool: Tool) -> None:
    results = tool.set(
        rate=0.5, gain=float("nan"), steps=2.5, plant__kind="moon", plant__mass=1.0, nothing=1, use_sim_time=None
    )
    assert [successful for successful, _ in results] == 7 * [False]
    for (_, reason), part in zip(
        results,
        (
            "at least 1, at most 100 [Hz]",
            "finite",
            "must be a whole number",
            "one of kinematic, gazebo",
            "read-only",
            "not declared",
            "cannot be deleted",
        ),
        strict=True,
    ):
        assert part in reason
    assert tool.get(*NAMES) == [False, 50.0, 1.0, 20, "kinematic", 900.0]


def test_the_node_may_refuse_valid_values_that_do_not_fit_together(tool: Tool) -> None:
    refused = (False, "a gain above 10 needs a rate of at most 10")
    assert tool.set(gain=20.0) == [(True, "")]
    assert tool.set(gain=20.0, rate=50.0) == 2 * [(True, "")]
    both = [tool.parameter("gain", 20.0), tool.parameter("rate", 50.0)]
    result = tool.ask("set_parameters_atomically", parameters=both).result
    assert (result.successful, result.reason) == refused
    both[1].value.double_value = 5.0
    assert tool.ask("set_parameters_atomically", parameters=both).result.successful
    assert tool.get("gain", "rate") == [20.0, 5.0]


def test_changes_are_published(tool: Tool) -> None:
    events: list[Any] = []
    subscription = tool.graph.subscribe("/parameter_events", EVENT, QoS(100), lambda event, _: events.append(event))
    until(subscription.publisher_count, tool.graph)
    tool.set(rate=20.0, plant__mass=5.0)
    # The event of their declaration may arrive after the request to change them.
    event = until(lambda: next((event for event in events if event.changed_parameters), None), tool.graph)
    assert event.node == "/peer"
    assert event.stamp.sec > 0
    assert [(p.name, p.value.double_value) for p in event.changed_parameters] == [("rate", 20.0)]


# The same without a graph


def make(changes: list[Any]) -> tuple[Parameters, list[Any]]:
    events: list[Any] = []

    def change(values: Any) -> None:
        changes.append(dict(values))

    return Parameters(MessageTypes(), DESCRIPTIONS, change, events.append), events


def test_declaration_is_one_event_with_all() -> None:
    parameters, _ = make([])
    assert [p.name for p in parameters.declared().new_parameters] == NAMES


def test_several_are_changed_together_or_not_at_all() -> None:
    changes: list[Any] = []
    parameters, events = make(changes)
    with pytest.raises(ParameterError, match="steps"):
        parameters.set({"rate": 10.0, "steps": 0})
    assert (changes, events) == ([], [])
    parameters.set({"rate": 10, "steps": 3})
    assert changes == [{"rate": 10.0, "steps": 3}]
    assert [p.name for p in events[0].changed_parameters] == ["rate", "steps"]


@given(
    st.sampled_from(NAMES),
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=9), st.lists(st.integers(), max_size=2)
    ),
)
def test_no_value_is_set_that_its_description_forbids(name: str, value: Any) -> None:
    description: Description = next(d for d in DESCRIPTIONS if d.name == name)
    changes: list[Any] = []
    parameters, _ = make(changes)
    with suppress(ParameterError):
        parameters.set({name: value})
    assert all(description.check(change[name]) == change[name] for change in changes)
