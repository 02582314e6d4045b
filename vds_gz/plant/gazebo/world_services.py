"""Gazebo's services without its Python bindings: the program ``gz`` asks them, one request after the other."""

from __future__ import annotations

import math
import shutil
import subprocess
from collections import deque

#: How long Gazebo may take to answer [ms].
PATIENCE = 3000


class WorldServices:
    """Requests to a world. None is waited for; :meth:`poll` sees to them.

    Attributes:
        fault: What went wrong last, in words; empty if nothing did.
    """

    def __init__(self, world: str) -> None:
        """Ask the world of this name; empty where it is not known, and then nothing can be asked."""
        self.fault = ""
        self._world = world
        self._waiting: deque[tuple[str, str, str]] = deque()
        self._asked = ""
        self._process: subprocess.Popen[str] | None = None

    def place(self, name: str, position: tuple[float, float, float], heading: float) -> None:
        """Put a model there [m, rad], level."""
        x, y, z = position
        half = heading / 2.0
        at = f"position: {{x: {x!r}, y: {y!r}, z: {z!r}}}"
        turn = f"orientation: {{z: {math.sin(half)!r}, w: {math.cos(half)!r}}}"
        self._ask("set_pose", "gz.msgs.Pose", f'name: "{name}", {at}, {turn}')

    def pause(self, paused: bool) -> None:
        """Let the world pause or go on."""
        self._ask("control", "gz.msgs.WorldControl", f"pause: {str(paused).lower()}")

    def _ask(self, service: str, kind: str, request: str) -> None:
        if not self._world:
            self.fault = f"gazebo.world is empty; name the world, so that its service '{service}' can be asked"
        elif shutil.which("gz") is None:
            self.fault = f"the program 'gz' is not in the PATH; without it service '{service}' cannot be asked"
        else:
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
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
