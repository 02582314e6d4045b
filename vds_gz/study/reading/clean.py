"""Cleans recorded samples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vds_gz.study.recording import Array
from vds_gz.study.signals import GAP_INTERVALS, LONGEST_GAP, MeasuredChannel, Series, Signals


def clean(time: Array, value: Array, what: str, notes: list[str]) -> Series:
    """The finite samples in the order of time, one for each time.

    Args:
        time, value: As recorded [s].
        what: Their name for the notes.
        notes: Takes further notes.
    """
    finite = np.isfinite(time) & np.isfinite(value)
    if not finite.all():
        notes.append(f"{int((~finite).sum())} samples of {what} are NaN or infinite; they were left out")
    time, value = time[finite], value[finite]
    order = np.argsort(time, kind="stable")
    time, value = time[order], value[order]
    last = np.append(np.diff(time) > 0.0, True) if len(time) else np.zeros(0, bool)
    time, value = time[last], value[last]
    if len(time) > 2 and (gap := float(np.max(np.diff(time)))) > max(
        LONGEST_GAP, GAP_INTERVALS * float(np.median(np.diff(time)))
    ):
        at = float(time[int(np.argmax(np.diff(time)))])
        notes.append(f"{what} has a gap of {gap:.2f} s at {at:.2f} s")
    return Series(time, value)


def unwrapped(channel: MeasuredChannel) -> MeasuredChannel:
    """The same, with headings and angles of rotating joints unwrapped."""
    if channel.quantity != "heading" and (channel.quantity != "joint_position" or channel.hinge):
        return channel
    return replace(channel, series=Series(channel.series.time, np.unwrap(channel.series.value)))


def note_pieces(signals: Signals) -> None:
    """Note the pieces into which gaps split a recording."""
    if len(parts := signals.pieces) > 1:
        times = ", ".join(f"{begin:.2f} to {end:.2f} s" for begin, end in parts)
        signals.notes.append(f"gaps split the recording into {len(parts)} pieces: {times}")
