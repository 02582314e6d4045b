"""Cleans samples: on one clock, finite, in the order of time, without jumps by a turn."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vds_gz.core.arrays import Array, Integers
from vds_gz.tools.study.reading.outliers import without_outliers
from vds_gz.tools.study.recording import MeasuredChannel, Recording, Series, longest_gap

#: Matches the findings of :func:`clean` and :func:`report_pieces` on gaps.
GAP_FINDING = re.compile(r"^(.+) (?:has|have) a gap of ([\d.]+) s at ([\d.]+) s$|^gaps split the recording")

#: Clocks that differ by less are the same, and the difference is the delay of transport [s].
SAME_CLOCK = 0.3

#: The drift is estimated from the quickest message of each part: minimum and maximum number of parts, and minimum
#: number of messages of a part.
FEWEST_PARTS, PARTS, PART_SAMPLES = 8, 40, 10

#: A drift is removed if it amounts to this over the recording [s], and to this many times the scatter around its line.
DRIFT, DRIFT_SCATTER = 0.01, 5.0

#: If differences jitter by more, the cause is not transport: a clock stood still, or ran at another rate [s].
JITTER = 0.05

#: Positions are repeated if the usual time between changes is so many times that between samples; minimum number of
#: changes.
REPEATED, FEWEST_FIXES = 2.5, 20

#: Units of offsets between clocks, with their lengths [s].
UNITS_OF_TIME = (("min", 60.0), ("h", 3600.0), ("days", 86400.0), ("years", 365.25 * 86400.0))

#: A relative rate beyond this is not drift: a unit is wrong, or a simulation is slow.
MAXIMUM_DRIFT = 0.02


def seconds(times: Integers, begin: int) -> Array:
    """Times since a beginning [s], from times in nanoseconds."""
    since: Array = (times - begin).astype(float) * 1e-9
    return since


class _BoardClock(NamedTuple):
    """The clock of a topic's stamps: its median difference [s] and drift against the recorder's, and its length [s]."""

    difference: float
    drift: float
    span: float

    def is_that_of(self, other: _BoardClock) -> bool:
        """Whether the stamps of another topic are of the same clock."""
        parted = abs(self.drift - other.drift) * max(self.span, other.span)
        return abs(self.difference - other.difference) < SAME_CLOCK and parted < JITTER


def measured_times(topics: Mapping[str, tuple[Array, ArrayLike]], findings: list[str]) -> dict[str, Array]:
    """Times of measurement [s] by the recorder's clock, by name, from times of recording and stamps [s] of one origin.

    A stamp is NaN for a message without one. Topics that are stamped by one clock get one correction, which is noted.
    """
    times = {name: logged for name, (logged, _) in topics.items()}
    boards: list[tuple[_BoardClock, list[str]]] = []
    stamped = {name: np.asarray(stamps, float) for name, (_, stamps) in topics.items()}
    for name, stamps in stamped.items():
        if not len(stamps) or not np.isfinite(stamps).all():
            continue
        late = times[name] - stamps
        clock = _BoardClock(float(np.median(late)), _drift(stamps, late), float(np.ptp(stamps)))
        same = next((names for known, names in boards if known.is_that_of(clock)), None)
        if same is None:
            boards.append((clock, [name]))
        else:
            same.append(name)
    for _, names in boards:
        together, logged = (np.concatenate([group[name] for name in names]) for group in (stamped, times))
        order = np.argsort(together, kind="stable")
        correction = _correction(together[order], logged[order], " and ".join(names), findings)
        if correction is not None:
            offset, slope = correction
            times |= {name: stamped[name] + offset + slope * (stamped[name] - together[order[0]]) for name in names}
    return times


def _correction(stamped: Array, logged: Array, names: str, findings: list[str]) -> tuple[float, float] | None:
    """Offset [s] and drift from stamps to the recorder's clock, which are noted; None if the stamps are unusable."""
    difference = logged - stamped
    slope, span = _drift(stamped, difference), float(np.ptp(stamped))
    if abs(slope) > MAXIMUM_DRIFT:
        findings.append(
            f"the stamps of {names} run {1.0 / (1.0 + slope):.4g} times as fast as the recorder's clock; the times of "
            "recording are used instead. Are the stamps in another unit, or of a simulation that was not in real time?"
        )
        return None
    if not slope and abs(float(np.median(difference))) < SAME_CLOCK:
        return 0.0, 0.0
    offset = float(np.percentile(difference - slope * (stamped - stamped[0]), 1.0))
    off = f"the stamps of {names} are {_apart(-offset)}"
    drifts = f"drift by {-slope * 1e6:+.0f} ppm ({-slope * span:+.3f} s in {span:.0f} s)"
    findings.append(f"{off} and {drifts}; both were corrected" if slope else f"{off}; this was corrected")
    return offset, slope


def _apart(lead: float) -> str:
    """By how much stamps are ahead of the recorder's clock [s], in words."""
    if abs(lead) < UNITS_OF_TIME[0][1]:
        return f"off by {lead:+.3f} s against the recorder's clock"
    unit, length = next((name, length) for name, length in reversed(UNITS_OF_TIME) if abs(lead) >= length)
    words = f"{abs(lead) / length:.3g} {unit} {'ahead of' if lead > 0.0 else 'behind'} the recorder's clock"
    return f"{words} (the clocks have different origins)" if unit in ("days", "years") else words


def vehicle_time(time: Integers, logged: Integers, stamps: Integers) -> Integers:
    """Convert times of the recorder's clock [ns] to the vehicle's, by messages that have both.

    If both clocks run at the same rate, the quickest messages give their difference, without the jitter of the others'
    transport; otherwise times are interpolated between the messages.
    """
    origin = int(stamps[0])
    at, recorded, stamped = seconds(time, logged[0]), seconds(logged, logged[0]), seconds(stamps, origin)
    slope = _drift(stamped, recorded - stamped)
    late = recorded - stamped * (1.0 + slope)
    quickest = float(np.percentile(late, 1.0))
    if abs(slope) < MAXIMUM_DRIFT and float(np.percentile(late, 90.0)) - quickest < JITTER:
        passed: Array = (at - quickest) / (1.0 + slope)
    else:
        passed = np.interp(at, np.maximum.accumulate(recorded), stamped)
        passed += at - np.clip(at, recorded[0], recorded[-1])  # before and after them, both clocks run at the same rate
    moved: Integers = origin + np.round(passed * 1e9).astype(np.int64)
    return moved


def _drift(stamped: Array, difference: Array) -> float:
    """Slope of the lower envelope of the differences, by the quickest message of each part; 0 if it is uncertain.

    A step, as of a network that becomes quicker, is no slope.

    Source: P. K. Sen, Estimates of the regression coefficient based on Kendall's tau, J. Am. Stat. Assoc. 63 (1968).
    """
    count = min(PARTS, len(stamped) // PART_SAMPLES)
    if count < FEWEST_PARTS:
        return 0.0
    parts = np.array_split(np.arange(len(stamped)), count)
    quickest = np.array([part[np.argmin(difference[part])] for part in parts])
    time, low = stamped[quickest], difference[quickest]
    first, second = np.triu_indices(count, 1)
    run, rise = time[second] - time[first], low[second] - low[first]
    if not (run > 0.0).any():
        return 0.0
    slope = float(np.median(rise[run > 0.0] / run[run > 0.0]))
    residual = low - slope * time
    scatter = 1.4826 * float(np.median(np.abs(residual - np.median(residual))))
    certain = abs(slope) * float(np.ptp(stamped)) > max(DRIFT, DRIFT_SCATTER * scatter)
    steps = min(_deviation(low[:k]) + _deviation(low[k:]) for k in range(1, count))
    return slope if certain and _deviation(residual) < steps else 0.0


def _deviation(values: Array) -> float:
    """Sum of the absolute deviations from the median."""
    return float(np.sum(np.abs(values - np.median(values))))


def clean(
    time: Array, value: Array, name: str, findings: list[str], quantity: str = "", *, commanded: bool = False
) -> Series:
    """The samples at these times [s] that may be of a vehicle's motion, in the order of time.

    Of equal times the last one stays. NaN, infinite numbers and the outliers of a quantity are left out. All is noted,
    and the longest gap; commands may pause.
    """
    finite = np.isfinite(time) & np.isfinite(value)
    if not finite.all():
        findings.append(f"{int((~finite).sum())} samples of {name} are NaN or infinite; they were left out")
    series = _ordered(time[finite], value[finite])
    last = np.diff(series.time, append=np.inf) > 0.0
    series = Series(series.time[last], series.value[last])
    series = without_outliers(series, quantity, name, findings, commanded=commanded)
    time = series.time
    steps = np.diff(time)
    if not commanded and len(time) > 2 and steps.max() > longest_gap(time):
        at = int(np.argmax(steps))
        findings.append(f"{name} has a gap of {steps[at]:.2f} s at {time[at]:.2f} s")
    return series


def new_positions(time: Array, x: Array, y: Array) -> NDArray[np.bool_]:
    """Which positions [m] at these times [s] to use: the changed ones if a slower sensor measured them, else all.

    A position that is repeated between the fixes of a sensor looks like standstills and jumps.
    """
    changed = np.append(True, (np.diff(x) != 0.0) | (np.diff(y) != 0.0))
    if changed.sum() < FEWEST_FIXES or np.median(np.diff(time[changed])) < REPEATED * np.median(np.diff(time)):
        changed[:] = True
    return changed


def joined(first: Series | None, second: Series) -> Series:
    """Both series as one."""
    if first is None:
        return second
    return _ordered(np.append(first.time, second.time), np.append(first.value, second.value))


def _ordered(time: Array, value: Array) -> Series:
    order = np.argsort(time, kind="stable")
    return Series(time[order], value[order])


def unwrapped(channel: MeasuredChannel) -> MeasuredChannel:
    """The channel; a heading or the angle of a rotating joint is unwrapped."""
    if channel.quantity != "heading" and (channel.quantity != "joint_position" or channel.hinge):
        return channel
    return replace(channel, series=Series(channel.series.time, np.unwrap(channel.series.value)))


def report_pieces(recording: Recording) -> None:
    """Report each gap once, with all signals that have it, and the pieces into which gaps split a recording."""
    recording.findings[:] = _one_for_each_gap(recording.findings)
    if len(parts := recording.pieces) > 1:
        times = ", ".join(f"{begin:.2f} to {end:.2f} s" for begin, end in parts)
        recording.findings.append(f"gaps split the recording into {len(parts)} pieces: {times}")


def _one_for_each_gap(findings: Sequence[str]) -> list[str]:
    """Findings of which those on overlapping gaps are one, at the place of the first."""
    others: list[str] = []
    gaps: list[tuple[int, list[str], float, float]] = []  # place among the others, signals, begin and end [s]
    for finding in findings:
        match = GAP_FINDING.match(finding)
        if match is None or match[1] is None:
            others.append(finding)
            continue
        begin, end = float(match[3]), float(match[3]) + float(match[2])
        overlapping = [gap for gap in gaps if gap[2] < end and begin < gap[3]]
        gaps = [gap for gap in gaps if gap not in overlapping]
        place = min([len(others), *(gap[0] for gap in overlapping)])
        names = [*(name for gap in overlapping for name in gap[1]), match[1]]
        begin, end = min([begin, *(gap[2] for gap in overlapping)]), max([end, *(gap[3] for gap in overlapping)])
        gaps.append((place, names, begin, end))
    for place, names, begin, end in sorted(gaps, key=itemgetter(0, 2), reverse=True):
        verb = "have" if len(names) > 1 else "has"
        others.insert(place, f"{', '.join(names)} {verb} a gap of {end - begin:.2f} s at {begin:.2f} s")
    return others
