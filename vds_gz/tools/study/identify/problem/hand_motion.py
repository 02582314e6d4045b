"""Parts of a recording in which a vehicle moved without a command, as when a person turns it by hand.

A vehicle follows commands that stay constant at a constant speed. A later clear change of its speed has another cause.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from vds_gz.core.arrays import Array, Flags
from vds_gz.tools.study.identify.problem.command_hold import SPEEDS, neutral
from vds_gz.tools.study.identify.problem.segments import chosen
from vds_gz.tools.study.recording import COMMANDED, UNITS, Commands, Recording, Series
from vds_gz.tools.study.signals import SPIKE_WINDOW, median_filtered, noise

#: Time after a change of commands that dead times and coasting take at most, and time of steady motion after it [s].
RESPONSE, STEADY = 2.0, 1.0

#: A change of a speed without a command exceeds this multiple of the noise, and this part of the largest command if the
#: vehicle is to stand. A vehicle that is to move may be disturbed: its speed must exceed this multiple of all others.
NOISE, STANDING, MOVING = 8.0, 0.2, 2.0

#: Time around such a motion that is left out too, and in which the next command may be early by another clock [s].
AROUND = 0.5


class _HandMotion(NamedTuple):
    """A motion without a command: its begin and end [s], its quantity and its largest speed."""

    begin: float
    end: float
    quantity: str
    speed: float


def without_hand_motion(recording: Recording) -> Recording:
    """The recording without the parts in which the vehicle moved without a command; a finding names them."""
    commands = recording.commands
    motions = [
        motion
        for name in SPEEDS
        if name in recording.commanded and name in recording.measured
        for motion in _hand_motions(commands, name, recording.measured[name])
    ]
    if not motions:
        return recording
    motions.sort(key=lambda motion: motion.begin)
    fastest = max(motions, key=lambda motion: motion.speed)
    times = ", ".join(f"{motion.begin:.1f} to {motion.end:.1f} s" for motion in _merged(motions))
    finding = (
        f"left out, as the vehicle moved without a command ({fastest.quantity} up to {fastest.speed:.3g} "
        f"{UNITS[fastest.quantity]}): {times}. Was it moved by hand, or by commands that were not recorded?"
    )
    return replace(
        recording,
        measured={name: _without(series, motions) for name, series in recording.measured.items()},
        further=[chosen(channel, _kept(channel.series.time, motions)) for channel in recording.further],
        findings=[*recording.findings, finding],
    )


def _hand_motions(commands: Commands, quantity: str, measured: Series) -> Iterator[_HandMotion]:
    """The motions of one speed without a command, while all commands stay constant."""
    largest = float(np.max(np.abs(commands.records[COMMANDED[quantity]])))
    if largest == 0.0 or len(measured.time) < SPIKE_WINDOW:
        return
    value = median_filtered(measured.value)
    scatter = NOISE * noise(value)
    changes = np.r_[True, commands.records[1:] != commands.records[:-1]]
    begins, standing = commands.time[changes], neutral(commands.records[changes])
    for begin, end, stands in zip(begins, [*begins[1:], np.inf], standing, strict=True):
        settled = begin + RESPONSE
        first, start, stop = np.searchsorted(measured.time, [settled, settled + STEADY, end - AROUND])
        if stop - start < SPIKE_WINDOW or start - first < SPIKE_WINDOW:
            continue
        steady = float(np.median(value[first:start]))
        if stands:
            moving = np.abs(value[first:stop]) > abs(steady) + max(STANDING * largest, scatter)
        else:
            others = np.abs(np.r_[steady, largest, value[: np.searchsorted(measured.time, begin)], value[stop:]])
            moving = np.abs(value[first:stop]) > max(MOVING * float(np.max(others)), scatter)
        if moving.any() and not moving[: start - first].any():
            at = first + np.flatnonzero(moving)[[0, -1]]
            speed = float(np.max(np.abs(value[at[0] : at[1] + 1])))
            begin_moving, end_moving = measured.time[at].tolist()
            yield _HandMotion(begin_moving - AROUND, end_moving + AROUND, quantity, speed)


def _merged(motions: list[_HandMotion]) -> list[_HandMotion]:
    """Motions in the order of time; those that overlap are joined."""
    merged = motions[:1]
    for motion in motions[1:]:
        if motion.begin <= merged[-1].end:
            merged[-1] = merged[-1]._replace(end=max(merged[-1].end, motion.end))
        else:
            merged.append(motion)
    return merged


def _kept(time: Array, motions: list[_HandMotion]) -> Flags:
    """Whether samples are outside all motions."""
    kept: Flags = ~np.any([(time >= motion.begin) & (time <= motion.end) for motion in motions], axis=0)
    return kept


def _without(series: Series, motions: list[_HandMotion]) -> Series:
    kept = _kept(series.time, motions)
    return Series(series.time[kept], series.value[kept])
