"""The graph over rclpy: leaving during requests, errors of callbacks, empty lists, malformed requests and messages."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from helpers.processes import need_messages

pytestmark = pytest.mark.ros

#: Leaves while it executes another node's goal, which never ends.
ACTION = """
import threading
import rclpy
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from simulation_interfaces.action import SimulateSteps
from vds_gz.core.ros.open_graph import open_graph

graph = open_graph([], "leaving")
portions = []

def execute(goal, feedback, result):
    while True:
        portions.append(goal.steps)
        yield

graph.action("~/look", "simulation_interfaces/action/SimulateSteps", execute)
context = rclpy.Context()
rclpy.init(context=context)
node = rclpy.create_node("asking", context=context)
executor = SingleThreadedExecutor(context=context)
executor.add_node(node)

def ask():
    client = ActionClient(node, SimulateSteps, "/leaving/look")
    assert client.wait_for_server(20.0)
    executor.spin_until_future_complete(client.send_goal_async(SimulateSteps.Goal()), timeout_sec=20.0)

threading.Thread(target=ask, daemon=True).start()
while len(portions) < 100:
    graph.wait(0.02)
graph.close()
print("left")
"""


#: A service whose callback has a bug, called by another node.
SERVICE = """
import threading
import rclpy
from rclpy.executors import SingleThreadedExecutor
from std_srvs.srv import Trigger
from vds_gz.core.ros.open_graph import open_graph

graph = open_graph([], "failing")

def fail(request, response):
    raise KeyError("a bug")

graph.service("~/fail", "std_srvs/srv/Trigger", fail)
context = rclpy.Context()
rclpy.init(context=context)
node = rclpy.create_node("asking", context=context)
executor = SingleThreadedExecutor(context=context)
executor.add_node(node)

def ask():
    client = node.create_client(Trigger, "/failing/fail")
    assert client.wait_for_service(20.0)
    executor.spin_until_future_complete(client.call_async(Trigger.Request()), timeout_sec=20.0)

threading.Thread(target=ask, daemon=True).start()
try:
    for _ in range(1000):
        graph.wait(0.02)
except KeyError as error:
    print("raised", error)
graph.close()
print("left")
"""


#: A list that is empty at the start. Another node sets it to two numbers, and then to none.
LIST = """
import threading
import rclpy
from rcl_interfaces.srv import GetParameters, SetParameters
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from vds_gz.core.parameters.declaration import Description
from vds_gz.core.ros.open_graph import open_graph

graph = open_graph([], "listing")
changes = []
points = Description("points", "double_array", (), most=8, read_only=False)
graph.declare_parameters([points], lambda values: changes.append(values["points"]))
context = rclpy.Context()
rclpy.init(context=context)
node = rclpy.create_node("asking", context=context)
executor = SingleThreadedExecutor(context=context)
executor.add_node(node)

def ask(kind, service, **fields):
    client = node.create_client(kind, f"/listing/{service}")
    assert client.wait_for_service(20.0)
    response = client.call_async(kind.Request(**fields))
    executor.spin_until_future_complete(response, timeout_sec=20.0)
    return response.result()

def work():
    for values in ([0.5, 1.0], []):
        wanted = Parameter("points", Parameter.Type.DOUBLE_ARRAY, values).to_parameter_msg()
        (result,) = ask(SetParameters, "set_parameters", parameters=[wanted]).results
        (value,) = ask(GetParameters, "get_parameters", names=["points"]).values
        print(result.successful, result.reason, value.type, list(value.double_array_value))

thread = threading.Thread(target=work, daemon=True)
thread.start()
while thread.is_alive():
    graph.wait(0.02)
print(changes)
graph.close()
"""


#: A request with an unknown type of parameter, before a valid one.
REQUESTS = (
    LIST[: LIST.index("def work")]
    + """
def work():
    client = node.create_client(SetParameters, "/listing/set_parameters")
    assert client.wait_for_service(20.0)
    wanted = Parameter("points", Parameter.Type.DOUBLE_ARRAY, [0.5]).to_parameter_msg()
    wanted.value.type = 127
    client.call_async(SetParameters.Request(parameters=[wanted]))
    print(ask(GetParameters, "get_parameters", names=["points"]).values[0].type)
"""
    + LIST[LIST.index("\nthread") :]
)


#: A callback of raw messages that finds them malformed.
RAW = """
from vds_gz.core.errors import MalformedMessageError
from vds_gz.core.ros.open_graph import open_graph
from vds_gz.core.ros.graph import QoS

graph = open_graph([], "reading")

def refuse(data, arrival):
    raise MalformedMessageError("no words")

graph.subscribe("words", "std_msgs/msg/String", QoS(), refuse, raw=True)
publisher = graph.publisher("words", "std_msgs/msg/String", QoS())
while graph.malformed < 2:
    publisher.publish(graph.message("std_msgs/msg/String"))
    graph.wait(0.02)
graph.close()
print("left")
"""


def output(code):
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "VDS_GZ_GRAPH": "rclpy", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.stdout or done.stderr


@need_messages("simulation_interfaces")
def test_it_leaves_while_an_action_runs(domain):
    assert output(ACTION) == "left\n"


def test_an_error_of_a_callback_is_raised_in_wait(domain):
    assert output(SERVICE) == "raised 'a bug'\nleft\n"


def test_raw_messages_that_the_callback_finds_malformed_are_counted(domain):
    assert output(RAW) == "left\n"


def test_an_empty_list_can_be_filled_and_emptied_again():
    assert output(LIST).splitlines() == ["True  8 [0.5, 1.0]", "True  8 []", "[(0.5, 1.0), ()]"]


def test_services_outlive_a_malformed_request(domain):
    assert output(REQUESTS).splitlines() == ["8", "[]"]
