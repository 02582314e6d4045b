"""Versions of what decides the bits of a result."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import TypeAlias

import vds_gz

Versions: TypeAlias = "dict[str, str]"

#: Packages that decide them, besides this one.
PACKAGES = ("numba", "numpy", "scipy")


def versions() -> Versions:
    """The versions in this process, by package."""
    return {"vds_gz": vds_gz.__version__} | {name: _version(name) for name in PACKAGES}


def differences(found: Versions, wanted: Versions) -> str:
    """What another process has that should have the wanted versions, in words; empty where it has all of them."""
    wrong = [name for name in wanted if found.get(name) != wanted[name]]
    return " and ".join(f"has {name} {found.get(name)} and must have {wanted[name]}" for name in wrong)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"
