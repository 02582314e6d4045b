"""Shows which axis or button of a gamepad moves, so that one finds their numbers."""

from __future__ import annotations

import time
from collections.abc import Iterator

from vds_gz.ros.stopping import StopRequest
from vds_gz.teleop.gamepad import Gamepads

#: An axis is shown again when it has moved so far [-].
MOVED = 0.2

#: Between two looks [s].
PERIOD = 0.02


class Watch:
    """Remembers what was shown of each axis and button."""

    def __init__(self) -> None:
        """Nothing has been shown."""
        self._axes: list[float] = []
        self._buttons: list[int] = []

    def news(self, axes: list[float], buttons: list[int]) -> Iterator[str]:
        """What has moved since it was last shown, a line each; at first, only how many there are."""
        if len(axes) != len(self._axes) or len(buttons) != len(self._buttons):
            self._axes, self._buttons = list(axes), list(buttons)
            yield f"{len(axes)} axes, {len(buttons)} buttons; move one at a time, Ctrl-C ends"
        for i, value in enumerate(axes):
            at_an_end = abs(value) in (0.0, 1.0) and value != self._axes[i]
            if abs(value - self._axes[i]) >= MOVED or at_an_end:
                self._axes[i] = value
                yield f"axis {i}: {value:+.2f}"
        for i, pressed in enumerate(buttons):
            if pressed != self._buttons[i]:
                self._buttons[i] = pressed
                yield f"button {i}: {'pressed' if pressed else 'let go'}"


def watch(gamepads: Gamepads, stop: StopRequest) -> int:
    """Show it until stopped; the exit code, 0."""
    shown, said = Watch(), ""
    while not stop.requested:
        gamepads.poll()
        pad = gamepads.pad
        news = f"'{pad.name}'" if pad else f"{gamepads.problem}; waiting for one"
        if news != said:
            said, shown = news, Watch()
            print(news, flush=True)
        for line in shown.news(*pad.read()) if pad else ():
            print(line, flush=True)
        time.sleep(PERIOD)
    gamepads.close()
    return 0
