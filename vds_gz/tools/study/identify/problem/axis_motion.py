"""What the motion of one speed shows in an interval without commands.

If a command to move comes before it, the vehicle either still moves at its end, so a time-out is longer, or it stopped.
It then stopped its usual delay after the time-out. The usual delay is measured at commands to stop, or else at commands
to start.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from vds_gz.core.arrays import Array, Flags
from vds_gz.tools.study.identify.recording_faults import AFTER_COMMAND
from vds_gz.tools.study.recording import COMMANDED, Commands, Series
from vds_gz.tools.study.series_alignment import NOT_TOGETHER, common_grid
from vds_gz.tools.study.signals import SPIKE_WINDOW, median_filtered, noise

#: Minimum interval between two commands that may show a time-out [s]; commands at 5 Hz or faster have no pauses.
SHORTEST = 0.2

#: A command, and the motion after it, count if they exceed this part of the largest, and noise by this factor: slow
#: motion may stop by friction, and noise does not look like motion.
CLEAR, NOISE = 0.2, 5.0

#: Before a stop the motion of this time counts too [s], as the vehicle may be late.
BEFORE = 0.5

#: A stop counts if the commands of this time before [s] were equal but for the factor: else it may be their end. A
#: change of commands counts if those of this time before and after it were equal, so that the vehicle is at its level.
SETTLED, DIFFERENT = 1.0, 1.2

#: Motion below the first part of its level before is standstill, and above the second part it still moves; between them
#: the vehicle may coast.
STOPPED, MOVING = 0.2, 0.35

#: A stop is delayed until this part of the speed before, where noise shifts it least. Without commands to stop, a
#: vehicle is taken to stop as it starts: it loses the part STOPPED in a stop as long after as it gains it in a start.
HALF = 0.5

#: Delays of this many stops from about the same speed give that of a stop: enough for a median.
SIMILAR = 3


class Pause(NamedTuple):
    """What an interval without commands shows: when the vehicle stopped [s] (NaN: it still moved at the end); if it
    did not, how long it followed its last command at least [s]; and the interval's length [s]."""

    least: float
    stopped: float
    length: float


class _SpeedChange(NamedTuple):
    """A stop or a start of a motion: its level, the delay [s] until the part of it that counts, and until half of it.

    The delay of a stop is NaN if the motion goes on.
    """

    level: float
    delay: float
    half: float


class AxisMotion:
    """The commands of one speed, and the motion that follows."""

    def __init__(self, commands: Commands, quantity: str, measured: Series) -> None:
        self._time, self._commanded = commands.time, np.asarray(commands.records[COMMANDED[quantity]], float)
        self._at = measured.time
        self._value = median_filtered(measured.value)
        self._least_command = CLEAR * float(np.max(np.abs(self._commanded)))
        top = float(np.percentile(np.abs(self._value), 98.0))
        self._least_level = max(CLEAR * top, NOISE * noise(self._value), 1e-9)
        self._part = HALF
        self._changes, starts = self._usual_changes()
        if not self._changes:
            self._part, self._changes = 1.0 - STOPPED, starts

    def pause(self, k: int, end: float) -> Iterator[Pause]:
        """What the interval from a command to the next shows, if the axis moves in it."""
        sign = float(np.sign(self._commanded[k]))
        if abs(self._commanded[k]) <= self._least_command or self._differs_before(k, BEFORE, 0.0):
            return
        fall = self._fall(float(self._time[k]), end, sign)
        if fall is None or not (self._changes or np.isnan(fall.delay)):
            return  # the usual lag depends on whether commands time out
        if not np.isnan(fall.delay) and self._differs_before(k, SETTLED, 1.0 / DIFFERENT):
            return
        delay, half = self._usual_delays(fall.level)
        begin, last = float(self._time[k]), float(self._at[np.searchsorted(self._at, end) - 1])
        yield Pause(last - begin - half, fall.delay - delay, min(end, float(self._at[-1])) - begin)

    def _differs_before(self, k: int, before: float, least: float) -> bool:
        """Whether a command in some time before one [s] asked for a faster motion, or for less than this part of it.

        Its end may show in the pause after this one.
        """
        ratio = self._recent(k, before) / self._commanded[k]
        return bool(np.any((ratio > DIFFERENT) | (ratio < least)))

    def _recent(self, k: int, before: float) -> Array:
        """The commands in some time [s] before one."""
        return self._commanded[np.searchsorted(self._time, self._time[k] - before) : k]

    def _fall(self, begin: float, end: float, sign: float) -> _SpeedChange | None:
        """How a motion ends after a time; None if it shows neither standstill nor motion."""
        first, start, stop = np.searchsorted(self._at, [begin - BEFORE, begin, end])
        if stop - start < SPIKE_WINDOW:
            return None
        time, value = self._at[first:stop], sign * self._value[first:stop]
        level, final = float(np.max(value)), float(np.median(value[-SPIKE_WINDOW // 2 :]))
        if level < self._least_level:
            return None
        if final > MOVING * level:
            return _SpeedChange(level, np.nan, np.nan)
        above = int(np.flatnonzero(value > self._part * level)[-1])
        if final > STOPPED * level or time[above] < begin or above + 1 == len(value):
            return None
        part = (value[above] - self._part * level) / (value[above] - value[above + 1])
        delay = float(time[above] + part * (time[above + 1] - time[above])) - begin
        return _SpeedChange(level, delay, delay)

    def _usual_changes(self) -> tuple[list[_SpeedChange], list[_SpeedChange]]:
        """The commanded stops, and the starts from standstill."""
        stops: list[_SpeedChange] = []
        starts: list[_SpeedChange] = []
        long = np.diff(self._time) > SHORTEST
        first = np.flatnonzero(self._starts_anew(long))
        for k, following in zip(first.tolist(), [*first[1:].tolist(), len(self._time)], strict=True):
            begin, sign = float(self._time[k]), float(np.sign(self._commanded[k]))
            paused = following < len(self._time) and long[following - 1] and following - k > 1
            end = float(self._time[following - 1] if paused else np.append(self._time, self._at[-1])[following])
            if end - begin < SETTLED or np.any(self._recent(k, SETTLED) != self._commanded[k - 1]):
                continue
            if sign:
                starts += self._rise(begin, end, sign)
            elif k and self._commanded[k - 1]:
                fall = self._fall(begin, end, float(np.sign(self._commanded[k - 1])))
                if fall is not None and not np.isnan(fall.delay):
                    stops.append(fall)
        return stops, starts

    def _starts_anew(self, long: Flags) -> Flags:
        """Whether each command changes the speed, also because the vehicle stopped in a long interval before it."""
        anew: Flags = np.r_[True, np.diff(self._commanded) != 0.0]
        for k in np.flatnonzero(long & ~anew[1:] & (self._commanded[1:] != 0.0)):
            fall = self._fall(float(self._time[k]), float(self._time[k + 1]), float(np.sign(self._commanded[k])))
            anew[k + 1] = fall is not None and not np.isnan(fall.delay)
        return anew

    def _rise(self, begin: float, end: float, sign: float) -> Iterator[_SpeedChange]:
        """A start from standstill."""
        first, stop = np.searchsorted(self._at, [begin, end])
        time, value = self._at[first:stop], sign * self._value[first:stop]
        if len(value) < SPIKE_WINDOW or np.max(value) < self._least_level:
            return
        level = float(np.median(value[value >= STOPPED * np.max(value)]))
        if level > self._least_level and abs(value[0]) < STOPPED * level:
            begun, half = (float(time[int(np.argmax(value > part * level))]) - begin for part in (STOPPED, HALF))
            yield _SpeedChange(level, begun, half)

    @cached_property
    def _lag(self) -> float:
        """The delay of the motion behind the commands at which both agree best; the longest if nothing shows it [s]."""
        grid = common_grid(
            Series(self._time, self._commanded), Series(self._at, self._value), 0.0, AFTER_COMMAND, held=True
        )
        if grid is None:
            return AFTER_COMMAND
        correlation = grid.fit().correlation  # 0 at all shifts if commands or motion are constant
        best = int(np.argmax(correlation))
        return float(grid.shifts[best]) if correlation[best] > NOT_TOGETHER else AFTER_COMMAND

    def _usual_delays(self, level: float) -> tuple[float, float]:
        """Both delays of changes to or from about this level [s]; without any, the lag behind the commands."""
        if not self._changes:
            return self._lag, self._lag
        nearest = sorted(self._changes, key=lambda change: abs(change.level - level))[:SIMILAR]
        delay, half = np.median([[change.delay, change.half] for change in nearest], axis=0).tolist()
        return delay, half
