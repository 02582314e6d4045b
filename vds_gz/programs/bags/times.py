"""Times of a bag's messages: those of recording, or header stamps where the recorder's clock was too coarse."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vds_gz.core.files import LONGEST_SPAN
from vds_gz.core.ros.graph import Message
from vds_gz.core.ros.messages.fields import stamp_ns

#: Times are too coarse if more than this part of them equals the one before, of at least FEWEST times.
REPEATED, FEWEST = 0.25, 8

#: Times of a clock are not too coarse if its steps are no longer than this [ns]. The clock of a simulation gives one
#: time to all messages of a step.
FINE = 20_000_000


def step(times: Sequence[int]) -> float:
    """Step of the clock that gave these times [ns], infinite if it stood still."""
    steps = np.abs(np.diff(np.array(times, np.int64)))
    return float(np.median(steps[steps > 0])) if steps.any() else np.inf


def repeated(times: Sequence[int], stamps: Sequence[int] = ()) -> int:
    """The number of times [ns] that equal the one before, if they are too many to order messages by; else 0.

    So it is with a clock that stands still, that counts whole seconds, or that was never set. Messages with equal
    stamps do not count: they are of several publishers.
    """
    same = np.diff(np.array(times, np.int64)) == 0
    if len(stamps):
        moments = np.array(stamps, np.int64)
        same &= (np.diff(moments) != 0) | (moments[1:] == 0)
    count = int(same.sum())
    return count if len(times) >= FEWEST and count > REPEATED * len(times) and step(times) > FINE else 0


def fault_of(topic: str, times: Sequence[int], stamps: Sequence[int]) -> str:
    """What is wrong with the times of recording of a topic [ns], in words; empty if they are usable.

    Stamps are 0 for messages without one.
    """
    if times and (span := (max(times) - min(times)) * 1e-9) > LONGEST_SPAN:
        return f"times of recording on '{topic}' span {span:.4g} s; at most {LONGEST_SPAN:g} s are read"
    if not (count := repeated(times, stamps)):
        return ""
    return (
        f"times of recording are too coarse ({count} of {len(times)} messages on '{topic}' have that of the one before)"
    )


def are_usable(stamps: Sequence[int]) -> bool:
    """Whether stamps [ns] can replace times of recording; 0 is no stamp."""
    return all(stamps) and not repeated(stamps) and max(stamps) - min(stamps) <= LONGEST_SPAN * 1e9


def stamp_of(message: Message) -> int:
    """A message's stamp, or the time of a clock message [ns]; 0 if it has none."""
    header = getattr(message, "header", None)
    stamps = (getattr(message, "stamp", None), getattr(message, "clock", None), getattr(header, "stamp", None))
    return next((stamp_ns(stamp) for stamp in stamps if stamp is not None), 0)
