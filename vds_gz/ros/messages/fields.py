"""The fields of message types, as needed to find a number in a message."""

from __future__ import annotations

from typing import NamedTuple


class Field(NamedTuple):
    """A field in the definition of a type.

    Attributes:
        name: Its name.
        type: ``float64``, ``string`` or the name of a type; for an array or a sequence, the type of its items.
        length: None for a single value, the number of items of an array, 0 for a sequence.
    """

    name: str
    type: str
    length: int | None
