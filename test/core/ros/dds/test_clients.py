"""Clients of services over plain DDS, and services of such a node."""

from __future__ import annotations

from typing import Any

import pytest
from helpers.dds import until

from vds_gz.core.ros.dds.endpoints import EndpointProperties, Reader, Writer
from vds_gz.core.ros.graph import QoS

SET_BOOL = "std_srvs/srv/SetBool"


@pytest.fixture
def echo(join):
    """A node that answers with what it was asked."""
    node = join(name="echo")

    def answer(request: Any, response: Any) -> None:
        response.success, response.message = request.data, f"asked {request.data}"

    node.service("echo", SET_BOOL, answer)
    return node


def ask(client: Any, data: bool, answers: list[Any]) -> None:
    request = client.request()
    request.data = data
    client.call(request, answers.append)


def test_a_service_answers_inside_wait(join, echo):
    asking = join(name="asking")
    client = asking.client("echo", SET_BOOL)
    assert client.name == "/echo"
    until(client.ready, asking, echo)
    answers: list[Any] = []
    for data in (True, False, True):
        ask(client, data, answers)
    until(lambda: len(answers) == 3, asking, echo)
    assert [(answer.success, answer.message) for answer in answers] == [
        (True, "asked True"),
        (False, "asked False"),
        (True, "asked True"),
    ]


def test_two_clients_of_one_service_hear_their_own_answers_only(join, echo):
    asking = join(name="asking")
    first, second = asking.client("echo", SET_BOOL), asking.client("echo", SET_BOOL)
    until(lambda: first.ready() and second.ready(), asking, echo)
    first_answers: list[Any] = []
    second_answers: list[Any] = []
    for _ in range(5):
        ask(first, True, first_answers)
        ask(second, False, second_answers)
    until(lambda: len(first_answers) == len(second_answers) == 5, asking, echo)
    assert {answer.success for answer in first_answers} == {True}
    assert {answer.success for answer in second_answers} == {False}


def test_a_client_is_ready_only_while_the_service_is_offered(join):
    asking = join(name="asking")
    client = asking.client("/late", SET_BOOL)
    asking.wait(0.2)
    assert not client.ready()
    serving = join(name="late")
    serving.service("/late", SET_BOOL, lambda request, response: None)
    until(client.ready, asking, serving)
    serving.close()
    until(lambda: not client.ready(), asking)


def test_a_malformed_response_is_counted_and_the_next_one_is_received(join):
    asking, forger = join(name="asking"), join(name="forger")
    client = asking.client("/forged", SET_BOOL)
    requests: list[bytes] = []
    reader = Reader(forger.context, EndpointProperties("rq/forgedRequest", f"{SET_BOOL}_Request", QoS(), {}))
    writer = Writer(forger.context, EndpointProperties("rr/forgedReply", f"{SET_BOOL}_Response", QoS(), {}))
    until(lambda: client.ready() and reader.matched() and writer.matched(), asking)
    answers: list[Any] = []
    ask(client, True, answers)
    ask(client, True, answers)
    until(lambda: requests.extend(bytes(data) for data, _ in reader.take()) or len(requests) == 2)
    response = forger.message(f"{SET_BOOL}_Response")
    response.message = "true"
    codec = forger.context.types.codec(f"{SET_BOOL}_Response")
    writer.write(bytearray(codec.encode(response, requests[0][4:20])[:24]))
    writer.write(codec.encode(response, bytes(16)))  # for another client
    writer.write(codec.encode(response, requests[1][4:20]))
    until(lambda: answers, asking)
    assert [answer.message for answer in answers] == ["true"]
    assert client.malformed == 1
