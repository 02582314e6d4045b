"""Segments of a recording that can be simulated: commands by steps, and samples between steps.

A segment begins with a command, because earlier commands are unknown, and ends shortly after the last one. A long
recording is cut, to bound memory; the commands shortly before a cut are simulated too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.core.vehicle.schedule import Records
from vds_gz.tools.study.identify.problem.command_hold import neutral
from vds_gz.tools.study.recording import Commands, MeasuredChannel, Recording, Series, SignalError

#: Maximum length of a segment, and length of the lead that is simulated before a cut [s].
LONGEST_SEGMENT, LEAD = 90.0, 15.0

#: Minimum number of samples of a segment.
FEWEST_SAMPLES = 20

#: Commands with a shorter median interval [s] are periodic. The last one of periodic commands holds for this many
#: intervals, or for the time for which it is known to hold; that of others for this time [s], which bounds both.
PERIODIC, LAST_INTERVALS, LAST = 0.25, 5.0, 2.0

#: Periodic commands pause if the next one takes longer than this [s] and this many intervals.
PAUSE, PAUSE_INTERVALS = 0.5, 10.0

#: A time is on a grid of steps if it is within this part of a step of a grid point.
ON_GRID = 0.02


@dataclass(frozen=True, slots=True)
class Segment:
    """Part of a recording.

    Attributes:
        recording: Index of the recording.
        origin: Start of the first step [s].
        commands: The commands.
        begins: Numbers of steps before each command; the first is 0.
        channels: Its measurements, each with its index among the channels of all recordings.
        dt: Length of a step [s].
        on_grid: Whether commands came at the starts of steps.
        first: Whether it begins a stretch, where the vehicle's motion is unknown; other segments begin with a lead.
    """

    recording: int
    origin: float
    commands: Records
    begins: np.ndarray[tuple[int], np.dtype[np.int64]]
    channels: tuple[tuple[int, MeasuredChannel], ...]
    dt: float
    on_grid: bool = True
    first: bool = True

    @property
    def duration(self) -> float:
        """From the first step to the last sample [s]."""
        return max(float(channel.series.time[-1]) for _, channel in self.channels) - self.origin

    def positions(self, time: Array, hold: float = 0.0) -> Array:
        """Times as numbers of steps from the origin, rounded if within :data:`ON_GRID` of a whole number.

        With ``hold`` [s], times are first rounded down to multiples of it from the origin.
        """
        if hold:
            time = self.origin + hold * np.floor((time - self.origin) / hold + ON_GRID)
        steps = (time - self.origin) / self.dt
        whole = np.rint(steps)
        return np.where(np.abs(steps - whole) < ON_GRID, whole, steps)


def segments_of(
    recordings: Sequence[Recording], channels: Sequence[Sequence[MeasuredChannel]], dt: float
) -> list[Segment]:
    """The segments of recordings."""
    segments: list[Segment] = []
    first_index = 0
    for k, (recording, measured) in enumerate(zip(recordings, channels, strict=True)):
        indexed = list(enumerate(measured, first_index))
        first_index += len(measured)
        commands = recording.commands
        grid = _phase([channel.series.time for channel in measured], dt)
        if grid is None:
            grid = _phase([commands.time], dt) or 0.0
        for begin, end in _stretches(recording, commands):
            segments += _cut(k, commands, indexed, begin, end, grid, dt)
    if not segments:
        raise SignalError(_no_segment(recordings, channels))
    return segments


def _no_segment(recordings: Sequence[Recording], channels: Sequence[Sequence[MeasuredChannel]]) -> str:
    """Why the first recording has no segment."""
    commanded, measured = recordings[0].commands.time, channels[0]
    if not len(commanded) or not measured:
        count = sum(len(channel.series.time) for channel in measured)
        return (
            f"there are {len(commanded)} commands and {count} measurements; at least 1 and {FEWEST_SAMPLES} are needed"
        )
    time = measured[0].series.time
    count_inside = int(((time >= commanded[0]) & (time <= commanded[-1] + LAST)).sum())
    return (
        f"{measured[0].quantity} has {count_inside} measurements during the commands ({commanded[0]:.2f} to "
        f"{commanded[-1]:.2f} s; measured from {time[:1].sum():.2f} to {time[-1:].sum():.2f} s); at least "
        f"{FEWEST_SAMPLES} are needed. Are the clocks the same?"
    )


def _phase(times: Sequence[Array], dt: float) -> float | None:
    """The common offset of these times from a grid of steps [s]; None if their offsets differ."""
    all_times = np.concatenate([np.empty(0), *times])
    if not len(all_times):
        return None
    turns = np.exp(2j * math.pi * (all_times / dt % 1.0))
    phase = float(np.angle(np.mean(turns))) / (2.0 * math.pi)
    deviations = np.abs(np.angle(turns * np.exp(-2j * math.pi * phase))) / (2.0 * math.pi)
    return phase * dt if float(deviations.max()) < ON_GRID else None


def _stretches(recording: Recording, commands: Commands) -> Iterator[tuple[float, float]]:
    """Begin and end of the times in which the command is known [s]: from a first command after a gap or a pause on.

    If periodic commands pause, it is unknown for how long the vehicle follows the last one, unless that asks for
    standstill, or the pause is within the recording's ``hold_time``.
    """
    for begin, end in recording.pieces:
        inside = (commands.time >= begin) & (commands.time <= end)
        times, standing = commands.time[inside], neutral(commands.records[inside])
        if not len(times):
            continue
        steps = np.diff(times)
        interval = float(np.median(steps)) if len(steps) > 1 else math.inf
        periodic = interval < PERIODIC
        longest = max(PAUSE, PAUSE_INTERVALS * interval, recording.hold_time) if periodic else math.inf
        pauses = np.flatnonzero((steps > longest) & ~standing[:-1])
        firsts, lasts = [0, *(pauses + 1)], [*pauses, len(times) - 1]
        held = max(LAST_INTERVALS * interval, min(recording.hold_time, LAST)) if periodic else LAST
        for first, last in zip(firsts, lasts, strict=True):
            yield float(times[first]), min(end, float(times[last]) + (LAST if standing[last] else held))


def _cut(
    recording: int,
    commands: Commands,
    channels: Sequence[tuple[int, MeasuredChannel]],
    begin: float,
    end: float,
    grid: float,
    dt: float,
) -> Iterator[Segment]:
    """The segments of a stretch of a recording."""
    count = max(1, math.ceil((end - begin) / LONGEST_SEGMENT))
    cuts = np.linspace(begin, end, count + 1)
    for k, (cut_begin, cut_end) in enumerate(pairwise(cuts)):
        start = max(begin, float(cut_begin) - LEAD) if k else begin
        first_command = max(int(np.searchsorted(commands.time, start, side="right")) - 1, 0)
        end_command = int(np.searchsorted(commands.time, cut_end, side="right"))
        times, records = commands.time[first_command:end_command], commands.records[first_command:end_command]
        changed = np.r_[True, records[1:] != records[:-1]]
        times, records = times[changed], records[changed]
        # A command acts from the first step at or after its time.
        position = (np.maximum(times, start) - grid) / dt
        on_grid = bool((np.abs(position - np.rint(position)) < ON_GRID).all())
        steps = np.ceil(position - ON_GRID).astype(np.int64)
        origin = grid + float(steps[0]) * dt
        lowest = max(float(cut_begin), origin + (1.0 - ON_GRID) * dt)
        highest = float(cut_end) if k == count - 1 else float(np.nextafter(cut_end, -math.inf))
        parts = ((index, _between(channel, lowest, highest)) for index, channel in channels)
        measured = tuple((index, channel) for index, channel in parts if len(channel.series.time))
        if sum(len(channel.series.time) for _, channel in measured) >= FEWEST_SAMPLES:
            yield Segment(recording, origin, records, steps - steps[0], measured, dt, on_grid, k == 0)


def _between(channel: MeasuredChannel, begin: float, end: float) -> MeasuredChannel:
    time, half = channel.series.time, 0.0 if channel.half is None else channel.half
    return chosen(channel, (time - half >= begin) & (time + half <= end))


def chosen(channel: MeasuredChannel, samples: np.ndarray | slice) -> MeasuredChannel:
    """The channel with some of its samples only."""
    series = Series(channel.series.time[samples], channel.series.value[samples])
    return replace(channel, series=series, half=None if channel.half is None else channel.half[samples])
