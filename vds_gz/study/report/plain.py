"""Numbers for JSON files."""

from __future__ import annotations

import math
from collections.abc import Mapping


def finite(numbers: Mapping[str, object]) -> dict[str, object]:
    """The same with None in place of NaN and infinity, which JSON does not have."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in numbers.items()
    }
