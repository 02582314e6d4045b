"""Autoware's vehicles are a guest: without their folder, all tests pass that are not about them."""

from __future__ import annotations

from importlib.util import find_spec
from pkgutil import resolve_name
from typing import Any

import pytest

HERE = find_spec("vds_gz.autoware") is not None

#: Of tests outside test/autoware/ that use the guest.
needs_autoware = pytest.mark.skipif(not HERE, reason="the folder of Autoware's vehicles is not there")


def of_guest(name: str) -> list[Any]:
    """An object of the guest, or of a helper that uses it, by ``module:name``, in a list; without the guest none."""
    return [resolve_name(name)] if HERE else []
