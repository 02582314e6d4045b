"""The samples of a recording that no segment has, and why."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.tools.study.identify.problem.segments import Segment, segments_of
from vds_gz.tools.study.recording import LONGEST_GAP, MeasuredChannel, Recording

#: A smaller part of unused samples is not worth a finding. A shorter time [s], as at the edge of a segment, is not
#: worth a reason.
WORTH, SHORTEST_REASON = 0.05, 0.3


def unused_words(
    recordings: Sequence[Recording], channels: Sequence[Sequence[MeasuredChannel]], dt: float
) -> list[str]:
    """For each recording a finding on the samples that are not used; empty if these are few.

    Raises:
        SignalError: No recording has a segment.
    """
    segments = segments_of(recordings, channels, dt)
    return [
        _words(recording.commands.time, measured, [segment for segment in segments if segment.recording == k])
        for k, (recording, measured) in enumerate(zip(recordings, channels, strict=True))
    ]


def _words(commanded: Array, channels: Sequence[MeasuredChannel], segments: Sequence[Segment]) -> str:
    """A finding on one recording, by the times of its commands [s]."""
    count = sum(len(channel.series.time) for channel in channels)
    used = sum(len(channel.series.time) for segment in segments for _, channel in segment.channels)
    if used >= (1.0 - WORTH) * count:
        return ""
    time = np.unique(np.concatenate([channel.series.time for channel in channels]))
    unused = np.ones(len(time), bool)
    for segment in segments:
        unused &= (time < segment.origin) | (time > segment.origin + segment.duration)
    before, after = time < commanded[0], time > commanded[-1]
    seconds = {
        "before the first command": _duration(np.minimum(time, commanded[0]), unused & before),
        "in pauses for which the command is unknown": _duration(time, unused & ~before & ~after),
        "after the last command": _duration(time, unused & after),
    }
    words = ", ".join(f"{value:.1f} s {where}" for where, value in seconds.items() if value > SHORTEST_REASON)
    return f"{used / count:.0%} of the samples were used; left out: {words}" if words else ""


def _duration(time: Array, samples: np.ndarray) -> float:
    """The time that some samples cover [s]."""
    return float(np.sum(np.minimum(np.diff(time, append=time[-1]), LONGEST_GAP)[samples]))
