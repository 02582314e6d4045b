"""Requests to services of a world in Gazebo, as text, which the Python bindings and ``gz`` both accept."""

from __future__ import annotations

import os
import subprocess
from typing import NamedTuple

from vds_gz.core.geometry import Transform
from vds_gz.core.plant.base import LinkError

TIMEOUT = 3000  # time for Gazebo's response [ms]
PROGRAM_TIMEOUT = 10.0  # total time for the program ``gz`` [s]; it needs about 1 s to start


class Request(NamedTuple):
    """A request to a service of a world, whose response is a ``gz.msgs.Boolean``."""

    service: str  # name of the service in the world
    file: str  # name of the file that defines the message
    type: str  # type of the message in package ``gz.msgs``
    text: str  # the message in protobuf's text format


def set_pose(model: str, T_map_model: Transform) -> Request:
    """A request to place a model at a pose."""
    at = ", ".join(f"{axis}: {number!r}" for axis, number in zip("xyz", T_map_model.position, strict=True))
    turn = ", ".join(f"{part}: {number!r}" for part, number in zip("xyzw", T_map_model.orientation, strict=True))
    return Request("set_pose", "pose", "Pose", f'name: "{model}", position: {{{at}}}, orientation: {{{turn}}}')


def pause(paused: bool) -> Request:
    """A request to pause or resume the world."""
    return Request("control", "world_control", "WorldControl", f"pause: {str(paused).lower()}")


def service_name(world: str, request: Request) -> str:
    """The full name of a request's service."""
    return f"/world/{world}/{request.service}"


def call_by_program(partition: str, world: str, request: Request) -> None:
    """Send a request with the program ``gz``, and wait for the response."""
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
