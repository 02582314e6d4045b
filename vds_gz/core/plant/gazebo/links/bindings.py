"""Differences of Gazebo's releases, and the Python bindings of the newest one that is installed.

Transport and messages must be of one release; otherwise messages are registered twice or not understood.
"""

from __future__ import annotations

import importlib
import subprocess
from typing import Any, NamedTuple, TypeAlias

from vds_gz.core.plant.base import LinkError
from vds_gz.core.plant.gazebo.links.world_services import TIMEOUT, Request, service_name

#: Objects of Gazebo's bindings, which have no types.
GzMessage: TypeAlias = Any
EntityComponentManager: TypeAlias = Any
UpdateInfo: TypeAlias = Any


class Release(NamedTuple):
    """One Gazebo release."""

    name: str
    version: int  # major version of gz-sim
    transport: str  # Python package of gz-transport
    messages: str  # Python package of gz-msgs
    sim: str  # Python package of gz-sim
    math: str  # Python package of gz-math
    sdformat: str  # Python module of sdformat
    options: tuple[str, ...] = ()  # see :func:`server_options`


#: The newest first.
RELEASES = (
    Release("Jetty", 10, "gz.transport", "gz.msgs", "gz.sim", "gz.math", "sdformat", ("--wait-for-assets",)),
    Release("Ionic", 9, "gz.transport14", "gz.msgs11", "gz.sim9", "gz.math8", "sdformat15"),
    Release("Harmonic", 8, "gz.transport13", "gz.msgs10", "gz.sim8", "gz.math7", "sdformat14"),
)


def server_options(program: str) -> tuple[str, ...]:
    """Options of ``gz sim`` with which every model of a world exists in the first step.

    Otherwise Jetty adds the models in the background, while time advances.
    """
    versions = subprocess.run([program, "sim", "--versions"], capture_output=True, text=True, check=False).stdout
    majors = [line.partition(".")[0].strip() for line in versions.splitlines()]
    newest = max((int(major) for major in majors if major.isdecimal()), default=0)  # the one that gz starts
    return next((release.options for release in RELEASES if newest >= release.version), ())


def transport() -> Any:
    """The transport module of the newest release that is installed; raises ModuleNotFoundError without one."""
    return importlib.import_module(_newest("{0.transport}", "{0.messages}.clock_pb2").transport)


def message(file: str, name: str) -> Any:
    """A message class of the same release, e.g. ``message("clock", "Clock")``."""
    release = _newest("{0.transport}", "{0.messages}.clock_pb2")
    return getattr(importlib.import_module(f"{release.messages}.{file}_pb2"), name)


def sim() -> Any:
    """The module for access to the world inside a server."""
    return importlib.import_module(_newest("{0.math}", "{0.sim}").sim)


def math() -> Any:
    """The module of poses and vectors of the same release as :func:`sim`."""
    return importlib.import_module(_newest("{0.math}", "{0.sim}").math)


def _newest(*modules: str) -> Release:
    """The newest release of which these modules are installed."""
    for release in RELEASES:
        try:
            for module in modules:
                importlib.import_module(module.format(release))
        except ModuleNotFoundError:
            continue
        return release
    raise ModuleNotFoundError("Gazebo's Python bindings (gz.transport, gz.sim) are not installed", name="gz")


def node(partition: str = "") -> Any:
    """A node of gz-transport in a partition; an empty name is that of the environment."""
    module = transport()
    options = module.NodeOptions()
    if partition:
        options.partition = partition
    return module.Node(options)


def call(node: Any, world: str, request: Request) -> None:
    """Send a request to a service of a world, and wait for the response."""
    from google.protobuf import text_format  # a dependency of Gazebo's bindings

    name = service_name(world, request)
    kind = message(request.file, request.type)
    parsed = text_format.Parse(request.text, kind())
    responded, response = node.request(name, parsed, kind, message("boolean", "Boolean"), TIMEOUT)
    if not responded:
        raise LinkError(f"service '{name}' of Gazebo did not respond within {TIMEOUT / 1000:g} s")
    if not response.data:
        raise LinkError(f"service '{name}' of Gazebo refused the request")


def bindings_fault() -> str:
    """The reason why gz-transport cannot be used; empty if it can."""
    return _fault("gz-transport", "{0.transport}", "{0.messages}.clock_pb2")


def system_fault() -> str:
    """The reason why a Python system cannot run inside Gazebo; empty if it can."""
    return _fault("gz-sim, gz-math or sdformat", "{0.math}", "{0.sim}", "{0.sdformat}")


def _fault(libraries: str, *modules: str) -> str:
    """The reason why no release has all of these modules; empty if one has."""
    try:
        _newest(*modules)
    except ModuleNotFoundError:
        return f"the Python bindings of {libraries} are not installed"
    except Exception as error:  # another version of protobuf, or missing libraries
        return f"the Python bindings of {libraries} cannot be used ({error})"
    return ""
