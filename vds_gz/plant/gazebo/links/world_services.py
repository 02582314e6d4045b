"""Gazebo's services without its Python bindings: the program ``gz`` asks them, one request after the other."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import deque

from vds_gz.geometry.so3 import Quaternion, Vector
from vds_gz.plant.gazebo.links.base import LinkError

#: How long Gazebo may take to answer [ms].
PATIENCE = 3000


class WorldServices:
    """Requests to a world. None is waited for; :meth:`poll` sees to them.

    Attributes:
        fault: What went wrong last, in words; empty if nothing did.
    """

    def __init__(self, world: str, partition: str) -> None:
        """Nothing is asked yet.

        Args:
            world: The world's name; empty where it is not known, and then nothing can be asked.
            partition: Gazebo's partition; empty for that of the environment.
        """
        self.fault = ""
        self._world = world
        self._environment = dict(os.environ) | ({"GZ_PARTITION": partition} if partition else {})
        self._waiting: deque[tuple[str, str, str]] = deque()
        self._asked = ""
        self._process: subprocess.Popen[str] | None = None

    def set_pose(self, name: str, position: Vector, orientation: Quaternion) -> None:
        """Put a model there [m].

        Raises:
            LinkError: The world cannot be asked.
        """
        at = ", ".join(f"{axis}: {number!r}" for axis, number in zip("xyz", position, strict=True))
        turn = ", ".join(f"{part}: {number!r}" for part, number in zip("xyzw", orientation, strict=True))
        request = f'name: "{name}", position: {{{at}}}, orientation: {{{turn}}}'
        self._ask("set_pose", "gz.msgs.Pose", request)

    def pause(self, paused: bool) -> None:
        """Let the world pause or go on.

        Raises:
            LinkError: The world cannot be asked.
        """
        self._ask("control", "gz.msgs.WorldControl", f"pause: {str(paused).lower()}")

    def _ask(self, service: str, kind: str, request: str) -> None:
        if not self._world:
            raise LinkError(
                f"parameter 'gazebo.world' is empty; it must name the world, whose service '{service}' is to be asked"
            )
        if shutil.which("gz") is None:
            raise LinkError(
                f"the program 'gz' is not in the PATH; it must be, to ask the service '{service}' of the world"
            )
        self._waiting.append((f"/world/{self._world}/{service}", kind, request))

    def poll(self) -> None:
        """See whether an answer has come, and ask what is next."""
        if self._process is not None:
            if self._process.poll() is None:
                return
            answer = self._process.communicate()[0]
            good = "data: true" in answer
            self.fault = "" if good else f"service '{self._asked}' of Gazebo refused or did not answer"
            self._process = None
        if self._waiting:
            self._asked, kind, request = self._waiting.popleft()
            command = ["gz", "service", "-s", self._asked, "--reqtype", kind, "--reptype", "gz.msgs.Boolean"]
            command += ["--timeout", str(PATIENCE), "--req", request]
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=self._environment)
