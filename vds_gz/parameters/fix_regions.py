"""Regions of a world in which a satellite receiver has another fix, or none."""

from __future__ import annotations

from typing import NamedTuple

from vds_gz.parameters.declaration import ParameterError

#: What a receiver can have.
FIX_TYPES = ("fix", "float", "rtk", "none")


class FixRegion(NamedTuple):
    """A box in the world's axes, of any height [m], and the type of fix in it."""

    fix_type: str
    x_min: float
    y_min: float
    x_max: float
    y_max: float

    def contains(self, x: float, y: float) -> bool:
        """Whether a point [m] lies in it."""
        return self.x_min <= x <= self.x_max and self.y_min <= y <= self.y_max


def fix_regions(text: str) -> tuple[FixRegion, ...]:
    """The regions of the parameter ``regions``.

    Raises:
        ParameterError: One is no fix type and four numbers, or its box is empty.
    """
    return tuple(_region(words.split()) for words in text.split(";") if words.strip())


def _region(words: list[str]) -> FixRegion:
    try:
        fix_type, (x_min, y_min, x_max, y_max) = words[0], map(float, words[1:])
    except ValueError:
        fix_type, x_min, y_min, x_max, y_max = "", 0.0, 0.0, 0.0, 0.0
    # Written so that NaN is refused.
    if fix_type not in FIX_TYPES or not (x_min < x_max and y_min < y_max):
        known = ", ".join(FIX_TYPES)
        raise ParameterError(
            f"parameter 'regions' has '{' '.join(words)}'; each region must be one of {known}, then x_min, y_min, "
            "x_max, y_max in metres, each maximum greater than its minimum"
        )
    return FixRegion(fix_type, x_min, y_min, x_max, y_max)
