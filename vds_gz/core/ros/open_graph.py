"""Selects the graph by what is installed, or by the environment."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping, Sequence

from vds_gz.core.errors import MAPPING, TEXT, ArgumentError, ArgumentKind, GraphError, takes
from vds_gz.core.ros.arguments import Arguments, parse
from vds_gz.core.ros.graph import Graph


@takes(
    arguments=ArgumentKind("a list of words, as sys.argv[1:]", (Arguments, list, tuple)),
    default_name=TEXT,
    environment=MAPPING,
)
def open_graph(
    arguments: Arguments | Sequence[str], default_name: str, environment: Mapping[str, str] = os.environ
) -> Graph:
    """A node on the graph: over rclpy where ROS is sourced, else over DDS.

    Only one of the two is loaded: each brings its own Cyclone DDS.

    Args:
        arguments: The command line without the program's name, or its parsed form.
        default_name: The node's name if the command line gives none.
        environment: ``VDS_GZ_GRAPH`` forces ``dds`` or ``rclpy``.

    Raises:
        ArgumentError: An argument or an environment variable is wrong.
        GraphError: The selected library is not installed, or the graph cannot be joined.
    """
    forced = environment.get("VDS_GZ_GRAPH", "")
    if forced not in ("", "dds", "rclpy"):
        raise ArgumentError(f"environment variable VDS_GZ_GRAPH is '{forced}'; it must be dds or rclpy, or not set")
    if not isinstance(arguments, Arguments):
        arguments = parse(arguments, default_name)
    if forced == "rclpy" or (not forced and _installed("rclpy")):
        if not _installed("rclpy"):
            raise GraphError("VDS_GZ_GRAPH is rclpy, but rclpy cannot be imported; source ROS 2's setup.bash")
        from vds_gz.core.ros.rclpy_.rclpy_graph import RclpyGraph

        return RclpyGraph(arguments, default_name)
    missing = [package for package in ("rosbags", "numpy") if not _installed(package)]
    if missing:
        raise GraphError(
            f"without rclpy, {' and '.join(missing)} must be installed: pip install '.[dds]' in a checkout, or source "
            "ROS 2's setup.bash"
        )
    from vds_gz.core.ros.dds.dds_graph import DdsGraph

    return DdsGraph(arguments, environment)


def _installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None
