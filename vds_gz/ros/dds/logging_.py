"""The log of a node: on the terminal, in ROS's usual form, and on ``/rosout``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TextIO

from vds_gz.ros.graph import Severity
from vds_gz.ros.messages.stamps import seconds_and_nanoseconds

_COLOURS = {
    Severity.DEBUG: "\033[32m",
    Severity.WARN: "\033[33m",
    Severity.ERROR: "\033[31m",
    Severity.FATAL: "\033[31m",
}
_PLAIN = "\033[0m"


class Log:
    """The node's logger."""

    def __init__(
        self, name: str, least: Severity, message: Any, publish: Callable[[Any], None], now: Callable[[], int]
    ) -> None:
        """Make a logger.

        Args:
            name: Its name, e.g. ``robot.sim_node``.
            least: Minimum severity.
            message: A ``rcl_interfaces/msg/Log``, which each publication fills again.
            publish: Sends that message.
            now: The time of the stamps [ns].
        """
        self._least = least
        self._message = message
        self._publish = publish
        self._now = now
        self._name = message.name = name
        self._terminal = sys.stderr
        self._coloured = coloured(os.environ, self._terminal)

    def say(self, severity: Severity, text: str) -> None:
        """Log a message, if it is severe enough."""
        if severity < self._least:
            return
        text = text.encode("utf-8", "backslashreplace").decode()
        seconds, nanoseconds = seconds_and_nanoseconds(self._now())
        line = f"[{severity.name}] [{seconds}.{nanoseconds:09d}] [{self._name}]: {text}"
        if self._coloured and severity in _COLOURS:
            line = f"{_COLOURS[severity]}{line}{_PLAIN}"
        with suppress(OSError, ValueError):  # the node goes on without its terminal
            print(line, file=self._terminal, flush=True)
        self._message.stamp.sec, self._message.stamp.nanosec = seconds, nanoseconds
        self._message.level, self._message.msg = int(severity), text
        self._publish(self._message)


def coloured(environment: Mapping[str, str], terminal: TextIO) -> bool:
    """Whether to colour lines: by RCUTILS_COLORIZED_OUTPUT, by default on terminals only."""
    forced = environment.get("RCUTILS_COLORIZED_OUTPUT", "")
    return forced == "1" if forced in ("0", "1") else terminal.isatty()
