"""What a vehicle does while no commands arrive: it follows the last one, or stops after a time-out.

In an interval without commands that follows a command to move, the vehicle either still moves at its end, so the
time-out is longer, or it stopped. It then stopped its usual delay after the time-out. The usual delay is measured at
commands to stop, or else at commands to start.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from vds_gz.core.arrays import Array, Flags
from vds_gz.core.vehicle.command import KINDS, MEASURES
from vds_gz.core.vehicle.schedule import Records
from vds_gz.tools.study.identify.estimates import Estimate
from vds_gz.tools.study.identify.recording_faults import AFTER_COMMAND
from vds_gz.tools.study.recording import COMMANDED, Commands, Recording, Series
from vds_gz.tools.study.series_alignment import common_grid, relation
from vds_gz.tools.study.signals import SPIKE_WINDOW, median_filtered, noise

#: The parameter that says how long a vehicle follows its last command.
MAX_AGE = "twist_reference_max_oldness"

#: Quantities that a time-out sets to 0.
SPEEDS = ("v_x", "v_y", "yaw_rate")

#: Minimum interval between two commands that may show a time-out [s].
SHORTEST = 0.2

#: A command, and the motion after it, count if they exceed this part of the largest, and noise by this factor.
CLEAR, NOISE = 0.2, 5.0

#: Before a stop the motion of this time counts too [s], unless its command was larger by the factor.
BEFORE, LARGER = 0.5, 1.5

#: A stop counts if the commands of this time before [s] were equal but for the factor. A change of commands counts if
#: those of this time before and after it were equal.
SETTLED, DIFFERENT = 1.0, 1.2

#: Motion below the first part of its level before is a stop, and above the second part it still moves.
STOPPED, MOVING = 0.2, 0.35

#: A stop is delayed until half of the speed before. The delay of a start is that until this part of the speed: as long
#: as it takes to lose this part in a stop, if the vehicle stops as it starts.
HALF, BEGUN = 0.5, 0.2

#: Delays of this many stops from about the same speed give that of a stop.
SIMILAR = 3

#: Minimum number of stops that show a time-out, and their tolerance: as a part of it, and in intervals of measurement.
#: The tolerance of the longest pause in which a vehicle moved on is the same part of that.
FEWEST_STOPS, TOLERANCE, INTERVALS = 2, 0.15, 2.0

#: Longest usual time-out of robots [s].
USUAL = 1.0

#: Decimal places of a time-out [s].
DIGITS = 2

#: A time-out, or that there is none, is doubtful if one that is longer or shorter by these factors leaves less than the
#: part of the unexplained motion.
OTHERS, LESS = (0.25, 0.5, 0.7, 1.4), 0.95


@dataclass(frozen=True, slots=True)
class CommandHold:
    """How long a vehicle follows its last command.

    Attributes:
        timeout: Time after the last command at which the vehicle stops [s]; None if none is known. Its ends are
            those of the stops that were seen, not of a 95 % interval.
        least: The vehicle follows its last command for at least this time [s].
        pause: Longest interval without commands at whose end it still moved [s].
        contradiction: Why there is no time-out, though the vehicle stopped without a command; else empty.
    """

    timeout: Estimate | None = None
    least: float = 0.0
    pause: float = 0.0
    contradiction: str = ""

    @property
    def endless(self) -> bool:
        """Whether the vehicle followed a command for longer than any usual time-out."""
        return self.timeout is None and self.least > (1.0 + TOLERANCE) * USUAL

    @property
    def range_seen(self) -> str:
        """The range of the stops after a time-out, in words."""
        return f"stops seen: {self.timeout.interval}" if self.timeout else ""

    @property
    def moved_on(self) -> str:
        """How long it followed its last command, in words."""
        return f"moved on for {self.least:.2g} s without another"


class _Pause(NamedTuple):
    """What an interval without commands shows: when the vehicle stopped [s] (NaN: it still moved at the end); if it
    did not, how long it followed its last command at least [s]; and the interval's length [s]."""

    least: float
    stopped: float
    length: float


class _Fall(NamedTuple):
    """The end of a motion: its level before, and the time at which it fell to a part of it; NaN if it went on."""

    level: float
    time: float


def command_hold(recordings: Sequence[Recording]) -> CommandHold:
    """How long a vehicle follows its last command, by all its recordings.

    Delays that differ between motions may shift a time-out, so it must explain the whole motion too.
    """
    hold = _by_pauses(recordings)
    if hold.timeout is None and not hold.endless:
        return hold
    known, usual = (math.inf, hold.least) if hold.timeout is None else (hold.timeout.value, hold.timeout.value)
    unexplained = {
        timeout: _unexplained(recordings, timeout) for timeout in (known, *(factor * usual for factor in OTHERS))
    }
    best = min(unexplained, key=lambda timeout: unexplained[timeout])
    if unexplained[best] >= LESS * unexplained[known]:
        return hold
    seen = hold.moved_on if hold.timeout is None else f"stopped within {known:.2g} s"
    return CommandHold(
        contradiction=f"after its last command it {seen}, but a time-out of {best:.2g} s explains its motion better"
    )


def _unexplained(recordings: Sequence[Recording], timeout: float) -> float:
    """The part of the motion that commands with a time-out do not explain, as the mean of all speeds."""
    parts = []
    for recording in recordings:
        timed, end = _with_stops(recording, timeout), float(recording.commands.time[-1]) + AFTER_COMMAND
        for name in SPEEDS:
            if not _is_usable(recording, name):
                continue
            measured, commands = recording.measured[name], timed[name]
            during, known = measured.time <= end, commands.time < end  # the same samples for all time-outs
            values = commands.value[known]
            held = Series(np.append(commands.time[known], end), np.append(values, values[-1]))
            match = relation(held, Series(measured.time[during], measured.value[during]), 0.0, AFTER_COMMAND, held=True)
            if match is not None:
                parts.append(match.unexplained)
    return float(np.mean(parts)) if parts else 0.0


def _by_pauses(recordings: Sequence[Recording]) -> CommandHold:
    """How long a vehicle follows its last command, by its pauses alone."""
    pauses = [pause for recording in recordings for pause in _pauses(recording)]
    moving = [pause for pause in pauses if np.isnan(pause.stopped) and pause.least > 0.0]
    least = max((pause.least for pause in moving), default=0.0)
    length = max((pause.length for pause in moving), default=0.0)
    stops = np.array([pause.stopped for pause in pauses if not np.isnan(pause.stopped)])
    if len(stops) < FEWEST_STOPS:
        return CommandHold(least=least, pause=length)
    interval = max(map(_measured_interval, recordings))
    timeout = float(np.median(stops))
    tolerance = max(TOLERANCE * timeout, INTERVALS * interval)
    near = stops[np.abs(stops - timeout) <= tolerance]
    stopped = "after its last command it stopped within "
    if 2 * len(near) <= len(stops) or timeout <= 0.0:
        return CommandHold(contradiction=f"{stopped}{stops.min():.2g} s and {stops.max():.2g} s")
    if least > timeout + tolerance:
        return CommandHold(contradiction=f"{stopped}{timeout:.2g} s, and moved on for {least:.2g} s in another pause")
    low, high = float(near.min()) - interval, float(near.max()) + interval
    value = round(timeout, DIGITS)
    return CommandHold(Estimate(value, min(max(low, 0.0), value), max(high, value)), least, length)


def with_known_commands(recording: Recording, hold: CommandHold) -> Recording:
    """The recording with a command to stop at each time-out, and with the time for which its commands hold."""
    if hold.timeout is None:
        return replace(recording, hold_time=(1.0 + TOLERANCE) * hold.pause)
    return replace(recording, commanded=_with_stops(recording, hold.timeout.value), hold_time=hold.timeout.value)


def _with_stops(recording: Recording, timeout: float) -> dict[str, Series]:
    """The commands with one to stop at each time-out [s]."""
    commands = recording.commands
    expires = (np.diff(commands.time, append=np.inf) > timeout) & ~neutral(commands.records)
    stops = commands.time[expires] + timeout
    return {
        quantity: _inserted(series, stops) if quantity in SPEEDS and np.isfinite(timeout) else series
        for quantity, series in recording.commanded.items()
    }


def neutral(records: Records) -> Flags:
    """Whether commands ask for standstill, so that it makes no difference whether they time out."""
    standing: Flags = ~np.any([records[name] != 0.0 for name in MEASURES], axis=0)
    return standing


def _inserted(series: Series, times: Array) -> Series:
    """A series with zeros at some times."""
    time, value = np.append(series.time, times), np.append(series.value, np.zeros(len(times)))
    order = np.argsort(time, kind="stable")
    return Series(time[order], value[order])


def _measured_interval(recording: Recording) -> float:
    """The longest median interval between samples of a speed [s]."""
    times = [recording.measured[name].time for name in SPEEDS if name in recording.measured]
    return max((float(np.median(np.diff(time))) for time in times if len(time) > 1), default=0.0)


def _pauses(recording: Recording) -> Iterator[_Pause]:
    """What the intervals without commands show. A commanded acceleration would have to time out too."""
    commands = recording.commands
    if "target_acceleration" in KINDS[int(commands.records["kind"][0])].fields:
        return
    axes = [_AxisMotion(commands, name, recording.measured[name]) for name in SPEEDS if _is_usable(recording, name)]
    ends = np.append(commands.time[1:], np.inf)
    for k in np.flatnonzero((ends - commands.time > SHORTEST) & ~neutral(commands.records)):
        pauses = [pause for axis in axes for pause in axis.pause(int(k), float(ends[k]))]
        if pauses:  # the vehicle moved on if any of its axes did
            yield max(pauses, key=lambda pause: (np.isnan(pause.stopped), pause.least))


def _is_usable(recording: Recording, quantity: str) -> bool:
    """Whether a speed was commanded and measured."""
    commanded, measured = recording.commanded.get(quantity), recording.measured.get(quantity)
    return bool(commanded and len(commanded.time) and measured and len(measured.time) >= SPIKE_WINDOW)


class _CommandedChange(NamedTuple):
    """A commanded stop or start: its level, its delay [s] until the part of it that counts, and until half of it."""

    level: float
    delay: float
    half: float


class _AxisMotion:
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
            self._part, self._changes = 1.0 - BEGUN, starts

    def pause(self, k: int, end: float) -> Iterator[_Pause]:
        """What the interval from a command to the next shows, if the axis moves in it."""
        sign = float(np.sign(self._commanded[k]))
        if abs(self._commanded[k]) <= self._least_command or self._is_larger_before(k):
            return
        fall = self._fall(float(self._time[k]), end, sign)
        if fall is None or not (self._changes or np.isnan(fall.time)):
            return  # the usual lag depends on whether commands time out
        if not np.isnan(fall.time) and self._differs_before(k):
            return
        delay, half = self._usual_delays(fall.level)
        last = float(self._at[np.searchsorted(self._at, end) - 1])
        begin = float(self._time[k])
        yield _Pause(last - begin - half, fall.time - begin - delay, min(end, float(self._at[-1])) - begin)

    def _is_larger_before(self, k: int) -> bool:
        """Whether the command shortly before asked for a faster motion, or for one in the other direction."""
        ratio = self._recent(k, BEFORE) / self._commanded[k]
        return bool(np.any((ratio > LARGER) | (ratio < 0.0)))

    def _differs_before(self, k: int) -> bool:
        """Whether a command before asked for another motion, whose end may show in the pause after this one."""
        ratio = self._recent(k, SETTLED) / self._commanded[k]
        return bool(np.any((ratio > DIFFERENT) | (ratio < 1.0 / DIFFERENT)))

    def _recent(self, k: int, before: float) -> Array:
        """The commands in some time [s] before one."""
        return self._commanded[np.searchsorted(self._time, self._time[k] - before) : k]

    def _fall(self, begin: float, end: float, sign: float) -> _Fall | None:
        """How a motion ends after a time; None if it shows neither standstill nor motion."""
        first, start, stop = np.searchsorted(self._at, [begin - BEFORE, begin, end])
        if stop - start < SPIKE_WINDOW:
            return None
        time, value = self._at[first:stop], sign * self._value[first:stop]
        level, final = float(np.max(value)), float(np.median(value[-SPIKE_WINDOW // 2 :]))
        if level < self._least_level:
            return None
        if final > MOVING * level:
            return _Fall(level, np.nan)
        above = int(np.flatnonzero(value > self._part * level)[-1])
        if final > STOPPED * level or time[above] < begin or above + 1 == len(value):
            return None
        part = (value[above] - self._part * level) / (value[above] - value[above + 1])
        return _Fall(level, float(time[above] + part * (time[above + 1] - time[above])))

    def _usual_changes(self) -> tuple[list[_CommandedChange], list[_CommandedChange]]:
        """The commanded stops, and the starts from standstill."""
        stops: list[_CommandedChange] = []
        starts: list[_CommandedChange] = []
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
                if fall is not None and not np.isnan(fall.time):
                    stops.append(_CommandedChange(fall.level, fall.time - begin, fall.time - begin))
        return stops, starts

    def _starts_anew(self, long: Flags) -> Flags:
        """Whether each command changes the speed, also because the vehicle stopped in a long interval before it."""
        anew: Flags = np.r_[True, np.diff(self._commanded) != 0.0]
        for k in np.flatnonzero(long & ~anew[1:] & (self._commanded[1:] != 0.0)):
            fall = self._fall(float(self._time[k]), float(self._time[k + 1]), float(np.sign(self._commanded[k])))
            anew[k + 1] = fall is not None and not np.isnan(fall.time)
        return anew

    def _rise(self, begin: float, end: float, sign: float) -> Iterator[_CommandedChange]:
        """A start from standstill."""
        first, stop = np.searchsorted(self._at, [begin, end])
        time, value = self._at[first:stop], sign * self._value[first:stop]
        if len(value) < SPIKE_WINDOW or np.max(value) < self._least_level:
            return
        level = float(np.median(value[value >= STOPPED * np.max(value)]))
        if level > self._least_level and abs(value[0]) < STOPPED * level:
            begun, half = (float(time[int(np.argmax(value > part * level))]) - begin for part in (BEGUN, HALF))
            yield _CommandedChange(level, begun, half)

    @cached_property
    def _lag(self) -> float:
        """The delay of the motion behind the commands at which both agree best; the longest if nothing shows it [s]."""
        grid = common_grid(
            Series(self._time, self._commanded), Series(self._at, self._value), 0.0, AFTER_COMMAND, held=True
        )
        return AFTER_COMMAND if grid is None else float(grid.shifts[np.argmax(grid.fit().correlation)])

    def _usual_delays(self, level: float) -> tuple[float, float]:
        """Both delays of changes to or from about this level [s]; without any, the lag behind the commands."""
        if not self._changes:
            return self._lag, self._lag
        nearest = sorted(self._changes, key=lambda change: abs(change.level - level))[:SIMILAR]
        delay, half = np.median([[change.delay, change.half] for change in nearest], axis=0).tolist()
        return delay, half
