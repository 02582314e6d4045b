"""Keys as a driver's foot and hands: what is pushed grows, what is let go falls back.

A terminal says nothing when a key is let go. It only repeats the key that was pressed last, and begins to repeat it
after a delay. Times are readings of the monotonic clock [ns].
"""

from __future__ import annotations

import math

#: A key pushes for so long after each time it came; terminals repeat every 30 to 100 ms [ns].
PUSH = 150_000_000

#: So long after a key came first, its repetition can begin; until then what it has done stays [ns].
FIRST_REPEAT = 600_000_000


class Ramp:
    """A value between -1 and 1 that two keys push, one up, one down.

    Attributes:
        value: The present.
    """

    def __init__(self, push: float, back: float) -> None:
        """Set the pace.

        Args:
            push: Seconds from 0 to 1 while a key is held.
            back: Seconds from 1 to 0 when it is let go, or while the opposite key is held.
        """
        self.value = 0.0
        self._push, self._back = push, back
        self._direction = 0
        self._pushed_until = self._kept_until = self._now = 0

    def press(self, direction: int, now: int) -> None:
        """A key has come: +1 up, -1 down."""
        repeats = direction == self._direction and now < self._kept_until
        self._direction = direction
        self._pushed_until = now + PUSH
        self._kept_until = now + (PUSH if repeats else FIRST_REPEAT)

    def keep(self, now: int) -> None:
        """Another key has come, which silences ours: it may still be held, so what it has done stays for as long."""
        if now < self._kept_until:
            self._kept_until = max(self._kept_until, now + FIRST_REPEAT)

    def stop(self) -> None:
        """Back to 0 at once."""
        self.value = 0.0
        self._direction = self._pushed_until = self._kept_until = 0

    def advance(self, now: int) -> float:
        """Go on to the present and return the value."""
        seconds = (now - self._now) * 1e-9 if self._now else 0.0
        self._now = now
        if now < self._pushed_until:
            against = self.value * self._direction < 0.0
            self.value = self._direction * min(
                1.0, self._direction * self.value + seconds / (self._back if against else self._push)
            )
        elif now >= self._kept_until:
            left = abs(self.value) - seconds / self._back
            self.value = math.copysign(left, self.value) if left > 0.0 else 0.0
        return self.value
