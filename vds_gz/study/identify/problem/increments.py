"""Mean velocities over short times, out of poses and wheel angles: where those lie, and how they drift, does not count.

Poses of odometry drift and those of a localization jump, so only the motion over a short horizon is informative.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from vds_gz.study.identify.estimates import Array
from vds_gz.study.recording import POSES, MeasuredChannel, Series

#: Length of the horizon: at least so long [s], and so many intervals between samples.
HORIZON, INTERVALS = 0.1, 2.0

#: A horizon that is so many times as long as it should be has a gap in it.
GAP = 2.0

#: Means are taken so often per horizon.
PER_HORIZON = 2.0

#: Steps of a pose that are so many times the 99th percentile are jumps of the localization.
JUMP = 5.0


def with_increments(channels: Sequence[MeasuredChannel], *, lateral: bool) -> list[MeasuredChannel]:
    """The same channels with mean velocities in the place of poses and of wheels' angles."""
    found: list[MeasuredChannel] = []
    sources: dict[str, dict[str, MeasuredChannel]] = {}
    for channel in channels:
        if channel.quantity in POSES:
            sources.setdefault(channel.source, {})[channel.quantity] = channel
        elif channel.quantity == "joint_position" and not channel.hinge:
            found += _rolling(channel)
        else:
            found.append(channel)
    for pose in sources.values():
        times = [one.series.time for one in pose.values()]
        if len(pose) == len(POSES) and all(np.array_equal(time, times[0]) for time in times):
            found += _velocities([pose[name] for name in POSES], lateral=lateral)
    return found


def _velocities(pose: Sequence[MeasuredChannel], *, lateral: bool) -> Iterator[MeasuredChannel]:
    time = pose[0].series.time
    x, y, heading = (one.series.value for one in pose)
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


def _rolling(channel: MeasuredChannel) -> Iterator[MeasuredChannel]:
    time, angle = channel.series.time, channel.series.value
    begin, end = _pairs(time)
    if len(begin):
        duration = time[end] - time[begin]
        series = Series(0.5 * (time[begin] + time[end]), (angle[end] - angle[begin]) / duration)
        yield replace(channel, quantity="joint_velocity", series=series, half=0.5 * duration)


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
    """What is faster is a jump."""
    return JUMP * float(np.percentile(speeds, 99.0)) + 1e-9
