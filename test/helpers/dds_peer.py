"""Other processes for the tests, one role each: ``python peer.py ROLE ARGUMENT ...``. They end with Ctrl-C."""

import contextlib
import itertools
import os
import sys
import time

from vds_gz.core.parameters.declaration import LARGEST_INTEGER, Description, ParameterError
from vds_gz.core.ros.arguments import parse
from vds_gz.core.ros.dds.cyclone_library import CycloneLibrary
from vds_gz.core.ros.dds.dds_graph import DdsGraph
from vds_gz.core.ros.dds.domain import Context, discovery, interfaces, join
from vds_gz.core.ros.dds.endpoints import EndpointProperties, Writer
from vds_gz.core.ros.graph import QoS, Severity
from vds_gz.core.ros.messages.portable import MessageTypes

DESCRIPTIONS = (
    Description("use_sim_time", "bool", False, doc="Follow /clock.", read_only=False),
    Description("rate", "double", 50.0, "Hz", "Publications a second.", minimum=1.0, maximum=100.0, read_only=False),
    Description("gain", "double", 1.0, "", "Any gain.", minimum=1e-6, read_only=False),
    Description("steps", "integer", 20, "", "Steps between.", minimum=1, maximum=LARGEST_INTEGER, read_only=False),
    Description("plant.kind", "string", "kinematic", choices=("kinematic", "gazebo"), read_only=False),
    Description("plant.mass", "double", 900.0, "kg", "Fixed while the node runs.", minimum=1e-6),
)


def node(*arguments: str) -> None:
    """A node that echoes Twists, speaks, has a service and parameters. Ctrl-C may come as soon as it is seen."""
    with contextlib.suppress(KeyboardInterrupt), contextlib.closing(DdsGraph(parse(arguments, "peer"))) as graph:
        echo = graph.publisher("echo", "geometry_msgs/msg/Twist", QoS())
        chatter = graph.publisher("chatter", "std_msgs/msg/String", QoS())
        map_ = graph.publisher("map_name", "std_msgs/msg/String", QoS(1, transient_local=True))
        graph.subscribe("command", "geometry_msgs/msg/Twist", QoS(), lambda message, _: echo.publish(message))

        def reset(_request, response) -> None:
            response.success, response.message = True, f"reset {graph.name}"

        def change(values) -> None:
            if values.get("gain", 0.0) > 10.0 and values.get("rate", 0.0) > 10.0:
                raise ParameterError("a gain above 10 needs a rate of at most 10")
            graph.log(Severity.INFO, f"change {dict(values)}")

        graph.service("~/reset", "std_srvs/srv/Trigger", reset)
        graph.declare_parameters(DESCRIPTIONS, change)
        message = graph.message("std_msgs/msg/String")
        message.data = "the map"
        map_.publish(message)
        for count in itertools.count():
            graph.wait(0.02)
            message.data = str(count)
            chatter.publish(message)


def farewell(*arguments: str) -> None:
    """A node that says ten things as soon as anybody listens, and leaves at once."""
    graph = DdsGraph(parse(arguments, "farewell"))
    words = graph.publisher("words", "std_msgs/msg/String", QoS(20))
    message = graph.message("std_msgs/msg/String")
    while not words.subscription_count():
        graph.wait(0.01)
    for number in range(10):
        message.data = f"{number} " + 10_000 * "x"
        words.publish(message)
    graph.close()


def raw(topic: str, type_name: str, *payloads: str) -> None:
    """A writer that sends these bytes, given in hexadecimal, again and again, whatever the type says."""
    library = CycloneLibrary()
    context = Context(library, join(library, discovery(os.environ, interfaces())), MessageTypes(), print)
    writer = Writer(context, EndpointProperties(topic, type_name, QoS(), {}))
    with contextlib.suppress(KeyboardInterrupt):
        while True:
            for payload in payloads:
                writer.write(bytearray.fromhex(payload))
            time.sleep(0.02)


def cost() -> None:
    """What a node of the usual size costs until it is there: seconds of processor time, and megabytes."""
    import resource

    graph = DdsGraph(parse([], "cost"))
    for number, type_name in enumerate(
        ["nav_msgs/msg/Odometry", "sensor_msgs/msg/JointState", "tf2_msgs/msg/TFMessage", "sensor_msgs/msg/Imu"] * 3
    ):
        publisher = graph.publisher(f"out_{number}", type_name, QoS())
        publisher.publish(graph.message(type_name))
    for number, type_name in enumerate(["geometry_msgs/msg/Twist", "ackermann_msgs/msg/AckermannDriveStamped"] * 4):
        graph.subscribe(f"in_{number}", type_name, QoS(), lambda message, arrival: None)
    graph.declare_parameters(DESCRIPTIONS, lambda values: None)
    print(time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    graph.close()


if __name__ == "__main__":
    {"node": node, "farewell": farewell, "raw": raw, "cost": cost}[sys.argv[1]](*sys.argv[2:])
