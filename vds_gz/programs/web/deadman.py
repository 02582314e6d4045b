"""The dead man's switch between pages and the vehicle. Runs in the graph's thread."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from vds_gz.core.errors import FailureError
from vds_gz.core.vehicle.command import SteadyMotion
from vds_gz.programs.teleop.driver_commands import STANDSTILL, STOPS, CommandOutput

#: A driving page that sends nothing for this long has released control [s].
TIMEOUT = 0.4

#: The minimum delay of a page's messages is taken over this time and the one before it, as clocks drift [s].
WINDOW = 30.0

#: Period of stop commands [s].
STOP_PERIOD = 0.05

#: After this time without driving, the topic of the commands is withdrawn [s].
LEAVES_AFTER = 2.0


class MessageLateness:
    """Lateness of a page's messages by the page's own clock: their delay beyond the minimum delay."""

    def __init__(self) -> None:
        self._begin = -math.inf
        self._least = self._before = math.inf

    def of(self, sent: float, now: float) -> float:
        """The lateness of a message [s]."""
        if now - self._begin > WINDOW:
            self._begin, self._before, self._least = now, self._least, math.inf
        self._least = min(self._least, now - sent)
        return now - sent - min(self._least, self._before)


class DeadMansSwitch:
    """Passes on the commands of one page at a time, each once on arrival; stops the vehicle when they end."""

    def __init__(self, make_output: Callable[[], CommandOutput], now: Callable[[], float] = time.monotonic) -> None:
        self._make_output = make_output
        self._now = now
        self._output: CommandOutput | None = None
        self._page: object = None
        self._received = 0.0
        self._stops = 0
        self._next_stop = 0.0

    def drive(self, page: object, wanted: SteadyMotion, late: float = 0.0) -> None:
        """Pass a page's command on."""
        self.tick()
        if self._page is not None and page is not self._page:
            raise FailureError("another page drives this vehicle; it must let go first")
        if late > TIMEOUT and wanted != STANDSTILL:
            raise FailureError(f"the command came {late:.1f} s late; it must come within {TIMEOUT:g} s")
        if self._output is None:
            self._output = self._make_output()
        self._page = None if wanted == STANDSTILL else page
        self._received = self._now() - late
        self._stops = 0
        self._output.send(wanted)

    def leave(self, page: object) -> None:
        """Release control if this page drives."""
        if page is self._page:
            self._stop()

    def tick(self) -> None:
        """Stop the vehicle if the commands have ended; withdraw an unused output."""
        now = self._now()
        if self._page is not None and now - self._received > TIMEOUT:
            self._stop()
        elif self._stops and now >= self._next_stop:
            self._send_stop()
        elif self._output is not None and now - self._received > LEAVES_AFTER and not self._stops:
            self._output.close()
            self._output = None

    def end(self) -> None:
        """End: send the remaining stop commands at once."""
        if self._page is not None:
            self._stop()
        while self._stops:
            self._send_stop()

    def _stop(self) -> None:
        self._page = None
        self._stops = STOPS
        self._send_stop()

    def _send_stop(self) -> None:
        assert self._output is not None
        self._output.send(STANDSTILL)
        self._stops -= 1
        self._next_stop = self._now() + STOP_PERIOD
