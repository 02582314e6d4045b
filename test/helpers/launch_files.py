"""What the launch files declare, where there may be no ROS: as a program it prints the arguments of each as JSON.

A launch file is run with stand-ins for the packages of ROS that it imports, in its own process, so that nothing
else meets them.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import subprocess
import sys
from typing import Any
from unittest.mock import MagicMock

from vds_gz.core.share import share


@functools.cache
def launch_arguments() -> dict[str, dict[str, dict[str, Any]]]:
    """Default, choices and description of every argument under Jazzy, by launch file and name."""
    environment = {**os.environ, "ROS_DISTRO": "jazzy"}
    done = subprocess.run([sys.executable, __file__], capture_output=True, text=True, check=True, env=environment)
    result: dict[str, dict[str, dict[str, Any]]] = json.loads(done.stdout)
    return result


def _declared() -> dict[str, dict[str, dict[str, Any]]]:
    current: dict[str, dict[str, Any]] = {}

    def declare(name: str, *, default_value: str, description: str, choices: list[str] | None = None) -> None:
        current[name] = {"default": default_value, "description": description, "choices": choices}

    ros = MagicMock()
    ros.DeclareLaunchArgument = declare
    for name in ("actions", "event_handlers", "launch_description_sources", "substitutions", "conditions"):
        sys.modules[f"launch.{name}"] = ros
    for name in ("launch", "launch_ros", "launch_ros.actions", "launch_ros.parameter_descriptions"):
        sys.modules[name] = ros
    result = {}
    for file in sorted(share("launch").glob("*.launch.py")):
        current = {}
        specification = importlib.util.spec_from_file_location("launch_file", file)
        assert specification is not None
        assert specification.loader is not None
        module = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(module)
        module.generate_launch_description()
        result[file.name] = current
    return result


if __name__ == "__main__":
    print(json.dumps(_declared()))
