"""Times of a bag's messages: those of recording, or header stamps where the recorder's clock was too coarse."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from vds_gz.ros.graph import Message
from vds_gz.ros.messages.fields import stamp_ns

#: Times are too coarse if more than this part of them equals the one before, of at least FEWEST times.
REPEATED, FEWEST = 0.25, 8


def repeated(times: Sequence[int]) -> int:
    """The number of times that equal the one before, if they are too many to order messages by; else 0.

    So it is with a clock that stands still, that counts whole seconds, or that was never set.
    """
    count = sum(a == b for a, b in pairwise(times))
    return count if len(times) >= FEWEST and count > REPEATED * len(times) else 0


def too_coarse(topic: str, times: Sequence[int]) -> str:
    """What is wrong with the times of recording of a topic [ns], in words; empty if they are usable."""
    if not (count := repeated(times)):
        return ""
    return (
        f"times of recording are too coarse ({count} of {len(times)} messages on '{topic}' have that of the one before)"
    )


def stamp_of(message: Message) -> int:
    """A message's stamp, or the time of a clock message [ns]; 0 if it has none."""
    header = getattr(message, "header", None)
    stamps = (getattr(message, "stamp", None), getattr(message, "clock", None), getattr(header, "stamp", None))
    return next((stamp_ns(stamp) for stamp in stamps if stamp is not None), 0)
