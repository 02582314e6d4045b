"""One graph or the other: rclpy where ROS 2 is installed, else DDS by itself."""

from __future__ import annotations

import importlib.util
import os

from vds_gz.ros.arguments import Arguments
from vds_gz.ros.errors import ArgumentError, GraphError
from vds_gz.ros.graph import Graph

#: Environment variable that chooses the library.
CHOICE = "VDS_GZ_GRAPH"


def open_graph(arguments: Arguments, default_name: str) -> Graph:
    """Join the graph.

    The two libraries each bring a DDS of their own, and only one of them is ever loaded into a process.

    Args:
        arguments: The command line.
        default_name: The node's name where the command line gives none.

    Raises:
        ArgumentError: The environment asks for something that does not exist.
        GraphError: There is neither library, or the graph cannot be joined.
    """
    choice = os.environ.get(CHOICE, "")
    if choice not in ("", "rclpy", "dds"):
        raise ArgumentError(f"environment variable {CHOICE} is '{choice}'; it must be 'rclpy' or 'dds'")
    if choice == "rclpy" or (not choice and importlib.util.find_spec("rclpy") is not None):
        from vds_gz.ros.rclpy_graph import RclpyGraph

        return RclpyGraph(arguments, default_name)
    if importlib.util.find_spec("cyclonedds") is None or importlib.util.find_spec("rosbags") is None:
        raise GraphError(
            "neither rclpy nor cyclonedds and rosbags can be imported; "
            "source your ROS 2 installation, or: pip install 'vds_gz[dds]'"
        )
    from vds_gz.ros.dds import DdsGraph

    return DdsGraph(arguments, default_name)
