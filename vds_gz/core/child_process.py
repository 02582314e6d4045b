"""Programs that this program starts, and that end with it, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO

#: Time for a process to end after a signal [s].
GOODBYE = 5.0

#: Time between two looks at whether processes have ended [s].
POLLED = 0.02

#: Waits for the end of its input. Then the program that started it has died, so the process group is ended.
_GUARD = 'read -r done || { kill -s INT -- "-$0"; sleep "$1"; kill -s KILL -- "-$0"; } 2> /dev/null'


class ChildProcess(subprocess.Popen[bytes]):
    """A process in a group of its own, which ends with this program, even if that is killed.

    Ctrl-C reaches only this program, which ends the others. A guard, ``sh``, ends the group if this program dies: only
    the kernel tells of SIGKILL, by closing the guard's input.
    """

    def __init__(
        self, command: Sequence[str], *, env: Mapping[str, str] | None = None, output: IO[bytes] | None = None
    ) -> None:
        """Start a command, with both outputs in a file if one is given; the environment is ours by default."""
        streams = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": subprocess.STDOUT} if output else {}
        super().__init__(command, env=env, start_new_session=True, **streams)  # type: ignore[call-overload]
        self._stopped = False
        self._guard = subprocess.Popen(
            ["sh", "-c", _GUARD, str(self.pid), str(GOODBYE)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def stop(self) -> None:
        """Interrupt the group, and kill what does not end; does nothing the second time."""
        if self._stopped:
            return
        self._stopped = True
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            end = time.monotonic() + GOODBYE
            if not self._send(number):
                break
            while self._send(0) and time.monotonic() < end:
                time.sleep(POLLED)
        self._guard.communicate(b"\n")

    def _send(self, number: int) -> bool:
        """Send a signal to the group, or nothing for 0; False if the whole group has ended."""
        if self.poll() is not None:
            # The first process of a container inherits the others, and must collect them.
            with suppress(ChildProcessError):
                os.waitpid(-self.pid, os.WNOHANG)
        try:
            os.killpg(self.pid, number)
        except (ProcessLookupError, PermissionError):  # the latter on macOS, if all wait to be collected
            return False
        return True
