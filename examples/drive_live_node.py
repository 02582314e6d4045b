"""Drive a live node over the ROS 2 graph from Python: send commands until the odometry shows 2 m.

    python examples/drive_live_node.py

It uses rclpy if ROS 2 is sourced, else DDS; every other ROS 2 node sees both nodes.
"""

from __future__ import annotations

import math
import subprocess
import sys
import time

import vds_gz

DISTANCE = 2.0  # [m]
PATIENCE = 30.0  # [s]
TOPICS = {"twist_reference": "geometry_msgs/msg/Twist", "odom": "nav_msgs/msg/Odometry"}


def drive(graph: vds_gz.Graph) -> float:
    """Command 0.5 m/s until the odometry shows the distance; return the time taken [s]."""
    gone = 0.0

    def on_odometry(message: object, arrival: int) -> None:
        nonlocal gone
        position = message.pose.pose.position  # type: ignore[attr-defined]
        gone = math.hypot(position.x, position.y)

    graph.subscribe("odom", TOPICS["odom"], vds_gz.QoS(depth=10), on_odometry)
    publisher = graph.publisher("twist_reference", TOPICS["twist_reference"], vds_gz.QoS(depth=10))
    command = graph.message(TOPICS["twist_reference"])
    command.linear.x = 0.5
    begin = time.monotonic()
    while gone < DISTANCE:
        if time.monotonic() - begin > PATIENCE:
            raise TimeoutError(f"{gone:.2f} m of {DISTANCE:g} m after {PATIENCE:g} s")
        publisher.publish(command)
        graph.wait(0.05)
    return time.monotonic() - begin


def main() -> None:
    """Start a node, drive it, stop it."""
    node = subprocess.Popen([sys.executable, "-m", "vds_gz.cli", "node", "--ros-args", "-p", "model:=differential"])
    try:
        graph = vds_gz.open_graph([], "driver")
        try:
            print(f"{DISTANCE:g} m at 0.5 m/s took {drive(graph):.1f} s")
        finally:
            graph.close()
    finally:
        node.terminate()
        node.wait()


if __name__ == "__main__":
    main()
