"""Whether what was printed is what a page or a notebook shows."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from helpers.tools import tool

sessions = tool("sessions", "docs")

NUMBER = sessions.NUMBER


def check_output(shown: Sequence[str], printed: Sequence[str]) -> None:
    """Two outputs are the same but for the last digits of what was computed and for what is left out at ``...``."""
    some = [line for line in (" ".join(sessions.TOOK.sub("", one).split()) for one in shown) if line]
    every = [line for line in (" ".join(sessions.TOOK.sub("", one).split()) for one in printed) if line]
    if "..." in some:
        some = [line for line in some if line != "..."]
        kinds = {NUMBER.sub("#", line) for line in some}
        every = [line for line in every if NUMBER.sub("#", line) in kinds]
    assert [NUMBER.sub("#", line) for line in some] == [NUMBER.sub("#", line) for line in every]
    numbers, others = (list(map(float, NUMBER.findall("\n".join(lines)))) for lines in (some, every))
    assert numbers == pytest.approx(others, rel=0.02, abs=2e-3)
