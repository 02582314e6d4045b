"""Mean velocities over short horizons, from poses, wheels' angles and differences over uneven intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.tools.study.reading.interval_means import interval_means, travelled
from vds_gz.tools.study.recording import POSES, MeasuredChannel, Series

#: Minimum horizon of a mean velocity: in seconds, and in intervals between samples.
HORIZON, INTERVALS = 0.1, 2.0

#: A horizon that is longer by this factor contains a gap.
GAP = 2.0

#: Number of means per horizon.
PER_HORIZON = 2.0

#: Mean velocities above this multiple of their 99th percentile are jumps of the localization.
JUMP = 5.0


def with_increments(channels: Sequence[MeasuredChannel], *, lateral: bool) -> list[MeasuredChannel]:
    """The channels, with mean velocities over short times in place of poses, wheels' angles and uneven differences.

    Poses of odometry drift and those of a localization jump, so only the motion over a short horizon is informative.
    A pose that is the sum of uneven differences has nothing new.
    """
    usable: list[MeasuredChannel] = []
    sources: dict[str, dict[str, MeasuredChannel]] = {}
    means = {channel.name for channel in interval_means(channels)}
    summed = {channel.source for channel in channels if channel.name in means}
    for channel in channels:
        if channel.quantity in POSES and channel.source in summed:
            continue
        if channel.name in means:
            usable += _over_horizons(replace(channel, series=travelled(channel.series)), channel.quantity)
        elif channel.quantity in POSES:
            sources.setdefault(channel.source, {})[channel.quantity] = channel
        elif channel.quantity == "joint_position" and not channel.hinge:
            usable += _over_horizons(channel, "joint_velocity")
        else:
            usable.append(channel)
    for pose in sources.values():
        times = [channel.series.time for channel in pose.values()]
        if len(pose) == len(POSES) and all(np.array_equal(time, times[0]) for time in times):
            usable += _velocities([pose[name] for name in POSES], lateral=lateral)
    return usable


def _velocities(pose: Sequence[MeasuredChannel], *, lateral: bool) -> Iterator[MeasuredChannel]:
    time = pose[0].series.time
    x, y, heading = (channel.series.value for channel in pose)
    begin, end = _pairs(time)
    if not len(begin):
        return
    middle = 0.5 * (heading[begin] + heading[end])
    moved = ((x[end] - x[begin]) + 1j * (y[end] - y[begin])) * np.exp(-1j * middle)
    duration = time[end] - time[begin]
    turned = (heading[end] - heading[begin]) / duration
    velocity = moved / duration
    kept = (abs(velocity) <= _largest(abs(velocity))) & (abs(turned) <= _largest(abs(turned)))
    values = {"v_x": velocity.real, "v_y": velocity.imag, "yaw_rate": turned}
    at, half = 0.5 * (time[begin] + time[end])[kept], 0.5 * duration[kept]
    for quantity, value in values.items():
        if quantity != "v_y" or lateral:
            name = f"{pose[0].source.strip('/')} {quantity}"
            yield MeasuredChannel(name, quantity, pose[0].source, Series(at, value[kept]), half=half)


def _over_horizons(channel: MeasuredChannel, quantity: str) -> Iterator[MeasuredChannel]:
    """The mean rates of a distance or angle over short times, as a quantity."""
    time, angle = channel.series.time, channel.series.value
    begin, end = _pairs(time)
    if len(begin):
        duration = time[end] - time[begin]
        series = Series(0.5 * (time[begin] + time[end]), (angle[end] - angle[begin]) / duration)
        yield replace(channel, quantity=quantity, series=series, half=0.5 * duration)


def _pairs(time: Array) -> tuple[np.ndarray, np.ndarray]:
    """First and last samples of horizons without a gap."""
    if len(time) < 3:
        return np.empty(0, np.intp), np.empty(0, np.intp)
    horizon = max(HORIZON, INTERVALS * float(np.median(np.diff(time))))
    begin = np.arange(len(time))
    end = np.searchsorted(time, time + (1.0 - 1e-9) * horizon)
    inside = end < len(time)
    begin, end = begin[inside], end[inside]
    whole = time[end] - time[begin] <= GAP * horizon
    begin, end = begin[whole], end[whole]
    if not len(begin):
        return begin, end
    slot = np.floor(time[begin] / (horizon / PER_HORIZON))
    first = np.r_[True, slot[1:] != slot[:-1]]
    return begin[first], end[first]


def _largest(speeds: Array) -> float:
    """The highest speed that is not a jump."""
    return JUMP * float(np.percentile(speeds, 99.0)) + 1e-9
