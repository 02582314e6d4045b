"""The samples of a recording that no segment has, and why."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.tools.study.identify.problem.segments import segments_of
from vds_gz.tools.study.recording import LONGEST_GAP, MeasuredChannel, Recording

#: A smaller part of unused samples is not worth a finding. A shorter time [s], as at the edge of a segment, is not
#: worth a reason.
WORTH, SHORTEST_REASON = 0.05, 0.3


def unused_words(recording: Recording, channels: Sequence[MeasuredChannel], dt: float) -> str:
    """A finding on the samples that are not used; empty if these are few."""
    all_times = [channel.series.time for channel in channels]
    count, end_times = sum(map(len, all_times)), recording.commands.time[[0, -1]]
    longest = max(all_times, key=len)
    unused = np.ones(len(longest), bool)
    used = 0
    for segment in segments_of([recording], [channels], dt):
        used += sum(len(channel.series.time) for _, channel in segment.channels)
        last = segment.origin + segment.duration
        unused &= (longest < segment.origin) | (longest > last)
    if used >= (1.0 - WORTH) * count:
        return ""
    before, after = longest < end_times[0], longest > end_times[1]
    seconds = {
        "before the first command": _duration(longest, unused & before),
        "in pauses for which the command is unknown": _duration(longest, unused & ~before & ~after),
        "after the last command": _duration(longest, unused & after),
    }
    words = ", ".join(f"{value:.1f} s {where}" for where, value in seconds.items() if value > SHORTEST_REASON)
    return f"{used / count:.0%} of the samples were used; left out: {words}"


def _duration(time: Array, samples: np.ndarray) -> float:
    """The time that some samples cover [s]."""
    return float(np.sum(np.minimum(np.diff(time, append=time[-1]), LONGEST_GAP)[samples]))
