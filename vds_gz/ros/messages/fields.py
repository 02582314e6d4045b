"""The definitions of message types, as far as one needs them to find something in a message."""

from __future__ import annotations

from typing import NamedTuple


class Field(NamedTuple):
    """A field in the definition of a type.

    Attributes:
        name: Its name.
        type: ``float64``, ``string`` or the name of a type; of an array or a sequence, that of its items.
        length: None where it is one value, of an array how many, 0 for a sequence.
    """

    name: str
    type: str
    length: int | None
