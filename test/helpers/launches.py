"""What the tests of the launch files share: a launch file to be included, and ears on the graph."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

from vds_gz.core.share import share

PATIENCE = 40.0


@dataclass
class Exits:
    """The exit code of every process that a launch has started, by the process's name without its number."""

    codes: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    def on_exit(self, event: Any, context: Any) -> None:
        self.codes[event.process_name.rpartition("-")[0]].append(event.returncode)

    def assert_clean(self, *expected: str) -> None:
        """All these processes have ended, and every one well."""
        assert sorted(self.codes) == sorted(set(expected))
        assert all(code == 0 for codes in self.codes.values() for code in codes), dict(self.codes)


def launching(name: str, exits: Exits, **arguments: str) -> Any:
    """A description that includes a launch file of this package and keeps the exit codes."""
    from launch.actions import IncludeLaunchDescription, RegisterEventHandler
    from launch.event_handlers import OnProcessExit
    from launch.launch_description_sources import PythonLaunchDescriptionSource
    from launch_pytest.actions import ReadyToTest

    from launch import LaunchDescription

    file = str(share("launch", f"{name}.launch.py"))
    return LaunchDescription(
        [
            # First: a launch file that fails would keep a test waiting for ever.
            ReadyToTest(),
            RegisterEventHandler(OnProcessExit(on_exit=exits.on_exit)),
            IncludeLaunchDescription(PythonLaunchDescriptionSource(file), launch_arguments=arguments.items()),
        ]
    )


class Ears:
    """A node that listens, publishes and looks transforms up."""

    def __init__(self, domain: int, *, sim_time: bool = False, tf: str = "/tf") -> None:
        import rclpy
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.parameter import Parameter
        from tf2_ros.buffer import Buffer
        from tf2_ros.transform_listener import TransformListener

        self.context = rclpy.Context()
        remaps = ["-r", f"/tf:={tf}", "-r", f"/tf_static:={tf}_static"]
        rclpy.init(context=self.context, domain_id=domain, args=["--ros-args", *remaps])
        parameters = [Parameter("use_sim_time", value=sim_time)]
        self.node = rclpy.create_node("ears", context=self.context, parameter_overrides=parameters)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.buffer = Buffer(node=self.node)
        self._listener = TransformListener(self.buffer, self.node)
        self.received: dict[str, list[Any]] = defaultdict(list)

    def close(self) -> None:
        self.executor.shutdown()
        self.node.destroy_node()
        self.context.try_shutdown()

    def until(self, condition: Callable[[], Any], what: str, patience: float = PATIENCE) -> Any:
        """Serve the node until the condition holds and return what it gave."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            result = condition()
            if result:
                return result
            self.executor.spin_once(timeout_sec=0.05)
        raise AssertionError(f"{what} did not come about within {patience} s")

    def hear(self, kind: type, topic: str, *, latched: bool = False) -> Any:
        """The next message of a topic."""
        from rclpy.qos import DurabilityPolicy, QoSProfile

        if topic not in self.received:
            durability = DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE
            qos = QoSProfile(depth=10, durability=durability)
            self.node.create_subscription(kind, topic, self.received[topic].append, qos)
        seen = len(self.received[topic])
        self.until(lambda: len(self.received[topic]) > seen, f"a message on {topic}")
        return self.received[topic][-1]

    def say(self, message: Any, topic: str, condition: Callable[[], Any], what: str) -> None:
        """Publish a message ten times a second until the condition holds."""
        publisher = self.node.create_publisher(type(message), topic, 10)
        timer = self.node.create_timer(0.1, lambda: publisher.publish(message))
        self.until(condition, what)
        self.node.destroy_timer(timer)

    def transform(self, parent: str, child: str) -> Any:
        """The newest transform between two frames, as soon as it is known."""
        from rclpy.time import Time

        self.until(lambda: self.buffer.can_transform(parent, child, Time()), f"the transform {parent} -> {child}")
        return self.buffer.lookup_transform(parent, child, Time()).transform

    def topics(self) -> dict[str, list[str]]:
        return dict(self.node.get_topic_names_and_types())


def links(description: str) -> list[str]:
    """The links of a robot description."""
    return [link.attrib["name"] for link in ElementTree.fromstring(description).iter("link")]
