"""Which optional packages can be used."""

from __future__ import annotations

import os
from importlib.util import find_spec


def can_compile() -> bool:
    """Whether numba is installed and its compiler is not switched off by ``NUMBA_DISABLE_JIT``."""
    return find_spec("numba") is not None and os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")
