"""A value given to a parameter, and where it was given."""

from __future__ import annotations

from typing import NamedTuple


class Override(NamedTuple):
    """A value given to a parameter.

    Attributes:
        name: Dotted name.
        value: The value as it was read.
        origin: Where it stood, for messages, e.g. ``file car.yaml``.
    """

    name: str
    value: object
    origin: str = ""
