"""Requests to the services of a world in Gazebo: messages as text, which Python's bindings and ``gz`` both take."""

from __future__ import annotations

import os
import subprocess
from typing import NamedTuple

from vds_gz.geometry.so3 import Quaternion, Vector
from vds_gz.plant.base import LinkError

#: How long Gazebo may take to respond [ms].
TIMEOUT = 3000

#: How long the program ``gz`` may take in all [s]; it needs about one to start.
PROGRAM_TIMEOUT = 10.0


class Request(NamedTuple):
    """A request to a service of a world, whose response is a ``gz.msgs.Boolean``.

    Attributes:
        service: The service's name in the world.
        file: Name of the definition that its message is in.
        type: Name of the message in package ``gz.msgs``.
        text: The message in protobuf's text format.
    """

    service: str
    file: str
    type: str
    text: str


def set_pose(model: str, position: Vector, orientation: Quaternion) -> Request:
    """Put a model there [m]."""
    at = ", ".join(f"{axis}: {number!r}" for axis, number in zip("xyz", position, strict=True))
    turn = ", ".join(f"{part}: {number!r}" for part, number in zip("xyzw", orientation, strict=True))
    return Request("set_pose", "pose", "Pose", f'name: "{model}", position: {{{at}}}, orientation: {{{turn}}}')


def pause(paused: bool) -> Request:
    """Let the world pause or go on."""
    return Request("control", "world_control", "WorldControl", f"pause: {str(paused).lower()}")


def service_name(world: str, request: Request) -> str:
    """The full name of the service that a request goes to."""
    return f"/world/{world}/{request.service}"


def call_by_program(partition: str, world: str, request: Request) -> None:
    """Send a request with the program ``gz``, and wait for the response.

    Args:
        partition: Gazebo's partition; empty for that of the environment.
        world: The world's name.
        request: What to request.

    Raises:
        LinkError: There was no response, or the request was refused.
    """
    name = service_name(world, request)
    command = ["gz", "service", "-s", name, "--reqtype", f"gz.msgs.{request.type}", "--reptype", "gz.msgs.Boolean"]
    command += ["--timeout", str(TIMEOUT), "--req", request.text]
    environment = dict(os.environ) | ({"GZ_PARTITION": partition} if partition else {})
    try:
        done = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            timeout=PROGRAM_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LinkError(f"service '{name}' of Gazebo cannot be called: {error}") from None
    if "data: true" not in done.stdout:
        raise LinkError(f"service '{name}' of Gazebo refused the request or did not respond")
